//! The YAML reader: never panics; every span lies on character boundaries.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolctl::source::{Files, Node, NodeKind, parse_yaml};

fn check(files: &Files, node: &Node) {
    let text = files.text(node.span.file);
    assert!(text.get(node.span.start as usize..node.span.end as usize).is_some());
    match &node.kind {
        NodeKind::Seq(items) => items.iter().for_each(|item| check(files, item)),
        NodeKind::Map(entries) => entries.iter().for_each(|entry| check(files, &entry.value)),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => {}
    }
}

fuzz_target!(|text: &str| {
    let mut files = Files::new();
    let id = files.add("fuzz.yaml", text);
    if let Ok(node) = parse_yaml(&files, id) {
        check(&files, &node);
    }
});
