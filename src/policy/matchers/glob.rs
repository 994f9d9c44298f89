//! `glob`: a pattern for text, in which `*` stops at `/` and `**` does not.
//!
//! Most patterns are names, `*` and `**`, and are matched as they stand: compiling one costs more than all of a call's
//! other rules. The rest are compiled when first needed.

use super::{At, show_all, wildcard};
use crate::policy::truth::Truth;
use crate::text::escape;
use globset::{GlobBuilder, GlobMatcher};
use std::sync::OnceLock;

/// The longest text, in bytes, that is matched without compiling the pattern. Two `**` need quadratic time, and a path
/// is never longer.
const MAX_PLAIN: usize = 4096;

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
    pub(in crate::policy) fn matches(&self, text: &str) -> Option<bool> {
        if text.len() <= MAX_PLAIN && is_plain(&self.text) {
            let (pattern, text): (Vec<&str>, Vec<&str>) =
                (self.text.split('/').collect(), text.split('/').collect());
            return Some(plain_match(&pattern, &text));
        }
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

/// Whether a pattern is made of names, `*` and at most two `**` that are not neighbours, so that matching it as it
/// stands is quick whatever the text is.
fn is_plain(pattern: &str) -> bool {
    let mut deep = 0;
    let mut before = false;
    for segment in pattern.split('/') {
        let here = segment == "**";
        if (here && before)
            || (!here && segment.contains("**"))
            || segment.contains(['?', '[', ']', '{', '}', '\\'])
        {
            return false;
        }
        deep += usize::from(here);
        before = here;
    }
    deep <= 2
}

/// Matches by segments; `**` stands for any number of them, at the end for at least one.
fn plain_match(pattern: &[&str], text: &[&str]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((&"**", [])), _) => !text.is_empty(),
        (Some((&"**", rest)), _) => {
            (0..=text.len()).any(|skip| text.get(skip..).is_some_and(|text| plain_match(rest, text)))
        }
        (Some((first, rest)), Some((segment, text))) => wildcard(first, segment) && plain_match(rest, text),
        (None, Some(_)) | (Some(_), None) => false,
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

#[cfg(test)]
mod tests {
    use super::{build, is_plain, plain_match};
    use proptest::prelude::*;

    fn plain(pattern: &str, text: &str) -> bool {
        let (pattern, text): (Vec<&str>, Vec<&str>) =
            (pattern.split('/').collect(), text.split('/').collect());
        plain_match(&pattern, &text)
    }

    #[test]
    fn plain_patterns_are_matched_by_segment() {
        for (pattern, text, expected) in [
            ("**/.env", ".env", true),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "a/x.env", false),
            ("/**/.env", "/.env", true),
            ("/**/.env.*", "/a/.env.local", true),
            ("src/*", "src/a/b", false),
            ("src/**", "src/a/b", true),
            ("src/**", "src", false),
            ("**", "a/b", true),
        ] {
            assert!(is_plain(pattern));
            assert_eq!(plain(pattern, text), expected, "{pattern} {text}");
        }
        for pattern in ["a?", "[a]", "{a,b}", "a**", "**/**", "**/a/**/b/**", "a\\*"] {
            assert!(!is_plain(pattern), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn the_short_way_agrees_with_the_library(
            pattern in "(/|\\*\\*/)?([ab*]{1,3}|\\*\\*)(/([ab*]{1,3}|\\*\\*)){0,3}",
            text in "/?[ab]{1,2}(/[ab]{1,2}){0,4}",
        ) {
            if is_plain(&pattern) {
                let library = build(&pattern).unwrap().compile_matcher().is_match(&text);
                prop_assert_eq!(plain(&pattern, &text), library, "{} {}", pattern, text);
            }
        }
    }
}
