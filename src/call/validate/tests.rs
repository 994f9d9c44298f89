use super::{CallEnv, accept, validate};
use crate::call::{Call, CallError, ValidatedCall};
use crate::schema::Schema;
use crate::world::MemoryWorld;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::path::Path;

fn world() -> MemoryWorld {
    MemoryWorld::new("/ws")
        .with_file("/ws/src/main.rs", "")
        .with_file("/etc/passwd", "")
        .with_link("/ws/out", "/etc")
        .with_link("/ws/loop", "loop")
}

fn run_in(schema: &Value, args: Value, cwd_is_workspace: bool) -> Result<ValidatedCall, CallError> {
    let world = world();
    let base = if cwd_is_workspace { Path::new("/ws") } else { Path::new("/ws/src") };
    let env = CallEnv { world: &world, base, workspace: Path::new("/ws"), cwd_is_workspace };
    let Value::Object(args) = args else { panic!("not an object") };
    let call = Call { tool_call_id: "c1".to_owned(), tool_name: "t".to_owned(), args };
    validate(call, &Schema::compile_tool(schema).unwrap().0, &env)
}

fn accepted(schema: &Value, args: Value, cwd_is_workspace: bool) -> Result<Map<String, Value>, CallError> {
    let world = world();
    let base = if cwd_is_workspace { Path::new("/ws") } else { Path::new("/ws/src") };
    let env = CallEnv { world: &world, base, workspace: Path::new("/ws"), cwd_is_workspace };
    let Value::Object(args) = args else { panic!("not an object") };
    accept(args, &Schema::compile_tool(schema).unwrap().0, &env)
}

fn run(schema: &Value, args: Value) -> Result<ValidatedCall, CallError> {
    run_in(schema, args, true)
}

fn places() -> Value {
    json!({"type": "object", "properties": {
        "path": {"type": "string", "format": "path"},
        "link": {"type": "string", "format": "path", "x-path": "nofollow"},
        "maybe": {"anyOf": [{"type": "string", "format": "path"}, {"type": "null"}]},
        "paths": {"type": "array", "items": {"$ref": "#/$defs/p"}},
        "url": {"type": "string", "format": "uri", "pattern": "^https:"},
        "short": {"type": "string", "format": "path", "maxLength": 6},
        "secret": {"type": "string", "format": "path", "writeOnly": true},
        "both": {"allOf": [{"format": "path"}, {"format": "uri"}]},
        "text": {"type": "string"}
    }, "$defs": {"p": {"type": "string", "format": "path"}}, "additionalProperties": false})
}

#[test]
fn declared_paths_and_uris_become_canonical_and_originals_are_kept() {
    let call = run(
        &places(),
        json!({"path": "src/../src/./main.rs", "maybe": "/ws/src/", "paths": ["out/passwd", "src"], "text": "a/../b",
               "url": "https://Example.COM.:443/a/../b"}),
    )
    .unwrap();
    assert_eq!(
        call.canonical(),
        r#"{"maybe":"src","path":"src/main.rs","paths":["/etc/passwd","src"],"text":"a/../b","url":"https://example.com/b"}"#
    );
    assert_eq!(Value::Object(call.args().clone()).to_string(), call.canonical());
    let originals: Vec<&str> = call.originals().keys().map(String::as_str).collect();
    assert_eq!(originals, ["/maybe", "/path", "/paths/0", "/url"]);
    assert_eq!(call.originals()["/paths/0"], "out/passwd");
    assert_eq!(call.paths()["/paths/0"].absolute(), "/etc/passwd");
    assert!(call.paths()["/paths/0"].via_symlink());
    assert_eq!(call.urls()["/url"].host(), Some("example.com"));
}

#[test]
fn a_tool_elsewhere_gets_absolute_paths() {
    let call = run_in(&places(), json!({"path": "main.rs", "link": "../out"}), false).unwrap();
    assert_eq!(call.canonical(), r#"{"link":"/ws/out","path":"/ws/src/main.rs"}"#);
    assert_eq!(call.paths()["/path"].relative(), Some("src/main.rs"));
    assert_eq!((call.paths()["/link"].link(), call.paths()["/link"].absolute()), (Some("/ws/out"), "/etc"));
}

#[test]
fn patterns_and_lengths_judge_what_the_caller_wrote() {
    let call = run(&places(), json!({"short": "out"})).unwrap();
    assert_eq!(call.canonical(), r#"{"short":"/etc"}"#);
    assert!(run(&places(), json!({"short": "src/../src"})).is_err());
    assert!(run(&places(), json!({"url": "http://example.com"})).is_err());
    assert!(run(&places(), json!({"url": "https://example.com"})).is_ok());
}

#[test]
fn places_without_a_canonical_form_are_refused_together() {
    let error = run(
        &places(),
        json!({"path": "loop", "maybe": "src/main.rs/x", "url": "https://a@b.c/", "secret": "loop/x", "both": "x:y"}),
    )
    .unwrap_err();
    assert!(matches!(&error, CallError::BadPath(issues) if issues.len() == 5), "{error}");
    assert_eq!(error.code().as_str(), "call/bad-path");
    insta::assert_snapshot!(error.issues().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @r#"
    /both: the schema declares it both a path and a URI, so what it means is not certain
    /maybe: "src/main.rs/x": "/ws/src/main.rs" is not a folder, so nothing can be below it
    /path: "loop": it passes more than 40 symbolic links; some of them probably form a loop
    /secret: it passes more than 40 symbolic links; some of them probably form a loop
    /url: "https://a@b.c/": it carries a user name or password before the host; leave that out
    "#);
}

#[test]
fn f109_defaults_are_filled_shown_and_judged() {
    let schema = json!({"type": "object", "properties": {
        "mode": {"type": "string", "default": "fast"},
        "opt": {"type": "object", "properties": {"depth": {"type": "integer", "default": 2}}},
        "dir": {"type": "string", "format": "path", "default": "./src"},
        "must": {"type": "integer", "default": 3}
    }, "required": ["must"]});
    let call = run(&schema, json!({"must": 1})).unwrap();
    assert_eq!(call.canonical(), r#"{"dir":"src","mode":"fast","must":1}"#);
    assert_eq!(call.defaults(), ["/dir", "/mode"]);
    let call = run(&schema, json!({"must": 1, "opt": {}, "mode": "slow"})).unwrap();
    assert_eq!(call.canonical(), r#"{"dir":"src","mode":"slow","must":1,"opt":{"depth":2}}"#);
    assert_eq!(call.defaults(), ["/dir", "/opt/depth"]);
    // `required` wins over `default`.
    assert!(matches!(run(&schema, json!({})), Err(CallError::Invalid(_))));
    // A default that only breaks the rest of the arguments is found when they are judged again.
    let schema = json!({"type": "object", "properties": {"a": {"default": 1}, "b": {}}, "dependentRequired": {"a": ["b"]}});
    let error = run(&schema, json!({})).unwrap_err();
    assert!(error.to_string().contains("with the defaults of the schema filled in"), "{error}");
    assert!(run(&schema, json!({"b": 1})).is_ok());
}

#[test]
fn f065_numbers_reach_the_tool_and_the_digest_exactly() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}});
    let args = |text: &str| -> Value { serde_json::from_str(&format!(r#"{{"id":{text}}}"#)).unwrap() };
    let rows = [
        ("9007199254740993", "9007199254740993"),
        ("18446744073709551615", "18446744073709551615"),
        ("1000000000000000000000000000000", "1000000000000000000000000000000"),
        ("1e30", "1000000000000000000000000000000"),
        ("1e3", "1000"),
        ("1.0", "1"),
        ("-0", "0"),
    ];
    for (given, expected) in rows {
        let call = run(&schema, args(given)).unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!(call.canonical(), format!(r#"{{"id":{expected}}}"#), "{given}");
        assert_eq!(call.args()["id"].to_string(), expected, "{given}");
    }
    assert!(matches!(run(&schema, args("0.1")), Err(CallError::Invalid(_))));
    let any = json!({"type": "object"});
    assert_eq!(run(&any, args("1e400")).unwrap_err().code().as_str(), "call/number-range");
    let digest = |text: &str| run(&schema, args(text)).unwrap().digest().to_owned();
    assert_eq!(digest("1e3"), digest("1000.0"));
    assert_ne!(digest("9007199254740993"), digest("9007199254740992"));
}

#[test]
fn the_digest_is_over_name_and_arguments() {
    let call = run(&json!({"type": "object"}), json!({"b": 1, "a": "x"})).unwrap();
    assert_eq!(
        call.digest(),
        crate::canon::sha256(b"toolctl.call/v1\n{\"args\":{\"a\":\"x\",\"b\":1},\"toolName\":\"t\"}")
    );
}

fn path_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["src", "main.rs", "out", "..", ".", "new", "ws"]), 1..6)
        .prop_map(|parts| parts.join("/"))
}

proptest! {
    #[test]
    fn validating_what_was_validated_changes_nothing(path in path_text(), link in path_text(), inside: bool) {
        if let Ok(first) = run_in(&places(), json!({"path": path, "link": link}), inside) {
            let alone = accepted(&places(), json!({"path": path, "link": link}), inside).unwrap();
            prop_assert_eq!(&alone, first.args());
            let again = run_in(&places(), Value::Object(first.args().clone()), inside).unwrap();
            prop_assert_eq!(again.canonical(), first.canonical());
            prop_assert_eq!(again.digest(), first.digest());
            prop_assert!(again.originals().is_empty());
        }
    }
}
