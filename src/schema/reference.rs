//! References inside one schema: `#`, `#/a/pointer`, `#anchor`, and the same behind the schema's own `$id`.

use super::keywords::children;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The keywords that refer to another schema.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The anchors of a schema and the address that it gives itself.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Anchor -> JSON Pointer.
    anchors: BTreeMap<String, String>,
    id: Option<String>,
}

impl Names {
    pub(super) fn of(root: &Value) -> Self {
        let id = ["$id", "id"].iter().find_map(|key| root.get(key)?.as_str());
        let mut names = Self {
            anchors: BTreeMap::new(),
            id: id.map(|id| id.strip_suffix('#').unwrap_or(id).to_owned()).filter(|id| !id.is_empty()),
        };
        let mut todo = vec![(String::new(), root)];
        while let Some((pointer, schema)) = todo.pop() {
            let Value::Object(map) = schema else { continue };
            for anchor in anchors_of(map) {
                names.anchors.entry(anchor.to_owned()).or_insert_with(|| pointer.clone());
            }
            todo.extend(children(map, &pointer).into_iter().map(|child| (child.pointer, child.schema)));
        }
        names
    }

    /// The JSON Pointer that a reference names; `None` if it leads out of the schema or to an unknown anchor.
    pub(super) fn pointer(&self, reference: &str) -> Option<String> {
        let fragment = match reference.split_once('#') {
            Some(("", fragment)) => fragment,
            Some((base, fragment)) if Some(base) == self.id.as_deref() => fragment,
            None if Some(reference) == self.id.as_deref() => "",
            Some(_) | None => return None,
        };
        let fragment = percent_decode(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return Some(fragment);
        }
        self.anchors.get(&fragment).cloned()
    }

    /// The schema that a reference names, and its pointer.
    pub(super) fn resolve<'a>(&self, root: &'a Value, reference: &str) -> Option<(String, &'a Value)> {
        let pointer = self.pointer(reference)?;
        let target = root.pointer(&pointer)?;
        Some((pointer, target))
    }

    /// The schemas that a schema refers to.
    pub(super) fn targets<'a>(
        &self,
        root: &'a Value,
        schema: &Map<String, Value>,
    ) -> Vec<(String, &'a Value)> {
        REFERENCES
            .iter()
            .filter_map(|key| schema.get(*key)?.as_str())
            .filter_map(|reference| self.resolve(root, reference))
            .collect()
    }
}

fn anchors_of(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let direct = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(|key| schema.get(key)?.as_str());
    let by_id = ["$id", "id"].into_iter().filter_map(|key| schema.get(key)?.as_str()?.strip_prefix('#'));
    direct.chain(by_id).filter(|name| !name.is_empty())
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
