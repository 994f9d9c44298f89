//! Labelled calls: valid or not, as two other validators say.

use super::exceptions::Ledger;
use super::kit::{Corpus, all, schema, text};
use serde_json::Value;
use std::collections::HashMap;
use toolctl::schema::{Schema, SchemaOptions};

/// The label of a row: `ajv` decides where the two disagree, since it has the patterns of ECMA-262, and a label that only
/// asserts `format` is not meant here. `refused`: both say that the schema itself is none.
fn label(row: &Value) -> &'static str {
    match &row["ajv"] {
        Value::Bool(true) => "valid",
        Value::Bool(false) => "invalid",
        _ => "refused",
    }
}

/// Judges the rows of one file.
fn judge(corpus: &Corpus, file: &'static str) {
    let tools = corpus.tools();
    let mut compiled: HashMap<String, Option<Schema>> = HashMap::new();
    let mut ledger = Ledger::new(file);
    for row in corpus.rows(file) {
        let tool = text(&row, "tool_id");
        let schema = compiled.entry(tool.to_owned()).or_insert_with(|| {
            let definition = tools.get(tool).unwrap_or_else(|| panic!("no tool {tool}"));
            Schema::compile_with(schema(definition), SchemaOptions::VERDICTS).ok().map(|found| found.0)
        });
        let verdict = match schema {
            None => "refused",
            Some(schema) => {
                let issues = schema.check(&row["args"]);
                for issue in &issues {
                    assert!(!issue.message.is_empty() && !issue.message.contains('\u{1b}'), "{issue:?}");
                }
                if issues.is_empty() { "valid" } else { "invalid" }
            }
        };
        ledger.add(text(&row, "id"), label(&row), verdict);
    }
    ledger.settle(corpus);
}

#[test]
fn calls_of_real_tools_get_the_verdict_of_their_label() {
    for corpus in all() {
        judge(&corpus, "calls");
    }
}

#[test]
fn instances_of_a_benchmark_get_the_verdict_of_their_label() {
    for corpus in all() {
        judge(&corpus, "calls_jsb");
    }
}

#[test]
fn calls_that_validators_disagree_about_get_the_verdict_of_the_standard() {
    for corpus in all() {
        judge(&corpus, "calls_disagree");
    }
}
