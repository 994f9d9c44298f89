//! Words that mix Latin letters with letters of other alphabets that look like them.
//!
//! `аpt` with a Cyrillic first letter cannot be told from `apt` by eye. Text in one alphabet is fine, whichever it is; a
//! word in two of them is hardly ever honest where a program, a host or a file is named.

use super::Escaped;
use super::escape::escape;

/// How many different words are reported; a text that is full of them needs no complete list.
const MOST: usize = 5;

/// The words of a text that mix alphabets, each with its foreign letters written as `\u{430}`.
pub fn mixed_words(text: &str) -> Vec<Escaped> {
    let mut found: Vec<Escaped> = Vec::new();
    if text.is_ascii() {
        return found;
    }
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if found.len() < MOST && word.chars().any(is_latin) && word.chars().any(looks_latin) {
            let shown = spelt_out(word);
            if !found.contains(&shown) {
                found.push(shown);
            }
        }
    }
    found
}

fn spelt_out(word: &str) -> Escaped {
    let mut out = String::with_capacity(word.len() + 8);
    for c in word.chars() {
        if looks_latin(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    escape(&out)
}

const fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Letters of alphabets in which some look like Latin ones.
const fn looks_latin(c: char) -> bool {
    matches!(c,
        '\u{250}'..='\u{2af}'                                          // phonetic letters such as `ɡ`
        | '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}'              // Greek
        | '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{a640}'..='\u{a69f}' // Cyrillic
        | '\u{530}'..='\u{58f}'                                        // Armenian
        | '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}'            // Cherokee
        | '\u{1d00}'..='\u{1d7f}' | '\u{2100}'..='\u{214f}'            // small capitals, letter-like signs
        | '\u{a4d0}'..='\u{a4ff}'                                      // Lisu
        | '\u{ff21}'..='\u{ff5a}'                                      // full width
        | '\u{1d400}'..='\u{1d7ff}'                                    // mathematical letters
    )
}

#[cfg(test)]
mod tests {
    use super::{MOST, mixed_words};
    use proptest::prelude::*;

    #[test]
    fn only_words_in_two_alphabets_are_reported() {
        for (text, words) in [
            ("apt install", &[][..]),
            ("größe naïve Ångström", &[]),
            ("привет мир", &[]),
            ("εἶπε 日本 x", &[]),
            ("日本go", &[]),
            ("\u{430}pt install", &["\\u{430}pt"]),
            ("https://g\u{3bf}\u{3bf}gle.com/\u{440}ath", &["g\\u{3bf}\\u{3bf}gle", "\\u{440}ath"]),
            ("\u{430}pt \u{430}pt", &["\\u{430}pt"]),
            ("run\u{ff41}", &["run\\u{ff41}"]),
        ] {
            let found: Vec<String> = mixed_words(text).into_iter().map(String::from).collect();
            assert_eq!(found, words, "{text}");
        }
        assert_eq!(
            mixed_words(&"a\u{430} b\u{430} c\u{430} d\u{430} e\u{430} f\u{430}".repeat(9)).len(),
            MOST
        );
    }

    proptest! {
        #[test]
        fn what_is_reported_is_ascii_or_latin(text in "[a-zé\u{430}\u{3bf}/ ]{0,20}") {
            for word in mixed_words(&text) {
                prop_assert!(!word.as_str().contains(['\u{430}', '\u{3bf}']), "{word}");
            }
        }
    }
}
