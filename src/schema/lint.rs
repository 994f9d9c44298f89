//! What is wrong with a schema beyond its meta-schema: references that lead out, unknown formats, misspelt keywords.

use super::compile::{SchemaFault, SchemaWarning};
use super::dialect::Dialect;
use super::keywords::{Applies, children, misspelt};
use super::reference::{Names, REFERENCES};
use super::show::quote;
use crate::canon::push_token;
use crate::diag::Code;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Most faults that are reported of one schema.
pub(super) const MAX_FAULTS: usize = 50;

/// Formats that toolctl gives a meaning itself.
pub(super) const OWN_FORMATS: [&str; 2] = ["path", "password"];

/// What the schema says beside validity, so that a call can skip the walks that would find nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Says {
    pub(super) places: bool,
    pub(super) secrets: bool,
    pub(super) defaults: bool,
}

pub(super) struct Lint<'a> {
    root: &'a Value,
    dialect: Dialect,
    names: &'a Names,
    is_known_format: &'a dyn Fn(&str) -> bool,
    seen: HashSet<usize>,
    pub(super) says: Says,
    pub(super) faults: Vec<SchemaFault>,
    pub(super) warnings: Vec<SchemaWarning>,
}

impl<'a> Lint<'a> {
    pub(super) fn run(
        root: &'a Value,
        dialect: Dialect,
        names: &'a Names,
        is_known_format: &'a dyn Fn(&str) -> bool,
    ) -> Self {
        let mut lint = Self {
            root,
            dialect,
            names,
            is_known_format,
            seen: HashSet::new(),
            says: Says::default(),
            faults: Vec::new(),
            warnings: Vec::new(),
        };
        lint.walk();
        lint
    }

    fn walk(&mut self) {
        // The second part: whether a default here is never filled in.
        let mut todo = vec![(String::new(), self.root, None)];
        while let Some((pointer, schema, unfilled)) = todo.pop() {
            if !self.seen.insert(std::ptr::from_ref(schema).addr()) {
                continue;
            }
            let Value::Object(map) = schema else { continue };
            self.check(map, &pointer, unfilled);
            for child in children(map, &pointer) {
                let unfilled = match child.applies {
                    Applies::Maybe | Applies::Not => Some(child.keyword),
                    Applies::Same => unfilled,
                    Applies::Part => match child.keyword {
                        "contains"
                        | "propertyNames"
                        | "patternProperties"
                        | "unevaluatedItems"
                        | "unevaluatedProperties" => Some(child.keyword),
                        _ => unfilled,
                    },
                    Applies::Nothing => None,
                };
                todo.push((child.pointer, child.schema, unfilled));
            }
            for (target, schema) in self.names.targets(self.root, map) {
                todo.push((target, schema, None));
            }
        }
    }

    fn check(&mut self, map: &'a Map<String, Value>, pointer: &str, unfilled: Option<&'static str>) {
        self.check_references(map, pointer);
        self.check_identity(map, pointer);
        self.check_format(map, pointer);
        if map.contains_key("default") && !pointer.is_empty() {
            self.says.defaults = true;
            if let Some(keyword) = unfilled {
                let message = format!(
                    "a default below {} is not filled in: which branch holds is not certain",
                    quote(keyword)
                );
                self.warn(&push_token(pointer, "default"), Code::ManifestIdleKeyword, message);
            }
        }
        for key in map.keys() {
            if let Some(meant) = misspelt(key) {
                let message =
                    format!("unknown keyword {} has no effect; did you mean {}?", quote(key), quote(meant));
                self.warn(&push_token(pointer, key), Code::ManifestIdleKeyword, message);
            }
        }
    }

    fn check_references(&mut self, map: &Map<String, Value>, pointer: &str) {
        for keyword in REFERENCES {
            let Some(reference) = map.get(keyword).and_then(Value::as_str) else { continue };
            let at = push_token(pointer, keyword);
            match self.names.pointer(reference) {
                None if reference.starts_with('#') => {
                    self.fault(&at, format!("{} names no part of this schema", quote(reference)));
                }
                None => self.fault(
                    &at,
                    format!(
                        "{} is in another document; copy it into \"$defs\" and refer to \"#/$defs/…\"",
                        quote(reference)
                    ),
                ),
                Some(target) if self.root.pointer(&target).is_none() => {
                    self.fault(&at, format!("{} names no part of this schema", quote(reference)));
                }
                Some(_) => {}
            }
        }
        if self.dialect.ref_hides_siblings() && map.contains_key("$ref") {
            let plain = [
                "$ref",
                "$schema",
                "$id",
                "id",
                "$comment",
                "title",
                "description",
                "default",
                "examples",
                "definitions",
                "$defs",
            ];
            for key in map.keys().filter(|key| !plain.contains(&key.as_str()) && !key.starts_with("x-")) {
                let message = format!(
                    "{} has no effect beside \"$ref\" in this draft; put both into \"allOf\"",
                    quote(key)
                );
                self.warn(&push_token(pointer, key), Code::ManifestIdleKeyword, message);
            }
        }
    }

    /// A part with an address of its own changes what references in it mean, so it is not accepted.
    fn check_identity(&mut self, map: &Map<String, Value>, pointer: &str) {
        if pointer.is_empty() {
            return;
        }
        for keyword in ["$id", "id"] {
            let applies = (keyword == "id") == (self.dialect == Dialect::Draft4);
            let named = map.get(keyword).and_then(Value::as_str).filter(|id| applies && !id.starts_with('#'));
            if let Some(id) = named {
                let message = format!(
                    "{} gives a part of the schema its own address; remove it and use \"$defs\"",
                    quote(id)
                );
                self.fault(&push_token(pointer, keyword), message);
            }
        }
        if map.contains_key("$schema") {
            self.fault(&push_token(pointer, "$schema"), "\"$schema\" may stand at the top only".to_owned());
        }
    }

    fn check_format(&mut self, map: &Map<String, Value>, pointer: &str) {
        let format = map.get("format").and_then(Value::as_str);
        if let Some(name) = format
            && !(self.is_known_format)(name)
        {
            let message = format!("format {} is not known and not checked", quote(name));
            self.warn(&push_token(pointer, "format"), Code::ManifestUnknownFormat, message);
        }
        self.says.places |= matches!(format, Some("path" | "uri"));
        let is_true = |key: &str| map.get(key) == Some(&Value::Bool(true));
        self.says.secrets |= format == Some("password") || is_true("writeOnly") || is_true("x-secret");
        if let Some(secret) = map.get("x-secret").filter(|secret| !secret.is_boolean()) {
            let message = format!("\"x-secret\" has to be true or false, not {}", super::show::value(secret));
            self.fault(&push_token(pointer, "x-secret"), message);
        }
        if let Some(how) = map.get("x-path") {
            let at = push_token(pointer, "x-path");
            if !matches!(how.as_str(), Some("follow" | "nofollow")) {
                let message = format!(
                    "\"x-path\" has to be \"follow\" or \"nofollow\", not {}",
                    super::show::value(how)
                );
                self.fault(&at, message);
            } else if format != Some("path") {
                self.fault(&at, "\"x-path\" needs \"format\": \"path\" beside it".to_owned());
            }
        }
    }

    fn fault(&mut self, pointer: &str, message: String) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(SchemaFault { pointer: pointer.to_owned(), message });
        }
    }

    fn warn(&mut self, pointer: &str, code: Code, message: String) {
        if self.warnings.len() < MAX_FAULTS {
            self.warnings.push(SchemaWarning { pointer: pointer.to_owned(), message, code });
        }
    }
}
