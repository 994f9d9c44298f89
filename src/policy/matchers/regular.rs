//! `regex`: always of the whole string, in linear time.

use super::At;
use crate::policy::truth::Truth;
use crate::text::escape;
use regex::{Regex, RegexBuilder};

/// A regular expression that has to match from the first to the last character.
#[derive(Debug)]
pub(in crate::policy) struct Regular {
    source: String,
    regex: Regex,
    fold: bool,
}

impl Regular {
    /// Compiles it; the message names the fault.
    pub(in crate::policy) fn new(source: &str, fold: bool) -> Result<Self, String> {
        // Compiled alone first: `a)|(b` would become valid, and mean something else, inside our anchors.
        Regex::new(source).map_err(|error| fault(&error))?;
        // A comment of verbose mode that would hide the end of the group leaves it open, which is an error too.
        let whole = format!("\\A(?:{source})\\z");
        RegexBuilder::new(&whole)
            .case_insensitive(fold)
            .size_limit(1 << 20)
            .build()
            .map(|regex| Self { source: source.to_owned(), regex, fold })
            .map_err(|error| fault(&error))
    }

    /// The expression as written.
    pub(in crate::policy) fn source(&self) -> &str {
        &self.source
    }

    /// Whether two expressions are written alike and mean the same.
    pub(in crate::policy) fn is_same(&self, other: &Self) -> bool {
        self.source == other.source && self.fold == other.fold
    }

    /// Whether the whole text matches.
    pub(in crate::policy) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    pub(super) fn eval(&self, at: At<'_>) -> Truth {
        match at.string("regex") {
            Ok(text) => Truth::from(self.regex.is_match(text)),
            Err(doubt) => doubt,
        }
    }

    pub(super) fn text(&self) -> String {
        format!("regex {:?}", self.source)
    }
}

fn fault(error: &regex::Error) -> String {
    // The last line says what is wrong; the lines above draw the pattern.
    let text = error.to_string();
    let last = text.lines().last().unwrap_or("not a regular expression");
    escape(last.trim_start_matches("error: ")).into()
}

#[cfg(test)]
mod tests {
    use super::Regular;

    #[test]
    fn is_always_of_the_whole_string() {
        for (source, yes, no) in [
            ("a|b", "a", "ab"),
            ("git", "git", "/tmp/git"),
            (".*@corp\\.test", "x@corp.test", "x@corp.test.evil"),
            ("(?i)GET", "get", "gett"),
            ("a$", "a", "a\n"),
            ("(?x)a # c\n", "a", "ab"),
            (r"\(?x", "(x", "((x"),
        ] {
            let regular = Regular::new(source, false).unwrap();
            assert!(regular.regex.is_match(yes), "{source} {yes}");
            assert!(!regular.regex.is_match(no), "{source} {no}");
        }
        for bad in ["a)|(b", "(", "(?=x)", "(?x)a # b", "(?x)a # b)", "a{1000}{1000}"] {
            assert!(Regular::new(bad, false).is_err(), "{bad}");
        }
        assert!(Regular::new("abc", true).unwrap().regex.is_match("ABC"));
    }
}
