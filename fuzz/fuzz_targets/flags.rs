//! `-a` flags: never panics, and either all are taken or each fault is said.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use toolctl::call::args_from_flags;
use toolctl::schema::Schema;

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let schema = serde_json::json!({"type": "object", "properties": {
        "s": {"type": "string"}, "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "l": {"type": "array"}
    }});
    Schema::compile_tool(&schema).expect("the schema is one").0
});

fuzz_target!(|text: &str| {
    let flags: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut read = |name: &str| if name.len() > 8 { Err("no".to_owned()) } else { Ok(name.as_bytes().to_vec()) };
    match args_from_flags(&flags, &SCHEMA, &mut read) {
        Ok(args) => assert!(args.len() <= flags.len()),
        Err(errors) => assert!(!errors.is_empty()),
    }
});
