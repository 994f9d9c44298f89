//! Diagnostics as annotations of GitHub Actions: a workflow command a line.

use crate::diag::{Diagnostic, Severity};
use crate::source::Files;
use crate::text::Span;
use std::fmt::Write as _;

/// The diagnostics as workflow commands.
pub fn to_github(files: &Files, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let command = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let more = diagnostic.notes.iter().chain(&diagnostic.help);
        let text = more.fold(diagnostic.message.clone(), |text, line| text + "\n" + line);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "::{command} {}::{}", properties(files, diagnostic), data(&text));
    }
    out
}

fn properties(files: &Files, diagnostic: &Diagnostic) -> String {
    let title = format!("title={}", property(diagnostic.code.as_str()));
    let Some(label) = &diagnostic.primary else { return title };
    let span = label.span;
    let path = files.path(span.file).to_string_lossy().into_owned();
    // What is embedded is in no file of the repository.
    if path.starts_with("builtin:") {
        return title;
    }
    let start = files.location(span);
    let end = files.location(Span::new(span.file, span.end, span.end));
    let mut out = format!("file={},line={},endLine={}", property(&path), start.line, end.line);
    // Columns are only understood within one line.
    if start.line == end.line {
        let last = end.column.saturating_sub(1).max(start.column);
        let _ = write!(out, ",col={},endColumn={last}", start.column);
    }
    out + "," + &title
}

/// Text behind the `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, in which two signs more have a meaning.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
