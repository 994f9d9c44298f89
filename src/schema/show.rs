//! Values and names as messages show them: short, and with nothing hidden.

use crate::text::escape;
use serde_json::Value;

/// Most characters of a value or name in a message.
const MAX_CHARS: usize = 80;

/// At most `max` characters of a text, hidden ones made visible; `…` marks the cut.
pub(super) fn clip(text: &str, max: usize) -> String {
    // Escaping makes text longer, never shorter, so more than `max` characters need not be escaped.
    let head: String = text.chars().take(max + 1).collect();
    let shown = escape(&head);
    if shown.as_str().chars().count() <= max {
        return shown.into();
    }
    let mut cut: String = shown.as_str().chars().take(max).collect();
    cut.push('…');
    cut
}

/// A name or text in double quotes; a quote inside gets a backslash, as in JSON.
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", clip(text, MAX_CHARS).replace('"', "\\\""))
}

/// A value as JSON, cut short.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            clip(&value.to_string(), MAX_CHARS)
        }
    }
}

/// A value with its kind: `the string "10"`, `an array of 3 items`.
pub(super) fn described(given: &Value) -> String {
    match given {
        Value::Null | Value::Bool(_) => value(given),
        Value::Number(_) => format!("the number {}", value(given)),
        Value::String(text) => format!("the string {}", quote(text)),
        Value::Array(_) | Value::Object(_) => kind(given),
    }
}

/// The kind of a value without the value.
pub(super) fn kind(given: &Value) -> String {
    match given {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(items) => format!("an array of {}", counted(items.len(), "item", "items")),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// `1 item`, `3 items`.
pub(super) fn counted<N: std::fmt::Display + Copy + PartialEq + From<u8>>(
    n: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if n == N::from(1) { one } else { many };
    format!("{n} {noun}")
}

/// Values in a row, at most `max`, then how many more.
pub(super) fn listed<'a>(values: impl ExactSizeIterator<Item = &'a Value>, max: usize) -> String {
    let total = values.len();
    let mut text = values.take(max).map(value).collect::<Vec<_>>().join(", ");
    if total > max {
        use std::fmt::Write as _;
        let _ = write!(text, " and {} more", total - max);
    }
    text
}
