//! One finding.

use super::Code;
use crate::text::Span;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; changes no exit code.
    Note,
    /// Probably a mistake; an error under `--strict`.
    Warning,
    /// Certainly wrong.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place with a remark.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is to be said of the place; may be empty.
    pub text: String,
}

/// One finding: data, not text. All strings are already safe to print: untrusted text was escaped when put in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The stable code, explained by `toolctl explain CODE`.
    pub code: Code,
    /// How much it weighs.
    pub severity: Severity,
    /// One line, lower case, without a period.
    pub message: String,
    /// The place at fault, if it is in a file.
    pub primary: Option<Label>,
    /// Other places that explain the fault.
    pub related: Vec<Label>,
    /// Facts that help to understand it.
    pub notes: Vec<String>,
    /// What to type or change next.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error with this code and message.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: None,
            related: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// A warning with this code and message.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// A note with this code and message.
    pub fn note_of(code: Code, message: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, message) }
    }

    /// Sets the place at fault, with a remark under the caret.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label { span, text: text.into() });
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn see(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}
