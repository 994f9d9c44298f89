//! Tool definitions of every format: each schema compiles or is refused with a reason, and nothing crashes.

use super::kit::{Corpus, all, schema, text};
use serde_json::Value;
use std::collections::BTreeMap;
use toolctl::schema::{Schema, SchemaFault};

/// The reason, without what is particular to one schema.
fn kind(faults: &[SchemaFault]) -> &'static str {
    const KINDS: [(&str, &str); 9] = [
        ("is not a type", "a type that JSON Schema does not have"),
        ("breaks the schema that it stands in", "a default that breaks its own schema"),
        ("cannot be used: it is not a regular", "a pattern with look-around or a back-reference"),
        ("is in another document", "a reference to another document"),
        ("names no part of this schema", "a reference to nothing"),
        ("gives a part of the schema its own", "a part with an address of its own"),
        ("may stand at the top only", "a part with a draft of its own"),
        ("has to be an object, not", "no object"),
        ("the arguments of a tool are an object", "arguments that are no object"),
    ];
    let message = &faults[0].message;
    KINDS.iter().find(|(part, _)| message.contains(part)).map_or_else(
        || {
            eprintln!("another fault: {message}");
            "another fault"
        },
        |(_, kind)| kind,
    )
}

/// Counts by reason.
fn count(corpus: &Corpus, file: &str, of: &dyn Fn(&Value) -> Option<&Value>) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |kind: &str| *counts.entry(kind.to_owned()).or_default() += 1;
    for tool in corpus.rows(file) {
        let Some(schema) = of(&tool) else { continue };
        match Schema::compile_tool(schema) {
            Ok((compiled, warnings)) => {
                assert!(warnings.iter().all(|warning| !warning.message.is_empty()));
                // The walks over a schema that a tool would be asked for.
                let mut value = serde_json::json!({});
                compiled.fill_defaults(&mut value);
                compiled.secrets(&value);
                compiled.locate(&value);
                assert!(compiled.shape().keys().all(|name| {
                    compiled.primitive_type(name);
                    true
                }));
                add(if warnings.is_empty() { "taken" } else { "taken with warnings" });
            }
            Err(faults) => {
                assert!(!faults.is_empty(), "{}", text(&tool, "id"));
                add(kind(&faults));
            }
        }
    }
    counts
}

#[test]
fn every_definition_is_taken_or_refused_with_a_reason() {
    for corpus in all() {
        for file in ["tools", "schemas_jsb"] {
            // As a tool's own schema where it is JSON Schema, and as the normalised one.
            let raw = count(&corpus, file, &|tool| tool.get("schema").is_none().then(|| schema(tool)));
            let normal = count(&corpus, file, &|tool| tool.get("schema"));
            let total: usize = raw.values().chain(normal.values()).sum();
            assert_eq!(total, corpus.lines(file).len());
            eprintln!("{file} ({}): as they are {raw:?}; normalised {normal:?}", corpus.name());
            if corpus.whole {
                insta::assert_debug_snapshot!(format!("definitions_{file}"), (raw, normal));
            }
        }
    }
}
