//! The same calls through the program: what it says of a call in a file is what the schema alone says.

use super::kit::{Corpus, all, schema, text};
use crate::harness::{Project, everybody};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toolctl::schema::Schema;

fn judge(corpus: &Corpus) {
    let project = Project::of(&everybody()[0]);
    project.file("toolctl.yaml", "agentName: test\n");
    let tools = corpus.tools();
    let mut known: BTreeMap<String, (String, Option<Schema>)> = BTreeMap::new();
    let mut calls = String::new();
    let mut expected = Vec::new();
    for row in corpus.rows("calls") {
        let id = text(&row, "tool_id").to_owned();
        let count = known.len();
        let (name, schema) = known.entry(id.clone()).or_insert_with(|| {
            let name = format!("t{count}");
            let parameters = schema(&tools[&id]);
            let manifest = json!({"name": name, "description": "A real tool.", "parameters": parameters, "command": ["/bin/cat"]});
            project.file(&format!("tools.d/{name}.json"), manifest.to_string());
            (name, Schema::compile_tool(parameters).ok().map(|found| found.0))
        });
        let call = json!({"toolCallId": text(&row, "id"), "toolName": name, "args": &row["args"]});
        writeln!(calls, "{call}").unwrap();
        expected.push(match schema {
            _ if !row["args"].is_object() => "call/bad-shape",
            None => "manifest/bad-schema",
            Some(schema) if schema.check(&row["args"]).is_empty() => "valid",
            Some(_) => "call/schema",
        });
    }
    project.file("calls.jsonl", &calls);
    let ran = project.run(["validate", "--calls", "calls.jsonl", "--format", "ndjson", "-q"]);
    let found: Vec<Value> = ran.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), expected.len(), "{}", ran.stderr);
    let mut faults = String::new();
    for (document, expected) in found.iter().zip(&expected) {
        let code = document["error"]["code"].as_str().unwrap_or("valid");
        if code != *expected {
            writeln!(faults, "{expected} in the schema's words, {document}").unwrap();
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(expected.contains(&"valid") && expected.contains(&"call/schema"));
}

#[test]
fn the_program_says_what_the_schema_says() {
    for corpus in all() {
        judge(&corpus);
    }
}
