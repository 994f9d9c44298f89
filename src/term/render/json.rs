//! Diagnostics for machines.

use crate::diag::{Code, Diagnostic, Label, Severity};
use crate::source::Files;
use crate::text::Span;
use serde::Serialize;
use std::path::PathBuf;

/// A place in a file. Lines and columns count from 1, columns in characters; the end is the place behind the last
/// character.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JsonPlace {
    /// The file, as it is shown to people.
    pub file: String,
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// The column behind the last character.
    pub end_column: u32,
    /// What is said of the place.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
}

/// One diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JsonDiagnostic {
    /// The code, as `toolctl explain` takes it.
    pub code: &'static str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// What is wrong.
    pub message: String,
    /// The place at fault, if it is in a file; its fields stand beside the others.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub at: Option<JsonPlace>,
    /// Other places that explain the fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<JsonPlace>,
    /// What to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// Facts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The diagnostics as data that serializes to JSON.
pub fn to_json(files: &Files, diagnostics: &[Diagnostic]) -> Vec<JsonDiagnostic> {
    diagnostics.iter().map(|diagnostic| one(files, diagnostic)).collect()
}

fn one(files: &Files, diagnostic: &Diagnostic) -> JsonDiagnostic {
    let Diagnostic { code, severity, message, primary, related, notes, help } = diagnostic;
    JsonDiagnostic {
        code: Code::as_str(*code),
        severity: Severity::as_str(*severity),
        message: message.clone(),
        at: primary.as_ref().map(|label| place(files, label)),
        related: related.iter().map(|label| place(files, label)).collect(),
        help: help.clone(),
        notes: notes.clone(),
    }
}

fn place(files: &Files, label: &Label) -> JsonPlace {
    let span = label.span;
    let start = files.location(span);
    let end = files.location(Span::new(span.file, span.end, span.end));
    JsonPlace {
        file: PathBuf::from(&start.file).to_string_lossy().into_owned(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        label: label.text.clone(),
    }
}
