//! A value read from YAML or JSON, with the place of each part.

use crate::text::Span;
use serde_json::Value;

/// One value and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value's place; for a block collection the place of its first key or item.
    pub span: Span,
    /// The value.
    pub kind: NodeKind,
}

/// The kinds of values, the same for YAML and JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written; always a valid JSON number.
    Number(String),
    /// A string.
    String(String),
    /// A sequence.
    Seq(Vec<Node>),
    /// A mapping in the order of the file; keys are unique.
    Map(Vec<Entry>),
}

/// One entry of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The key's place.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key, if this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            NodeKind::Map(entries) => entries.iter().find(|entry| entry.key == key),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Number(_)
            | NodeKind::String(_)
            | NodeKind::Seq(_) => None,
        }
    }

    /// `a string`, `a mapping` and so on, for messages.
    pub const fn type_name(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "null",
            NodeKind::Bool(_) => "a boolean",
            NodeKind::Number(_) => "a number",
            NodeKind::String(_) => "a string",
            NodeKind::Seq(_) => "a list",
            NodeKind::Map(_) => "a mapping",
        }
    }

    /// The same value without places. Numbers keep their digits.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(value) => Value::Bool(*value),
            // Our readers only let valid JSON numbers through; the string form keeps any other text visible.
            NodeKind::Number(text) => {
                text.parse().map_or_else(|_| Value::String(text.clone()), Value::Number)
            }
            NodeKind::String(text) => Value::String(text.clone()),
            NodeKind::Seq(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            NodeKind::Map(entries) => {
                Value::Object(entries.iter().map(|e| (e.key.clone(), e.value.to_value())).collect())
            }
        }
    }

    /// The place of the key that an RFC 6901 pointer ends in; that of the value where there is no such key.
    pub fn pointer_key_span(&self, pointer: &str) -> Span {
        let parent = pointer.rsplit_once('/').and_then(|(parent, last)| {
            let last = last.replace("~1", "/").replace("~0", "~");
            self.at_pointer(parent)?.entry(&last).map(|entry| entry.key_span)
        });
        parent.unwrap_or_else(|| self.pointer_span(pointer))
    }

    /// The value that an RFC 6901 pointer names.
    pub fn at_pointer(&self, pointer: &str) -> Option<&Self> {
        pointer.split('/').skip(1).try_fold(self, |node, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match &node.kind {
                NodeKind::Map(_) => node.get(&token),
                NodeKind::Seq(items) => token.parse::<usize>().ok().and_then(|at| items.get(at)),
                NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => None,
            }
        })
    }

    /// The place of the value that an RFC 6901 pointer names, or of its nearest ancestor that exists.
    pub fn pointer_span(&self, pointer: &str) -> Span {
        let mut node = self;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match &node.kind {
                NodeKind::Map(_) => node.get(&token),
                NodeKind::Seq(items) => token.parse::<usize>().ok().and_then(|at| items.get(at)),
                NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node.span
    }
}
