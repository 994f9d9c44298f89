//! `toolctl validate --calls`: many calls in one file.

use crate::field_cases::kit::{project, sh, tool, untrusted};
use crate::harness::{Project, Ran, everybody, finish};
use crate::prompt::{exit_of, terminal};
use serde_json::{Value, json};

const ONE: &str = "parameters: { type: object, properties: { n: { type: integer, minimum: 1, default: 7 }, p: { type: string, format: path }, s: { type: string, writeOnly: true } }, additionalProperties: false }\ncommand: [/bin/cat]\n";

fn here() -> Project {
    let project = untrusted(&everybody()[0], &[("one", ONE), ("two", &sh("true", ""))], "");
    tool(
        &project,
        "broken",
        "parameters: { type: object, properties: { n: { type: intger } } }\ncommand: [/bin/cat]\n",
    );
    tool(
        &project,
        "dash",
        "parameters: { type: object, properties: { f: { type: string } }, additionalProperties: false }\ncommand: [/bin/cat, \"{args.f}\"]\n",
    );
    project
}

fn line(id: &str, tool: &str, args: &str) -> String {
    format!("{{\"toolCallId\":\"{id}\",\"toolName\":\"{tool}\",\"args\":{args}}}\n")
}

fn documents(ran: &Ran) -> Vec<Value> {
    ran.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_file_of_valid_calls_is_counted() {
    let project = here();
    let calls = [line("a", "one", "{}"), line("b", "two", "{}"), line("c", "one", "{\"n\":2}")].concat();
    project.file("calls.jsonl", &calls);
    let ran = project.run(["validate", "--calls", "calls.jsonl"]).expect(0);
    assert_eq!((ran.out().as_str(), ran.stderr.as_str()), ("3 of 3 calls are valid\n", ""));
    let ran = project.run_with(["validate", "--calls", "-", "-q"], calls.as_bytes()).expect(0);
    assert_eq!((ran.out().as_str(), ran.stderr.as_str()), ("3 of 3 calls are valid\n", ""));
    let ran = project.run(["validate", "--calls", "calls.jsonl", "--format", "json"]).expect(0);
    assert_eq!(
        ran.json(),
        json!({"schema": "toolctl.validations/v1", "success": true, "calls": 3, "refused": 0, "failures": [], "omitted": 0})
    );
    let documents =
        documents(&project.run(["validate", "--calls", "calls.jsonl", "--format", "ndjson"]).expect(0));
    assert_eq!(documents.len(), 3);
    assert_eq!(documents[2]["toolCallId"], "c");
    assert_eq!(documents[0]["data"], json!({"n": 7}));
    assert_eq!(documents[0]["defaults"], json!(["/n"]));
    // The file may be anywhere, and may be a pipe; only the paths in calls are bound to the workspace.
    project.file_at(&project.outside().join("elsewhere"), &calls);
    let elsewhere = project.outside().join("elsewhere");
    project.run(["validate", "--calls", elsewhere.to_str().unwrap()]).expect(0);
    let ran = finish(project.shell("cat calls.jsonl | toolctl validate --calls /dev/stdin"), None).expect(0);
    assert_eq!(ran.out(), "3 of 3 calls are valid\n");
}

/// Every line that is wrong is named with its number, and the others are judged all the same.
#[test]
fn each_line_stands_for_itself() {
    let project = here();
    let calls = [
        "\n".to_owned(),
        line("a", "one", "{\"n\":0}"),
        "{\"toolName\":\"one\",\n".to_owned(),
        line("b", "two", "{}"),
        line("c", "nothing", "{}"),
        line("d", "broken", "{}"),
        line("e", "one", "{\"n\":1,\"n\":2}"),
        "{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"one\",\"input\":{}}\n".to_owned(),
        line("f\\u001b", "one", "{\"s\":1}"),
        line("g", "dash", "{\"f\":\"-rf\"}"),
        line("h", "two", "{}").trim_end().to_owned(),
    ]
    .concat();
    project.file("calls.jsonl", &calls);
    let ran = project.run(["validate", "--calls", "calls.jsonl", "--format", "ndjson"]).expect(4);
    let found: Vec<(u64, String)> = documents(&ran)
        .iter()
        .map(|document| {
            let code = document["error"]["code"].as_str().unwrap_or("valid").to_owned();
            (document["line"].as_u64().unwrap(), code)
        })
        .collect();
    let expected = [
        (2, "call/schema"),
        (3, "call/not-json"),
        (4, "valid"),
        (5, "call/unknown-tool"),
        (6, "manifest/bad-schema"),
        (7, "call/duplicate-key"),
        (8, "call/bad-shape"),
        (9, "call/schema"),
        (10, "call/unsafe-argument"),
        (11, "valid"),
    ];
    let expected: Vec<_> = expected.iter().map(|(line, code)| (*line, (*code).to_owned())).collect();
    assert_eq!(found, expected, "{}", ran.stderr);
    let ran = project.run(["validate", "--calls", "calls.jsonl"]).expect(4);
    assert_eq!(ran.out(), "2 of 10 calls are valid\n");
    for text in ["line 2 (`one`, a): ", "line 3: ", "line 9 (`one`, f\\u{1b}): ", "must be at least 1"] {
        assert!(ran.stderr.contains(text), "{text}:\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains('\u{1b}'));
    let json = project.run(["validate", "--calls", "calls.jsonl", "--format", "json", "-q"]).expect(4);
    assert_eq!((json.json()["refused"].clone(), json.stderr.as_str()), (json!(8), ""));
}

#[test]
fn the_gravest_code_of_a_line_is_that_of_the_batch() {
    let project = here();
    let rows = [
        (vec![line("a", "nothing", "{}")], 5),
        (vec![line("a", "nothing", "{}"), line("b", "one", "{\"x\":1}")], 3),
        (vec![line("a", "one", "{\"x\":1}"), line("b", "broken", "{}"), line("c", "one", "{}")], 4),
        (vec!["\n \n".to_owned()], 6),
        (vec![], 6),
    ];
    for (lines, code) in rows {
        project.run_with(["validate", "--calls", "-"], lines.concat().as_bytes()).expect(code);
    }
    project.run(["validate", "--calls", "absent.jsonl"]).expect(3).says("absent.jsonl");
    project.run(["validate", "--calls", "."]).expect(3);
    for words in [
        &["validate"][..],
        &["validate", "one", "--calls", "-"],
        &["validate", "--calls", "-", "-a", "n=1"],
        &["validate", "--calls", "-", "--args", "{}"],
        &["validate", "--calls", "-", "--call-id", "c"],
    ] {
        project.run(words).expect(2);
    }
}

/// A call is judged the same alone and in a file.
#[test]
fn alone_and_in_a_file_a_call_gets_one_verdict() {
    let project = here();
    let calls = [
        ("one", "{}"),
        ("one", "{\"n\":\"1\"}"),
        ("one", "{\"p\":\"../x/./y\"}"),
        ("one", "{\"p\":\"\"}"),
        ("one", "{\"s\":\"hidden\"}"),
        ("one", "[]"),
        ("one", "{\"n\":1e400}"),
        ("dash", "{\"f\":\"-x\"}"),
        ("dash", "{\"f\":\"x\"}"),
        ("broken", "{}"),
        ("nothing", "{}"),
    ];
    for (tool, args) in calls {
        let alone = project.run(["validate", tool, "--args", args, "--format", "json"]);
        let file = line("c", tool, args);
        let many = project.run_with(["validate", "--calls", "-", "--format", "ndjson"], file.as_bytes());
        assert_eq!(alone.code, many.code, "{tool} {args}");
        let (alone, mut many) = (alone.json(), many.json());
        let map = many.as_object_mut().unwrap();
        assert_eq!(map.remove("line"), Some(json!(1)));
        map.remove("toolCallId");
        // What is no object is a fault of the arguments alone, and of the line in a file.
        if args != "[]" && args != "{\"n\":1e400}" {
            assert_eq!(alone, many, "{tool} {args}");
        }
    }
}

/// No policy, program or trust is asked for.
#[test]
fn validating_needs_neither_policy_nor_program() {
    let project = here();
    tool(&project, "absent", "parameters: { type: object }\ncommand: [no-such-program]\n");
    project.run(["validate", "absent"]).expect(0);
    project.file("policies/main.yaml", "policy: main\nformat: 1\nformat: 2\n");
    project.run(["validate", "absent"]).expect(0);
    project.run_with(["validate", "--calls", "-"], line("a", "absent", "{}").as_bytes()).expect(0);
    // A file of arguments is read only as far as the policies allow, so there they count.
    project.file("args.json", "{}");
    project.run(["validate", "absent", "--args", "@args.json"]).expect(4);
}

/// A file larger than the memory that toolctl may have is read to its end.
#[test]
fn memory_does_not_grow_with_the_file() {
    let project = project(
        &everybody()[0],
        &[("two", &sh("true", "")), ("big", "parameters: { type: object }\ncommand: [/bin/cat]\n")],
        "policy: main\nformat: 1\nrole: host\ndefault: deny\n",
    );
    let row = line("c", "big", &format!("{{\"text\":\"{}\"}}", "x".repeat(100_000)));
    project.file("row", &row);
    // 600 lines of 100 kB; the whole would not fit into the address space that is left.
    let shell = "ulimit -v 60000; yes \"$(cat row)\" | head -n 600 | toolctl validate --calls -";
    let ran = finish(project.shell(shell), None).expect(0);
    assert_eq!(ran.out(), "600 of 600 calls are valid\n");
}

/// A line that is too long is refused, and the next one is found.
#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let project = here();
    let long = line("a", "one", &format!("{{\"p\":\"{}\"}}", "x".repeat(17 << 20)));
    let calls = [long, line("b", "two", "{}")].concat();
    let ran = project
        .run_with(["validate", "--calls", "-", "--format", "ndjson", "-q"], calls.as_bytes())
        .expect(3);
    let documents = documents(&ran);
    assert_eq!(documents[0]["error"]["code"], "call/too-large");
    assert_eq!((&documents[1]["line"], &documents[1]["success"]), (&json!(2), &json!(true)));
}

/// A line that says how far it is, on a terminal and for long work only.
#[test]
fn progress_is_for_a_terminal() {
    let project = here();
    project.file("calls.jsonl", line("a", "one", "{}") + &line("b", "one", "{\"x\":1}"));
    let slowly = "(for i in 1 2 3 4 5 6; do cat calls.jsonl; sleep 0.3; done)";
    let at_once = "(cat calls.jsonl calls.jsonl calls.jsonl calls.jsonl calls.jsonl calls.jsonl)";
    for (input, flags, shown) in [
        (slowly, "", true),
        (slowly, "2>err", false),
        (slowly, "-q", false),
        (slowly, "--format ndjson", false),
        (slowly, "--format ndjson >out", true),
        (at_once, "", false),
    ] {
        let script = format!("{input} | TERM=xterm NO_COLOR=1 $TOOLCTL validate --calls - {flags}");
        let (code, text) = exit_of(terminal(&project, &script));
        assert_eq!(code, 3, "{text}");
        assert_eq!(text.contains("\u{1b}["), shown, "{flags}: {text:?}");
        if flags.is_empty() {
            assert!(text.contains("6 of 12 calls are valid"), "{text}");
        }
    }
}

/// Who writes one call after the other into a pipe gets an answer to each, without having to close it.
#[test]
fn each_call_of_a_pipe_is_answered_at_once() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let project = here();
    let mut command = project.command(["validate", "--calls", "-", "--format", "ndjson", "-q"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 1..=20 {
        input.write_all(line(&format!("c{number}"), "one", "{}").as_bytes()).unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["line"], number);
    }
    // The reader of the answers goes; toolctl does not wait for input that nobody will hear about.
    drop(output);
    input.write_all(line("last", "one", "{}").as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(74));
    drop(input);
}

/// Many lines go through several threads and come out in their order.
#[test]
fn many_calls_keep_their_order() {
    let project = here();
    let mut calls = String::new();
    for number in 0..5000 {
        let tool = if number % 7 == 0 { "two" } else { "one" };
        calls += &line(&format!("c{number}"), tool, if number % 5 == 0 { "{\"x\":1}" } else { "{}" });
        if number % 3 == 0 {
            calls.push('\n');
        }
    }
    project.file("calls.jsonl", &calls);
    let ran = project.run(["validate", "--calls", "calls.jsonl", "--format", "ndjson", "-q"]).expect(3);
    let found = documents(&ran);
    assert_eq!(found.len(), 5000);
    let mut line = 0;
    for (number, document) in found.iter().enumerate() {
        line += 1;
        assert_eq!(
            (&document["toolCallId"], &document["line"]),
            (&json!(format!("c{number}")), &json!(line))
        );
        assert_eq!(document["success"], number % 5 != 0);
        line += usize::from(number % 3 == 0);
    }
    let ran = project.run(["validate", "--calls", "calls.jsonl", "--format", "json", "-q"]).expect(3).json();
    assert_eq!((&ran["refused"], &ran["omitted"]), (&json!(1000), &json!(0)));
}
