//! Diagnostics for people, with the source under them; the only user of the snippet crate.

use super::excerpt::Excerpt;
use crate::diag::{Diagnostic, Label, Severity};
use crate::source::Files;
use crate::text::{FileId, escape};
use annotate_snippets::renderer::Renderer;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Snippet};

/// The diagnostics as text, one block each, with an empty line between them. `width` is in columns.
pub fn render(files: &Files, diagnostics: &[Diagnostic], color: bool, width: usize) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.term_width(width);
    let mut out = String::new();
    for diagnostic in diagnostics {
        if !out.is_empty() {
            out.push('\n');
        }
        let text = renderer.render(&[group(files, diagnostic)]);
        out.push_str(&place_heads(text, files, diagnostic));
        out.push('\n');
    }
    out
}

/// What went into a diagnostic was escaped then; this makes sure, and changes nothing if so.
fn safe(text: &str) -> String {
    escape(text).into()
}

fn group<'a>(files: &Files, diagnostic: &Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut group =
        Group::with_title(level.primary_title(safe(&diagnostic.message)).id(diagnostic.code.as_str()));
    let mut escaped = false;
    for id in sources(diagnostic) {
        let (snippet, hidden) = snippet(files, diagnostic, id);
        group = group.element(snippet);
        escaped |= hidden;
    }
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(safe(note)));
    }
    if escaped {
        group = group.element(Level::NOTE.message("hidden characters of the source are shown as escapes"));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(safe(help)));
    }
    group
}

fn labels(diagnostic: &Diagnostic) -> impl Iterator<Item = (&Label, AnnotationKind)> {
    let primary = diagnostic.primary.iter().map(|label| (label, AnnotationKind::Primary));
    primary.chain(diagnostic.related.iter().map(|label| (label, AnnotationKind::Context)))
}

/// The files that a diagnostic speaks of, the one at fault first.
fn sources(diagnostic: &Diagnostic) -> Vec<FileId> {
    let mut ids = Vec::new();
    for (label, _) in labels(diagnostic) {
        if !ids.contains(&label.span.file) {
            ids.push(label.span.file);
        }
    }
    ids
}

/// Writes the places into the head lines of the snippets. The snippet crate would count columns in what is left of a
/// long or escaped line, so it was given a mark in place of the path.
fn place_heads(mut text: String, files: &Files, diagnostic: &Diagnostic) -> String {
    for id in sources(diagnostic) {
        let mark = head_mark(id);
        let Some(start) = text.find(&mark) else { continue };
        let behind = text.get(start + mark.len()..).unwrap_or("");
        let counted = behind.bytes().take_while(|b| b.is_ascii_digit() || *b == b':').count();
        let mut head = String::from(escape(&files.path(id).to_string_lossy()));
        if let Some((label, _)) = labels(diagnostic).find(|(label, _)| label.span.file == id) {
            let at = files.location(label.span);
            head = format!("{head}:{}:{}", at.line, at.column);
        }
        text.replace_range(start..start + mark.len() + counted, &head);
    }
    text
}

/// A mark that nothing else in the text can hold: private-use characters are escaped everywhere.
fn head_mark(id: FileId) -> String {
    format!("\u{e000}{}\u{e000}", id.0)
}

/// One file's part, and whether something of it had to be escaped.
fn snippet<'a>(files: &Files, diagnostic: &Diagnostic, id: FileId) -> (Snippet<'a, Annotation<'a>>, bool) {
    let here: Vec<_> = labels(diagnostic).filter(|(label, _)| label.span.file == id).collect();
    let marks: Vec<_> =
        here.iter().map(|(label, _)| label.span.start as usize..label.span.end as usize).collect();
    let excerpt = Excerpt::new(files.text(id), &marks);
    let mut snippet = Snippet::source(excerpt.text).path(head_mark(id)).line_start(excerpt.first_line);
    for ((label, kind), range) in here.iter().zip(excerpt.marks) {
        let mut annotation = kind.span(range);
        if !label.text.is_empty() {
            annotation = annotation.label(safe(&label.text));
        }
        snippet = snippet.annotation(annotation);
    }
    (snippet, excerpt.escaped)
}
