//! What a schema says about parts of a value beside whether they are valid: paths, URIs, secrets.
//!
//! The walk follows every branch that could apply (`anyOf`, `then`, additional properties, …) without asking whether it
//! does. To take a value for a path or a secret when only one branch says so is the safe side.

use super::compile::Schema;
use super::keywords::{Applies, children};
use crate::canon::push_token;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What a string was declared to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Declared {
    /// `format: path`.
    Path {
        /// A symlink in the last place is followed; false with `x-path: nofollow`.
        follow_last: bool,
    },
    /// `format: uri`.
    Uri,
}

/// A string of a value that was declared to be something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Located {
    /// JSON Pointer of the string.
    pub pointer: String,
    /// What it is.
    pub what: Declared,
}

impl Schema {
    /// The strings of a value that any applicable part of the schema declares a path or URI, sorted. A string that is
    /// declared both stands here twice; a path that one part wants followed and another not is not followed.
    pub fn locate(&self, value: &Value) -> Vec<Located> {
        if !self.says().places {
            return Vec::new();
        }
        let mut paths: BTreeMap<String, bool> = BTreeMap::new();
        let mut uris = BTreeSet::new();
        self.each(value, &mut |schema, value, pointer| {
            if !value.is_string() {
                return;
            }
            match schema.get("format").and_then(Value::as_str) {
                Some("path") => {
                    let follow = schema.get("x-path").and_then(Value::as_str) != Some("nofollow");
                    *paths.entry(pointer.to_owned()).or_insert(true) &= follow;
                }
                Some("uri") => {
                    uris.insert(pointer.to_owned());
                }
                Some(_) | None => {}
            }
        });
        let mut found: Vec<Located> = paths
            .into_iter()
            .map(|(pointer, follow_last)| Located { pointer, what: Declared::Path { follow_last } })
            .chain(uris.into_iter().map(|pointer| Located { pointer, what: Declared::Uri }))
            .collect();
        found.sort();
        found
    }

    /// JSON Pointers of the values that are secret: `writeOnly: true`, `format: password` or `x-secret: true`. Sorted.
    pub fn secrets(&self, value: &Value) -> Vec<String> {
        if !self.says().secrets {
            return Vec::new();
        }
        let mut found = BTreeSet::new();
        self.each(value, &mut |schema, _, pointer| {
            let is_true = |key: &str| schema.get(key) == Some(&Value::Bool(true));
            let password = schema.get("format").and_then(Value::as_str) == Some("password");
            if password || is_true("writeOnly") || is_true("x-secret") {
                found.insert(pointer.to_owned());
            }
        });
        found.into_iter().collect()
    }

    /// Whether a top-level property is secret, whatever its value.
    pub fn is_secret(&self, property: &str) -> bool {
        let mut probe = Map::new();
        probe.insert(property.to_owned(), Value::Null);
        !self.secrets(&Value::Object(probe)).is_empty()
    }

    /// Calls `see` with every schema object that may apply to a part of the value, that part, and its pointer.
    fn each(&self, value: &Value, see: See<'_>) {
        Walk { schema: self, seen: HashSet::new(), see }.visit(self.root(), value, "");
    }
}

/// Is shown a schema, the part of the value that it may judge, and the part's pointer.
type See<'a> = &'a mut dyn FnMut(&Map<String, Value>, &Value, &str);

struct Walk<'a> {
    schema: &'a Schema,
    /// Pairs of schema and value by address: a value is judged by a schema once, so the walk is as large as the product
    /// of the two however often the schema refers to its own parts.
    seen: HashSet<(usize, usize)>,
    see: See<'a>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, schema: &'a Value, value: &Value, pointer: &str) {
        let Value::Object(map) = schema else { return };
        let pair = (std::ptr::from_ref(schema).addr(), std::ptr::from_ref(value).addr());
        if !self.seen.insert(pair) {
            return;
        }
        (self.see)(map, value, pointer);
        for (_, target) in self.schema.names().targets(self.schema.root(), map) {
            self.visit(target, value, pointer);
        }
        for child in children(map, "") {
            match child.applies {
                Applies::Same | Applies::Maybe => self.visit(child.schema, value, pointer),
                Applies::Not | Applies::Part | Applies::Nothing => {}
            }
        }
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    let at = push_token(pointer, key);
                    for part in property_schemas(map, key) {
                        self.visit(part, member, &at);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let at = format!("{pointer}/{index}");
                    for part in item_schemas(map, index) {
                        self.visit(part, item, &at);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// The schemas that may apply to a property.
fn property_schemas<'a>(schema: &'a Map<String, Value>, key: &str) -> Vec<&'a Value> {
    let declared = schema.get("properties").and_then(|properties| properties.get(key));
    let mut found: Vec<&Value> = declared.into_iter().collect();
    if let Some(Value::Object(patterns)) = schema.get("patternProperties") {
        found.extend(patterns.iter().filter(|(pattern, _)| may_match(pattern, key)).map(|(_, part)| part));
    }
    if declared.is_none() {
        found.extend(
            ["additionalProperties", "unevaluatedProperties"].iter().filter_map(|name| schema.get(*name)),
        );
    }
    found
}

/// Whether a pattern of ECMA-262 may match. What `\d` and the like mean differs, so both meanings count, and a pattern that
/// this engine does not take is held to match.
fn may_match(pattern: &str, key: &str) -> bool {
    let matches =
        |pattern: &str| regex::bytes::Regex::new(pattern).is_ok_and(|regex| regex.is_match(key.as_bytes()));
    let readable = regex::bytes::Regex::new(pattern).is_ok();
    !readable || matches(pattern) || matches(&format!("(?-u){pattern}"))
}

/// The schemas that may apply to an item.
fn item_schemas(schema: &Map<String, Value>, index: usize) -> Vec<&Value> {
    let mut found = Vec::new();
    for name in ["prefixItems", "items"] {
        match schema.get(name) {
            Some(Value::Array(positions)) => found.extend(positions.get(index)),
            Some(one) => found.push(one),
            None => {}
        }
    }
    let rest = ["additionalItems", "unevaluatedItems", "contains"];
    found.extend(rest.iter().filter_map(|name| schema.get(*name)));
    found
}
