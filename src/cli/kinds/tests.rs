//! Holds the schemas of the files that people write against the decoders: from good documents that use every key,
//! mutations are made with the help of the schema, and both have to give the same verdict.

use super::ALL;
use crate::manifest::{BUILTIN_NAMES, Origin, RequiresApproval};
use crate::policy::{self, ToolFacts};
use crate::project::SettingsFile;
use crate::schema::Schema;
use crate::source::{Decoder, Files, JsonLimits, parse_json};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What a decoder says of a document.
struct Verdict {
    errors: Vec<crate::diag::Diagnostic>,
}

fn decode(kind: &str, document: &Value) -> Verdict {
    let mut files = Files::new();
    let text = document.to_string();
    let id = files.add("document.json", text);
    let node = parse_json(&files, id, JsonLimits::FILE).unwrap();
    let mut decoder = Decoder::new();
    let mut more = Vec::new();
    match kind {
        "manifest" => {
            let origin = Origin { file: None, dir: None, stem: None, bytes_digest: String::new() };
            let tool = crate::manifest::decode(&mut decoder, &node, origin);
            if let Some(tool) = tool
                && let Some(RequiresApproval::When(when)) = &tool.requires_approval
            {
                let facts = ToolFacts {
                    name: tool.name.clone(),
                    layer: crate::model::Layer::Project,
                    read_only: false,
                    destructive: false,
                    idempotent: false,
                    requires_approval: None,
                    parameters: tool.parameters.clone(),
                    sandbox: None,
                    builtin_effects: None,
                    cwd: "/ws".into(),
                };
                more = policy::check_approval(when, &facts);
            }
        }
        "policy" => drop(policy::decode(&mut decoder, &node)),
        "settings" => drop(SettingsFile::decode(&mut decoder, &node)),
        _ => panic!("{kind} is no file"),
    }
    let mut errors = decoder.into_diagnostics();
    errors.extend(more);
    errors.retain(|found| found.severity == crate::diag::Severity::Error);
    Verdict { errors }
}

/// Conditions that between them have every subject and operator; small, since each is tried with every mutation of it.
fn conditions() -> Vec<Value> {
    vec![
        json!({
            "tool": {"not_in": ["a", "b*"]}, "effect": {"in": ["write", "external"]},
            "all": [{"args.n": 1}], "any": [{"args.n": 1}, {"args.n": {"le": 3}}], "not": {"args.text": "q"},
        }),
        json!({
            "args.text": {
                "eq": "x", "in": ["x", {"ref": "args.other"}], "not_in": ["y"], "exists": true, "case": "fold",
            },
            "args.n": {"gt": 0, "ge": 1, "lt": 9, "le": {"ref": "args.n"}},
        }),
        json!({
            "args.list": {
                "minItems": 1, "maxItems": 3, "each": {"minBytes": 1, "maxBytes": 9}, "some": {"prefix": "a"},
            },
            "ctx.userId": {"ref": "ctx.agentName"}, "tool.sandbox.allowNetwork": false,
        }),
        json!({
            "args.other": {"prefix": ["a", "b"], "suffix": "z", "contains": "m", "glob": "a*", "regex": "a.*z"},
            "args.path": {"under": ["src", "docs"], "path": "**/*.md", "ext": ["md"]},
        }),
        json!({"any": [
            {"tool": {"in": "a"}, "effect": {"eq": "read"}, "args.text": {"ref": "args.other"}},
            {"tool": {"eq": ["a"]}, "effect": {"not_in": ["read"]}},
        ]}),
    ]
}

/// The good documents, with those that hold the conditions.
fn all_documents(kind: &str) -> Vec<Value> {
    let mut all = documents(kind);
    let around = |condition: Value| match kind {
        "manifest" => Some(json!({
            "name": "x", "description": "Does x.", "command": ["x"], "requiresApproval": {"when": condition},
            "parameters": {"type": "object", "additionalProperties": false, "properties": {
                "path": {"format": "path", "type": "string"}, "n": {"type": "integer"}, "text": {"type": "string"},
                "list": {"type": "array", "items": {"type": "string"}}, "other": {"type": "string"},
            }},
        })),
        "policy" => Some(json!({
            "policy": "c", "format": 1, "role": "host",
            "rules": [{"id": "one", "when": condition, "action": "allow"}],
        })),
        _ => None,
    };
    all.extend(conditions().into_iter().filter_map(around));
    all
}

/// Good documents that between them have every key of the schema, those of conditions aside.
fn documents(kind: &str) -> Vec<Value> {
    let sandbox = json!({
        "enabled": true, "timeout": "10s", "maxMemoryMB": 64, "allowNetwork": ["api.example:443"],
        "allowFS": {"readOnly": ["{workspace}"], "readWrite": "/data"},
        "env": {"set": {"PAGER": "cat"}, "forward": ["LANG"]}, "maxOutputBytes": 10, "maxProcesses": 2,
        "maxFileSizeMB": 1, "cpuSeconds": 5, "runAs": "1000:1000", "required": ["netns", "cgroup"],
    });
    let parameters = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "path": {"type": "string", "format": "path"}, "n": {"type": "integer"}, "text": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string"}}, "other": {"type": "string"},
        },
    });
    match kind {
        "manifest" => vec![
            json!({
                "name": "x", "description": "Does x.", "parameters": parameters,
                "command": ["prog", "{args.text}", {"when": "args.path", "argv": ["{args.path}"]}],
                "endOfOptions": true, "allowLeadingDash": ["text"], "stdin": "args", "cwd": "{workspace}",
                "readOnly": true, "destructive": false, "idempotent": true, "sandbox": sandbox,
                "requiresApproval": false, "cache": {"ttl": 60000},
                "retry": {"attempts": 3, "backoffMs": 200, "deadlineMs": 60000}, "strict": true,
                "inputExamples": [{"n": 5}], "output": "json", "outputSchema": {"type": "object"},
                "toModelOutput": ["head", "-c", "40"], "process": "shared",
            }),
            json!({
                "name": "x", "description": "Does x.", "parameters": parameters, "builtin": "read_file",
                "sandbox": {"allowNetwork": "loopback", "allowFS": true, "env": {"A": "b"}, "timeout": 5},
                "requiresApproval": true, "async": {"ttlSeconds": 600}, "output": "text",
            }),
        ],
        "policy" => vec![
            json!({
                "policy": "main", "format": 1, "role": "host", "default": "deny", "reasonDefault": "no",
                "vars": {"limit": 50, "names": ["a", "b"], "on": true}, "trustHints": ["x"], "mode": "enforce",
                "effects": {
                    "x": [{"effect": ["read", "write"], "when": {"args.n": {"le": "${vars.limit}"}}, "from": "project"}],
                    "y": {"effect": "read"},
                },
                "rules": [
                    {
                        "id": "one", "tool": {"in": ["x", "y*"]}, "effect": "read", "when": {"args.n": 1},
                        "unless": {"args.text": {"in": "${vars.names}"}}, "action": "ask", "reason": "{args.n}",
                        "match": [{"n": 1}], "notMatch": [{"n": 2}], "limits": sandbox, "from": "project",
                        "remember": "1h", "strength": "presence",
                    },
                    {"id": "two", "tool": "x", "always": true, "action": "allow"},
                    {"id": "three", "when": {"args.path": {"path": ["**/.env"]}}, "action": "deny", "mask": true},
                    {"id": "five", "tool": {"eq": "x"}, "effect": {"eq": "read"}, "always": true, "action": "allow"},
                    {"id": "four", "tool": ["x"], "action": {"atLeast": "ask"}, "mode": "evaluate"},
                ],
            }),
            json!({
                "policy": "d", "format": 1, "role": "delegate", "default": "inherit",
                "for": {"ctx.agentName": "helper"},
            }),
            json!({"policy": "g", "format": 1, "role": "guard", "rules": []}),
        ],
        "settings" => {
            let mut with_backend = sandbox.clone();
            with_backend["backend"] = json!("ns");
            vec![
                json!({
                    "workspace": "sub", "agentName": "a", "concurrency": 3, "sandbox": with_backend,
                    "approval": {
                        "policy": ["x"], "timeout": "5m", "timeoutAction": "deny",
                        "command": {"command": ["ask"], "sandbox": sandbox}, "additional": ["b"],
                        "approvers": ["c"], "need": 2,
                    },
                    "artifacts": {"maxToolOutputBytes": 100, "previewChars": 10},
                    "loopDetection": {"maxRepeats": 3, "action": "hint", "resetOnNewResult": true},
                    "router": {"maxTools": 8, "minTools": 0, "temperature": 0.5, "command": ["route"]},
                    "onToolException": "report", "runtime": ["/opt/x"], "path": ["/usr/bin"],
                    "forwardableEnv": ["LANG"], "tools": ["tools.d"], "policies": "policies",
                }),
                json!({"sandbox": true, "approval": {"policy": "all"}}),
            ]
        }
        _ => panic!("{kind} is no file"),
    }
}

/// The definition of one of our schemas, and what its parts say.
struct Definition {
    root: Value,
    compiled: Schema,
}

impl Definition {
    fn of(kind: &str) -> Self {
        let text = ALL.iter().find(|known| known.name == kind).unwrap().text;
        let root: Value = serde_json::from_str(text).unwrap();
        let compiled = Schema::compile_any(&root).unwrap_or_else(|faults| panic!("{kind}: {faults:?}")).0;
        Self { root, compiled }
    }

    fn accepts(&self, document: &Value) -> bool {
        self.compiled.accepts(document)
    }

    /// The schema and those that its `$ref`, `anyOf` and `allOf` stand for.
    fn same<'s>(&'s self, schema: &'s Value) -> Vec<&'s Value> {
        let mut all = vec![schema];
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(name.trim_start_matches('#'));
            all.extend(self.same(target.unwrap_or_else(|| panic!("{name} leads nowhere"))));
        }
        for key in ["anyOf", "allOf"] {
            for part in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                all.extend(self.same(part));
            }
        }
        all
    }

    /// The schemas that speak of the value under `key` of an object, or of its items.
    fn inside<'s>(&'s self, schema: &'s Value, key: Option<&str>) -> Vec<&'s Value> {
        let mut found = Vec::new();
        for part in self.same(schema) {
            let Some(key) = key else {
                found.extend(part.get("items"));
                continue;
            };
            found.extend(part.get("properties").and_then(|properties| properties.get(key)));
            for (pattern, schema) in
                part.get("patternProperties").and_then(Value::as_object).into_iter().flatten()
            {
                if regex::Regex::new(pattern).unwrap().is_match(key) {
                    found.push(schema);
                }
            }
            let free = part.get("additionalProperties").filter(|schema| schema.is_object());
            found.extend(free);
        }
        found
    }
}

/// A place in a document with the parts of the schema that speak of it.
type Place<'s> = (String, Vec<&'s Value>);

fn places<'s>(of: &'s Definition, document: &Value) -> Vec<Place<'s>> {
    let mut all = Vec::new();
    walk(of, document, String::new(), vec![&of.root], &mut all);
    all
}

fn walk<'s>(
    of: &'s Definition,
    value: &Value,
    pointer: String,
    schemas: Vec<&'s Value>,
    all: &mut Vec<Place<'s>>,
) {
    let inside =
        |key: Option<&str>| schemas.iter().flat_map(|schema| of.inside(schema, key)).collect::<Vec<_>>();
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let schemas = inside(Some(key));
                if !schemas.is_empty() {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    walk(of, value, format!("{pointer}/{key}"), schemas, all);
                }
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                walk(of, value, format!("{pointer}/{at}"), inside(None), all);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all.push((pointer, schemas));
}

const STRANGE: &str = "qqqqqqqqqqqqqqqqqqqqqqqqqqqq";

/// Every document that differs from a good one in one place: a value of another type, a strange text, a key more, a key
/// less.
fn mutations(document: &Value, places: &[Place<'_>]) -> Vec<(String, Value)> {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(99_999_999_999_999_u64),
        json!(STRANGE),
        json!(""),
        json!([]),
        json!([STRANGE]),
        json!([[]]),
        json!({}),
        json!({STRANGE: 1}),
    ];
    let mut all = Vec::new();
    for (pointer, _) in places {
        for other in &others {
            let mut changed = document.clone();
            *changed.pointer_mut(pointer).unwrap() = other.clone();
            all.push((format!("{pointer} = {other}"), changed));
        }
        if let Some(map) = document.pointer(pointer).and_then(Value::as_object) {
            let edit = |edit: &dyn Fn(&mut Map<String, Value>)| {
                let mut changed = document.clone();
                edit(changed.pointer_mut(pointer).unwrap().as_object_mut().unwrap());
                changed
            };
            all.push((
                format!("{pointer} + {STRANGE}"),
                edit(&|map| drop(map.insert(STRANGE.to_owned(), json!(1)))),
            ));
            for key in map.keys() {
                all.push((format!("{pointer} - {key}"), edit(&|map| drop(map.remove(key)))));
            }
        }
    }
    all
}

/// Whether a fault is one that a schema can see: a key, a type, a choice, a range.
fn is_structural(fault: &crate::diag::Diagnostic) -> bool {
    use crate::diag::Code;
    let says = |text: &str| fault.message.contains(text);
    match fault.code {
        Code::SourceUnknownKey
        | Code::SourceMissingKey
        | Code::SourceWrongType
        | Code::PolicyUnknownOperator => true,
        Code::SourceBadValue => says("must be one of") || says("must be a whole number from"),
        _ => false,
    }
}

#[test]
fn decoders_and_schemas_agree_on_every_mutation() {
    let mut tried = 0;
    for kind in ALL.iter().filter(|kind| kind.written) {
        let schema = Definition::of(kind.name);
        for document in all_documents(kind.name) {
            let good = decode(kind.name, &document);
            assert!(good.errors.is_empty(), "{}: {:#?}", kind.name, good.errors);
            let issues = schema.compiled.check(&document);
            assert!(issues.is_empty(), "{}: {issues:?}", kind.name);
            for (what, changed) in mutations(&document, &places(&schema, &document)) {
                let verdict = decode(kind.name, &changed);
                let accepted = schema.accepts(&changed);
                tried += 1;
                assert!(
                    accepted || !verdict.errors.is_empty(),
                    "{}: {what}: the decoder takes what the schema refuses: {:?}",
                    kind.name,
                    schema.compiled.check(&changed)
                );
                let structural: Vec<_> = verdict.errors.iter().filter(|fault| is_structural(fault)).collect();
                assert!(
                    // A variable of another type is a fault where it is used.
                    !accepted
                        || structural.is_empty()
                        || what.starts_with("/vars")
                        || what.ends_with(" - vars"),
                    "{}: {what}: the schema takes what the decoder refuses: {structural:#?}",
                    kind.name
                );
            }
        }
    }
    assert!(tried > 2000, "only {tried} mutations");
}

/// Keys that a decoder asks for and that a schema leaves out, since the version refuses them.
const REFUSED: [&str; 2] = ["decide", "prove"];

/// The names that a message lists behind `known keys:` or `operators:`.
fn known_names(fault: &crate::diag::Diagnostic) -> Option<BTreeSet<String>> {
    let lists = fault
        .help
        .iter()
        .filter_map(|help| help.strip_prefix("known keys: ").or_else(|| help.strip_prefix("operators: ")));
    let names = lists.flat_map(|list| list.split(", ")).filter(|name| !REFUSED.contains(name));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    (!names.is_empty()).then_some(names)
}

/// What a decoder lists as its keys is what the schema lists; a key that only one of them has fails here.
#[test]
fn decoders_and_schemas_list_the_same_keys() {
    let mut compared = 0;
    for kind in ALL.iter().filter(|kind| kind.written) {
        let schema = Definition::of(kind.name);
        for document in all_documents(kind.name) {
            for (pointer, schemas) in places(&schema, &document) {
                let Some(Value::Object(_)) = document.pointer(&pointer) else { continue };
                let mut changed = document.clone();
                changed.pointer_mut(&pointer).unwrap()[STRANGE] = json!(1);
                let faults = decode(kind.name, &changed).errors;
                let Some(listed) = faults.iter().find_map(known_names) else { continue };
                let parts = schemas.iter().flat_map(|part| schema.same(part));
                let objects: Vec<BTreeSet<String>> = parts
                    .filter(|part| part.get("additionalProperties") == Some(&json!(false)))
                    .filter_map(|part| part.get("properties").and_then(Value::as_object))
                    .map(|properties| properties.keys().cloned().collect())
                    .collect();
                // What is no argument cannot be tested as a path.
                let mut plain = listed.clone();
                plain.retain(|name| !["under", "path", "ext"].contains(&name.as_str()));
                // `backend` is read before the rest of the settings' sandbox.
                let mut with_backend = listed.clone();
                with_backend.insert("backend".to_owned());
                assert!(
                    [&listed, &with_backend, &plain].iter().any(|known| objects.contains(*known)),
                    "{}{pointer}: the decoder knows {listed:?}, the schema {objects:?}",
                    kind.name
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "only {compared} mappings");
}

/// The good documents use every key of their schema, so that each is held against the decoder.
#[test]
fn the_documents_use_every_key() {
    for kind in ALL.iter().filter(|kind| kind.written) {
        let schema = Definition::of(kind.name);
        let mut used: BTreeSet<*const Value> = BTreeSet::new();
        for document in all_documents(kind.name) {
            for (_, schemas) in places(&schema, &document) {
                for part in schemas.iter().flat_map(|part| schema.same(part)) {
                    used.insert(std::ptr::from_ref(part));
                }
            }
        }
        let mut unused = Vec::new();
        collect_properties(&schema.root, "", &mut |name, property| {
            if property.is_object() && !used.contains(&std::ptr::from_ref(property)) {
                unused.push(name.to_owned());
            }
        });
        // A matcher of what is no argument is the same, less its tests of paths.
        unused.retain(|name| !name.contains("plainMatcher") && !name.contains("/allOf/"));
        assert!(unused.is_empty(), "{}: no document has {unused:?}", kind.name);
    }
}

fn collect_properties<'s>(schema: &'s Value, path: &str, see: &mut impl FnMut(&str, &'s Value)) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                if key == "properties" {
                    for (name, property) in value.as_object().into_iter().flatten() {
                        see(&format!("{path}/{name}"), property);
                        collect_properties(property, &format!("{path}/{name}"), see);
                    }
                } else {
                    collect_properties(value, &format!("{path}/{key}"), see);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect_properties(item, &format!("{path}/{at}"), see);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn choices_are_those_of_the_code() {
    let manifest = Definition::of("manifest").root;
    assert_eq!(manifest["properties"]["builtin"]["enum"], json!(BUILTIN_NAMES));
    // One definition, wherever it stands.
    let (policy, settings) = (Definition::of("policy").root, Definition::of("settings").root);
    for (name, definition) in manifest["$defs"].as_object().unwrap() {
        for other in [&policy, &settings] {
            let same = other["$defs"].get(name).is_none_or(|other| other == definition);
            assert!(same, "{name} differs");
        }
    }
}

#[test]
fn every_schema_is_a_kind_and_says_what_it_is() {
    let files: BTreeSet<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let kinds: BTreeSet<String> = ALL.iter().map(|kind| format!("{}.v1.json", kind.name)).collect();
    assert_eq!(kinds, files);
    for kind in ALL {
        let schema: serde_json::Value = serde_json::from_str(kind.text).unwrap();
        assert_eq!(schema["title"], kind.title(), "{}", kind.name);
        assert_eq!(schema["$id"], format!("urn:toolctl:schema:{}:v1", kind.name));
        let names_itself = kind.text.contains(&format!("\"const\": \"toolctl.{}/v1\"", kind.name));
        assert_eq!(names_itself, !kind.written, "{}", kind.name);
    }
}
