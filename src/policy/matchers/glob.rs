//! `glob`: a pattern for text, in which `*` stops at `/` and `**` does not. Compiled when first needed.

use super::{At, show_all};
use crate::policy::truth::Truth;
use crate::text::escape;
use globset::{GlobBuilder, GlobMatcher};
use std::sync::OnceLock;

/// A glob whose syntax was checked and which is compiled when first asked.
#[derive(Debug)]
pub(in crate::policy) struct Pattern {
    text: String,
    compiled: OnceLock<Option<GlobMatcher>>,
}

impl Pattern {
    /// Checks the syntax.
    pub(in crate::policy) fn new(text: &str) -> Result<Self, String> {
        build(text).map_err(|error| String::from(escape(&error.kind().to_string())))?;
        Ok(Self { text: text.to_owned(), compiled: OnceLock::new() })
    }

    /// The pattern as written.
    pub(in crate::policy) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern matches; `None` if it cannot be compiled.
    pub(super) fn matches(&self, text: &str) -> Option<bool> {
        let matcher = self.compiled.get_or_init(|| build(&self.text).ok().map(|glob| glob.compile_matcher()));
        matcher.as_ref().map(|matcher| matcher.is_match(text))
    }

    /// Whether one of the patterns matches.
    pub(super) fn any(patterns: &[Self], text: &str) -> Truth {
        patterns.iter().fold(Truth::False, |seen, pattern| {
            if seen == Truth::True {
                return seen;
            }
            seen.or(match pattern.matches(text) {
                Some(matches) => Truth::from(matches),
                None => Truth::Error(format!("the glob \"{}\" is too large", escape(&pattern.text))),
            })
        })
    }
}

fn build(text: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build()
}

/// `glob` on a string that is not a path.
#[derive(Debug)]
pub(in crate::policy) struct TextGlob {
    /// The patterns, in lower case if `fold`.
    pub(in crate::policy) patterns: Vec<Pattern>,
    pub(in crate::policy) fold: bool,
}

impl TextGlob {
    pub(super) fn eval(&self, at: At<'_>) -> Truth {
        match at.string("glob") {
            Ok(text) if self.fold => Pattern::any(&self.patterns, &text.to_lowercase()),
            Ok(text) => Pattern::any(&self.patterns, text),
            Err(doubt) => doubt,
        }
    }

    pub(super) fn text(&self) -> String {
        format!("glob {}", show_all(self.patterns.iter().map(Pattern::text)))
    }
}
