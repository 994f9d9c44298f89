use super::{Declared, Dialect, Issue, Located, Primitive, Schema};
use crate::diag::Code;
use serde_json::{Value, json};

fn compile(schema: &Value) -> Schema {
    match Schema::compile_any(schema) {
        Ok((schema, _)) => schema,
        Err(faults) => panic!("{schema}: {faults:?}"),
    }
}

fn faults(schema: &Value) -> String {
    let faults = Schema::compile_any(schema).err().unwrap_or_default();
    faults.iter().map(|fault| format!("{}: {}", fault.pointer, fault.message)).collect::<Vec<_>>().join("\n")
}

fn warnings(schema: &Value) -> String {
    let (_, warnings) = Schema::compile_any(schema).unwrap();
    let line = |w: &super::SchemaWarning| format!("{} {}: {}", w.code.as_str(), w.pointer, w.message);
    warnings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn text(issues: &[Issue]) -> String {
    issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn issues(schema: &Value, value: &Value) -> String {
    text(&compile(schema).check(value))
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[test]
fn all_issues_come_at_once_and_say_how_to_repair() {
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string", "description": "File to read, relative to the workspace.\nMore."},
        "count": {"type": "integer", "minimum": 1, "maximum": 200},
        "mode": {"enum": ["fast", "slow"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
        "when": {"type": "string", "format": "date"},
        "id": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
        "flag": {"type": "boolean"},
        "opt": {"type": "object", "properties": {"depth": {"type": "integer"}}, "required": ["depth"]},
        "v": {"const": 2}
    }, "required": ["path", "mode"], "additionalProperties": false});
    let value = json!({"cuont": 3, "zebra": 1, "count": 0, "mode": "fsat", "tags": ["a", "a", 3], "when": "tomorrow",
        "id": "ABCD", "flag": "true", "opt": {}, "v": 1});
    insta::assert_snapshot!(issues(&schema, &value), @r#"
    missing required property "path" (string: File to read, relative to the workspace.)
    /count: must be at least 1, got the number 0
    /flag: must be a boolean, got the string "true"; send true without quotes
    /id: must have at most 3 characters, has 4
    /id: must match the pattern ^[a-z]+$, got the string "ABCD"
    /mode: must be one of "fast", "slow"; got the string "fsat"; did you mean "fast"?
    /opt: missing required property "depth" (integer)
    /tags: must have at most 2 items, got an array of 3 items
    /tags: all items must differ; item 1 repeats item 0
    /tags/2: must be a string, got the number 3; send "3"
    /v: must be 2, got the number 1
    /when: must be a date such as 2026-01-31, got the string "tomorrow"
    unknown property "cuont"; did you mean "count"?
    unknown property "zebra"; known are "count", "flag", "id", "mode", "opt", "path", "tags", "v", "when"
    "#);
}

#[test]
fn f067_nothing_is_coerced_and_the_repair_is_named() {
    let schema =
        object(&json!({"limit": {"type": "integer"}, "tags": {"type": "array"}, "note": {"type": "string"}}));
    insta::assert_snapshot!(issues(&schema, &json!({"limit": "10", "tags": "[\"a\"]", "note": "[1]"})), @r#"
    /limit: must be an integer, got the string "10"; send 10 without quotes
    /tags: must be an array, got the string "[\"a\"]"; send the array itself, not a string that holds it
    "#);
    assert_eq!(issues(&schema, &json!({"limit": 10, "tags": ["a"], "note": "[1]"})), "");
    let schema = object(&json!({
        "a": {"type": "string"}, "b": {"type": "number"}, "c": {"type": "array"}, "d": {"type": "integer"},
        "e": {"type": "object"}, "f": {"type": ["integer", "string"]}, "g": {"enum": [1, 2]}, "h": {"type": "string"}
    }));
    let value =
        json!({"a": 5, "b": null, "c": "x", "d": [7], "e": "{\"k\":1}", "f": true, "g": "2", "h": ["x"]});
    insta::assert_snapshot!(issues(&schema, &value), @r#"
    /a: must be a string, got the number 5; send "5"
    /b: must be a number, got null; leave the property out if it has no value
    /c: must be an array, got the string "x"; send a list, such as ["x"]
    /d: must be an integer, got an array of 1 item; send 7 without the list
    /e: must be an object, got the string "{\"k\":1}"; send the object itself, not a string that holds it
    /f: must be an integer or string, got true; send "true"
    /g: must be one of 1, 2; got the string "2"; did you mean 2?
    /h: must be a string, got an array of 1 item; send "x" without the list
    "#);
}

#[test]
fn null_is_to_be_left_out_only_where_that_is_right() {
    let schema = json!({"type": "object", "properties": {
        "must": {"type": "string"}, "may": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}}, "on": {"type": "boolean"}
    }, "required": ["must"]});
    insta::assert_snapshot!(issues(&schema, &json!({"must": null, "may": null, "list": [null], "on": 1})), @r#"
    /list/0: must be a string, got null
    /may: must be a string, got null; leave the property out if it has no value
    /must: must be a string, got null
    /on: must be a boolean, got the number 1; send true
    "#);
}

#[test]
fn alternatives_are_explained_by_the_one_that_was_meant() {
    let schema = object(&json!({
        "maybe": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "types": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "shape": {"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
            {"type": "object", "properties": {"kind": {"const": "box"}, "w": {"type": "number"}}, "required": ["kind", "w"]}
        ]},
        "vague": {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]},
        "twice": {"oneOf": [{"type": "integer"}, {"type": "number"}]}
    }));
    let value = json!({"maybe": 0, "types": "5", "shape": {"kind": "box", "h": 1}, "vague": {}, "twice": 1});
    insta::assert_snapshot!(issues(&schema, &value), @r#"
    /maybe: must be at least 1, got the number 0
    /shape: missing required property "w" (number)
    /twice: fits 1 and 2 of the alternatives, and only one may fit; leave out what belongs to the others
    /types: must be an integer or null, got the string "5"; send 5 without quotes
    /vague: fits none of 2 alternatives; (1) missing required property "a"; (2) missing required property "b"
    "#);
}

#[test]
fn other_keywords_have_words_too() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "array", "minItems": 2}, "b": {"type": "array", "contains": {"type": "integer"}}, "c": {"not": {"type": "string"}},
        "d": false, "e": {"type": "object", "minProperties": 1}, "f": {"multipleOf": 0.1}, "g": {"exclusiveMinimum": 0, "exclusiveMaximum": 9},
        "h": {"propertyNames": {"pattern": "^[a-z]$"}}, "i": {"prefixItems": [{"type": "string"}], "items": false},
        "j": {"minLength": 1}
    }, "dependentRequired": {"a": ["z"]}, "unevaluatedProperties": false, "maxProperties": 20});
    let value = json!({"a": [1], "b": ["x"], "c": "s", "d": 1, "e": {}, "f": 0.25, "g": 0, "h": {"AB": 1}, "i": ["x", 1], "j": "", "k": 1});
    insta::assert_snapshot!(issues(&schema, &value), @r#"
    missing required property "z", needed beside "a"
    /a: must have at least 2 items, got an array of 1 item
    /b: no item is as demanded: {"type":"integer"}
    /c: must not be {"type":"string"}, got the string "s"
    /d: "d" is not allowed here
    /e: must have at least 1 property, has 0
    /f: must be a multiple of 0.1, got the number 0.25
    /g: must be more than 0, got the number 0
    /h: the property name "AB" is not allowed: must match the pattern ^[a-z]$, got the string "AB"
    /i/1: item 1 is not allowed here
    /j: must have at least 1 character, has 0
    unknown property "k"; known are "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"
    "#);
}

#[test]
fn untrusted_text_is_escaped_and_messages_are_bounded() {
    let schema = object(&json!({"m": {"enum": ["a\u{202e}b"]}}));
    let found = compile(&schema).check(&json!({"m": "\u{1b}[2J", "x\ny": 1, "long": "z".repeat(9000)}));
    insta::assert_snapshot!(text(&found), @r#"
    /m: must be one of "a\u{202e}b"; got the string "\u{1b}[2J"
    unknown property "long"; known are "m"
    unknown property "x\ny"; known are "m"
    "#);
    let schema = json!({"type": "array", "items": {"type": "string", "pattern": "^a$"}});
    let found = compile(&schema).check(&Value::Array((0..200).map(Value::from).collect()));
    assert_eq!(found.len(), 50);
    assert_eq!(found[49].message, "and 151 more issues");
    assert!(found.iter().all(|issue| issue.message.chars().count() <= 481));
    // Hundred thousand faults cost no memory: the first one is enough to refuse.
    let found = compile(&schema).check(&Value::Array((0..100_000).map(Value::from).collect()));
    assert_eq!(found.len(), 1);
}

#[test]
fn secret_values_are_not_shown() {
    let schema = object(&json!({
        "a": {"type": "integer", "writeOnly": true}, "b": {"type": "string", "format": "password", "maxLength": 2},
        "c": {"x-secret": true, "enum": ["yes"]}, "d": {"x-secret": true, "type": "object", "properties": {"e": {"type": "integer"}}},
        "f": {"x-secret": true, "anyOf": [{"type": "integer"}, {"type": "null"}]}
    }));
    let value =
        json!({"a": "hunter2", "b": "hunter2", "c": "hunter2", "d": {"e": "hunter2"}, "f": "hunter2"});
    let shown = issues(&schema, &value);
    assert_eq!(shown.lines().count(), 5);
    assert!(!shown.contains("hunter2"), "{shown}");
    // The control: what is not secret is shown.
    let open = object(&json!({"a": {"type": "integer"}}));
    assert!(issues(&open, &json!({"a": "hunter2"})).contains("hunter2"));
    assert_eq!(compile(&schema).secrets(&value), ["/a", "/b", "/c", "/d", "/f"]);
    assert!(compile(&schema).is_secret("a") && !compile(&open).is_secret("a"));
}

#[test]
fn faults_have_their_place_and_all_come_at_once() {
    let schema = json!({"type": "object", "properties": {
        "a": {"$ref": "https://example.com/x.json"}, "b": {"$ref": "#/$defs/none"}, "c": {"$ref": "other.json#/a"},
        "d": {"$id": "https://example.com/d", "type": "string"}, "e": {"format": "path", "x-path": "maybe"},
        "f": {"x-path": "nofollow"}, "g": {"x-secret": "yes"}, "h": {"$ref": "#nowhere"}, "i": {"$ref": "file:///etc/passwd"}
    }});
    insta::assert_snapshot!(faults(&schema), @r##"
    /properties/a/$ref: "https://example.com/x.json" is in another document; copy it into "$defs" and refer to "#/$defs/…"
    /properties/b/$ref: "#/$defs/none" names no part of this schema
    /properties/c/$ref: "other.json#/a" is in another document; copy it into "$defs" and refer to "#/$defs/…"
    /properties/d/$id: "https://example.com/d" gives a part of the schema its own address; remove it and use "$defs"
    /properties/e/x-path: "x-path" has to be "follow" or "nofollow", not "maybe"
    /properties/f/x-path: "x-path" needs "format": "path" beside it
    /properties/g/x-secret: "x-secret" has to be true or false, not "yes"
    /properties/h/$ref: "#nowhere" names no part of this schema
    /properties/i/$ref: "file:///etc/passwd" is in another document; copy it into "$defs" and refer to "#/$defs/…"
    "##);
    insta::assert_snapshot!(faults(&json!({"type": "objct", "required": "a", "properties": {"x": {"minimum": "1"}}})), @r#"
    /properties/x/minimum: "1" is not of type "number"
    /required: "a" is not of type "array"
    /type: "objct" is not a type (they are array, boolean, integer, null, number, object, string); did you mean "object"?
    "#);
    insta::assert_snapshot!(faults(&json!({"$schema": "https://json-schema.org/draft/2020-13/schema"})), @r#"/$schema: "$schema" names "https://json-schema.org/draft/2020-13/schema", which is not understood; leave it out for 2020-12, or name draft 2019-09, 07, 06 or 04"#);
}

#[test]
fn tools_take_objects() {
    for schema in [
        json!({"type": "object"}),
        json!({}),
        json!({"properties": {"a": {}}}),
        json!({"type": ["object", "null"]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}),
    ] {
        assert!(Schema::compile_tool(&schema).is_ok(), "{schema}");
    }
    for schema in
        [json!(true), json!([]), json!({"type": "array"}), json!({"enum": [1]}), json!({"minimum": 1})]
    {
        assert!(Schema::compile_tool(&schema).is_err(), "{schema}");
    }
    assert!(Schema::compile_any(&json!(true)).is_ok());
    assert!(Schema::compile_any(&json!({"type": "array"})).is_ok());
}

#[test]
fn drafts_are_told_apart() {
    let exclusive =
        |uri: &str, bound: Value| json!({"$schema": uri, "minimum": 1, "exclusiveMinimum": bound});
    let rows = [
        ("http://json-schema.org/draft-04/schema#", json!(true), Dialect::Draft4),
        ("http://json-schema.org/draft-06/schema#", json!(1), Dialect::Draft6),
        ("http://json-schema.org/draft-07/schema", json!(1), Dialect::Draft7),
        ("https://json-schema.org/draft/2019-09/schema", json!(1), Dialect::Draft201909),
        ("https://json-schema.org/draft/2020-12/schema", json!(1), Dialect::Draft202012),
    ];
    for (uri, bound, dialect) in rows {
        let schema = compile(&exclusive(uri, bound));
        assert_eq!(schema.dialect(), dialect);
        assert!(!schema.check(&json!(1)).is_empty(), "{uri}");
        assert!(schema.check(&json!(2)).is_empty(), "{uri}");
    }
    assert_eq!(compile(&json!({})).dialect(), Dialect::Draft202012);
    assert!(Schema::compile_any(&exclusive("http://json-schema.org/draft-04/schema#", json!(1))).is_err());
    assert!(Schema::compile_any(&json!({"$schema": "http://json-schema.org/draft-03/schema#"})).is_err());
    assert!(Schema::compile_any(&json!({"$schema": 7})).is_err());
}

#[test]
fn warnings_name_what_has_no_effect() {
    let schema = json!({"type": "object", "propertes": {}, "x-anything": 1, "properties": {
        "a": {"type": "string", "format": "uri-tmplate"}, "b": {"type": "string", "format": "path"},
        "c": {"anyOf": [{"type": "object", "properties": {"d": {"default": 1}}}]}, "required": {"type": "string"}
    }});
    insta::assert_snapshot!(warnings(&schema), @r#"
    manifest/idle-keyword /propertes: unknown keyword "propertes" has no effect; did you mean "properties"?
    manifest/unknown-format /properties/a/format: format "uri-tmplate" is not known and not checked
    manifest/idle-keyword /properties/c/anyOf/0/properties/d/default: a default below "anyOf" is not filled in: which branch holds is not certain
    "#);
    let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/a", "minLength": 3, "description": "x"}},
        "definitions": {"a": {"type": "string"}}});
    insta::assert_snapshot!(warnings(&schema), @r#"manifest/idle-keyword /properties/a/minLength: "minLength" has no effect beside "$ref" in this draft; put both into "allOf""#);
    assert_eq!(warnings(&json!({"properties": {"a": {"format": "date-time"}, "b": {"format": "uri"}}})), "");
    let (_, found) = Schema::compile_any(&json!({"format": "nope"})).unwrap();
    assert_eq!(found[0].code, Code::ManifestUnknownFormat);
}

#[test]
fn formats_are_asserted() {
    let rows = [
        ("date", "2026-01-31", "2026-02-30"),
        ("date-time", "2026-01-31T00:00:00Z", "2026-01-31"),
        ("email", "a@b.example", "nope"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "::1", "::g"),
        ("uri", "https://a.example/", "a b"),
        ("hostname", "a.example", "-a"),
        ("uuid", "00000000-0000-4000-8000-000000000000", "x"),
        ("regex", "^a", "("),
        ("json-pointer", "/a", "a"),
        ("path", "a b", "a\u{0}b"),
        ("path", "x", ""),
    ];
    for (format, good, bad) in rows {
        let schema = compile(&json!({"type": "string", "format": format}));
        assert!(schema.check(&json!(good)).is_empty(), "{format} {good}");
        assert_eq!(schema.check(&json!(bad)).len(), 1, "{format} {bad}");
    }
    let old = compile(&json!({"$schema": "http://json-schema.org/draft-07/schema#", "format": "uuid"}));
    assert!(old.check(&json!("00000000-0000-4000-8000-000000000000")).is_empty());
    assert!(!old.check(&json!("00000000-0000-4000-8000_000000000000")).is_empty());
}

#[test]
fn f109_defaults_at_every_object_level() {
    let schema = json!({"type": "object", "properties": {
        "mode": {"default": "fast"}, "opt": {"type": "object", "properties": {"depth": {"type": "integer", "default": 2}}},
        "list": {"type": "array", "items": {"$ref": "#/$defs/item"}}, "made": {"type": "object", "default": {}, "properties": {"in": {"default": 1}}},
        "must": {"default": 1}, "via": {"$ref": "#/$defs/word"}, "null": {"type": ["string", "null"], "default": null}
    }, "allOf": [{"properties": {"also": {"default": true}}}], "oneOf": [{"properties": {"never": {"default": 1}}}],
    "required": ["must"], "additionalProperties": {"type": "object", "properties": {"deep": {"default": 0}}},
    "$defs": {"item": {"type": "object", "properties": {"k": {"default": "v"}}}, "word": {"type": "string", "default": "w"}}});
    let (schema, warnings) = Schema::compile_tool(&schema).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].pointer, "/oneOf/0/properties/never/default");
    let fill = |mut value: Value| {
        let filled = schema.fill_defaults(&mut value);
        (value, filled.join(" "))
    };
    let (value, filled) = fill(json!({}));
    assert_eq!(value, json!({"also": true, "made": {"in": 1}, "mode": "fast", "null": null, "via": "w"}));
    assert_eq!(filled, "/also /made /made/in /mode /null /via");
    let (value, filled) = fill(
        json!({"opt": {}, "list": [{}, {"k": 1}], "extra": {}, "made": {"in": 2}, "mode": "x", "also": 1, "via": "", "null": "n"}),
    );
    assert_eq!(value["opt"], json!({"depth": 2}));
    assert_eq!(value["list"], json!([{"k": "v"}, {"k": 1}]));
    assert_eq!(filled, "/extra/deep /list/0/k /opt/depth");
    let (_, again) = fill(value);
    assert_eq!(again, "");
}

#[test]
fn f109_a_default_that_breaks_its_own_schema_is_a_fault() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "integer", "default": "x"}, "b": {"type": "integer", "default": 3},
        "opt": {"type": "object", "required": ["z"], "properties": {"c": {"enum": ["p"], "default": "q"}}},
        "list": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/i"}}
    }, "required": ["opt"], "$defs": {"i": {"type": "object", "properties": {"d": {"type": "string", "pattern": "^x", "default": "y"}}}},
    "if": {"properties": {"b": {"const": 3}}}, "then": {"properties": {"b": {"maximum": 1}}}});
    insta::assert_snapshot!(faults(&schema), @r#"
    /properties/a/default: the default "x" breaks the schema that it stands in
    /$defs/i/properties/d/default: the default "y" breaks the schema that it stands in
    /properties/opt/properties/c/default: the default "q" breaks the schema that it stands in
    "#);
}

#[test]
fn f109_a_null_that_the_schema_does_not_take_is_no_default() {
    let schema = json!({"properties": {"a": {"type": "string", "default": null}, "b": {"type": ["string", "null"], "default": null}}});
    assert_eq!(
        warnings(&schema),
        "manifest/idle-keyword /properties/a/default: the default null is not of the type that is asked for, so it is not filled in"
    );
    let mut value = json!({});
    assert_eq!(compile(&schema).fill_defaults(&mut value), ["/b"]);
}

#[test]
fn f111_patterns_are_linear_and_what_is_not_understood_is_a_fault() {
    let pattern = |pattern: &str| json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}});
    for bad in ["^(?!test).*$", "[", "(a)\\1", "(?<=a)b"] {
        assert!(
            faults(&pattern(bad)).starts_with("/properties/a/pattern: "),
            "{bad}: {}",
            faults(&pattern(bad))
        );
    }
    insta::assert_snapshot!(faults(&pattern("^(?!test).*$")), @r#"/properties/a/pattern: the pattern "^(?!test).*$" cannot be used: it is not a regular expression, or needs look-around, a back-reference or too much memory"#);
    assert!(faults(&json!({"patternProperties": {"(?=x)": {}}})).starts_with("/patternProperties/(?=x): "));
    let accepts = |regex: &str, text: &str| issues(&pattern(regex), &json!({ "a": text })).is_empty();
    // `\d` is ASCII, as in ECMA-262; Arabic digits do not match.
    assert!(accepts("^\\d+$", "12") && !accepts("^\\d+$", "\u{661}\u{662}"));
    assert!(accepts("^\\w+$", "a_1") && !accepts("^\\w+$", "\u{e9}"));
    assert!(!accepts("^a$", "a\n"));
    // Quadratic or worse engines hang here.
    assert!(!accepts("^(a+)+$", &format!("{}b", "a".repeat(40))));
    assert!(accepts("^(a+)+$", &"a".repeat(40)));
    assert!(accepts("(?<year>\\d{4})", "in 2026"));
    // A pattern that would take too much memory is refused like one that is wrong.
    assert!(!faults(&pattern("^((a{1,1000}){1,1000}){1,1000}$")).is_empty());
}

#[test]
fn f113_loops_are_faults_and_trees_are_not() {
    insta::assert_snapshot!(faults(&json!({"$ref": "#"})), @r#": the schema refers to itself without going into the value, which never ends"#);
    insta::assert_snapshot!(faults(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}})), @r#"/$defs/a: the schema refers to itself without going into the value, which never ends"#);
    assert!(!faults(&json!({"not": {"$ref": "#"}})).is_empty());
    let mut chain = serde_json::Map::new();
    for at in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        chain.insert(format!("d{at}"), json!({"allOf": [next.clone(), next]}));
    }
    chain.insert("d40".to_owned(), json!({"type": "integer"}));
    assert!(faults(&json!({"$ref": "#/$defs/d0", "$defs": chain})).contains("applies more than"));

    let tree = json!({"type": "object", "properties": {"name": {"type": "string", "format": "path"}, "kids": {"type": "array", "items": {"$ref": "#"}}}, "required": ["name"]});
    let schema = compile(&tree);
    let nested =
        |levels| (0..levels).fold(json!({"name": "leaf"}), |inner, _| json!({"name": "n", "kids": [inner]}));
    assert!(schema.check(&nested(50)).is_empty());
    assert_eq!(schema.locate(&nested(50)).len(), 51);
    assert_eq!(schema.check(&nested(62)), []);
    let broken = (0..50).fold(json!({}), |inner, _| json!({"name": "n", "kids": [inner]}));
    assert_eq!(schema.check(&broken)[0].path, "/kids/0".repeat(50));
    assert!(schema.check(&nested(1000))[0].message.contains("deeper"));
}

#[test]
fn f113_deep_schemas_are_faults_not_overflows() {
    let deep = (0..1000).fold(json!({"type": "string"}), |inner, _| json!({"items": inner}));
    assert!(faults(&deep).contains("nested deeper"));
    let fine = (0..150).fold(json!({"type": "string"}), |inner, _| json!({"items": inner}));
    assert_eq!(faults(&fine), "");
    let mut chain = serde_json::Map::new();
    for at in 0..5000 {
        chain
            .insert(format!("d{at}"), json!({"properties": {"x": {"$ref": format!("#/$defs/d{}", at + 1)}}}));
    }
    chain.insert("d5000".to_owned(), json!({}));
    assert!(faults(&json!({"$ref": "#/$defs/d0", "$defs": chain})).contains("nested deeper"));
}

#[test]
fn f113_the_stack_is_bounded_by_schema_and_value_together() {
    let tower =
        |floors| (0..floors).fold(json!({"items": {"$ref": "#"}}), |inner, _| json!({"allOf": [inner]}));
    assert!(faults(&tower(30)).contains("one inside the other"));
    let check = move || {
        let schema = compile(&tower(20));
        let value = (0..127).fold(json!(1), |inner, _| json!([inner]));
        assert!(schema.check(&value).is_empty());
        assert!(schema.locate(&value).is_empty());
    };
    // The main thread of a process has 8 MiB.
    std::thread::Builder::new().stack_size(8 << 20).spawn(check).unwrap().join().unwrap();
}

#[test]
fn references_inside_the_schema_are_followed() {
    let rows = [
        json!({"properties": {"a": {"$ref": "#/$defs/x~1y"}}, "$defs": {"x/y": {"type": "integer"}}}),
        json!({"properties": {"a": {"$ref": "#num"}}, "$defs": {"n": {"$anchor": "num", "type": "integer"}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/a%20b"}}, "$defs": {"a b": {"type": "integer"}}}),
        json!({"$id": "https://example.com/s", "properties": {"a": {"$ref": "https://example.com/s#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}),
    ];
    for schema in rows {
        let compiled = compile(&schema);
        assert_eq!(compiled.primitive_type("a"), Some(Primitive::Integer), "{schema}");
        assert!(compiled.check(&json!({"a": 1})).is_empty(), "{schema}");
        assert!(!compiled.check(&json!({"a": "1"})).is_empty(), "{schema}");
    }
}

#[test]
fn paths_and_uris_are_located_wherever_they_may_be() {
    let schema = compile(&json!({"properties": {
        "p": {"format": "path"}, "n": {"format": "path", "x-path": "nofollow"}, "u": {"format": "uri"}, "list": {"items": {"$ref": "#/$defs/p"}},
        "opt": {"anyOf": [{"format": "path"}, {"type": "null"}]}, "mixed": {"oneOf": [{"format": "path"}, {"format": "path", "x-path": "nofollow"}]},
        "pair": {"prefixItems": [{"type": "string"}, {"format": "path"}]}, "if": {"if": {"minLength": 1}, "then": {"format": "path"}},
        "not": {"not": {"format": "path"}}, "text": {"type": "string"}
    }, "patternProperties": {"^file": {"format": "path"}, "\\d$": {"format": "uri"}}, "additionalProperties": {"properties": {"q": {"format": "path"}}},
    "$defs": {"p": {"format": "path"}}}));
    let value = json!({"p": "a", "n": "a", "u": "u:", "list": ["a", 1, "b"], "opt": "a", "mixed": "a", "pair": ["a", "b"], "if": "a",
        "not": "a", "text": "a", "file/x": "a", "other": {"q": "a"}});
    let found: Vec<String> = schema
        .locate(&value)
        .into_iter()
        .map(|Located { pointer, what }| match what {
            Declared::Path { follow_last: true } => format!("{pointer} path"),
            Declared::Path { follow_last: false } => format!("{pointer} nofollow"),
            Declared::Uri => format!("{pointer} uri"),
        })
        .collect();
    insta::assert_snapshot!(found.join("\n"), @r#"
    /file~1x path
    /if path
    /list/0 path
    /list/2 path
    /mixed nofollow
    /n nofollow
    /opt path
    /other/q path
    /p path
    /pair/1 path
    /u uri
    "#);
}

#[test]
fn the_primitive_type_of_a_property_is_the_only_one() {
    let schema = compile(&json!({"properties": {
        "s": {"type": "string"}, "i": {"type": ["null", "integer"]}, "n": {"type": "number"}, "b": {"const": true}, "e": {"enum": ["a", "b"]},
        "in": {"type": ["integer", "number"]}, "x": {"type": ["integer", "string"]}, "l": {"type": "array"}, "any": {}, "o": {"anyOf": [{"type": "integer"}, {}]},
        "a": {"allOf": [{"type": ["integer", "string"]}, {"type": "integer"}]}
    }}));
    let rows = [
        ("s", Some(Primitive::String)),
        ("i", Some(Primitive::Integer)),
        ("n", Some(Primitive::Number)),
        ("b", Some(Primitive::Boolean)),
        ("e", Some(Primitive::String)),
        ("in", Some(Primitive::Number)),
        ("x", None),
        ("l", None),
        ("any", None),
        ("o", None),
        ("none", None),
        ("a", Some(Primitive::Integer)),
    ];
    for (name, expected) in rows {
        assert_eq!(schema.primitive_type(name), expected, "{name}");
    }
    assert_eq!(schema.shape().len(), 11);
}

#[test]
fn f065_numbers_are_judged_exactly() {
    let schema = |text: &str| compile(&serde_json::from_str(text).unwrap());
    let holds = |schema: &Schema, text: &str| schema.check(&serde_json::from_str(text).unwrap()).is_empty();
    let integer = schema(r#"{"type": "integer"}"#);
    for good in
        ["9007199254740993", "18446744073709551616", "1e3", "1.0", "-0", "1000000000000000000000000000000"]
    {
        assert!(holds(&integer, good), "{good}");
    }
    for bad in ["0.1", "9007199254740993.5", "1e-3"] {
        assert!(!holds(&integer, bad), "{bad}");
    }
    let bound = schema(r#"{"maximum": 9007199254740992}"#);
    assert!(holds(&bound, "9007199254740992") && !holds(&bound, "9007199254740993"));
}
