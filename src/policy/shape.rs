//! What a tool's argument schema says of a place in the arguments: is it declared, of which types, is it a path, is
//! it secret. Validation is `crate::schema`'s; this only answers questions that rules ask.

use crate::canon::push_token;
use serde_json::{Map, Value};

/// How many `$ref` and combinators are followed before the answer is "anything".
const MAX_DEPTH: u32 = 24;

/// A set of JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const NUMBER: Self = Self(4);
    pub(super) const STRING: Self = Self(8);
    pub(super) const ARRAY: Self = Self(16);
    pub(super) const OBJECT: Self = Self(32);
    pub(super) const ANY: Self = Self(63);
    const NONE: Self = Self(0);

    /// The type of a value.
    pub(super) const fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn either(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "number" | "integer" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::ANY,
        }
    }

    /// `a string or null`, for messages.
    pub(super) fn describe(self) -> String {
        let names = [
            (Self::STRING, "a string"),
            (Self::NUMBER, "a number"),
            (Self::BOOLEAN, "a boolean"),
            (Self::ARRAY, "a list"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ];
        let known: Vec<_> = names.iter().filter(|(t, _)| self.meets(*t)).map(|(_, name)| *name).collect();
        known.join(" or ")
    }
}

/// What the schema says of a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place<'s> {
    /// A property that the schema names, or an item of a list; all schemas that may apply to it.
    Named(Vec<&'s Value>),
    /// Not named, but the schema expects more properties; what it says of them.
    Free(Vec<&'s Value>),
    /// Nothing says that there is such a thing; the names that there are.
    Undeclared(Vec<&'s str>),
}

/// What the schema `root` says of the place that these names and list indices lead to.
pub(super) fn place<'s>(root: &'s Value, segments: &[String]) -> Place<'s> {
    let mut here = vec![root];
    let mut last = Place::Named(here.clone());
    for segment in segments {
        let mut found = Found::default();
        for schema in &here {
            found.look(root, schema, segment, MAX_DEPTH);
        }
        last = found.into_place();
        match &last {
            Place::Named(next) | Place::Free(next) => here.clone_from(next),
            Place::Undeclared(_) => return last,
        }
    }
    last
}

#[derive(Default)]
struct Found<'s> {
    named: Vec<&'s Value>,
    free: Vec<&'s Value>,
    open: bool,
    names: Vec<&'s str>,
}

impl<'s> Found<'s> {
    fn look(&mut self, root: &'s Value, schema: &'s Value, segment: &str, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else {
            self.open = true;
            return;
        };
        let Value::Object(object) = schema else {
            self.open |= *schema == Value::Bool(true);
            return;
        };
        for part in parts(root, object) {
            self.look(root, part, segment, depth);
        }
        self.look_here(object, segment);
    }

    fn look_here(&mut self, object: &'s Map<String, Value>, segment: &str) {
        if let Some(Value::Object(properties)) = object.get("properties") {
            self.names.extend(properties.keys().map(String::as_str));
            if let Some(property) = properties.get(segment) {
                self.named.push(property);
                return;
            }
        }
        if let Ok(index) = segment.parse::<usize>() {
            let prefix = object.get("prefixItems").and_then(Value::as_array).and_then(|all| all.get(index));
            let items = match object.get("items") {
                Some(Value::Array(all)) => all.get(index),
                other => other,
            };
            self.named.extend(prefix.or(items));
        }
        if let Some(Value::Object(patterns)) = object.get("patternProperties") {
            self.open = true;
            self.free.extend(patterns.values());
        }
        match object.get("additionalProperties") {
            Some(more @ Value::Object(_)) => self.free.push(more),
            Some(Value::Bool(true)) => self.open = true,
            // An object schema that says nothing of its properties expects any.
            None => {
                self.open |= !object.contains_key("properties")
                    && !["$ref", "allOf", "anyOf", "oneOf", "items"]
                        .iter()
                        .any(|key| object.contains_key(*key));
            }
            Some(_) => {}
        }
    }

    fn into_place(self) -> Place<'s> {
        if !self.named.is_empty() {
            Place::Named(self.named)
        } else if self.open || !self.free.is_empty() {
            Place::Free(self.free)
        } else {
            Place::Undeclared(self.names)
        }
    }
}

/// The schemas that apply to, or may apply to, the same value.
fn parts<'s>(root: &'s Value, object: &'s Map<String, Value>) -> Vec<&'s Value> {
    let mut parts = Vec::new();
    for key in ["allOf", "anyOf", "oneOf"] {
        parts.extend(object.get(key).and_then(Value::as_array).into_iter().flatten());
    }
    parts.extend(["then", "else"].iter().filter_map(|key| object.get(*key)));
    parts.extend(target(root, object));
    parts
}

/// The schema that a local `$ref` points at.
fn target<'s>(root: &'s Value, object: &Map<String, Value>) -> Option<&'s Value> {
    let pointer = object.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// The types that a value there can have.
pub(super) fn types(root: &Value, schemas: &[&Value]) -> Types {
    // Schemas found through different branches may each be the one that applies.
    let all = schemas.iter().fold(Types::NONE, |seen, s| seen.either(types_of(root, s, MAX_DEPTH)));
    if schemas.is_empty() { Types::ANY } else { all }
}

fn types_of(root: &Value, schema: &Value, depth: u32) -> Types {
    let (Value::Object(object), Some(depth)) = (schema, depth.checked_sub(1)) else { return Types::ANY };
    let mut types = match object.get("type") {
        Some(Value::String(name)) => Types::named(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).fold(Types::NONE, |t, n| t.either(Types::named(n)))
        }
        _ => Types::ANY,
    };
    if let Some(values) = object.get("enum").and_then(Value::as_array) {
        types = types.both(values.iter().fold(Types::NONE, |t, v| t.either(Types::of(v))));
    }
    if let Some(value) = object.get("const") {
        types = types.both(Types::of(value));
    }
    for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        types = types.both(types_of(root, part, depth));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(parts) = object.get(key).and_then(Value::as_array) {
            let any = parts.iter().fold(Types::NONE, |t, part| t.either(types_of(root, part, depth)));
            types = types.both(any);
        }
    }
    if let Some(schema) = target(root, object) {
        types = types.both(types_of(root, schema, depth));
    }
    types
}

/// The values that can stand there, if one schema alone lists them.
pub(super) fn choices<'s>(schemas: &[&'s Value]) -> Option<Vec<&'s Value>> {
    let [schema] = schemas else { return None };
    if let Some(value) = schema.get("const") {
        return Some(vec![value]);
    }
    schema.get("enum").and_then(Value::as_array).map(|values| values.iter().collect())
}

/// An argument that the schema declares as a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeclaredPath {
    /// Its JSON Pointer.
    pub(super) pointer: String,
    /// Its canonical text.
    pub(super) text: String,
    /// `x-path: nofollow` is not said: the last symlink was resolved.
    pub(super) follow_last: bool,
}

/// All strings of the arguments that are declared `format: path`.
pub(super) fn declared_paths(root: &Value, args: &Map<String, Value>) -> Vec<DeclaredPath> {
    let mut found: Vec<DeclaredPath> = Vec::new();
    walk(root, args, &mut |pointer, value, object| {
        if object.get("format").and_then(Value::as_str) == Some("path")
            && let Value::String(text) = value
        {
            let follow_last = object.get("x-path").and_then(Value::as_str) != Some("nofollow");
            match found.iter_mut().find(|path| path.pointer == pointer) {
                Some(path) => path.follow_last &= follow_last,
                None => {
                    found.push(DeclaredPath { pointer: pointer.to_owned(), text: text.clone(), follow_last });
                }
            }
        }
    });
    found
}

/// The JSON Pointers of the values that may not be shown: `writeOnly`, `format: password`, `x-secret`.
pub(super) fn secrets(root: &Value, args: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    walk(root, args, &mut |pointer, _, object| {
        if says_secret(object) {
            found.push(pointer.to_owned());
        }
    });
    found
}

/// Whether the schema calls the value at a place, or one around it, a secret.
pub(super) fn is_secret(root: &Value, segments: &[String]) -> bool {
    (1..=segments.len()).any(|length| {
        let (Place::Named(schemas) | Place::Free(schemas)) =
            place(root, segments.get(..length).unwrap_or_default())
        else {
            return false;
        };
        let mut secret = false;
        for schema in schemas {
            visit_all(root, schema, MAX_DEPTH, &mut |object| secret |= says_secret(object));
        }
        secret
    })
}

fn says_secret(object: &Map<String, Value>) -> bool {
    object.get("writeOnly") == Some(&Value::Bool(true))
        || object.get("x-secret").is_some_and(|value| *value != Value::Bool(false))
        || object.get("format").and_then(Value::as_str) == Some("password")
}

type Visit<'v> = dyn FnMut(&str, &Value, &Map<String, Value>) + 'v;

fn walk(root: &Value, args: &Map<String, Value>, visit: &mut Visit<'_>) {
    for (key, value) in args {
        walk_child(root, &[root], key, value, "", visit);
    }
}

fn walk_child(
    root: &Value,
    parents: &[&Value],
    segment: &str,
    value: &Value,
    pointer: &str,
    visit: &mut Visit<'_>,
) {
    let mut found = Found::default();
    for schema in parents {
        found.look(root, schema, segment, MAX_DEPTH);
    }
    let (Place::Named(schemas) | Place::Free(schemas)) = found.into_place() else { return };
    if schemas.is_empty() {
        return;
    }
    let pointer = push_token(pointer, segment);
    for schema in &schemas {
        visit_all(root, schema, MAX_DEPTH, &mut |object| visit(&pointer, value, object));
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                walk_child(root, &schemas, key, value, &pointer, visit);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                walk_child(root, &schemas, &at.to_string(), item, &pointer, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn visit_all(root: &Value, schema: &Value, depth: u32, visit: &mut dyn FnMut(&Map<String, Value>)) {
    let (Value::Object(object), Some(depth)) = (schema, depth.checked_sub(1)) else { return };
    visit(object);
    for part in parts(root, object) {
        visit_all(root, part, depth, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Types, declared_paths, place, secrets, types};
    use serde_json::{Value, json};

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "format": "path"},
                "from": {"$ref": "#/$defs/gone"},
                "many": {"type": "array", "items": {"type": "string", "format": "path"}},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                "key": {"type": "string", "writeOnly": true},
                "deep": {"type": "object", "properties": {"pin": {"type": "string", "x-secret": true}}},
            },
            "additionalProperties": false,
            "$defs": {"gone": {"type": "string", "format": "path", "x-path": "nofollow"}},
        })
    }

    fn at(path: &str) -> Vec<String> {
        path.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn knows_what_is_declared() {
        let schema = schema();
        for (path, expected) in [
            ("path", "named"),
            ("from", "named"),
            ("many.0", "named"),
            ("headers.x", "free"),
            ("nope", "undeclared"),
            ("deep.nope", "undeclared"),
            ("deep.pin", "named"),
        ] {
            let found = match place(&schema, &at(path)) {
                Place::Named(_) => "named",
                Place::Free(_) => "free",
                Place::Undeclared(_) => "undeclared",
            };
            assert_eq!(found, expected, "{path}");
        }
        let Place::Named(found) = place(&schema, &at("either")) else { panic!() };
        let types = types(&schema, &found);
        assert!(types.meets(Types::STRING) && types.meets(Types::NUMBER) && !types.meets(Types::NULL));
        assert_eq!(types.describe(), "a string or a number");
    }

    #[test]
    fn finds_paths_and_secrets_in_the_arguments() {
        let args = json!({"path": "a", "from": "b", "many": ["c", "d"], "key": "k", "deep": {"pin": "1"}});
        let args = args.as_object().unwrap();
        let mut found: Vec<_> =
            declared_paths(&schema(), args).into_iter().map(|p| (p.pointer, p.follow_last)).collect();
        found.sort();
        let expected = [("/from", false), ("/many/0", true), ("/many/1", true), ("/path", true)];
        assert_eq!(found, expected.map(|(p, f)| (p.to_owned(), f)));
        let mut hidden = secrets(&schema(), args);
        hidden.sort();
        assert_eq!(hidden, ["/deep/pin", "/key"]);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"$ref": "#", "properties": {"a": {"$ref": "#"}}});
        assert!(matches!(place(&schema, &at("a.a.a")), Place::Named(_)));
        let args = json!({"a": {"a": {"a": 1}}});
        assert!(declared_paths(&schema, args.as_object().unwrap()).is_empty());
    }
}
