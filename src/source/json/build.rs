//! What the parser makes out of a document: plain values, values with places, or nothing but the places of keys.

use crate::source::node::{Entry, Node, NodeKind};
use crate::text::{FileId, Span};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map;
use std::hash::Hash;
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

/// Receives the parts of a document in order. Texts without an escape are lent from the document.
pub(super) trait Build<'t> {
    type Value;
    type Array;
    type Object;

    fn null(&mut self, at: Range<usize>) -> Self::Value;
    fn boolean(&mut self, value: bool, at: Range<usize>) -> Self::Value;
    fn number(&mut self, text: &'t str, at: Range<usize>) -> Self::Value;
    fn string(&mut self, text: Cow<'t, str>, at: Range<usize>) -> Self::Value;

    /// An array starts at this byte.
    fn open_array(&mut self, at: usize) -> Self::Array;
    fn item(&mut self, array: &mut Self::Array, value: Self::Value);
    fn array(&mut self, array: Self::Array, at: Range<usize>) -> Self::Value;

    /// An object starts at this byte.
    fn open_object(&mut self, at: usize) -> Self::Object;
    /// Whether the object has the key already; if not, the builder may remember its place.
    fn key(&mut self, object: &mut Self::Object, key: Cow<'t, str>, at: Range<usize>) -> Seen;
    fn entry(&mut self, object: &mut Self::Object, key: Cow<'t, str>, at: Range<usize>, value: Self::Value);
    fn object(&mut self, object: Self::Object, at: Range<usize>) -> Self::Value;
}

/// Builds plain values, for call arguments.
pub(super) struct Values;

impl<'t> Build<'t> for Values {
    type Value = Value;
    type Array = Vec<Value>;
    type Object = Map<String, Value>;

    fn null(&mut self, _: Range<usize>) -> Value {
        Value::Null
    }

    fn boolean(&mut self, value: bool, _: Range<usize>) -> Value {
        Value::Bool(value)
    }

    fn number(&mut self, text: &'t str, _: Range<usize>) -> Value {
        // The parser has checked the text; this keeps its digits, where parsing would only check them again.
        Value::Number(Number::from_string_unchecked(text.to_owned()))
    }

    fn string(&mut self, text: Cow<'t, str>, _: Range<usize>) -> Value {
        Value::String(text.into_owned())
    }

    fn open_array(&mut self, _: usize) -> Vec<Value> {
        Vec::new()
    }

    fn item(&mut self, array: &mut Vec<Value>, value: Value) {
        array.push(value);
    }

    fn array(&mut self, array: Vec<Value>, _: Range<usize>) -> Value {
        Value::Array(array)
    }

    fn open_object(&mut self, _: usize) -> Map<String, Value> {
        Map::new()
    }

    fn key(&mut self, object: &mut Map<String, Value>, key: Cow<'t, str>, _: Range<usize>) -> Seen {
        if object.contains_key(key.as_ref()) { Seen::Somewhere } else { Seen::No }
    }

    fn entry(&mut self, object: &mut Map<String, Value>, key: Cow<'t, str>, _: Range<usize>, value: Value) {
        object.insert(key.into_owned(), value);
    }

    fn object(&mut self, object: Map<String, Value>, _: Range<usize>) -> Value {
        Value::Object(object)
    }
}

/// Builds values with places, for files.
pub(super) struct Nodes(pub(super) FileId);

/// An object that is being built. The keys of a large one are also kept in a map, with the place of each.
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

impl<'t> Build<'t> for Nodes {
    type Value = Node;
    type Array = Vec<Node>;
    type Object = OpenObject;

    fn null(&mut self, at: Range<usize>) -> Node {
        self.node(NodeKind::Null, at)
    }

    fn boolean(&mut self, value: bool, at: Range<usize>) -> Node {
        self.node(NodeKind::Bool(value), at)
    }

    fn number(&mut self, text: &'t str, at: Range<usize>) -> Node {
        self.node(NodeKind::Number(text.to_owned()), at)
    }

    fn string(&mut self, text: Cow<'t, str>, at: Range<usize>) -> Node {
        self.node(NodeKind::String(text.into_owned()), at)
    }

    fn open_array(&mut self, _: usize) -> Vec<Node> {
        Vec::new()
    }

    fn item(&mut self, array: &mut Vec<Node>, value: Node) {
        array.push(value);
    }

    fn array(&mut self, array: Vec<Node>, at: Range<usize>) -> Node {
        self.node(NodeKind::Seq(array), at)
    }

    fn open_object(&mut self, _: usize) -> OpenObject {
        OpenObject::default()
    }

    fn key(&mut self, object: &mut OpenObject, key: Cow<'t, str>, at: Range<usize>) -> Seen {
        if object.entries.len() < FEW_KEYS {
            let first = object.entries.iter().find(|entry| entry.key == key.as_ref());
            return first.map_or(Seen::No, |entry| Seen::At(entry.key_span.start as usize));
        }
        if object.places.is_empty() {
            let all = object.entries.iter();
            object.places = all.map(|entry| (entry.key.clone(), entry.key_span.start as usize)).collect();
        }
        remember(&mut object.places, key.into_owned(), at.start)
    }

    fn entry(&mut self, object: &mut OpenObject, key: Cow<'t, str>, at: Range<usize>, value: Node) {
        object.entries.push(Entry { key: key.into_owned(), key_span: self.span(at), value });
    }

    fn object(&mut self, object: OpenObject, at: Range<usize>) -> Node {
        self.node(NodeKind::Map(object.entries), at)
    }
}

/// Up to so many keys are compared one by one, which is quicker than a map of them.
pub(super) const FEW_KEYS: usize = 12;

/// Looks a key up, and keeps its place if it is new.
pub(super) fn remember<K: Hash + Eq>(places: &mut HashMap<K, usize>, key: K, at: usize) -> Seen {
    match places.entry(key) {
        hash_map::Entry::Occupied(first) => Seen::At(*first.get()),
        hash_map::Entry::Vacant(free) => {
            free.insert(at);
            Seen::No
        }
    }
}

/// Builds nothing and remembers the places of keys: the second look at a document with a duplicate key.
pub(super) struct Places;

impl<'t> Build<'t> for Places {
    type Value = ();
    type Array = ();
    type Object = HashMap<Cow<'t, str>, usize>;

    fn null(&mut self, _: Range<usize>) {}
    fn boolean(&mut self, _: bool, _: Range<usize>) {}
    fn number(&mut self, _: &'t str, _: Range<usize>) {}
    fn string(&mut self, _: Cow<'t, str>, _: Range<usize>) {}
    fn open_array(&mut self, _: usize) {}
    fn item(&mut self, (): &mut (), (): ()) {}
    fn array(&mut self, (): (), _: Range<usize>) {}

    fn open_object(&mut self, _: usize) -> Self::Object {
        HashMap::new()
    }

    fn key(&mut self, places: &mut Self::Object, key: Cow<'t, str>, at: Range<usize>) -> Seen {
        remember(places, key, at.start)
    }

    fn entry(&mut self, _: &mut Self::Object, _: Cow<'t, str>, _: Range<usize>, (): ()) {}
    fn object(&mut self, _: Self::Object, _: Range<usize>) {}
}
