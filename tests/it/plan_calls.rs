//! `toolctl plan --calls`: what is decided of a call in a file is what is decided of it alone.

use crate::harness::{Project, everybody};
use serde_json::{Value, json};

fn project() -> Project {
    let project = Project::of(&everybody()[0]);
    project.file("toolctl.yaml", "agentName: test\n");
    project.file(
        "tools.d/look.yaml",
        "name: look\ndescription: Looks.\nparameters:\n  type: object\n  properties:\n    n: { type: integer, default: 1 }\n    path: { type: string, format: path }\n  additionalProperties: false\ncommand: [/bin/true]\n",
    );
    project.file(
        "tools.d/gone.yaml",
        "name: gone\ndescription: Is faulty.\nparameters: { type: object }\ncommand: [/bin/true]\nbogus: 1\n",
    );
    let policy = json!({
        "policy": "main", "format": 1, "role": "host", "default": "deny",
        "effects": {"look": {"effect": "read"}, "other": {"effect": "write"}},
        "rules": [
            {"id": "small", "tool": "look", "when": {"args.n": {"lt": 10}}, "action": "allow"},
            {"id": "middle", "tool": "look", "when": {"args.n": {"ge": 10, "lt": 100}}, "action": "ask"},
            {"id": "secret", "tool": "look", "when": {"args.path": {"exists": true, "path": ["**/.env"]}}, "action": "deny", "reason": "no"},
            {"id": "others", "tool": "other", "when": {"args.x": {"in": [1]}}, "action": "allow"},
        ],
    });
    project.file("policies/main.json", policy.to_string());
    project.trusted();
    project
}

/// Calls, and the exit code of each.
fn calls() -> Vec<(Value, i32)> {
    [
        (json!({"toolCallId": "a", "toolName": "look", "args": {"n": 1}}), 0),
        (json!({"toolCallId": "b", "toolName": "look", "args": {"n": 10, "path": "./x"}}), 11),
        (json!({"toolCallId": "c", "toolName": "look", "args": {"path": "a/../.env"}}), 10),
        (json!({"toolCallId": "d", "toolName": "look", "args": {"n": 100}}), 10),
        (json!({"toolCallId": "e", "toolName": "read_file", "args": {"path": "x"}}), 10),
        (json!({"toolCallId": "f", "toolName": "look", "args": {"n": "1"}}), 3),
        (json!({"toolCallId": "g", "toolName": "lok", "args": {}}), 5),
        (json!({"toolCallId": "h", "toolName": "gone", "args": {}}), 4),
    ]
    .into()
}

#[test]
fn each_line_is_the_plan_of_its_call() {
    let project = project();
    for (call, code) in calls() {
        project.file("calls.jsonl", format!("\n{call}\n"));
        let ran = project
            .run(["plan", "--calls", "calls.jsonl", "--format", "ndjson", "--run-id", "r"])
            .expect(code);
        let mut line = ran.json();
        assert_eq!(line["line"], 2, "{call}");
        assert_eq!(line["exit"], code, "{call}");
        let text = |key: &str| call[key].as_str().unwrap().to_owned();
        let args = call["args"].to_string();
        let alone = project
            .run([
                "plan",
                &text("toolName"),
                "--call-id",
                &text("toolCallId"),
                "--args",
                &args,
                "--format",
                "json",
            ])
            .expect(code);
        let mut alone = alone.json();
        for key in ["line", "sandbox", "approvalDigest"] {
            line.as_object_mut().unwrap().remove(key);
            alone.as_object_mut().unwrap().remove(key);
        }
        if line["schema"] == "toolctl.failure/v1" {
            for key in ["toolCallId", "toolName"] {
                assert_eq!(line[key], call[key], "{call}");
                line.as_object_mut().unwrap().remove(key);
            }
        }
        assert_eq!(line, alone, "{call}");
    }
}

#[test]
fn a_file_has_one_end() {
    let project = project();
    let mut all: Vec<String> = calls().iter().map(|(call, _)| call.to_string()).collect();
    all.push("[]".to_owned());
    project.file("calls.jsonl", all.join("\n"));
    let ran = project.run(["plan", "--calls", "calls.jsonl", "--format", "ndjson"]).expect(4);
    let exits: Vec<Value> =
        ran.out().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["exit"].clone()).collect();
    assert_eq!(json!(exits), json!([0, 11, 10, 10, 10, 3, 5, 4, 3]));
    let ran = project.run(["plan", "--calls", "calls.jsonl", "--format", "json"]).expect(4);
    assert_eq!(
        ran.json(),
        json!({"schema": "toolctl.plans/v1", "calls": 9, "allow": 1, "ask": 1, "deny": 3, "failed": 4, "exit": 4})
    );
    let ran = project.run(["plan", "--calls", "calls.jsonl"]).expect(4);
    assert!(ran.out().contains("9 calls: 1 allow, 1 ask, 3 deny, 4 not decided"), "{}", ran.out());
    assert!(ran.out().contains("main/secret"), "{}", ran.out());
    assert!(ran.stderr.contains("line 7: ") && ran.stderr.contains("did you mean `look`?"), "{}", ran.stderr);
    project.file("calls.jsonl", "\n \n");
    project.run(["plan", "--calls", "calls.jsonl"]).expect(6);
    project.run(["plan", "--calls", "nowhere"]).expect(3);
    let (call, _) = &calls()[0];
    project.run_with(["plan", "--calls", "-", "--format", "ndjson"], call.to_string().as_bytes()).expect(0);
}

/// A rule that can matter for no call of this tool still stops it if something is wrong with it.
#[test]
fn a_faulty_rule_of_another_tool_stops_every_call() {
    let project = project();
    project.run(["plan", "look"]).expect(0);
    let rule = |rule: Value| {
        let policy = json!({
            "policy": "more", "format": 1, "role": "guard", "rules": [rule],
        });
        project.file("policies/more.json", policy.to_string());
        project.trusted();
        project.run(["plan", "look", "--format", "json"])
    };
    rule(json!({"id": "x", "tool": "other", "when": {"args.x": {"gt": 1}}, "action": "deny"})).expect(0);
    for faulty in [
        json!({"id": "x", "tool": "other", "when": {"args.x": {"gt": "1"}}, "action": "deny"}),
        json!({"id": "x", "tool": "other", "wen": {"args.x": {"gt": 1}}, "action": "deny"}),
        json!({"id": "x", "tool": "other", "action": "dney"}),
        json!({"tool": "other", "action": "deny"}),
        json!({"id": "x", "tool": "other", "always": true, "action": "allow"}),
    ] {
        let ran = rule(faulty.clone()).expect(4);
        assert_eq!(ran.json()["schema"], "toolctl.failure/v1", "{faulty}");
    }
}
