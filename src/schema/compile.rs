//! From the JSON of a schema to something that values can be checked against.

use super::dialect::Dialect;
use super::lint::{Lint, MAX_FAULTS, OWN_FORMATS, Says};
use super::reference::Names;
use super::{graph, show};
use crate::diag::Code;
use jsonschema::{PatternOptions, ValidationOptions, Validator};
use serde_json::Value;

/// Compiled patterns may take this much memory each, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// Something that makes a schema unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// JSON Pointer into the schema. Not escaped for terminals.
    pub pointer: String,
    /// What is wrong; safe to print.
    pub message: String,
}

/// Something in a schema that probably does not do what was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaWarning {
    /// JSON Pointer into the schema. Not escaped for terminals.
    pub pointer: String,
    /// What is wrong; safe to print.
    pub message: String,
    /// [`Code::ManifestUnknownFormat`], or [`Code::ManifestIdleKeyword`] for all else.
    pub code: Code,
}

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    root: Value,
    names: Names,
    dialect: Dialect,
    says: Says,
    validator: Validator,
}

impl Schema {
    /// Compiles the schema of a tool's arguments: as [`Self::compile_any`], and it has to describe an object.
    ///
    /// # Errors
    /// All faults of the schema.
    pub fn compile_tool(schema: &Value) -> Result<(Self, Vec<SchemaWarning>), Vec<SchemaFault>> {
        if !schema.is_object() {
            return Err(vec![fault(
                "",
                format!("the schema has to be an object, not {}", show::kind(schema)),
            )]);
        }
        let (compiled, warnings) = Self::compile_any(schema)?;
        let types = compiled.types_of(schema);
        let takes_objects = types.as_ref().is_none_or(|types| types.contains("object"));
        if !takes_objects || (types.is_none() && compiled.shape().is_empty() && !schema_is_empty(schema)) {
            return Err(vec![fault(
                "/type",
                "the arguments of a tool are an object: write \"type\": \"object\"".to_owned(),
            )]);
        }
        Ok((compiled, warnings))
    }

    /// Compiles a schema.
    ///
    /// The draft is that of `$schema`, 2020-12 by default; formats are asserted; references stay inside the schema;
    /// patterns run in linear time (so no look-around), with `\d`, `\w` and `\s` as in ECMA-262: `\d` is `0` to `9` only.
    ///
    /// # Errors
    /// All faults of the schema: of its meta-schema, references, loops, patterns and defaults.
    pub fn compile_any(schema: &Value) -> Result<(Self, Vec<SchemaWarning>), Vec<SchemaFault>> {
        let dialect = Dialect::of(schema).map_err(|message| vec![fault("/$schema", message)])?;
        let root = schema.clone();
        let names = Names::of(&root);
        let options = options(dialect);
        let known =
            |name: &str| OWN_FORMATS.contains(&name) || options.is_known_format(dialect.draft(), name);
        let lint = Lint::run(&root, dialect, &names, &known);
        let (says, mut warnings, mut faults) = (lint.says, lint.warnings, lint.faults);
        faults.extend(graph::faults(&root, &names));
        if !faults.is_empty() {
            faults.sort_by(|a, b| a.pointer.cmp(&b.pointer));
            return Err(faults);
        }
        let validator = options.build(&root).map_err(|error| build_faults(&root, dialect, &error))?;
        let compiled = Self { root, names, dialect, says, validator };
        let (faults, more) = compiled.check_defaults();
        warnings.extend(more);
        warnings.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        if faults.is_empty() { Ok((compiled, warnings)) } else { Err(faults) }
    }

    /// The schema as it was given.
    pub const fn root(&self) -> &Value {
        &self.root
    }

    /// The draft that the schema is read by.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(super) const fn names(&self) -> &Names {
        &self.names
    }

    pub(super) const fn says(&self) -> Says {
        self.says
    }

    pub(super) const fn validator(&self) -> &Validator {
        &self.validator
    }
}

fn schema_is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(serde_json::Map::is_empty)
}

fn fault(pointer: &str, message: String) -> SchemaFault {
    SchemaFault { pointer: pointer.to_owned(), message }
}

fn options(dialect: Dialect) -> ValidationOptions<'static> {
    let options = jsonschema::options()
        .with_draft(dialect.draft())
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        .with_format("path", |text: &str| !text.is_empty() && !text.contains('\0'))
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES));
    match dialect {
        // Not a format of these drafts, but one that tools of these drafts ask for more than for any other.
        Dialect::Draft4 | Dialect::Draft6 | Dialect::Draft7 => options.with_format("uuid", is_uuid),
        Dialect::Draft201909 | Dialect::Draft202012 => options,
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// All that is wrong with a schema that the validator would not take; it names one fault itself.
fn build_faults(root: &Value, dialect: Dialect, first: &jsonschema::ValidationError<'_>) -> Vec<SchemaFault> {
    let meta = jsonschema::options().with_draft(dialect.draft()).offline().build(&meta_schema(dialect));
    let mut faults: Vec<SchemaFault> = meta.map_or_else(
        |_| Vec::new(),
        |meta| {
            meta.iter_errors(root)
                .take(MAX_FAULTS)
                .map(|error| fault(error.instance_path().as_str(), meta_message(&error)))
                .collect()
        },
    );
    faults.retain(|found| !found.pointer.ends_with("/pattern"));
    faults.extend(pattern_faults(root, dialect));
    if faults.is_empty() {
        faults.push(fault(first.instance_path().as_str(), show::clip(&first.to_string(), 240)));
    }
    faults.truncate(MAX_FAULTS);
    faults
}

/// What is wrong with a keyword. `type` alone has a list of alternatives that nobody wants to read.
fn meta_message(error: &jsonschema::ValidationError<'_>) -> String {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    let given = error.instance();
    if !error.instance_path().as_str().ends_with("/type") {
        return show::clip(&error.to_string(), 240);
    }
    let near = given.as_str().and_then(|name| crate::text::nearest(name, TYPES));
    let hint = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    format!("{} is not a type (they are {}){hint}", show::value(given), TYPES.join(", "))
}

fn meta_schema(dialect: Dialect) -> Value {
    let uri = match dialect {
        Dialect::Draft4 => "http://json-schema.org/draft-04/schema#",
        Dialect::Draft6 => "http://json-schema.org/draft-06/schema#",
        Dialect::Draft7 => "http://json-schema.org/draft-07/schema#",
        Dialect::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
        Dialect::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
    };
    serde_json::json!({ "$ref": uri })
}

/// The patterns that the engine does not take, each tried alone.
fn pattern_faults(root: &Value, dialect: Dialect) -> Vec<SchemaFault> {
    let mut found = Vec::new();
    let mut todo = vec![(String::new(), root)];
    while let Some((pointer, schema)) = todo.pop() {
        let Value::Object(map) = schema else { continue };
        let mut patterns: Vec<(String, &str)> = Vec::new();
        if let Some(Value::String(pattern)) = map.get("pattern") {
            patterns.push((crate::canon::push_token(&pointer, "pattern"), pattern));
        }
        if let Some(Value::Object(by_name)) = map.get("patternProperties") {
            let at = crate::canon::push_token(&pointer, "patternProperties");
            patterns.extend(by_name.keys().map(|key| (crate::canon::push_token(&at, key), key.as_str())));
        }
        for (at, pattern) in patterns {
            let alone = serde_json::json!({ "pattern": pattern });
            if options(dialect).build(&alone).is_err() {
                let message = format!(
                    "the pattern {} cannot be used: it is not a regular expression, or needs look-around, a back-reference or too much memory",
                    show::quote(pattern)
                );
                found.push(fault(&at, message));
            }
        }
        todo.extend(
            super::keywords::children(map, &pointer).into_iter().map(|child| (child.pointer, child.schema)),
        );
    }
    found.sort_by(|a, b| a.pointer.cmp(&b.pointer));
    found
}
