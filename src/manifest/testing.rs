//! Trees for tests, from JSON, with made-up places: each value lies behind the one before.

use crate::source::{Entry, Node, NodeKind};
use crate::text::{FileId, Span};
use serde_json::Value;

pub(crate) fn node(value: &Value) -> Node {
    tree(value, &mut 0)
}

fn tree(value: &Value, at: &mut u32) -> Node {
    *at += 1;
    let span = Span::new(FileId(0), *at, *at + 1);
    let kind = match value {
        Value::Null => NodeKind::Null,
        Value::Bool(value) => NodeKind::Bool(*value),
        Value::Number(number) => NodeKind::Number(number.to_string()),
        Value::String(text) => NodeKind::String(text.clone()),
        Value::Array(items) => NodeKind::Seq(items.iter().map(|item| tree(item, at)).collect()),
        Value::Object(map) => NodeKind::Map(
            map.iter()
                .map(|(key, value)| {
                    *at += 1;
                    let key_span = Span::new(FileId(0), *at, *at + 1);
                    Entry { key: key.clone(), key_span, value: tree(value, at) }
                })
                .collect(),
        ),
    };
    Node { span, kind }
}
