//! Argument strings as models send them: 33 ways to write the same call, well or badly.

use super::kit::{Corpus, all, sample, text};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toolctl::call::{CallError, parse_args, parse_arguments_string};
use toolctl::source::JsonLimits;

fn verdict(read: &Result<Map<String, Value>, CallError>) -> String {
    match read {
        Ok(_) => "read".to_owned(),
        Err(error) => error.code().as_str().to_owned(),
    }
}

/// One example of each variant, for a person to read.
fn table(corpus: &Corpus) -> String {
    let mut table = String::new();
    let mut rows: BTreeMap<String, Value> = BTreeMap::new();
    for row in corpus.rows("calls_raw") {
        rows.entry(text(&row, "variant").to_owned()).or_insert(row);
    }
    for (variant, row) in rows {
        let raw = text(&row, "args_raw");
        let args = parse_args(raw.as_bytes(), JsonLimits::ARGUMENTS);
        let string = parse_arguments_string(raw, JsonLimits::ARGUMENTS);
        let shown: String = raw.chars().take(72).collect();
        let shown = format!("{}{}", toolctl::text::escape(&shown), if shown == raw { "" } else { "…" });
        let line = |read: &Result<Map<String, Value>, CallError>| match read {
            Ok(args) => {
                let json = Value::Object(args.clone()).to_string();
                let cut: String = json.chars().take(72).collect();
                format!("read: {}{}", toolctl::text::escape(&cut), if cut == json { "" } else { "…" })
            }
            Err(error) => format!("{}: {error}", error.code().as_str()),
        };
        writeln!(
            table,
            "{variant}\n  text    {shown}\n  --args  {}\n  string  {}",
            line(&args),
            line(&string)
        )
        .unwrap();
    }
    table
}

#[test]
fn each_variant_has_its_verdict_and_message() {
    insta::assert_snapshot!("argument_strings", table(&sample()));
}

/// Every row gets the verdict of its variant, whatever tool it is for. What others read in different ways is refused.
#[test]
fn every_argument_string_gets_the_verdict_of_its_variant() {
    let mut expected: BTreeMap<String, (String, String)> = BTreeMap::new();
    for corpus in all() {
        for row in corpus.rows("calls_raw") {
            let raw = text(&row, "args_raw");
            let args = verdict(&parse_args(raw.as_bytes(), JsonLimits::ARGUMENTS));
            let string = verdict(&parse_arguments_string(raw, JsonLimits::ARGUMENTS));
            let variant = text(&row, "variant").to_owned();
            if args == "read" {
                assert!(row["py_parse"] == "object", "only toolctl reads {row}");
            }
            let verdicts = (args, string);
            let known = expected.entry(variant.clone()).or_insert_with(|| verdicts.clone());
            assert_eq!(*known, verdicts, "{variant}: {raw}");
        }
    }
    assert_eq!(expected.len(), 33);
    let differ: Vec<_> = expected.iter().filter(|(_, (args, string))| args != string).collect();
    assert_eq!(differ.len(), 1, "{differ:?}");
    assert_eq!(expected["empty"], ("call/not-json".to_owned(), "read".to_owned()));
}
