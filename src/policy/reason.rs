//! Reasons: text with a few safe references. The result goes to people and back to the model, so values are quoted,
//! cut and escaped, and secrets are not shown.

use super::environ::{Env, Seen};
use super::subject::{ArgPath, Subject};
use crate::text::escape;
use serde_json::Value;

/// How many characters of one value are shown.
const MAX_VALUE: usize = 120;

/// A reason, parsed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reason(Vec<Part>);

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Value(Subject),
    Bytes(ArgPath),
}

impl Reason {
    /// Parses `{args.x}`, `{ctx.y}`, `{vars.z}`, `{tool}`, `{bytes(args.c)}`; `{{` and `}}` are braces. `vars` gives
    /// the value of a variable. The message says what cannot be shown.
    pub(super) fn parse(text: &str, vars: impl Fn(&str) -> Option<Value>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
                plain.push_str(from.get(..1).unwrap_or(""));
                rest = after;
                continue;
            }
            let Some((inner, after)) = from.strip_prefix('{').and_then(|inner| inner.split_once('}')) else {
                return Err("a brace stands alone; `{{` and `}}` are plain braces".to_owned());
            };
            let part = parse_reference(inner, &vars)?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(part);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self(parts))
    }

    /// The text for one call. `secrets` are the pointers of the values that are not shown.
    pub(super) fn render(&self, env: &Env<'_>, secrets: &[String]) -> String {
        self.0
            .iter()
            .map(|part| match part {
                Part::Text(text) => escape(text).into(),
                Part::Value(subject) => show_subject(subject, env, secrets),
                Part::Bytes(path) => match env.see(&Subject::Args(path.clone())) {
                    Seen::Value(value) => match value.as_ref() {
                        Value::String(text) => text.len().to_string(),
                        other => other.to_string().len().to_string(),
                    },
                    Seen::Absent | Seen::Undeclared | Seen::NotThere(_) => "(absent)".to_owned(),
                },
            })
            .collect()
    }

    /// The arguments that the reason shows, for checks.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &ArgPath> {
        self.0.iter().filter_map(|part| match part {
            Part::Value(Subject::Args(path)) | Part::Bytes(path) => Some(path),
            Part::Text(_) | Part::Value(_) => None,
        })
    }
}

fn parse_reference(text: &str, vars: impl Fn(&str) -> Option<Value>) -> Result<Part, String> {
    if let Some(name) = text.strip_prefix("vars.") {
        return match vars(name) {
            Some(value) => Ok(Part::Text(show(&value))),
            None => Err(format!("`{{{}}}` names no variable of this file", escape(text))),
        };
    }
    let bytes = text.strip_prefix("bytes(").and_then(|inner| inner.strip_suffix(')'));
    let subject = Subject::parse(bytes.unwrap_or(text)).map_err(|fault| {
        let near = fault.near.map(|near| format!("; did you mean `{{{near}}}`?")).unwrap_or_default();
        format!("`{{{}}}` is not something that a reason can show{near}", escape(text))
    })?;
    match (bytes, subject) {
        (Some(_), Subject::Args(path)) => Ok(Part::Bytes(path)),
        (None, subject @ (Subject::Args(_) | Subject::Ctx(_) | Subject::Tool)) => Ok(Part::Value(subject)),
        (Some(_), _) | (None, Subject::Effect | Subject::Sandbox(_)) => {
            Err(format!("`{{{}}}` is not something that a reason can show", escape(text)))
        }
    }
}

fn show_subject(subject: &Subject, env: &Env<'_>, secrets: &[String]) -> String {
    if let Subject::Args(path) = subject {
        let pointer = path.pointer();
        // A value that contains a secret is as secret as one inside a secret value.
        let hidden = secrets.iter().any(|secret| within(&pointer, secret) || within(secret, &pointer));
        if hidden {
            return "(secret)".to_owned();
        }
    }
    match env.see(subject) {
        Seen::Value(value) => match (subject, value.as_ref()) {
            // The tool's name was checked when its manifest was read: letters, digits, `_` and `-`.
            (Subject::Tool, Value::String(name)) => escape(name).into(),
            (_, value) => show(value),
        },
        Seen::Absent | Seen::Undeclared | Seen::NotThere(_) => "(absent)".to_owned(),
    }
}

fn within(pointer: &str, other: &str) -> bool {
    pointer.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A value in quotes, cut and escaped.
fn show(value: &Value) -> String {
    let text = match value {
        Value::String(text) => {
            let cut: String = text.chars().take(MAX_VALUE).collect();
            let more = if cut.len() < text.len() { "…" } else { "" };
            format!("{}{more}", Value::String(cut))
        }
        other => {
            let text = other.to_string();
            let cut: String = text.chars().take(MAX_VALUE).collect();
            let more = if cut.len() < text.len() { "…" } else { "" };
            format!("{cut}{more}")
        }
    };
    escape(&text).into()
}
