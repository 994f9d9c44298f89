//! The properties of an object schema, and the type that a flag is read as.

use super::compile::Schema;
use super::keywords::{Applies, children};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A type whose values are written without brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Primitive {
    /// A string.
    String,
    /// A number without fraction.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
}

impl Primitive {
    /// `string`, `integer`, `number` or `boolean`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// The names of the types a schema lets through; `None` while nothing has limited them.
type Types<'a> = Option<BTreeSet<&'a str>>;

impl Schema {
    /// The top-level properties with their schemas (000 schemaShape), `$ref` and `allOf` followed. Of several schemas of
    /// one property the first is given.
    pub fn shape(&self) -> BTreeMap<&str, &Value> {
        self.properties_of(self.root())
    }

    /// The properties of one schema inside this one.
    pub(super) fn properties_of<'a>(&'a self, schema: &'a Value) -> BTreeMap<&'a str, &'a Value> {
        let mut found = BTreeMap::new();
        for part in self.same(schema) {
            if let Some(Value::Object(properties)) = part.get("properties") {
                for (name, property) in properties {
                    found.entry(name.as_str()).or_insert(property);
                }
            }
        }
        found
    }

    /// A schema and all that hold with it: the targets of its references and the members of its `allOf`.
    pub(super) fn same<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        let mut found: Vec<&'a Value> = Vec::new();
        let mut todo = vec![schema];
        while let Some(schema) = todo.pop() {
            if found.iter().any(|seen| std::ptr::eq(*seen, schema)) {
                continue;
            }
            found.push(schema);
            let Value::Object(map) = schema else { continue };
            let members = children(map, "").into_iter().filter(|child| child.applies == Applies::Same);
            let mut next: Vec<&Value> =
                self.names().targets(self.root(), map).into_iter().map(|(_, s)| s).collect();
            next.extend(members.map(|child| child.schema));
            todo.extend(next.into_iter().rev());
        }
        found
    }

    /// The one primitive type of a top-level property, `null` aside: what the text of `-a name=text` is read as.
    /// `None` if there is no such property, or it may be of several types or of none of these.
    pub fn primitive_type(&self, property: &str) -> Option<Primitive> {
        let schema = *self.shape().get(property)?;
        let types = self.types_of(schema)?;
        let mut types = types.into_iter().filter(|name| *name != "null");
        match (types.next()?, types.next()) {
            ("string", None) => Some(Primitive::String),
            ("integer", None) => Some(Primitive::Integer),
            ("number", None) | ("integer", Some("number")) => Some(Primitive::Number),
            ("boolean", None) => Some(Primitive::Boolean),
            _ => None,
        }
    }

    /// The types that a schema lets through, as far as `type`, `const`, `enum` and alternatives say.
    pub(super) fn types_of<'a>(&'a self, schema: &'a Value) -> Types<'a> {
        let mut types: Types<'a> = None;
        for part in self.same(schema) {
            let said = match (part.get("type"), part.get("const"), part.get("enum")) {
                (Some(Value::String(name)), ..) => Some(BTreeSet::from([name.as_str()])),
                (Some(Value::Array(names)), ..) => Some(names.iter().filter_map(Value::as_str).collect()),
                (_, Some(value), _) => Some(BTreeSet::from([type_name(value)])),
                (_, _, Some(Value::Array(values))) => Some(values.iter().map(type_name).collect()),
                _ => None,
            };
            types = both(types, said);
            for keyword in ["anyOf", "oneOf"] {
                let Some(Value::Array(branches)) = part.get(keyword) else { continue };
                let said = branches.iter().try_fold(BTreeSet::new(), |mut all, branch| {
                    all.extend(self.types_of(branch)?);
                    Some(all)
                });
                types = both(types, said);
            }
        }
        types
    }
}

fn both<'a>(a: Types<'a>, b: Types<'a>) -> Types<'a> {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
    }
}

/// The name of a value's type in JSON Schema.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_str().bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
            "integer"
        }
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
