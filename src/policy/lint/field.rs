//! What a value can be, by the tool's schema: the ground on which conditions are compared.

use crate::policy::decimal::Decimal;
use crate::policy::facts::ToolFacts;
use crate::policy::shape::{self, Place, Types};
use crate::policy::subject::{CtxField, Subject};
use serde_json::Value;

/// A bound on a number, and whether the number may be the bound itself.
pub(super) type NumberBound = (Decimal, bool);

/// What a subject can be. Where the schema is too complicated the answer is "anything".
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) may_be_absent: bool,
    /// Absence makes a condition false rather than doubtful.
    pub(super) undeclared: bool,
    pub(super) types: Types,
    pub(super) integer: bool,
    pub(super) low: Vec<NumberBound>,
    pub(super) high: Vec<NumberBound>,
    /// Least and most bytes of a string.
    pub(super) bytes: (u64, u64),
    /// Least and most items of a list.
    pub(super) items: (u64, u64),
    /// `enum` or `const`.
    pub(super) choices: Option<Vec<Value>>,
    /// Declared as `format: path`.
    pub(super) path: bool,
    /// A path that may be a link and its target at once.
    pub(super) nofollow: bool,
}

impl Field {
    fn anything() -> Self {
        Self {
            may_be_absent: true,
            undeclared: false,
            types: Types::ANY,
            integer: false,
            low: Vec::new(),
            high: Vec::new(),
            bytes: (0, u64::MAX),
            items: (0, u64::MAX),
            choices: None,
            path: false,
            nofollow: false,
        }
    }

    /// What a subject can be in calls of a tool.
    pub(super) fn of(subject: &Subject, tool: &ToolFacts) -> Self {
        match subject {
            Subject::Args(path) => Self::of_argument(path.segments(), tool),
            Subject::Ctx(CtxField::RunMode) => Self {
                may_be_absent: false,
                types: Types::STRING,
                choices: Some(vec!["execute".into(), "plan".into()]),
                ..Self::anything()
            },
            Subject::Ctx(CtxField::Agents) => {
                Self { may_be_absent: false, types: Types::ARRAY, ..Self::anything() }
            }
            Subject::Ctx(
                CtxField::RunId
                | CtxField::SessionId
                | CtxField::UserId
                | CtxField::TenantId
                | CtxField::AgentName,
            ) => Self { types: Types::STRING, ..Self::anything() },
            Subject::Tool | Subject::Effect | Subject::Sandbox(_) => Self::anything(),
        }
    }

    fn of_argument(segments: &[String], tool: &ToolFacts) -> Self {
        let root = &tool.parameters;
        let found = match shape::place(root, segments) {
            Place::Named(schemas) => Self::of_schemas(root, &schemas),
            Place::Free(schemas) => Self { undeclared: true, ..Self::of_schemas(root, &schemas) },
            Place::Undeclared(_) => Self { undeclared: true, ..Self::anything() },
        };
        Self { may_be_absent: !always_there(root, segments), ..found }
    }

    /// An item of the list at a place.
    pub(super) fn item_of(subject: &Subject, tool: &ToolFacts) -> Self {
        let Subject::Args(path) = subject else { return Self { may_be_absent: false, ..Self::anything() } };
        let mut segments = path.segments().to_vec();
        segments.push("0".to_owned());
        let found = match shape::place(&tool.parameters, &segments) {
            // The first item may have a schema of its own.
            Place::Named(schemas) if !has_prefix(&tool.parameters, path.segments()) => {
                Self::of_schemas(&tool.parameters, &schemas)
            }
            Place::Named(_) | Place::Free(_) | Place::Undeclared(_) => Self::anything(),
        };
        Self { may_be_absent: false, ..found }
    }

    fn of_schemas(root: &Value, schemas: &[&Value]) -> Self {
        let mut field = Self { types: shape::types(root, schemas), ..Self::anything() };
        field.path = schemas.iter().any(|schema| text(schema, "format") == Some("path"));
        field.nofollow = !schemas.iter().all(|schema| is_plain(schema))
            || schemas.iter().any(|schema| text(schema, "x-path") == Some("nofollow"));
        let [schema] = schemas else { return field };
        // What stands in the schema itself holds whatever else it refers to, in the drafts in which `$ref` hides nothing.
        if schema.get("$ref").is_some() {
            return field;
        }
        field.integer = text(schema, "type") == Some("integer");
        let bound = |key: &str, inclusive: bool| {
            let number = schema.get(key).filter(|value| value.is_number())?;
            Decimal::parse(&number.to_string()).map(|bound| (bound, inclusive))
        };
        // Draft 4 has exclusive bounds as booleans; the inclusive reading is the wider one.
        field.low =
            [bound("minimum", true), bound("exclusiveMinimum", false)].into_iter().flatten().collect();
        field.high =
            [bound("maximum", true), bound("exclusiveMaximum", false)].into_iter().flatten().collect();
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        field.items = (count("minItems").unwrap_or(0), count("maxItems").unwrap_or(u64::MAX));
        // The schema judges a path before it takes its canonical form, rules judge it afterwards.
        if !field.path {
            let most = count("maxLength").map_or(u64::MAX, |length| length.saturating_mul(4));
            field.bytes = (count("minLength").unwrap_or(0), most);
            field.choices = shape::choices(schemas).map(|all| all.into_iter().cloned().collect());
        }
        field
    }
}

fn text<'s>(schema: &'s Value, key: &str) -> Option<&'s str> {
    schema.get(key).and_then(Value::as_str)
}

/// Whether a schema says all that it says itself.
fn is_plain(schema: &Value) -> bool {
    ["$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"]
        .iter()
        .all(|key| schema.get(*key).is_none())
}

fn has_prefix(root: &Value, segments: &[String]) -> bool {
    match shape::place(root, segments) {
        Place::Named(schemas) | Place::Free(schemas) => schemas.iter().any(|schema| {
            !is_plain(schema)
                || schema.get("prefixItems").is_some()
                || schema.get("items").is_some_and(Value::is_array)
        }),
        Place::Undeclared(_) => false,
    }
}

/// The schemas of the objects on the way to a place, each with the name that leads on.
fn on_the_way<'s>(root: &'s Value, segments: &'s [String]) -> Option<Vec<(&'s Value, &'s str)>> {
    let mut here = root;
    let mut way = Vec::new();
    for segment in segments {
        if !is_plain(here) {
            return None;
        }
        way.push((here, segment.as_str()));
        here = here.get("properties")?.get(segment)?;
    }
    Some(way)
}

fn is_required(object: &Value, name: &str) -> bool {
    let listed = object.get("required").and_then(Value::as_array);
    listed.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
        || object.get("properties").and_then(|all| all.get(name)).is_some_and(|s| s.get("default").is_some())
}

/// Whether every valid call certainly has a value at a place.
fn always_there(root: &Value, segments: &[String]) -> bool {
    on_the_way(root, segments)
        .is_some_and(|way| way.into_iter().all(|(object, name)| is_required(object, name)))
}

/// Whether some valid call certainly has no value at a place that the schema names.
pub(super) fn is_optional(root: &Value, segments: &[String]) -> bool {
    let fixed = ["dependentRequired", "dependencies", "minProperties"];
    on_the_way(root, segments).is_some_and(|way| {
        way.iter().all(|(object, _)| fixed.iter().all(|key| object.get(*key).is_none()))
            && way.iter().any(|(object, name)| !is_required(object, name))
    })
}
