//! From what the validator found to issues from which a model can repair its call in one turn.
//!
//! Each message names the property, what was expected and what was given, and where it can the very value to send. Values that
//! the schema marks secret are not shown.

use super::compile::Schema;
use super::issue::Issue;
use super::show::{clip, counted, described, kind, listed, quote, value};
use super::words::{article, format_words, names, or, plain, repair};
use crate::text::nearest;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;
use std::fmt::Write as _;

/// Most issues of one value.
const MAX_ISSUES: usize = 50;
/// Most characters of a message.
const MAX_MESSAGE: usize = 480;
/// Alternatives inside alternatives are explained this far down.
const MAX_NESTING: usize = 4;
/// A value with more parts than this is judged up to its first fault: each fault costs memory.
const MAX_PARTS: usize = 50_000;
/// Deeper values are not judged at all; the strict reader stops at 128.
const MAX_DEPTH: usize = 256;

impl Schema {
    /// Whether a value is valid; as [`Self::check`], without saying why not.
    pub fn accepts(&self, value: &Value) -> bool {
        measure(value, MAX_DEPTH, &mut 0) != Size::TooDeep && self.validator().is_valid(value)
    }

    /// All that is wrong with a value; nothing if it is valid.
    pub fn check(&self, value: &Value) -> Vec<Issue> {
        if measure(value, MAX_DEPTH, &mut 0) == Size::TooDeep {
            let message = format!("the value is nested deeper than {MAX_DEPTH} levels");
            return vec![Issue { path: String::new(), message, keyword: "depth".to_owned() }];
        }
        if self.validator().is_valid(value) {
            return Vec::new();
        }
        let mut explain = Explain { schema: self, secrets: self.secrets(value), issues: Vec::new() };
        if measure(value, MAX_DEPTH, &mut 0) == Size::Large {
            if let Err(error) = self.validator().validate(value) {
                explain.add(&error, 0);
            }
        } else {
            for error in self.validator().iter_errors(value) {
                explain.add(&error, 0);
            }
        }
        explain.finish()
    }
}

#[derive(PartialEq, Eq)]
enum Size {
    Small,
    Large,
    TooDeep,
}

fn measure(value: &Value, levels: usize, parts: &mut usize) -> Size {
    *parts += 1;
    let Some(below) = levels.checked_sub(1) else { return Size::TooDeep };
    let mut size = if *parts > MAX_PARTS { Size::Large } else { Size::Small };
    let mut look = |inner: &Value| match measure(inner, below, parts) {
        Size::TooDeep => true,
        Size::Large => {
            size = Size::Large;
            false
        }
        Size::Small => false,
    };
    let too_deep = match value {
        Value::Array(items) => items.iter().any(&mut look),
        Value::Object(map) => map.values().any(&mut look),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if too_deep { Size::TooDeep } else { size }
}

struct Explain<'a> {
    schema: &'a Schema,
    secrets: Vec<String>,
    issues: Vec<Issue>,
}

impl<'a> Explain<'a> {
    fn finish(mut self) -> Vec<Issue> {
        if self.issues.is_empty() {
            // The validator said no and then named nothing: the value stays refused.
            self.put("", "schema", "the value does not satisfy the schema");
        }
        let mut seen = std::collections::HashSet::new();
        self.issues.retain(|issue| seen.insert((issue.path.clone(), issue.message.clone())));
        let total = self.issues.len();
        if total > MAX_ISSUES {
            self.issues.truncate(MAX_ISSUES - 1);
            let message = format!("and {} more issues", total - MAX_ISSUES + 1);
            self.put("", "schema", &message);
        }
        self.issues
    }

    fn put(&mut self, path: &str, keyword: &str, message: &str) {
        let message = clip(message, MAX_MESSAGE);
        self.issues.push(Issue { path: path.to_owned(), message, keyword: keyword.to_owned() });
    }

    fn is_secret(&self, path: &str) -> bool {
        self.secrets.iter().any(|secret| {
            path.strip_prefix(secret.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// The value at fault, or only its kind if it is secret.
    fn given(&self, error: &ValidationError<'_>) -> String {
        if self.is_secret(error.instance_path().as_str()) {
            kind(error.instance())
        } else {
            described(error.instance())
        }
    }

    fn add(&mut self, error: &ValidationError<'_>, nesting: usize) {
        let path = error.instance_path().as_str();
        match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_alternatives(error, context, nesting);
            }
            Kind::AdditionalProperties { unexpected } => {
                let known = self.parent(error).map(own_properties).unwrap_or_default();
                self.add_unknown(path, "additionalProperties", unexpected, &known);
            }
            Kind::UnevaluatedProperties { unexpected } => {
                let schema = self.schema;
                let known: Vec<&str> = self
                    .parent(error)
                    .map(|at| schema.properties_of(at).into_keys().collect())
                    .unwrap_or_default();
                self.add_unknown(path, "unevaluatedProperties", unexpected, &known);
            }
            kind => {
                let message = self.message(error, kind);
                self.put(path, kind.keyword(), &message);
            }
        }
    }

    fn add_unknown(&mut self, path: &str, keyword: &str, unexpected: &[String], known: &[&str]) {
        if self.is_secret(path) {
            // The names are part of the value.
            self.put(path, keyword, "has properties that are not allowed");
            return;
        }
        for name in unexpected {
            let hint = if let Some(near) =
                Some(name).filter(|name| name.len() > 2).and_then(|name| nearest(name, known.iter().copied()))
            {
                format!("; did you mean {}?", quote(near))
            } else if known.is_empty() {
                "; none is allowed here".to_owned()
            } else {
                format!("; known are {}", names(known))
            };
            self.put(path, keyword, &format!("unknown property {}{hint}", quote(name)));
        }
    }

    /// The schema whose keyword an error is about.
    fn parent(&self, error: &ValidationError<'_>) -> Option<&'a Value> {
        let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.root().pointer(parent)
    }

    fn message(&self, error: &ValidationError<'_>, kind: &Kind) -> String {
        let given = || self.given(error);
        match kind {
            Kind::Required { property } => self.missing(error, property),
            Kind::Type { kind } => self.wrong_type(error, kind),
            Kind::Enum { options } => self.not_one_of(error, options),
            Kind::Constant { expected_value } => {
                format!("must be {}, got {}", value(expected_value), given())
            }
            Kind::Maximum { limit } => format!("must be at most {}, got {}", value(limit), given()),
            Kind::Minimum { limit } => format!("must be at least {}, got {}", value(limit), given()),
            Kind::ExclusiveMaximum { limit } => {
                format!("must be less than {}, got {}", value(limit), given())
            }
            Kind::ExclusiveMinimum { limit } => {
                format!("must be more than {}, got {}", value(limit), given())
            }
            Kind::MultipleOf { multiple_of } => {
                format!("must be a multiple of {}, got {}", value(multiple_of), given())
            }
            Kind::MaxLength { limit } => self.length(error, "at most", *limit),
            Kind::MinLength { limit } => self.length(error, "at least", *limit),
            Kind::MaxItems { limit } => {
                format!("must have at most {}, got {}", counted(*limit, "item", "items"), given())
            }
            Kind::MinItems { limit } => {
                format!("must have at least {}, got {}", counted(*limit, "item", "items"), given())
            }
            Kind::MaxProperties { limit } => {
                format!(
                    "must have at most {}, has {}",
                    counted(*limit, "property", "properties"),
                    members(error)
                )
            }
            Kind::MinProperties { limit } => {
                format!(
                    "must have at least {}, has {}",
                    counted(*limit, "property", "properties"),
                    members(error)
                )
            }
            Kind::AdditionalItems { limit } => {
                format!("must have at most {}", counted(*limit, "item", "items"))
            }
            Kind::UnevaluatedItems { unexpected } => {
                format!("has {} too many", counted(unexpected.len(), "item", "items"))
            }
            Kind::Format { format } => format!("must be {}, got {}", format_words(format), given()),
            Kind::Pattern { pattern } => {
                format!("must match the pattern {}, got {}", clip(pattern, 160), given())
            }
            Kind::UniqueItems => unique(error.instance()),
            Kind::Contains => format!("no item is as demanded{}", self.demanded(error, "contains")),
            Kind::Not { schema } => {
                format!("must not be {}, got {}", clip(&schema.to_string(), 160), given())
            }
            Kind::FalseSchema => match last_token(error.instance_path().as_str()) {
                Some(name) if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                    format!("item {name} is not allowed here")
                }
                Some(name) => format!("{} is not allowed here", quote(&name)),
                None => "nothing is allowed here".to_owned(),
            },
            Kind::OneOfMultipleValid { context } => {
                let fitting: Vec<String> = context
                    .iter()
                    .enumerate()
                    .filter(|(_, errors)| errors.is_empty())
                    .map(|(index, _)| (index + 1).to_string())
                    .collect();
                format!(
                    "fits {} of the alternatives, and only one may fit; leave out what belongs to the others",
                    fitting.join(" and ")
                )
            }
            Kind::PropertyNames { error } => {
                let name = error.instance().as_str().map(quote).unwrap_or_default();
                format!("the property name {name} is not allowed: {}", self.message(error, error.kind()))
            }
            Kind::ContentEncoding { content_encoding } => {
                format!("must be encoded as {}", quote(content_encoding))
            }
            Kind::ContentMediaType { content_media_type } => format!("must be {}", quote(content_media_type)),
            Kind::FromUtf8 { .. } => "does not decode to UTF-8".to_owned(),
            Kind::AnyOf { .. }
            | Kind::OneOfNotValid { .. }
            | Kind::AdditionalProperties { .. }
            | Kind::UnevaluatedProperties { .. }
            | Kind::BacktrackLimitExceeded { .. }
            | Kind::RegexEngineFailure { .. }
            | Kind::Custom { .. }
            | Kind::Referencing(_) => {
                // Theirs, with the value masked: it may be secret.
                clip(&error.masked_with("the value").to_string(), 240)
            }
        }
    }

    fn demanded(&self, error: &ValidationError<'_>, keyword: &str) -> String {
        let part = self.parent(error).and_then(|parent| parent.get(keyword));
        part.map(|part| format!(": {}", clip(&part.to_string(), 160))).unwrap_or_default()
    }

    /// `missing required property "path" (string: what it is)`.
    fn missing(&self, error: &ValidationError<'_>, property: &Value) -> String {
        let name = property.as_str().unwrap_or_default();
        let schema =
            self.parent(error).and_then(|parent| self.schema.properties_of(parent).get(name).copied());
        let about = schema.map(|schema| self.about(schema)).filter(|about| !about.is_empty());
        let about = about.map(|about| format!(" ({about})")).unwrap_or_default();
        let cause = self.parent(error).and_then(|parent| demanding(parent, error.instance(), property));
        let dependent = cause.map(|cause| format!(", needed beside {}", quote(cause))).unwrap_or_default();
        format!("missing required property {}{about}{dependent}", quote(name))
    }

    /// A schema in few words: its type or values, and its description.
    fn about(&self, schema: &Value) -> String {
        let parts = self.schema.same(schema);
        let values = parts.iter().find_map(|part| part.get("enum")?.as_array());
        let kind = match values {
            Some(values) => format!("one of {}", listed(values.iter(), 10)),
            None => self.schema.types_of(schema).map(|types| or(types.into_iter())).unwrap_or_default(),
        };
        let description = parts.iter().find_map(|part| part.get("description")?.as_str());
        let line = description.and_then(|text| text.trim().lines().next()).map(|line| clip(line, 100));
        match line {
            Some(line) if kind.is_empty() => line,
            Some(line) => format!("{kind}: {line}"),
            None => kind,
        }
    }

    fn wrong_type(&self, error: &ValidationError<'_>, kind: &TypeKind) -> String {
        let expected: Vec<&str> = match kind {
            TypeKind::Single(one) => vec![one.as_str()],
            TypeKind::Multiple(set) => set.iter().map(jsonschema::JsonType::as_str).collect(),
        };
        let secret = self.is_secret(error.instance_path().as_str());
        let idle = secret || (error.instance().is_null() && !self.may_be_left_out(error));
        let hint = if idle { None } else { repair(&expected, error.instance()) };
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("must be {}, got {}{hint}", article(&or(expected.into_iter())), self.given(error))
    }

    /// Whether the value is that of a property which its object does not require.
    fn may_be_left_out(&self, error: &ValidationError<'_>) -> bool {
        let Some(name) = last_token(error.instance_path().as_str()) else { return false };
        let path = error.evaluation_path().as_str();
        let Some((owner, _)) = path.rsplit_once("/properties/") else { return false };
        // Through a reference the owner is not found by its pointer; then nothing is promised.
        let owner = self.schema.root().pointer(owner);
        owner.is_some_and(|owner| {
            let required = owner.get("required").and_then(Value::as_array);
            owner.get("properties").and_then(|own| own.get(&name)).is_some()
                && !required
                    .is_some_and(|names| names.iter().any(|required| required.as_str() == Some(&name)))
        })
    }

    fn not_one_of(&self, error: &ValidationError<'_>, options: &Value) -> String {
        let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
        let base = format!("must be one of {}; got {}", listed(options.iter(), 12), self.given(error));
        if self.is_secret(error.instance_path().as_str()) {
            return base;
        }
        let given = error.instance();
        let texts = options.iter().filter_map(Value::as_str);
        let near = given.as_str().and_then(|given| nearest(given, texts)).map(quote);
        let same = || options.iter().find(|option| plain(option) == plain(given)).map(value);
        match near.or_else(same) {
            Some(near) => format!("{base}; did you mean {near}?"),
            None => base,
        }
    }

    fn length(&self, error: &ValidationError<'_>, bound: &str, limit: u64) -> String {
        let has = error.instance().as_str().map_or(0, |text| text.chars().count());
        let limit = counted(limit, "character", "characters");
        if self.is_secret(error.instance_path().as_str()) {
            return format!("must have {bound} {limit}");
        }
        format!("must have {bound} {limit}, has {has}")
    }

    /// Of several alternatives the one that was meant is explained, if it is clear which; else all in short.
    fn add_alternatives(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'static>>],
        nesting: usize,
    ) {
        let path = error.instance_path().as_str();
        let keyword = error.kind().keyword().to_owned();
        let mut meant = branches.iter().filter(|errors| !errors.iter().any(|e| excludes(e, path)));
        if nesting < MAX_NESTING
            && let (Some(branch), None) = (meant.next(), meant.next())
        {
            for error in branch {
                self.add(error, nesting + 1);
            }
            return;
        }
        if let Some(expected) = all_types(branches, path) {
            let given = self.given(error);
            let hint = if self.is_secret(path) { None } else { repair(&expected, error.instance()) };
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            let expected = article(&or(expected.into_iter()));
            self.put(path, &keyword, &format!("must be {expected}, got {given}{hint}"));
            return;
        }
        let mut summary = format!("fits none of {}", counted(branches.len(), "alternative", "alternatives"));
        for (index, errors) in branches.iter().enumerate().take(4) {
            let mut inner =
                Explain { schema: self.schema, secrets: self.secrets.clone(), issues: Vec::new() };
            if nesting < MAX_NESTING {
                errors.iter().take(3).for_each(|error| inner.add(error, nesting + 1));
            }
            let texts: Vec<String> = inner
                .issues
                .iter()
                .take(2)
                .map(|issue| match issue.path.strip_prefix(path).filter(|rest| !rest.is_empty()) {
                    Some(below) => format!("{}: {}", clip(below, 40), clip(&issue.message, 120)),
                    None => clip(&issue.message, 120),
                })
                .collect();
            let _ = write!(summary, "; ({}) {}", index + 1, texts.join(", "));
        }
        self.put(path, &keyword, &summary);
    }
}

/// The given property because of which another one is needed.
fn demanding<'s>(parent: &'s Value, given: &Value, missing: &Value) -> Option<&'s str> {
    let plainly =
        parent.get("required").and_then(Value::as_array).is_some_and(|names| names.contains(missing));
    if plainly {
        return None;
    }
    ["dependentRequired", "dependencies"]
        .iter()
        .find_map(|keyword| {
            let causes = parent.get(*keyword)?.as_object()?;
            let demands = |names: &Value| names.as_array().is_some_and(|names| names.contains(missing));
            causes.iter().find(|(cause, names)| given.get(cause.as_str()).is_some() && demands(names))
        })
        .map(|(cause, _)| cause.as_str())
}

fn own_properties(parent: &Value) -> Vec<&str> {
    let own = parent.get("properties").and_then(Value::as_object);
    own.map(|own| own.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Whether an error says that another alternative was meant: the wrong type altogether, or the wrong constant in a
/// property, which is how alternatives are told apart.
fn excludes(error: &ValidationError<'_>, path: &str) -> bool {
    let below = error.instance_path().as_str().strip_prefix(path).unwrap_or_default();
    match error.kind() {
        Kind::Type { .. } => below.is_empty(),
        Kind::Constant { .. } => below.matches('/').count() <= 1,
        Kind::Enum { options } => {
            below.matches('/').count() == 1 && options.as_array().is_some_and(|options| options.len() == 1)
        }
        _ => false,
    }
}

/// The types that the alternatives accept, if the type is all that is wrong in each.
fn all_types<'a>(branches: &'a [Vec<ValidationError<'static>>], path: &str) -> Option<Vec<&'a str>> {
    let mut types = Vec::new();
    for branch in branches {
        let [error] = branch.as_slice() else { return None };
        match error.kind() {
            Kind::Type { kind } if error.instance_path().as_str() == path => match kind {
                TypeKind::Single(one) => types.push(one.as_str()),
                TypeKind::Multiple(set) => types.extend(set.iter().map(jsonschema::JsonType::as_str)),
            },
            _ => return None,
        }
    }
    types.sort_unstable();
    types.dedup();
    Some(types)
}

fn members(error: &ValidationError<'_>) -> usize {
    error.instance().as_object().map_or(0, serde_json::Map::len)
}

fn unique(given: &Value) -> String {
    let items = given.as_array().map(Vec::as_slice).unwrap_or_default();
    let head = items.get(..200).unwrap_or(items);
    let double = head.iter().enumerate().find_map(|(at, item)| {
        head.iter().take(at).position(|earlier| earlier == item).map(|earlier| (earlier, at))
    });
    match double {
        Some((first, second)) => format!("all items must differ; item {second} repeats item {first}"),
        None => "all items must differ".to_owned(),
    }
}

fn last_token(pointer: &str) -> Option<String> {
    pointer.rsplit_once('/').map(|(_, token)| unescape(token))
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
