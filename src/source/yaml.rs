//! YAML to [`Node`]: the only user of the YAML crate, and the only place where its options are set.
//!
//! The crate is young, so the table in the tests is the contract that a new version has to keep. It resolves scalars
//! to 64-bit numbers; the digits are taken from the text of the file instead, so that no number is rounded.

use super::files::Files;
use super::json::json_number;
use super::node::{Entry, Node, NodeKind};
use crate::diag::{Code, Diagnostic};
use crate::text::{FileId, Span, escape};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::{Budget, BudgetBreach};
use serde_saphyr::options::{AliasLimits, DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Location, Options, Spanned};
use std::collections::HashMap;
use std::fmt;

/// Deepest nesting of a file. A policy or a schema written by a person stays below half of it.
const MAX_DEPTH: usize = 32;
/// Most values of a file, aliases expanded.
const MAX_NODES: usize = 20_000;
/// Most bytes of scalars of a file, aliases expanded.
const MAX_SCALAR_BYTES: usize = 1 << 20;
/// Most aliases of a file that may have some.
const MAX_ALIASES: usize = 64;

/// Whether a file may repeat parts of itself by `&anchor` and `*alias`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AliasBudget {
    /// No aliases: what a policy says is where it is read.
    #[default]
    None,
    /// Up to 64 aliases, which count with all they stand for.
    Few,
}

/// Reads one YAML 1.2 document without aliases. An empty file is a null.
pub fn parse_yaml(files: &Files, id: FileId) -> Result<Node, Vec<Diagnostic>> {
    parse_yaml_with(files, id, AliasBudget::None)
}

/// Reads one YAML 1.2 document. An empty file is a null.
///
/// Errors: a syntax error or an exceeded limit ends the reading; duplicate keys, keys that are no strings and
/// numbers that JSON cannot hold are all collected.
pub fn parse_yaml_with(files: &Files, id: FileId, aliases: AliasBudget) -> Result<Node, Vec<Diagnostic>> {
    let text = files.text(id);
    if text.starts_with('\u{feff}') {
        return Err(vec![
            Diagnostic::error(Code::SourceYaml, "the file starts with a byte order mark")
                .at(Span::new(id, 0, 3), "here")
                .help("save it as UTF-8 without a byte order mark"),
        ]);
    }
    let mut reader = Reader { text, id, diagnostics: Vec::new() };
    let strict = serde_saphyr::from_str_with_options(text, options(DuplicateKeyPolicy::Error, aliases));
    let node = match strict {
        Ok(raw) => reader.node(&raw),
        Err(error) => {
            if matches!(error.without_snippet(), Error::DuplicateMappingKey { .. })
                // The crate stops at the first and names one place; this reading finds all, with both places.
                && let Ok(raw) = serde_saphyr::from_str_with_options(
                    text,
                    options(DuplicateKeyPolicy::PassThrough, aliases),
                )
            {
                reader.node(&raw);
            }
            if reader.diagnostics.is_empty() {
                let diagnostic = reader.error(&error, aliases);
                reader.diagnostics.push(diagnostic);
            }
            return Err(reader.diagnostics);
        }
    };
    if reader.diagnostics.is_empty() { Ok(node) } else { Err(reader.diagnostics) }
}

fn options(duplicate_keys: DuplicateKeyPolicy, aliases: AliasBudget) -> Options {
    let max_aliases = match aliases {
        AliasBudget::None => 0,
        AliasBudget::Few => MAX_ALIASES,
    };
    let mut budget = Budget::default();
    budget.max_depth = MAX_DEPTH;
    budget.flow_nesting_limit = MAX_DEPTH;
    budget.max_nodes = MAX_NODES;
    // A node has at most a start and an end; the rest is the document's own.
    budget.max_events = 2 * MAX_NODES + 16;
    budget.max_total_scalar_bytes = MAX_SCALAR_BYTES;
    budget.max_aliases = max_aliases;
    budget.max_anchors = max_aliases;
    budget.max_recorded_anchor_events = 2 * MAX_NODES;
    budget.max_recorded_anchor_bytes = MAX_SCALAR_BYTES;
    budget.max_merge_keys = 0;
    // A ratio says nothing that the limits above do not say better.
    budget.enforce_alias_anchor_ratio = false;

    let mut limits = AliasLimits::default();
    limits.max_total_replayed_events = MAX_NODES;
    limits.max_replay_stack_depth = MAX_DEPTH;
    limits.max_alias_expansions_per_anchor = max_aliases;

    let mut options = Options::default();
    options.budget = Some(budget);
    options.alias_limits = limits;
    // `deny: true, deny: false` must not become no deny.
    options.duplicate_keys = duplicate_keys;
    // `<<` is YAML 1.1 and would bring keys in from elsewhere.
    options.merge_keys = MergeKeyPolicy::Error;
    // YAML 1.2: `no`, `on` and `y` are strings.
    options.strict_booleans = true;
    // `017` is 15 in YAML 1.1 and 17 in 1.2: neither, so it stays text.
    options.legacy_octal_numbers = false;
    options.leading_zero_numbers_as_strings = true;
    // `1_000` is a number in YAML 1.1 only.
    options.underscored_numbers_as_strings = true;
    // A string that reads like a number is never made out of one.
    options.no_schema = true;
    options.null_as_string = false;
    // `!secret` and the like are not silently dropped.
    options.reject_unsupported_tags = true;
    options.reject_tagged_field_names = true;
    options.ignore_binary_tag_for_string = false;
    options.angle_conversions = false;
    // Infinities come through and are refused with their place, beside the other faults of the file.
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    options.bom_inside_document_as_content = false;
    // `]` at the indentation of its key is common and unambiguous.
    options.strict_indentation = false;
    // Our own renderer shows the source.
    options.with_snippet = false;
    options
}

/// A value as the crate resolves it; the text of the file decides what a number is.
enum Raw {
    Null,
    Bool(bool),
    Number,
    String(String),
    Seq(Vec<Spanned<Self>>),
    Map(Vec<(Spanned<Self>, Spanned<Self>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

struct Reader<'t> {
    text: &'t str,
    id: FileId,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn span(&self, location: Location) -> Span {
        let clamp = |at: u64| u32::try_from(at.min(self.text.len() as u64)).unwrap_or(u32::MAX);
        // Errors of the scanner come with line and column alone.
        let start = location.span().byte_offset().unwrap_or_else(|| self.offset(location));
        let end = start.saturating_add(location.span().byte_len().unwrap_or(0));
        Span::new(self.id, clamp(start), clamp(end))
    }

    /// The byte at a line and column, both counted from 1, columns in characters.
    fn offset(&self, location: Location) -> u64 {
        let mut start = 0;
        for (number, line) in (1..).zip(self.text.split_inclusive('\n')) {
            if number == location.line() {
                let before = usize::try_from(location.column().saturating_sub(1)).unwrap_or(usize::MAX);
                let inside: usize =
                    line.trim_end_matches(['\n', '\r']).chars().take(before).map(char::len_utf8).sum();
                return (start + inside) as u64;
            }
            start += line.len();
        }
        // A place behind the end is the end; no place at all is the beginning.
        if location.line() == 0 { 0 } else { start as u64 }
    }

    fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("").trim()
    }

    fn node(&mut self, raw: &Spanned<Raw>) -> Node {
        let span = self.span(raw.referenced);
        let written = self.span(raw.defined);
        let kind = match &raw.value {
            Raw::Null => self.plain(span, written, NodeKind::Null, &["", "~", "null", "Null", "NULL"]),
            Raw::Bool(true) => self.plain(span, written, NodeKind::Bool(true), &["true", "True", "TRUE"]),
            Raw::Bool(false) => {
                self.plain(span, written, NodeKind::Bool(false), &["false", "False", "FALSE"])
            }
            Raw::Number => self.number(span, written),
            Raw::String(text) => {
                if self.tagged(written) {
                    self.diagnostics.push(tag_changes(span));
                }
                NodeKind::String(text.clone())
            }
            Raw::Seq(items) => NodeKind::Seq(items.iter().map(|item| self.node(item)).collect()),
            Raw::Map(entries) => self.map(entries),
        };
        let first = match &kind {
            NodeKind::Seq(items) => items.first().map(|item| item.span),
            NodeKind::Map(entries) => entries.first().map(|entry| entry.key_span),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => None,
        };
        let span = match first {
            // A block collection has no text of its own; its first part stands for it.
            Some(first) if span.start == span.end => first,
            _ if span == written => self.flow(span, &kind),
            _ => span,
        };
        Node { span, kind }
    }

    /// The place of a flow collection from its opening to its closing bracket; the crate gives the opening one only.
    fn flow(&self, span: Span, kind: &NodeKind) -> Span {
        let (last, close) = match kind {
            NodeKind::Seq(items) => (items.last().map(|item| item.span), ']'),
            NodeKind::Map(entries) => (entries.last().map(|entry| entry.key_span.to(entry.value.span)), '}'),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => return span,
        };
        if !matches!(self.slice(span), "[" | "{") {
            return span;
        }
        let from = last.map_or(span.end, |last| last.end.max(span.end));
        // After the last part only space, commas, `:` of an empty value and remarks can stand before the bracket.
        let mut remark = false;
        for (at, c) in self.text.get(from as usize..).unwrap_or("").char_indices() {
            match c {
                '\n' => remark = false,
                '#' => remark = true,
                c if c == close && !remark => {
                    let end = from.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)).saturating_add(1);
                    return Span { end, ..span };
                }
                _ => {}
            }
        }
        span
    }

    /// A null or boolean whose text is `one of` the usual; anything else was forced by a tag such as `!!null`.
    fn plain(&mut self, span: Span, written: Span, kind: NodeKind, usual: &[&str]) -> NodeKind {
        if !usual.contains(&self.slice(written)) {
            self.diagnostics.push(tag_changes(span));
        }
        kind
    }

    /// Whether a string has a tag that changes it, such as `!!binary`; the crate passes over those that it knows.
    fn tagged(&self, written: Span) -> bool {
        let before = self.text.get(..written.start as usize).unwrap_or("");
        let line = before.rsplit('\n').next().unwrap_or("");
        line.split_whitespace()
            .rev()
            .find(|word| !word.starts_with('&'))
            .is_some_and(|word| word.starts_with('!') && !matches!(word, "!" | "!!str"))
    }

    fn number(&mut self, span: Span, written: Span) -> NodeKind {
        let text = self.slice(written).to_owned();
        if let Err(reason) = json_number(&text) {
            let shown = escape(&text);
            self.diagnostics.push(
                Diagnostic::error(Code::SourceBadValue, format!("`{shown}` is not a number that JSON has"))
                    .at(span, reason)
                    .help("write a plain decimal number, or put it in quotes if the text is meant"),
            );
        }
        NodeKind::Number(text)
    }

    fn map(&mut self, entries: &[(Spanned<Raw>, Spanned<Raw>)]) -> NodeKind {
        let mut seen: HashMap<String, Span> = HashMap::new();
        let mut out = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key_span = self.span(key.referenced);
            let value = self.node(value);
            let Some(key) = self.key(key, key_span) else { continue };
            if let Some(first) = seen.insert(key.clone(), key_span) {
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::SourceDuplicateKey,
                        format!("the key `{}` stands twice in one mapping", escape(&key)),
                    )
                    .at(key_span, "again here")
                    .see(first, "first here")
                    .help("keep one of the two"),
                );
            }
            out.push(Entry { key, key_span, value });
        }
        NodeKind::Map(out)
    }

    fn key(&mut self, key: &Spanned<Raw>, span: Span) -> Option<String> {
        let what = match &key.value {
            Raw::String(text) => return Some(text.clone()),
            Raw::Null => "null",
            Raw::Bool(_) => "a boolean",
            Raw::Number => "a number",
            Raw::Seq(_) => "a list",
            Raw::Map(_) => "a mapping",
        };
        self.diagnostics.push(
            Diagnostic::error(Code::SourceYaml, format!("a key must be a string, not {what}"))
                .at(span, "not a string")
                .help("put the key in quotes"),
        );
        None
    }

    /// One diagnostic for an error that ended the reading.
    fn error(&self, error: &Error, aliases: AliasBudget) -> Diagnostic {
        let error = error.without_snippet();
        let span = error.location().map(|location| self.span(location));
        let (code, message, help) = explain(error, aliases);
        let mut diagnostic = Diagnostic::error(code, message);
        if let Some(span) = span {
            diagnostic = diagnostic.at(span, "");
        }
        match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

fn tag_changes(span: Span) -> Diagnostic {
    Diagnostic::error(Code::SourceYaml, "a tag changes what this value is")
        .at(span, "not written as what the tag says")
        .help("remove the tag and write the value itself")
}

/// Code, message and way out for an error of the crate.
fn explain(error: &Error, aliases: AliasBudget) -> (Code, String, Option<&'static str>) {
    match error {
        Error::DuplicateMappingKey { key, .. } => (
            Code::SourceDuplicateKey,
            match key {
                Some(key) => format!("the key `{}` stands twice in one mapping", escape(key)),
                None => "a key stands twice in one mapping".to_owned(),
            },
            Some("keep one of the two"),
        ),
        Error::MergeKeyNotAllowed { .. } => (
            Code::SourceYaml,
            "merge keys (`<<`) are not accepted".to_owned(),
            Some("write the keys out; a key of that name needs quotes"),
        ),
        Error::MultipleDocuments { .. } => (
            Code::SourceYaml,
            "a second document starts here".to_owned(),
            Some("one file holds one document: remove the `---` line or split the file"),
        ),
        Error::UnsupportedTag { tag, .. } => (
            Code::SourceYaml,
            format!("the tag `{}` is not accepted", escape(tag)),
            Some("remove the tag; text that starts with `!` needs quotes"),
        ),
        Error::UnknownAnchor { .. } => (
            Code::SourceYaml,
            "this alias names no anchor".to_owned(),
            Some("text that starts with `*` needs quotes"),
        ),
        Error::Budget { breach, .. } => breach_message(breach, aliases),
        Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => alias_message(aliases),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            (Code::SourceYaml, "an alias may not stand inside its own anchor".to_owned(), None)
        }
        Error::AliasError { error, .. } => explain(error.without_snippet(), aliases),
        Error::Message { msg, .. } | Error::ExternalMessage { msg, .. } => match msg.as_str() {
            // The limit on flow collections of the parser below has no error of its own.
            "recursion limit exceeded" => breach_message(&BudgetBreach::Depth { depth: MAX_DEPTH }, aliases),
            msg => (Code::SourceYaml, sentence(msg), way_out(msg)),
        },
        other => {
            let text = other.to_string();
            (Code::SourceYaml, sentence(&text), way_out(&text))
        }
    }
}

/// A way out of the commonest mistakes, which the parser names without one.
fn way_out(message: &str) -> Option<&'static str> {
    message.contains("tabs disallowed").then_some("YAML is indented with spaces: replace the tabs")
}

fn alias_message(aliases: AliasBudget) -> (Code, String, Option<&'static str>) {
    match aliases {
        AliasBudget::None => (
            Code::SourceYaml,
            "anchors and aliases are not accepted in this file".to_owned(),
            Some("write the value out; text that starts with `*` or `&` needs quotes"),
        ),
        AliasBudget::Few => {
            (Code::SourceTooLarge, "the aliases of this file stand for too much".to_owned(), None)
        }
    }
}

fn breach_message(breach: &BudgetBreach, aliases: AliasBudget) -> (Code, String, Option<&'static str>) {
    let message = match breach {
        BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => return alias_message(aliases),
        BudgetBreach::Depth { .. } => format!("the file is nested deeper than {MAX_DEPTH} levels"),
        BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
            format!("the file has more than {MAX_NODES} values")
        }
        BudgetBreach::ScalarBytes { .. } => {
            format!("the file has more than {MAX_SCALAR_BYTES} bytes of text")
        }
        BudgetBreach::MergeKeys { .. } => "merge keys (`<<`) are not accepted".to_owned(),
        _ => "the file expands to too much".to_owned(),
    };
    (Code::SourceTooLarge, message, Some("split it into several files"))
}

/// A message of the crate in our form: one visible line, lower case, without its place and period.
fn sentence(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim().trim_end_matches('.');
    let line = line.split(" at line ").next().unwrap_or(line);
    let mut chars = line.chars();
    let lower: String = chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect();
    escape(&lower).into()
}

#[cfg(test)]
mod tests;
