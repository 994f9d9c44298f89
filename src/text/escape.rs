//! Makes characters visible that a terminal would act on or hide.
//!
//! Escaped are all controls (C0, C1, DEL), bidi and other format characters, line and paragraph separators,
//! zero-width and other default-ignorable characters, private use, surrogate-range stand-ins, unassigned
//! noncharacters and exotic spaces that look like a plain one.

use std::borrow::Cow;
use std::fmt;

/// Text in which every hidden character is written as an escape: it can be printed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Escaped(String);

impl Escaped {
    /// The visible text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Escaped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<Escaped> for String {
    fn from(value: Escaped) -> Self {
        value.0
    }
}

/// Whether a terminal would hide this character or act on it, so that it must be shown as an escape.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'                          // C0, DEL, C1
        | '\u{a0}' | '\u{ad}'                                          // no-break space, soft hyphen
        | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'              // joiner, arabic mark, hangul fillers
        | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}'                // prepended marks (Cf)
        | '\u{890}' | '\u{891}' | '\u{8e2}'
        | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'                                      // mongolian selectors
        | '\u{2000}'..='\u{200f}'                                      // spaces, zero-width, LRM, RLM
        | '\u{2028}'..='\u{202f}'                                      // separators, bidi embeddings
        | '\u{205f}'..='\u{206f}'                                      // word joiner, bidi isolates, deprecated
        | '\u{2800}'                                                   // blank braille pattern
        | '\u{3000}' | '\u{3164}'                                      // wide space, hangul filler
        | '\u{e000}'..='\u{f8ff}'                                      // private use
        | '\u{fdd0}'..='\u{fdef}'                                      // noncharacters
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'            // selectors, BOM, halfwidth filler
        | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'                                    // tags, selectors supplement
        | '\u{f0000}'..='\u{10ffff}'                                   // private use planes
    ) || (c as u32) & 0xfffe == 0xfffe
}

/// Whether the text holds a character that [`escape`] would change, backslashes aside.
pub fn has_hidden(text: &str) -> bool {
    if text.is_ascii() {
        // By far the commonest text, and the longest: whole documents.
        return text.bytes().any(|byte| byte.is_ascii_control());
    }
    text.chars().any(is_hidden)
}

/// The visible form: `\n`, `\r`, `\t`, `\\`, and `\u{202e}` for the rest.
///
/// A backslash is doubled only if the text has something hidden; then `\u{202e}` in the output always means the
/// character, and ordinary text with backslashes stays as it is.
pub fn escape(text: &str) -> Escaped {
    if !has_hidden(text) {
        return Escaped(text.to_owned());
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if is_hidden(c) => {
                use fmt::Write as _;
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    Escaped(out)
}

impl From<Cow<'_, str>> for Escaped {
    fn from(value: Cow<'_, str>) -> Self {
        escape(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, has_hidden, is_hidden};
    use proptest::prelude::*;

    #[test]
    fn shows_what_terminals_hide() {
        assert_eq!(escape("ma\u{202e}in").as_str(), "ma\\u{202e}in");
        assert_eq!(escape("a\x1b[2K\rb").as_str(), "a\\u{1b}[2K\\rb");
        assert_eq!(escape("C:\\dir").as_str(), "C:\\dir");
        assert_eq!(escape("C:\\dir\n").as_str(), "C:\\\\dir\\n");
        assert_eq!(escape("größe 日本 é").as_str(), "größe 日本 é");
        assert!(has_hidden("x\u{200b}"));
    }

    proptest! {
        #[test]
        fn plain_text_is_told_as_any_other(text in "[\\x00-\\x7f]{0,12}") {
            prop_assert_eq!(has_hidden(&text), text.chars().any(is_hidden));
        }

        #[test]
        fn nothing_hidden_is_left(text in any::<String>()) {
            prop_assert!(!escape(&text).as_str().chars().any(is_hidden));
        }
    }
}
