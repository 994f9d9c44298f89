//! Validating: compiling a schema, judging valid and invalid arguments, and the whole step to a validated call.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a bench that cannot be set up is a panic"
)]

use criterion::Criterion;
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use toolctl::call::{Call, CallEnv, accept, validate};
use toolctl::schema::Schema;
use toolctl::world::MemoryWorld;

fn schema() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["path", "mode", "edits"],
        "properties": {
            "path": {"type": "string", "pattern": "^/[a-z0-9/_.-]+$", "maxLength": 256},
            "mode": {"enum": ["read", "write", "append"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 5000},
            "tags": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 16, "uniqueItems": true},
            "edits": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["line", "text"],
                "additionalProperties": false, "properties": {"line": {"type": "integer", "minimum": 0},
                "text": {"type": "string"}, "when": {"anyOf": [{"type": "null"}, {"type": "string"}]}}}},
            "owner": {"$ref": "#/$defs/owner"}},
        "$defs": {"owner": {"type": "object", "required": ["id"],
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}}})
}

fn arguments() -> Value {
    json!({"path": "/data/7/file_7.txt", "mode": "write", "limit": 8, "tags": ["a", "b7"],
        "edits": [{"line": 0, "text": "line 0 of 7", "when": null}, {"line": 1, "text": "line 1 of 7", "when": null}],
        "owner": {"id": 7, "name": "n7"}})
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let source = schema();
    let (schema, _) = Schema::compile_tool(&source).unwrap_or_else(|faults| panic!("{faults:?}"));
    let good = arguments();
    let mut bad = arguments();
    bad["limit"] = json!(0);
    bad["mode"] = json!("exec");
    assert!(schema.check(&good).is_empty() && schema.check(&bad).len() == 2);
    let world = MemoryWorld::new("/ws");
    let workspace = Path::new("/ws");
    let env = CallEnv { world: &world, base: workspace, workspace, cwd_is_workspace: true };
    let Value::Object(args) = good.clone() else { unreachable!("arguments are an object") };
    let call = Call { tool_call_id: "c7".to_owned(), tool_name: "subject".to_owned(), args: args.clone() };

    criterion.bench_function("schema/compile", |bench| {
        bench.iter(|| Schema::compile_tool(black_box(&source)).unwrap());
    });
    criterion.bench_function("schema/check valid", |bench| bench.iter(|| schema.check(black_box(&good))));
    criterion.bench_function("schema/check invalid", |bench| bench.iter(|| schema.check(black_box(&bad))));
    criterion.bench_function("call/accept", |bench| {
        bench.iter_batched(
            || args.clone(),
            |args| accept(args, &schema, &env).unwrap(),
            criterion::BatchSize::SmallInput,
        );
    });
    criterion.bench_function("call/validate", |bench| {
        bench.iter_batched(
            || call.clone(),
            |call| validate(call, &schema, &env).unwrap(),
            criterion::BatchSize::SmallInput,
        );
    });
    criterion.final_summary();
}
