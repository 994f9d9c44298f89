//! What a manifest's schema says about single arguments, as far as templates need to know it.
//!
//! Only `properties` at the top of the schema counts: an argument that the schema declares elsewhere (under `allOf`,
//! behind a `$ref`) cannot be named in a template.

use serde_json::{Map, Value};

/// The declared arguments of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Properties<'a> {
    schema: &'a Value,
}

impl<'a> Properties<'a> {
    pub(super) const fn new(schema: &'a Value) -> Self {
        Self { schema }
    }

    fn map(self) -> Option<&'a Map<String, Value>> {
        self.schema.get("properties").and_then(Value::as_object)
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        self.map().into_iter().flat_map(Map::keys).map(String::as_str)
    }

    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        self.map()?.get(name)
    }

    /// Whether every valid call has the argument: it is required, or has a default.
    pub(super) fn always_there(self, name: &str) -> bool {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|n| n.as_str() == Some(name)))
            || self.get(name).is_some_and(|schema| schema.get("default").is_some())
    }

    /// Whether values of this type can be valid; yes where the schema does not name types.
    pub(super) fn may_be(self, name: &str, wanted: &str) -> bool {
        let Some(schema) = self.get(name) else { return true };
        let is = |value: &Value| json_type(value) == wanted;
        if let Some(value) = schema.get("const") {
            return is(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values.iter().any(is);
        }
        match schema.get("type") {
            Some(Value::String(name)) => name == wanted,
            Some(Value::Array(names)) => names.iter().any(|n| n.as_str() == Some(wanted)),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => true,
        }
    }

    /// Whether no value but those of this type can be valid.
    pub(super) fn is_only(self, name: &str, wanted: &str) -> bool {
        const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
        self.may_be(name, wanted) && TYPES.iter().all(|t| *t == wanted || !self.may_be(name, t))
    }

    /// Whether the argument is declared as a path, or as a list of paths: only those take a canonical form.
    pub(super) fn is_path(self, name: &str) -> bool {
        let declares = |schema: &Value| schema.get("format").and_then(Value::as_str) == Some("path");
        self.get(name).is_some_and(|s| declares(s) || s.get("items").is_some_and(declares))
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
