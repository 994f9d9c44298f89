//! Reading: policies and manifests in YAML and JSON, and the arguments of calls.

#![expect(clippy::unwrap_used, reason = "a bench that cannot be set up is a panic")]

use criterion::{Criterion, Throughput};
use std::fmt::Write as _;
use std::hint::black_box;
use toolctl::call::{parse_args, parse_call};
use toolctl::source::{Files, JsonLimits, parse_json, parse_yaml};

/// A policy with so many rules, as YAML and as JSON.
fn policy(rules: usize) -> (String, String) {
    let mut yaml = String::from("policy: bench\nformat: 1\nrole: host\ndefault: deny\nrules:\n");
    let mut json = Vec::new();
    for at in 0..rules {
        writeln!(
            yaml,
            "  - id: r{at}\n    tool: tool_{at}\n    when: {{ args.path: {{ under: [/data/{at}] }} }}\n    action: allow"
        )
        .unwrap();
        json.push(serde_json::json!({"id": format!("r{at}"), "tool": format!("tool_{at}"),
            "when": {"args.path": {"under": [format!("/data/{at}")]}}, "action": "allow"}));
    }
    let json =
        serde_json::json!({"policy": "bench", "format": 1, "role": "host", "default": "deny", "rules": json});
    (yaml, json.to_string())
}

fn files(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for rules in [10, 100, 1000] {
        let (yaml, json) = policy(rules);
        for (kind, text) in [("yaml", &yaml), ("json", &json)] {
            group.throughput(Throughput::Bytes(text.len() as u64));
            group.bench_function(format!("{kind}/{rules} rules"), |bench| {
                bench.iter(|| {
                    let mut files = Files::new();
                    let id = files.add("bench", text.as_str());
                    let read = if kind == "yaml" {
                        parse_yaml(&files, id).is_ok()
                    } else {
                        parse_json(&files, id, JsonLimits::FILE).is_ok()
                    };
                    assert!(black_box(read));
                });
            });
        }
    }
    group.finish();
}

fn calls(criterion: &mut Criterion) {
    let args = r#"{"path": "/data/7/file_7.txt", "mode": "write", "limit": 8, "tags": ["a", "b7"], "edits": [{"line": 0, "text": "line 0 of 7", "when": null}], "owner": {"id": 7, "name": "n7"}}"#;
    let line = format!(r#"{{"toolCallId": "c7", "toolName": "subject", "args": {args}}}"#);
    let mut group = criterion.benchmark_group("call");
    group.throughput(Throughput::Bytes(args.len() as u64));
    group.bench_function("arguments", |bench| {
        bench.iter(|| parse_args(black_box(args.as_bytes()), JsonLimits::ARGUMENTS).unwrap());
    });
    group.throughput(Throughput::Bytes(line.len() as u64));
    group.bench_function("line", |bench| {
        bench.iter(|| parse_call(black_box(line.as_bytes()), String::new).unwrap());
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    files(&mut criterion);
    calls(&mut criterion);
    criterion.final_summary();
}
