//! Turns a [`Node`] into typed values, collecting every error rather than stopping at the first.
//!
//! A decoder function reads all keys of a mapping through a [`MapReader`], and `finish` reports the keys that
//! nobody asked for, with the nearest of those that were.

use super::node::{Entry, Node, NodeKind};
use crate::diag::{Code, Diagnostic};
use crate::text::{Span, escape, nearest};
use std::time::Duration;

/// Collects the diagnostics of one or more files.
#[derive(Debug, Default)]
pub struct Decoder {
    diagnostics: Vec<Diagnostic>,
}

impl Decoder {
    /// A decoder without findings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether an error was reported.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == crate::diag::Severity::Error)
    }

    /// The findings in the order in which they were made.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// How many findings there are; two readings around a call tell whether it reported anything.
    pub fn count(&self) -> usize {
        self.diagnostics.len()
    }

    /// Reports that a value has the wrong type.
    pub fn wrong_type(&mut self, node: &Node, what: &str, expected: &str) {
        self.report(
            Diagnostic::error(
                Code::SourceWrongType,
                format!("{what} must be {expected}, not {}", node.type_name()),
            )
            .at(node.span, format!("expected {expected}")),
        );
    }

    /// Reports that a value is not acceptable; `remark` stands under the caret.
    pub fn bad_value(&mut self, span: Span, message: impl Into<String>, remark: impl Into<String>) {
        self.report(Diagnostic::error(Code::SourceBadValue, message).at(span, remark));
    }

    /// The string of a node.
    pub fn string<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        if let NodeKind::String(text) = &node.kind {
            return Some(text);
        }
        self.wrong_type(node, what, "a string");
        if matches!(node.kind, NodeKind::Number(_) | NodeKind::Bool(_) | NodeKind::Null)
            && let Some(last) = self.diagnostics.last_mut()
        {
            last.help.push("put it in quotes if the text is meant".to_owned());
        }
        None
    }

    /// The boolean of a node.
    pub fn bool(&mut self, node: &Node, what: &str) -> Option<bool> {
        if let NodeKind::Bool(value) = node.kind {
            return Some(value);
        }
        self.wrong_type(node, what, "true or false");
        if let NodeKind::String(text) = &node.kind
            && ["yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str())
            && let Some(last) = self.diagnostics.last_mut()
        {
            last.help.push("this is YAML 1.2: write true or false".to_owned());
        }
        None
    }

    /// The whole number of a node, within `range`.
    pub fn integer(&mut self, node: &Node, what: &str, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
        let NodeKind::Number(text) = &node.kind else {
            self.wrong_type(node, what, "a whole number");
            return None;
        };
        match text.parse::<u64>() {
            Ok(value) if range.contains(&value) => Some(value),
            _ => {
                self.bad_value(
                    node.span,
                    format!("{what} must be a whole number from {} to {}", range.start(), range.end()),
                    "out of range",
                );
                None
            }
        }
    }

    /// A duration: a whole number of milliseconds, or text such as `500ms`, `10s`, `5m`, `1h`.
    pub fn duration(&mut self, node: &Node, what: &str) -> Option<Duration> {
        const MAX_MS: u64 = 24 * 60 * 60 * 1000;
        let parsed = match &node.kind {
            NodeKind::Number(text) => text.parse::<u64>().ok(),
            NodeKind::String(text) => parse_duration_ms(text),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Seq(_) | NodeKind::Map(_) => None,
        };
        match parsed {
            Some(ms) if (1..=MAX_MS).contains(&ms) => Some(Duration::from_millis(ms)),
            _ => {
                self.report(
                    Diagnostic::error(
                        Code::SourceBadValue,
                        format!("{what} must be a time from 1 ms to 24 h"),
                    )
                    .at(node.span, "not such a time")
                    .help(
                        "write milliseconds as a plain number, or a number with a unit: 500ms, 10s, 5m, 1h",
                    ),
                );
                None
            }
        }
    }

    /// The items of a list.
    pub fn seq<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        if let NodeKind::Seq(items) = &node.kind {
            return Some(items);
        }
        self.wrong_type(node, what, "a list");
        None
    }

    /// A list of strings, or one string as a list of one.
    pub fn strings(&mut self, node: &Node, what: &str) -> Option<Vec<String>> {
        match &node.kind {
            NodeKind::String(text) => Some(vec![text.clone()]),
            NodeKind::Seq(items) => {
                let all: Vec<_> =
                    items.iter().map(|item| self.string(item, what).map(str::to_owned)).collect();
                all.into_iter().collect()
            }
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Map(_) => {
                self.wrong_type(node, what, "a string or a list of strings");
                None
            }
        }
    }

    /// One of the named choices. Reports and proposes the nearest name otherwise.
    pub fn choice<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.string(node, what)?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let mut diagnostic = Diagnostic::error(
            Code::SourceBadValue,
            format!("{what} must be one of {}, not `{}`", names.join(", "), escape(text)),
        )
        .at(node.span, "not one of these");
        if let Some(near) = nearest(text, names.iter().copied()) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        self.report(diagnostic);
        None
    }
}

/// Parses `500ms`, `10s`, `5m`, `1h` to milliseconds. Anything else, an overflow included, is `None`.
pub fn parse_duration_ms(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Reads the keys of one mapping and remembers which were asked for.
#[derive(Debug)]
pub struct MapReader<'n> {
    node: &'n Node,
    what: String,
    entries: &'n [Entry],
    asked: Vec<&'static str>,
}

impl<'n> MapReader<'n> {
    /// Starts on a node that has to be a mapping; reports and returns `None` if it is not. `what` names the thing in
    /// messages, with its article: `a rule`.
    pub fn new(decoder: &mut Decoder, node: &'n Node, what: &str) -> Option<Self> {
        if let NodeKind::Map(entries) = &node.kind {
            return Some(Self { node, what: what.to_owned(), entries, asked: Vec::new() });
        }
        decoder.wrong_type(node, what, "a mapping");
        None
    }

    /// The place of the mapping.
    pub const fn span(&self) -> Span {
        self.node.span
    }

    /// The entry of a key, if the mapping has it. A value of `null` counts as there.
    pub fn entry(&mut self, key: &'static str) -> Option<&'n Entry> {
        self.asked.push(key);
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of a key, if the mapping has it.
    pub fn optional(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value of a key; reports if it is missing.
    pub fn required(&mut self, decoder: &mut Decoder, key: &'static str) -> Option<&'n Node> {
        let found = self.optional(key);
        if found.is_none() {
            decoder.report(
                Diagnostic::error(Code::SourceMissingKey, format!("{} needs `{key}`", self.what))
                    .at(self.node.span, format!("`{key}` is missing here")),
            );
        }
        found
    }

    /// All entries that nobody asked for so far, for mappings with free keys.
    pub fn rest(&self) -> impl Iterator<Item = &'n Entry> + use<'n, '_> {
        self.entries.iter().filter(|entry| !self.asked.contains(&entry.key.as_str()))
    }

    /// Reports every key that nobody asked for.
    pub fn finish(self, decoder: &mut Decoder) {
        self.finish_with(decoder, &[]);
    }

    /// As [`Self::finish`]; `meant` has words that people use for a key and the key itself, which no likeness would
    /// lead to.
    pub fn finish_with(self, decoder: &mut Decoder, meant: &[(&str, &str)]) {
        for entry in self.rest() {
            let mut diagnostic = Diagnostic::error(
                Code::SourceUnknownKey,
                format!("unknown key `{}` in {}", escape(&entry.key), self.what),
            )
            .at(entry.key_span, format!("not a key of {}", self.what));
            let known = meant.iter().find(|(word, _)| *word == entry.key).map(|(_, key)| *key);
            diagnostic = match known.or_else(|| nearest(&entry.key, self.asked.iter().copied())) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.help(format!("known keys: {}", self.asked.join(", "))),
            };
            decoder.report(diagnostic);
        }
    }
}
