//! The official suite of JSON Schema: drafts 4 and 7 and 2020-12.

use super::exceptions::Ledger;
use super::kit::{Corpus, all, text};
use toolctl::schema::{Dialect, Schema, SchemaOptions};

fn judge(corpus: &Corpus) {
    let mut ledger = Ledger::new("jsts");
    for group in corpus.rows("jsts") {
        let dialect = match text(&group, "dialect") {
            "2020-12" => Dialect::Draft202012,
            "draft7" => Dialect::Draft7,
            "draft4" => Dialect::Draft4,
            other => panic!("the dialect {other} is new"),
        };
        let formats = text(&group, "file").contains("/optional/format/");
        let how = SchemaOptions { dialect, assert_formats: formats, ..SchemaOptions::VERDICTS };
        let id = format!("{} | {}", text(&group, "file"), text(&group, "group"));
        let schema = match Schema::compile_with(&group["schema"], how) {
            Ok((schema, _)) => schema,
            Err(faults) => {
                eprintln!("refused: {id}: {}", faults[0].message);
                ledger.add(&id, "compiled", "refused");
                continue;
            }
        };
        for test in group["tests"].as_array().unwrap() {
            let label = if test["valid"] == true { "valid" } else { "invalid" };
            let verdict = if schema.check(&test["data"]).is_empty() { "valid" } else { "invalid" };
            ledger.add(&format!("{id} | {}", text(test, "description")), label, verdict);
        }
    }
    ledger.settle(corpus);
}

#[test]
fn the_draft_suites_pass() {
    for corpus in all() {
        judge(&corpus);
    }
}
