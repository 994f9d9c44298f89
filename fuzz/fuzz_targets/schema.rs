//! Schemas and values: compiling and judging never panic, and a value that is filled with defaults stays filled.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolctl::schema::Schema;
use toolctl::source::{JsonLimits, parse_value};

// A schema, a line feed, a value.
fuzz_target!(|text: &str| {
    let Some((schema, value)) = text.split_once('\n') else { return };
    let Ok(schema) = parse_value(schema.as_bytes(), JsonLimits::FILE) else { return };
    let Ok((schema, _)) = Schema::compile_any(&schema) else { return };
    let Ok(mut value) = parse_value(value.as_bytes(), JsonLimits::ARGUMENTS) else { return };
    let issues = schema.check(&value);
    assert!(issues.iter().all(|issue| !issue.message.is_empty()));
    let _ = schema.locate(&value);
    let _ = schema.secrets(&value);
    let _ = schema.fill_defaults(&mut value);
    assert!(schema.fill_defaults(&mut value).is_empty());
});
