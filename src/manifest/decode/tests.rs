use super::{Origin, decode};
use crate::diag::{Code, Diagnostic};
use crate::manifest::testing::node;
use crate::manifest::{ArgvElement, Exec, RequiresApproval, StdinSource, Tool};
use crate::source::Decoder;
use serde_json::{Value, json};

fn origin(stem: &str) -> Origin<'_> {
    Origin {
        file: Some("/ws/tools.d/t.yaml".into()),
        dir: Some("/ws/tools.d".into()),
        stem: Some(stem),
        bytes_digest: "sha256:0".to_owned(),
    }
}

fn read(value: &Value) -> (Option<Tool>, Vec<Diagnostic>) {
    let mut decoder = Decoder::new();
    let tool = decode(&mut decoder, &node(value), origin("t"));
    (tool, decoder.into_diagnostics())
}

fn base() -> Value {
    json!({
        "name": "t",
        "description": "Does it.",
        "parameters": {
            "type": "object",
            "properties": {
                "count": {"type": "integer", "default": 20},
                "path": {"type": "string", "format": "path"},
                "paths": {"type": "array", "items": {"type": "string", "format": "path"}},
                "text": {"type": "string"},
                "deep": {"type": "object"}
            },
            "additionalProperties": false
        },
        "command": ["git", "log", "-n", "{args.count}"]
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut manifest = base();
    manifest[key] = value;
    manifest
}

#[test]
fn reads_every_key() {
    let mut manifest = base();
    for (key, value) in [
        (
            "command",
            json!(["git", "log", "-n", "{args.count}", "--", {"when": "args.paths", "argv": ["{args.paths}"]}]),
        ),
        ("endOfOptions", json!(true)),
        ("allowLeadingDash", json!(["text"])),
        ("stdin", json!("{args.text}")),
        ("cwd", json!("{workspace}")),
        ("readOnly", json!(true)),
        ("destructive", json!(true)),
        ("idempotent", json!(true)),
        (
            "sandbox",
            json!({"timeout": "10s", "allowFS": {"readOnly": ["{workspace}", "{args.path}"], "readWrite": "{args.paths}"}}),
        ),
        ("requiresApproval", json!({"when": {"args.count": {"gt": 5}}})),
        ("cache", json!({"ttl": 60000})),
        ("retry", json!({"attempts": 3, "backoffMs": 200, "deadlineMs": 60000})),
        ("strict", json!(true)),
        ("inputExamples", json!([{"count": 5}])),
        ("output", json!("json")),
        ("outputSchema", json!({"type": "array"})),
        ("toModelOutput", json!(["head", "-c", "4000"])),
        ("process", json!("shared")),
    ] {
        manifest[key] = value;
    }
    let (tool, found) = read(&manifest);
    assert_eq!(found, []);
    let tool = tool.unwrap();
    assert!(tool.end_of_options && tool.read_only && tool.destructive && tool.idempotent && tool.strict);
    assert_eq!(tool.stdin, StdinSource::Arg("text".to_owned()));
    // The condition alone, as policy reads it.
    let Some(RequiresApproval::When(when)) = &tool.requires_approval else { panic!("a condition") };
    assert!(when.get("when").is_none());
    assert_eq!(tool.retry.unwrap().deadline.as_secs(), 60);
    assert_eq!(tool.cache_ttl.unwrap().as_secs(), 60);
    assert_eq!(tool.input_examples, [json!({"count": 5})]);
    let Exec::Command(argv) = &tool.exec else { panic!("a command") };
    assert_eq!(argv.len(), 6);
    assert!(matches!(&argv[3], ArgvElement::One(t) if t.sole_arg() == Some("count")));
    assert!(matches!(&argv[5], ArgvElement::Group { when, argv } if when == "paths" && argv.len() == 1));
    assert_eq!(super::super::unsupported(&tool).len(), 5);
}

#[test]
fn the_smallest_manifest_has_safe_defaults() {
    let (tool, found) = read(&base());
    assert_eq!(found, []);
    let tool = tool.unwrap();
    assert_eq!(tool.stdin, StdinSource::Args);
    assert!(tool.sandbox.is_none() && !tool.end_of_options && tool.allow_leading_dash.is_empty());
    assert_eq!(super::super::unsupported(&tool), []);
    assert_eq!(super::super::lint(&tool), []);
}

#[test]
fn one_fault_one_finding() {
    use Code::{
        ManifestBadExample, ManifestBadName, ManifestBadSchema, ManifestBadTemplate, SourceBadValue,
        SourceUnknownKey, SourceWrongType,
    };
    let table = [
        ("name", json!("other"), ManifestBadName),
        ("name", json!("a b"), ManifestBadName),
        ("name", json!("x".repeat(65)), ManifestBadName),
        ("name", json!("tööl"), ManifestBadName),
        ("name", json!(1), SourceWrongType),
        ("description", json!(" \n"), SourceBadValue),
        ("command", json!([]), SourceBadValue),
        ("command", json!("git status"), SourceWrongType),
        ("command", json!([""]), SourceBadValue),
        ("command", json!(["git", 5]), SourceWrongType),
        ("command", json!(["git", "{args.cuont}"]), ManifestBadTemplate),
        ("command", json!(["git", "{arg.count}"]), ManifestBadTemplate),
        ("command", json!(["git", "a}"]), ManifestBadTemplate),
        ("command", json!(["git", "a\u{0}"]), SourceBadValue),
        ("command", json!(["{args.text}"]), ManifestBadTemplate),
        ("command", json!(["{workspace}/x"]), ManifestBadTemplate),
        ("command", json!(["git", "x{args.paths}"]), ManifestBadTemplate),
        ("command", json!(["git", "{args.deep}"]), ManifestBadTemplate),
        ("command", json!(["git", {"when": "path", "argv": ["x"]}]), ManifestBadTemplate),
        ("command", json!(["git", {"when": "args.pth", "argv": ["x"]}]), ManifestBadTemplate),
        ("command", json!(["git", {"when": "args.path", "argv": ["x"], "else": []}]), SourceUnknownKey),
        (
            "command",
            json!(["git", {"when": "args.path", "argv": [{"when": "args.path", "argv": []}]}]),
            SourceBadValue,
        ),
        ("command", json!(["sh", "-c", "echo {args.text}"]), Code::ManifestShellTemplate),
        ("builtin", json!("read_file"), SourceBadValue),
        ("stdin", json!("arg"), SourceBadValue),
        ("stdin", json!("{args.count}"), ManifestBadTemplate),
        ("stdin", json!("{args.text}!"), SourceBadValue),
        ("cwd", json!("{args.text}"), ManifestBadTemplate),
        ("cwd", json!("{workspace}/{args.path}"), ManifestBadTemplate),
        ("cwd", json!("sub"), ManifestBadTemplate),
        ("sandbox", json!({"allowFS": {"readOnly": ["{args.text}"]}}), ManifestBadTemplate),
        ("sandbox", json!({"allowFS": {"readWrite": ["data"]}}), ManifestBadTemplate),
        ("sandbox", json!({"timeuot": 5}), SourceUnknownKey),
        ("sandbox", json!("on"), SourceWrongType),
        ("allowLeadingDash", json!(["args.text"]), ManifestBadTemplate),
        ("requiresApproval", json!("yes"), SourceWrongType),
        ("requiresApproval", json!({"wehn": {}}), Code::SourceMissingKey),
        ("retry", json!({"attempts": 0}), SourceBadValue),
        ("inputExamples", json!([{"count": "five"}]), ManifestBadExample),
        ("inputExamples", json!([5]), SourceWrongType),
        ("outputSchema", json!({}), SourceBadValue),
        ("toModelOutput", json!([]), SourceBadValue),
        ("process", json!("own"), SourceBadValue),
        ("output", json!("xml"), SourceBadValue),
        ("readonly", json!(true), SourceUnknownKey),
        ("parameters", json!({"type": "array"}), ManifestBadSchema),
        ("parameters", json!([]), SourceWrongType),
        (
            "parameters",
            json!({"type": "object", "properties": {"count": {"type": "intger"}}}),
            ManifestBadSchema,
        ),
    ];
    for (key, value, code) in table {
        let (tool, found) = read(&with(key, value.clone()));
        assert!(tool.is_none(), "{key}: {value}");
        assert!(found.iter().any(|d| d.code == code), "{key}: {value}: {found:#?}");
        assert!(found.iter().all(|d| d.primary.is_some()), "{key}: {value}: {found:#?}");
    }
}

#[test]
fn reports_all_faults_at_once() {
    let (tool, found) = read(&json!({
        "name": "a b", "parameters": {"type": "object"}, "command": ["x", "{args.y}"], "strcit": true
    }));
    assert!(tool.is_none());
    let mut codes: Vec<_> = found.iter().map(|d| d.code).collect();
    codes.sort();
    assert_eq!(
        codes,
        [Code::SourceMissingKey, Code::SourceUnknownKey, Code::ManifestBadName, Code::ManifestBadTemplate]
    );
}

#[test]
fn proposes_near_names() {
    let (_, found) = read(&with("command", json!(["git", "{args.cuont}"])));
    assert_eq!(found[0].help, ["did you mean `args.count`?"]);
    let mut manifest = base();
    manifest.as_object_mut().unwrap().remove("command");
    manifest["builtin"] = json!("readfile");
    let (_, found) = read(&manifest);
    assert_eq!(found[0].help, ["did you mean `read_file`?"]);
    manifest["builtin"] = json!("read_file");
    assert!(read(&manifest).0.is_some());
    manifest["stdin"] = json!("none");
    assert!(read(&manifest).0.is_none());
}

#[test]
fn errors_of_other_files_do_not_count() {
    let mut decoder = Decoder::new();
    decoder.report(Diagnostic::error(Code::SourceYaml, "elsewhere"));
    assert!(decode(&mut decoder, &node(&base()), origin("t")).is_some());
    assert_eq!(decoder.count(), 1);
}
