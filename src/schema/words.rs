//! The words of messages: lists, types, formats, and the value to send instead.

use super::shape::type_name;
use super::show::{quote, value};
use serde_json::Value;

/// The value to send instead, where the one that was sent shows what was meant.
pub(super) fn repair(expected: &[&str], given: &Value) -> Option<String> {
    let wants = |name: &str| expected.contains(&name) || (name == "integer" && expected.contains(&"number"));
    match given {
        Value::String(text) => {
            let inner: Option<Value> = serde_json::from_str(text).ok();
            match inner {
                Some(inner) if wants(type_name(&inner)) => Some(match &inner {
                    Value::Array(_) | Value::Object(_) => {
                        format!("send the {} itself, not a string that holds it", type_name(&inner))
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                        format!("send {} without quotes", value(&inner))
                    }
                }),
                _ if wants("array") => Some(format!("send a list, such as [{}]", value(given))),
                _ => None,
            }
        }
        Value::Number(_) | Value::Bool(_) if wants("string") => {
            Some(format!("send {}", quote(&given.to_string())))
        }
        Value::Number(_) | Value::Bool(_) if wants("array") => {
            Some(format!("send a list, such as [{}]", value(given)))
        }
        Value::Number(number) if wants("boolean") && ["0", "1"].contains(&number.as_str()) => {
            Some(format!("send {}", number.as_str() == "1"))
        }
        Value::Null => Some("leave the property out if it has no value".to_owned()),
        Value::Array(items) => match items.as_slice() {
            [one @ (Value::Array(_) | Value::Object(_))] if wants(type_name(one)) => {
                Some("send the one item itself, without the list".to_owned())
            }
            [one] if wants(type_name(one)) => Some(format!("send {} without the list", value(one))),
            _ => None,
        },
        Value::Number(_) | Value::Bool(_) | Value::Object(_) => None,
    }
}

/// A value's text, whatever its type, to see that `"5"` was sent for `5`.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_lowercase)
}

pub(super) fn names(known: &[&str]) -> String {
    let mut text = known.iter().take(12).map(|name| quote(name)).collect::<Vec<_>>().join(", ");
    if known.len() > 12 {
        use std::fmt::Write as _;
        let _ = write!(text, " and {} more", known.len() - 12);
    }
    text
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn or<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

pub(super) fn article(kinds: &str) -> String {
    let article = match kinds.chars().next() {
        _ if kinds.starts_with("null") => "",
        Some('a' | 'i' | 'o') => "an ",
        Some(_) => "a ",
        None => "",
    };
    format!("{article}{kinds}")
}

pub(super) fn format_words(format: &str) -> String {
    let words = match format {
        "date" => "a date such as 2026-01-31",
        "date-time" => "a date and time such as 2026-01-31T12:00:00Z",
        "time" => "a time such as 12:00:00Z",
        "duration" => "a duration such as P1DT2H",
        "email" | "idn-email" => "an e-mail address such as a@example.com",
        "hostname" | "idn-hostname" => "a host name such as www.example.com",
        "ipv4" => "an IPv4 address such as 192.0.2.1",
        "ipv6" => "an IPv6 address such as 2001:db8::1",
        "uri" | "iri" => "an absolute URI such as https://example.com/x",
        "uri-reference" | "iri-reference" => "a URI or a relative reference",
        "uuid" => "a UUID such as 00000000-0000-4000-8000-000000000000",
        "regex" => "a regular expression",
        "json-pointer" => "a JSON Pointer such as /a/0",
        "path" => "a path, not empty and without NUL characters",
        other => return format!("of the format {}", quote(other)),
    };
    words.to_owned()
}
