//! What the parser makes out of a document: plain values, values with places, or nothing but the places of keys.

use crate::source::node::{Entry, Node, NodeKind};
use crate::text::{FileId, Span};
use serde_json::{Map, Number, Value};
use std::collections::HashMap;
use std::collections::hash_map;
use std::ops::Range;

/// Whether an object has a key already.
pub(super) enum Seen {
    /// The key is new.
    No,
    /// The key is there; the builder does not remember where.
    Somewhere,
    /// The key starts at this byte.
    At(usize),
}

/// Receives the parts of a document in order.
pub(super) trait Build {
    type Value;
    type Object: Default;

    fn null(&self, at: Range<usize>) -> Self::Value;
    fn boolean(&self, value: bool, at: Range<usize>) -> Self::Value;
    fn number(&self, text: &str, at: Range<usize>) -> Self::Value;
    fn string(&self, text: String, at: Range<usize>) -> Self::Value;
    fn array(&self, items: Vec<Self::Value>, at: Range<usize>) -> Self::Value;
    fn close(&self, object: Self::Object, at: Range<usize>) -> Self::Value;

    /// Whether the object has the key already; if not, the builder may remember its place.
    fn first(&self, object: &mut Self::Object, key: &str, at: usize) -> Seen;
    fn entry(&self, object: &mut Self::Object, key: String, at: Range<usize>, value: Self::Value);
}

/// Builds plain values, for call arguments.
pub(super) struct Values;

impl Build for Values {
    type Value = Value;
    type Object = Map<String, Value>;

    fn null(&self, _: Range<usize>) -> Value {
        Value::Null
    }

    fn boolean(&self, value: bool, _: Range<usize>) -> Value {
        Value::Bool(value)
    }

    fn number(&self, text: &str, _: Range<usize>) -> Value {
        // The parser has checked the text; this keeps its digits, where parsing would only check them again.
        Value::Number(Number::from_string_unchecked(text.to_owned()))
    }

    fn string(&self, text: String, _: Range<usize>) -> Value {
        Value::String(text)
    }

    fn array(&self, items: Vec<Value>, _: Range<usize>) -> Value {
        Value::Array(items)
    }

    fn close(&self, object: Map<String, Value>, _: Range<usize>) -> Value {
        Value::Object(object)
    }

    fn first(&self, object: &mut Map<String, Value>, key: &str, _: usize) -> Seen {
        if object.contains_key(key) { Seen::Somewhere } else { Seen::No }
    }

    fn entry(&self, object: &mut Map<String, Value>, key: String, _: Range<usize>, value: Value) {
        object.insert(key, value);
    }
}

/// Builds values with places, for files.
pub(super) struct Nodes(pub(super) FileId);

/// An object that is being built, with the places of its keys.
#[derive(Default)]
pub(super) struct OpenObject {
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
}

impl Nodes {
    pub(super) fn span(&self, at: Range<usize>) -> Span {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(self.0, clamp(at.start), clamp(at.end))
    }

    fn node(&self, kind: NodeKind, at: Range<usize>) -> Node {
        Node { span: self.span(at), kind }
    }
}

impl Build for Nodes {
    type Value = Node;
    type Object = OpenObject;

    fn null(&self, at: Range<usize>) -> Node {
        self.node(NodeKind::Null, at)
    }

    fn boolean(&self, value: bool, at: Range<usize>) -> Node {
        self.node(NodeKind::Bool(value), at)
    }

    fn number(&self, text: &str, at: Range<usize>) -> Node {
        self.node(NodeKind::Number(text.to_owned()), at)
    }

    fn string(&self, text: String, at: Range<usize>) -> Node {
        self.node(NodeKind::String(text), at)
    }

    fn array(&self, items: Vec<Node>, at: Range<usize>) -> Node {
        self.node(NodeKind::Seq(items), at)
    }

    fn close(&self, object: OpenObject, at: Range<usize>) -> Node {
        self.node(NodeKind::Map(object.entries), at)
    }

    fn first(&self, object: &mut OpenObject, key: &str, at: usize) -> Seen {
        Places.first(&mut object.places, key, at)
    }

    fn entry(&self, object: &mut OpenObject, key: String, at: Range<usize>, value: Node) {
        object.entries.push(Entry { key, key_span: self.span(at), value });
    }
}

/// Builds nothing and remembers the places of keys: the second look at a document with a duplicate key.
pub(super) struct Places;

impl Build for Places {
    type Value = ();
    type Object = HashMap<String, usize>;

    fn null(&self, _: Range<usize>) {}
    fn boolean(&self, _: bool, _: Range<usize>) {}
    fn number(&self, _: &str, _: Range<usize>) {}
    fn string(&self, _: String, _: Range<usize>) {}
    fn array(&self, _: Vec<()>, _: Range<usize>) {}
    fn close(&self, _: HashMap<String, usize>, _: Range<usize>) {}

    fn first(&self, places: &mut HashMap<String, usize>, key: &str, at: usize) -> Seen {
        match places.entry(key.to_owned()) {
            hash_map::Entry::Occupied(first) => Seen::At(*first.get()),
            hash_map::Entry::Vacant(free) => {
                free.insert(at);
                Seen::No
            }
        }
    }

    fn entry(&self, _: &mut HashMap<String, usize>, _: String, _: Range<usize>, (): ()) {}
}
