//! Which keywords hold schemas, and how such a schema relates to the value that its parent judges.

use crate::canon::push_token;
use serde_json::{Map, Value};

/// How a schema inside another one is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applies {
    /// To the same value, and what it says holds: `allOf`.
    Same,
    /// To the same value, perhaps: `anyOf`, `oneOf`, `if`, `then`, `else`, `dependentSchemas`.
    Maybe,
    /// To the same value, to be false: `not`.
    Not,
    /// To a part of the value.
    Part,
    /// To nothing until a `$ref` names it.
    Nothing,
}

enum Holds {
    One,
    List,
    Map,
    OneOrList,
    /// `dependencies`: schemas, or lists of names.
    MapOfSome,
}

/// Sorted by name.
const KEYWORDS: &[(&str, Holds, Applies)] = &[
    ("$defs", Holds::Map, Applies::Nothing),
    ("additionalItems", Holds::One, Applies::Part),
    ("additionalProperties", Holds::One, Applies::Part),
    ("allOf", Holds::List, Applies::Same),
    ("anyOf", Holds::List, Applies::Maybe),
    ("contains", Holds::One, Applies::Part),
    ("contentSchema", Holds::One, Applies::Nothing),
    ("definitions", Holds::Map, Applies::Nothing),
    ("dependencies", Holds::MapOfSome, Applies::Maybe),
    ("dependentSchemas", Holds::Map, Applies::Maybe),
    ("else", Holds::One, Applies::Maybe),
    ("if", Holds::One, Applies::Maybe),
    ("items", Holds::OneOrList, Applies::Part),
    ("not", Holds::One, Applies::Not),
    ("oneOf", Holds::List, Applies::Maybe),
    ("patternProperties", Holds::Map, Applies::Part),
    ("prefixItems", Holds::List, Applies::Part),
    ("properties", Holds::Map, Applies::Part),
    ("propertyNames", Holds::One, Applies::Part),
    ("then", Holds::One, Applies::Maybe),
    ("unevaluatedItems", Holds::One, Applies::Part),
    ("unevaluatedProperties", Holds::One, Applies::Part),
];

/// Keywords that hold no schema, for the search after misspelt ones. Sorted.
const PLAIN: &[&str] = &[
    "$anchor",
    "$comment",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "dependentRequired",
    "deprecated",
    "description",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "pattern",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

/// The keyword that a name of none probably means.
pub(super) fn misspelt(name: &str) -> Option<&'static str> {
    let is_known = KEYWORDS.binary_search_by(|(keyword, ..)| (*keyword).cmp(name)).is_ok()
        || PLAIN.binary_search(&name).is_ok();
    if is_known || name.starts_with("x-") {
        return None;
    }
    crate::text::nearest(name, KEYWORDS.iter().map(|(name, ..)| *name).chain(PLAIN.iter().copied()))
}

/// A schema inside another one.
pub(super) struct Child<'a> {
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
    pub(super) applies: Applies,
    pub(super) keyword: &'static str,
}

/// The schemas inside a schema, `$ref` aside, with their JSON Pointers.
pub(super) fn children<'a>(schema: &'a Map<String, Value>, pointer: &str) -> Vec<Child<'a>> {
    let mut found = Vec::new();
    for (name, held) in schema {
        let Ok(index) = KEYWORDS.binary_search_by(|(keyword, ..)| (*keyword).cmp(name)) else { continue };
        let Some((keyword, holds, applies)) = KEYWORDS.get(index) else { continue };
        let at = push_token(pointer, keyword);
        let mut add = |pointer, schema| found.push(Child { pointer, schema, applies: *applies, keyword });
        match (holds, held) {
            (Holds::List | Holds::OneOrList, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    add(format!("{at}/{index}"), item);
                }
            }
            (Holds::Map | Holds::MapOfSome, Value::Object(map)) => {
                let schemas_only = matches!(holds, Holds::MapOfSome);
                for (key, value) in map.iter().filter(|(_, value)| !(schemas_only && value.is_array())) {
                    add(push_token(&at, key), value);
                }
            }
            (Holds::One | Holds::OneOrList, value) => add(at, value),
            // Of the wrong type: the meta-schema says so.
            (Holds::List | Holds::Map | Holds::MapOfSome, _) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{KEYWORDS, PLAIN, misspelt};

    #[test]
    fn the_tables_are_sorted() {
        assert!(KEYWORDS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(PLAIN.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn keywords_are_not_misspelt() {
        for name in KEYWORDS
            .iter()
            .map(|(name, ..)| *name)
            .chain(PLAIN.iter().copied())
            .chain(["x-typ", "wholly-other"])
        {
            assert_eq!(misspelt(name), None, "{name}");
        }
        assert_eq!(misspelt("requierd"), Some("required"));
    }
}
