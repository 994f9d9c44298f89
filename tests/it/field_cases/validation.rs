//! Arguments and schemas.

use super::kit::{allow, call, human, project, quoted, tool};
use crate::harness::{Project, everybody};
use serde_json::{Value, json};
use std::time::Duration;

/// A tool that prints its arguments as they reach it.
fn echo(parameters: &str) -> String {
    format!("parameters: {parameters}\ncommand: [/bin/cat]\n")
}

fn issues(json: &Value) -> Vec<String> {
    let text =
        |issue: &Value| format!("{} {}", issue["path"].as_str().unwrap(), issue["message"].as_str().unwrap());
    json["issues"].as_array().unwrap().iter().map(text).collect()
}

/// Digits arrive as they were written or the call is refused; nothing is rounded. 1.0 is a valid integer.
#[test]
fn f065_numbers_are_not_rounded() {
    let who = &everybody()[0];
    let schema = "{ type: object, properties: { id: { type: integer }, x: { type: number } }, additionalProperties: false }";
    let project = project(who, &[("echo", &echo(schema))], &allow("echo", "read"));
    let mut digests = std::collections::BTreeSet::new();
    for digits in [
        "9007199254740993",
        "9007199254740992",
        "18446744073709551615",
        "1000000000000000000000000000000",
        "-9223372036854775809",
    ] {
        let args = format!("{{\"id\":{digits}}}");
        let ran = human(&project, "echo", &args).expect(0);
        assert_eq!(ran.out(), args, "{digits}");
        let json = call(&project, "echo", &args, 0);
        assert!(
            digests.insert(json["callDigest"].as_str().unwrap().to_owned()),
            "{digits} shares its digest"
        );
        let plan = project.run(["plan", "echo", "--format", "json", "--args", &args]).expect(0).out();
        assert!(plan.contains(digits), "{plan}");
    }
    for (written, arrives) in [("1.0", "1"), ("1e3", "1000"), ("-0", "0")] {
        let ran = human(&project, "echo", &format!("{{\"id\":{written}}}")).expect(0);
        assert_eq!(ran.out(), format!("{{\"id\":{arrives}}}"), "{written}");
    }
    call(&project, "echo", r#"{"id":0.1}"#, 3);
    assert_eq!(human(&project, "echo", r#"{"x":0.1}"#).expect(0).out(), r#"{"x":0.1}"#);
    let json = call(&project, "echo", r#"{"x":1e400}"#, 3);
    assert_eq!(json["code"], "call/number-range");
}

/// Nothing is converted: each wrong type is its own issue, which says what was expected and what came.
#[test]
fn f067_strings_are_not_taken_for_numbers() {
    for who in everybody() {
        let schema = "{ type: object, properties: { limit: { type: integer }, tags: { type: array }, note: { type: string } }, additionalProperties: false }";
        let project = project(&who, &[("echo", &echo(schema))], &allow("echo", "read"));
        let json = call(&project, "echo", r#"{"limit":"10","tags":"[\"a\"]","note":"[1]"}"#, 3);
        let issues = issues(&json);
        assert_eq!(issues.len(), 2, "{issues:?}");
        for (path, expected) in [("/limit", "integer"), ("/tags", "array")] {
            assert!(
                issues.iter().any(|i| i.starts_with(path) && i.contains(expected) && i.contains("string")),
                "{issues:?}"
            );
        }
        let args = r#"{"limit":10,"note":"[1]","tags":["a"]}"#;
        assert_eq!(human(&project, "echo", args).expect(0).out(), args);
    }
}

/// A default reaches policy and tool. Objects that are absent stay absent, so a default inside an absent one does too;
/// below `oneOf` it is not filled in, which `check` says.
#[test]
fn f109_defaults_are_filled_in() {
    let who = &everybody()[0];
    let schema = "{ type: object, properties: { mode: { type: string, default: fast }, opt: { type: object, properties: { depth: { type: integer, default: 2 } } }, must: { type: integer, default: 1 } }, required: [must], additionalProperties: false }";
    let policy = super::kit::host(
        "echo: [{ effect: read }]",
        &["{ id: only-fast, tool: echo, when: { args.mode: fast }, action: allow }"],
    );
    let manifest = format!("parameters: {schema}\ncommand: [/usr/bin/printf, \"%s\", \"{{args.mode}}\"]\n");
    let project = project(who, &[("echo", &manifest)], &policy);
    assert_eq!(human(&project, "echo", r#"{"must":5}"#).expect(0).out(), "fast");
    call(&project, "echo", r#"{"must":5,"mode":"slow"}"#, 10);
    let plan = project
        .run(["plan", "echo", "--format", "json", "--args", r#"{"must":5,"opt":{}}"#])
        .expect(0)
        .json();
    assert_eq!(plan["args"], json!({"mode": "fast", "must": 5, "opt": {"depth": 2}}));
    assert_eq!(plan["defaults"], json!(["/mode", "/opt/depth"]));
    let plan = project.run(["plan", "echo", "--format", "json", "--args", r#"{"must":5}"#]).expect(0).json();
    assert_eq!(plan["args"], json!({"mode": "fast", "must": 5}));
    // `required` wins over a default.
    let json = call(&project, "echo", "{}", 3);
    assert!(issues(&json).iter().any(|issue| issue.contains("must")));
    // The same value given and filled in is the same call.
    let given = call(&project, "echo", r#"{"must":5,"mode":"fast"}"#, 0);
    assert_eq!(given["callDigest"], call(&project, "echo", r#"{"must":5}"#, 0)["callDigest"]);

    let branch =
        "{ type: object, oneOf: [{ properties: { a: { default: 1 } } }], additionalProperties: true }";
    tool(&project, "echo", &echo(branch));
    let ran = project.run(["check"]);
    assert!(ran.stderr.contains("oneOf") && ran.stderr.contains("not filled in"), "{}", ran.stderr);
    tool(&project, "echo", &echo("{ type: object, properties: { n: { type: integer, default: ten } } }"));
    project.run(["check"]).expect(1).says("default");
    let ran = project.run(["run", "echo"]);
    assert!(ran.code == Some(4) || ran.code == Some(3), "{:?} {}", ran.code, ran.stderr);
}

/// Patterns are those of a linear engine: what it cannot do is an error of the manifest, never a pattern that always
/// holds. They are not anchored, as the standard says, and `\d` is ASCII as in ECMA-262.
#[test]
fn f111_patterns_are_bounded_and_honest() {
    let who = &everybody()[0];
    let manifest = |pattern: &str| {
        echo(&format!(
            "{{ type: object, properties: {{ t: {{ type: string, pattern: {} }} }}, additionalProperties: false }}",
            quoted(pattern)
        ))
    };
    let project = project(who, &[("echo", &manifest("^\\d+$"))], &allow("echo", "read"));
    let with = |pattern: &str, value: &str| {
        tool(&project, "echo", &manifest(pattern));
        project.run(["run", "echo", "--args", &json!({"t": value}).to_string()])
    };
    for pattern in ["[", "^(?!test).*$", "(a)\\1"] {
        with(pattern, "x").expect(4).says("tools.d/echo.yaml").says("pattern");
    }
    for (pattern, value, code) in [
        ("^\\d+$", "123", 0),
        ("^\\d+$", "\u{661}\u{662}", 3),
        ("^\\w+$", "abc_1", 0),
        ("^\\w+$", "\u{e9}", 3),
        ("b", "abc", 0),
        ("^b", "abc", 3),
        ("^(a+)+$", "aaaa", 0),
    ] {
        with(pattern, value).expect(code);
    }
    let ran = with("^(a+)+$", &("a".repeat(4000) + "b")).expect(3);
    assert!(ran.took < Duration::from_secs(3), "{:?}", ran.took);
}

/// Too deep, endless and exploding input is refused with a reason.
#[test]
fn f113_depth_is_bounded() {
    let who = &everybody()[0];
    let tree = "{ $ref: \"#/$defs/node\", $defs: { node: { type: object, properties: { n: { $ref: \"#/$defs/node\" } }, additionalProperties: false } }, type: object }";
    let project = project(who, &[("echo", &echo("{ type: object }"))], &allow("echo", "read"));
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let ran = project.run_with(["run", "echo", "--format", "json", "--args", "-"], deep.as_bytes()).expect(3);
    assert_eq!(ran.json()["code"], "call/too-large");
    assert!(ran.json()["error"].as_str().unwrap().contains("128"), "{}", ran.json()["error"]);
    tool(&project, "echo", &echo(tree));
    let nested = format!("{}{{}}{}", "{\"n\":".repeat(50), "}".repeat(50));
    assert_eq!(human(&project, "echo", &nested).expect(0).out(), nested);
    let wrong = format!("{}5{}", "{\"n\":".repeat(50), "}".repeat(50));
    call(&project, "echo", &wrong, 3);
    for schema in [
        "{ type: object, $ref: \"#\" }",
        "{ type: object, $ref: \"#/$defs/a\", $defs: { a: { $ref: \"#/$defs/b\" }, b: { $ref: \"#/$defs/a\" } } }",
    ] {
        tool(&project, "echo", &echo(schema));
        let ran = project.run(["run", "echo", "--args", "{\"a\":1}"]).expect(4);
        assert!(ran.stderr.contains("manifest/bad-schema"), "{}", ran.stderr);
    }
    let mut bomb = String::from("x: &a0 [1,2,3,4,5,6,7,8,9]\n");
    for level in 1..12 {
        let before = format!("*a{}, ", level - 1).repeat(9);
        bomb.extend([format!("x{level}: &a{level} [{before}]\n")]);
    }
    tool(&project, "echo", &bomb);
    let ran = project.run(["run", "echo"]).expect(4).says("tools.d/echo.yaml");
    assert!(ran.took < Duration::from_secs(3), "{:?}", ran.took);
}

/// A bare number is milliseconds, a text has a unit, everything else is an error: null too, since a key without a
/// value is more often a slip than a wish for the default. One reader serves every time.
#[test]
fn f127_times_have_units() {
    let who = &everybody()[0];
    let manifest = |time: &str| super::kit::sh("echo ran", &format!("sandbox: {{ timeout: {time} }}\n"));
    let project = project(who, &[("quick", &manifest("30s"))], &allow("quick", "read"));
    for (time, ms) in [("30s", 30_000), ("500ms", 500), ("2m", 120_000), ("1h", 3_600_000), ("30000", 30_000)]
    {
        tool(&project, "quick", &manifest(time));
        let plan = project.run(["plan", "quick", "--format", "json"]).expect(0).json();
        assert_eq!(plan["sandbox"]["limits"]["timeoutMs"], ms, "{time}: {}", plan["sandbox"]["limits"]);
    }
    for time in
        ["0", "-1", "1.5", "\"\"", "1h30m", "999999999999h", "never", "null", "0s", "\" 1s\"", "25h", "1e3"]
    {
        tool(&project, "quick", &manifest(time));
        project.run(["run", "quick"]).expect(4).says("timeout").says("tools.d/quick.yaml:");
    }
    tool(&project, "quick", &manifest("30s"));
    for time in ["0", "-1", "1.5", "soon", "999999999999h", "null"] {
        project.file("toolctl.yaml", format!("approval: {{ timeout: {time} }}\n"));
        project.run(["run", "quick"]).expect(4).says("toolctl.yaml:1:");
    }
    project.file("toolctl.yaml", "approval: { timeout: 5s }\n");
    project.run(["run", "quick"]).expect(0);
}

fn two_tools(project: &Project) {
    project.file("more/one.yaml", "name: one\ndescription: Another.\nparameters: { type: object, additionalProperties: false }\ncommand: [/bin/true]\n");
}

/// A key twice, a tool twice and merge keys are errors that name both places.
#[test]
fn f115_nothing_stands_twice() {
    let who = &everybody()[0];
    let good = allow("one", "read");
    let project = project(who, &[("one", &super::kit::sh("echo ran", ""))], &good);
    let twice = format!(
        "{good}  - id: more\n    tool: one\n    action: deny\nrules:\n  - id: x\n    tool: one\n    always: true\n    action: allow\n"
    );
    project.file("policies/main.yaml", &twice);
    let ran = project.run(["run", "one"]).expect(4).says("source/duplicate-key");
    assert!(ran.stderr.contains("main.yaml:12:") || ran.stderr.contains("12 |"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("7 |") || ran.stderr.contains(":7"),
        "the first place is not shown:\n{}",
        ran.stderr
    );
    project.file("policies/main.yaml", &good);
    project.run(["run", "one"]).expect(0);

    project.file("toolctl.yaml", "tools: [tools.d, more]\n");
    two_tools(&project);
    let ran = project.run(["run", "one"]).expect(4).says("manifest/duplicate-tool");
    assert!(
        ran.stderr.contains("tools.d/one.yaml") && ran.stderr.contains("more/one.yaml"),
        "{}",
        ran.stderr
    );
    project.file("toolctl.yaml", "agentName: test\n");

    // Two tools in one file: a second document, and a second `name`.
    let text = std::fs::read_to_string(project.dir().join("tools.d/one.yaml")).unwrap();
    for (more, code) in [("---\nname: two\n", "source/"), ("name: two\n", "source/duplicate-key")] {
        project.file("tools.d/one.yaml", format!("{text}{more}"));
        project.run(["run", "one"]).expect(4).says(code);
    }
    project
        .file("tools.d/one.yaml", format!("{text}sandbox: {{ <<: {{ timeout: 1s }}, maxMemoryMB: 64 }}\n"));
    project.run(["run", "one"]).expect(4).says("<<");
    project.file("tools.d/one.yaml", &text);
    project.run(["run", "one"]).expect(0);
}
