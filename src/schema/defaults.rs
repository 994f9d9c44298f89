//! Defaults: filled in where a schema declares them for certain, and checked against their own schema.
//!
//! A default is filled in for a property that is absent from an object that is there, at every level, through
//! `properties`, `items`, `additionalProperties`, `$ref` and `allOf`. An absent object is not made for the sake of the
//! defaults inside it, and a default at the top or below `anyOf`, `oneOf`, `if` and the like is not filled in. A property that
//! is required is demanded, whatever its default says, and `default: null` where null is not valid is no default.

use super::compile::{Schema, SchemaFault, SchemaWarning};
use super::keywords::{Applies, children};
use super::show;
use crate::canon::push_token;
use crate::diag::Code;
use serde_json::{Map, Value};
use std::collections::HashSet;

impl Schema {
    /// Fills in the defaults of absent properties; returns the JSON Pointers of what was filled in, sorted.
    pub fn fill_defaults(&self, value: &mut Value) -> Vec<String> {
        let mut filled = Vec::new();
        if self.says().defaults {
            self.fill(self.root(), value, "", &mut filled);
        }
        filled.sort();
        filled.dedup();
        filled
    }

    fn fill(&self, schema: &Value, value: &mut Value, pointer: &str, filled: &mut Vec<String>) {
        for part in self.same(schema) {
            let Value::Object(map) = part else { continue };
            match value {
                Value::Object(members) => self.fill_object(map, members, pointer, filled),
                Value::Array(items) => {
                    for (index, item) in items.iter_mut().enumerate() {
                        if let Some(part) = item_schema(map, index) {
                            self.fill(part, item, &format!("{pointer}/{index}"), filled);
                        }
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }

    fn fill_object(
        &self,
        schema: &Map<String, Value>,
        members: &mut Map<String, Value>,
        pointer: &str,
        filled: &mut Vec<String>,
    ) {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        for (name, property) in properties {
            if members.contains_key(name) || is_required(schema, name) {
                continue;
            }
            if let Some(default) = self.default_of(property) {
                members.insert(name.clone(), default.clone());
                filled.push(push_token(pointer, name));
            }
        }
        let patterns = schema.contains_key("patternProperties");
        for (name, member) in members.iter_mut() {
            // Whether `additionalProperties` applies beside patterns is left open, so nothing is filled in there.
            let rest = schema.get("additionalProperties").filter(|_| !patterns);
            if let Some(part) = properties.get(name).or(rest) {
                self.fill(part, member, &push_token(pointer, name), filled);
            }
        }
    }

    fn default_of<'a>(&'a self, schema: &'a Value) -> Option<&'a Value> {
        let default = self.same(schema).into_iter().find_map(|part| part.get("default"))?;
        (!self.means_none(schema, default)).then_some(default)
    }

    /// Whether a default is a `null` that the schema does not let through: a widespread way to write "no default".
    fn means_none(&self, schema: &Value, default: &Value) -> bool {
        default.is_null() && self.types_of(schema).is_some_and(|types| !types.contains("null"))
    }

    /// The defaults that break their own schema. Each is put into an otherwise empty value at its place, and only what the
    /// validator says of that place, by that schema, counts. A `null` that means none is a warning.
    pub(super) fn check_defaults(&self) -> (Vec<SchemaFault>, Vec<SchemaWarning>) {
        let mut check =
            Check { schema: self, seen: HashSet::new(), faults: Vec::new(), warnings: Vec::new() };
        if self.says().defaults {
            check.visit(self.root(), "", "", &mut Vec::new());
        }
        (check.faults, check.warnings)
    }
}

fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|n| n == name))
}

fn item_schema(schema: &Map<String, Value>, index: usize) -> Option<&Value> {
    match (schema.get("prefixItems"), schema.get("items")) {
        (_, Some(Value::Array(positions))) => positions.get(index).or_else(|| schema.get("additionalItems")),
        (Some(Value::Array(positions)), rest) => positions.get(index).or(rest),
        (_, rest) => rest,
    }
}

/// One step from a value to a part of it.
enum Step {
    Key(String),
    Item,
}

struct Check<'a> {
    schema: &'a Schema,
    seen: HashSet<usize>,
    faults: Vec<SchemaFault>,
    warnings: Vec<SchemaWarning>,
}

impl<'a> Check<'a> {
    fn visit(&mut self, schema: &'a Value, pointer: &str, evaluated: &str, steps: &mut Vec<Step>) {
        let Value::Object(map) = schema else { return };
        if !self.seen.insert(std::ptr::from_ref(schema).addr()) {
            return;
        }
        if let Some(default) = map.get("default").filter(|_| !steps.is_empty()) {
            if self.schema.means_none(schema, default) {
                self.warnings.push(SchemaWarning {
                    pointer: push_token(pointer, "default"),
                    message: "the default null is not of the type that is asked for, so it is not filled in"
                        .to_owned(),
                    code: Code::ManifestIdleKeyword,
                });
            } else {
                self.check(default, pointer, evaluated, steps);
            }
        }
        for keyword in super::reference::REFERENCES {
            let target = map
                .get(keyword)
                .and_then(Value::as_str)
                .and_then(|reference| self.schema.names().resolve(self.schema.root(), reference));
            if let Some((target, schema)) = target {
                self.visit(schema, &target, &format!("{evaluated}/{keyword}"), steps);
            }
        }
        for child in children(map, pointer) {
            let step = match (child.applies, child.keyword) {
                (Applies::Same, _) => None,
                (Applies::Part, "properties") => Some(Step::Key(last_token(&child.pointer))),
                (Applies::Part, "items")
                    if !map.contains_key("prefixItems") && map.get("items").is_some_and(Value::is_object) =>
                {
                    Some(Step::Item)
                }
                (Applies::Part | Applies::Maybe | Applies::Not | Applies::Nothing, _) => continue,
            };
            let below = child.pointer.strip_prefix(pointer).unwrap_or("");
            let evaluated = format!("{evaluated}{below}");
            let pushed = step.map(|step| steps.push(step)).is_some();
            self.visit(child.schema, &child.pointer, &evaluated, steps);
            if pushed {
                steps.pop();
            }
        }
    }

    fn check(&mut self, default: &Value, pointer: &str, evaluated: &str, steps: &[Step]) {
        let mut value = default.clone();
        let mut place = String::new();
        for step in steps.iter().rev() {
            value = match step {
                Step::Key(key) => Value::Object(Map::from_iter([(key.clone(), value)])),
                Step::Item => Value::Array(vec![value]),
            };
        }
        for step in steps {
            place = match step {
                Step::Key(key) => push_token(&place, key),
                Step::Item => format!("{place}/0"),
            };
        }
        let broken = self.schema.validator().iter_errors(&value).any(|error| {
            starts_with(error.instance_path().as_str(), &place)
                && starts_with(error.evaluation_path().as_str(), evaluated)
        });
        if broken {
            let message = format!("the default {} breaks the schema that it stands in", show::value(default));
            self.faults.push(SchemaFault { pointer: push_token(pointer, "default"), message });
        }
    }
}

fn starts_with(pointer: &str, prefix: &str) -> bool {
    pointer.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn last_token(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or("").replace("~1", "/").replace("~0", "~")
}
