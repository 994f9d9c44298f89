//! Deciding: one call under a policy of 10, 100 and 1000 rules, and the loading of such a policy.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    reason = "a bench that cannot be set up is a panic"
)]

use criterion::Criterion;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolctl::call::{Call, CallEnv, validate};
use toolctl::model::{Context, Layer};
use toolctl::policy::{
    Action, FactEnv, LegacyApproval, PolicySet, PolicySource, ToolFacts, classify, decide, decode, facts,
};
use toolctl::schema::Schema;
use toolctl::source::{Decoder, Files, parse_yaml};
use toolctl::world::MemoryWorld;

/// A host policy whose rules speak of one tool each.
fn text(rules: usize) -> String {
    let mut text = String::from("policy: bench\nformat: 1\nrole: host\ndefault: deny\neffects:\n");
    for at in 0..rules {
        writeln!(text, "  tool_{at}: [{{ effect: external }}]").unwrap();
    }
    text.push_str("rules:\n");
    for at in 0..rules {
        writeln!(
            text,
            "  - id: r{at}\n    tool: tool_{at}\n    when: {{ args.path: {{ under: [/data/{at}] }} }}\n    action: allow"
        )
        .unwrap();
    }
    text
}

fn load(text: &str) -> PolicySet {
    let mut files = Files::new();
    let id = files.add("bench.yaml", text);
    let node = parse_yaml(&files, id).unwrap_or_else(|faults| panic!("{faults:?}"));
    let mut decoder = Decoder::new();
    let file = decode(&mut decoder, &node).unwrap();
    let source = PolicySource {
        file,
        layer: Layer::Project,
        trusted: true,
        path: PathBuf::from("bench.yaml"),
        text_digest: String::new(),
    };
    PolicySet::new(vec![source]).0
}

fn tool(name: &str) -> ToolFacts {
    ToolFacts {
        name: name.to_owned(),
        layer: Layer::Project,
        read_only: false,
        destructive: false,
        idempotent: false,
        requires_approval: None,
        parameters: json!({"type": "object", "properties": {"path": {"type": "string", "format": "path"}},
            "required": ["path"], "additionalProperties": false}),
        sandbox: None,
        builtin_effects: None,
        cwd: PathBuf::from("/data"),
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let world = MemoryWorld::new("/data").with_file("/data/5/x.txt", "");
    let workspace = Path::new("/data");
    let tool = Arc::new(tool("tool_5"));
    let (schema, _) = Schema::compile_tool(&tool.parameters).unwrap();
    let ctx = Context::default();
    let legacy = LegacyApproval::None;
    let Value::Object(args) = json!({"path": "/data/5/x.txt"}) else { unreachable!("it is an object") };
    let call = Call { tool_call_id: "c1".to_owned(), tool_name: tool.name.clone(), args };
    let one = |set: &PolicySet| {
        let env = CallEnv { world: &world, base: workspace, workspace, cwd_is_workspace: true };
        let call = validate(call.clone(), &schema, &env).unwrap();
        let env = FactEnv {
            world: &world,
            workspace,
            protected: &[],
            legacy_approval: &legacy,
            project_untrusted: false,
        };
        let classified = classify(facts(call, Arc::clone(&tool), &env), set, &ctx);
        decide(classified, set, &ctx).decision().action
    };
    for rules in [10, 100, 1000] {
        let text = text(rules);
        let set = load(&text);
        assert_eq!(one(&set), Action::Allow);
        criterion
            .bench_function(&format!("decide/{rules} rules"), |bench| bench.iter(|| one(black_box(&set))));
        criterion
            .bench_function(&format!("load/{rules} rules"), |bench| bench.iter(|| load(black_box(&text))));
    }
    criterion.final_summary();
}
