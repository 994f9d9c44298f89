//! The visible form of what a tool wrote, for a terminal.

use crate::text::{has_hidden, is_hidden};
use std::fmt::Write as _;

/// Tool output as a terminal may see it: line feeds and tabs stay, every other hidden character is written as an
/// escape, bytes that are no UTF-8 as `\xff`. For a terminal only: pipes and files get the bytes themselves.
pub fn escape_output(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\t' => out.push(c),
                '\r' => out.push_str("\\r"),
                c if is_hidden(c) => {
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// JSON text in which hidden characters are written as `\u202e`. They can only stand inside strings, where the escape
/// means the same character.
pub(super) fn escape_json(json: &str) -> String {
    if !has_hidden(json) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escape_json, escape_output};
    use crate::text::is_hidden;
    use proptest::prelude::*;

    #[test]
    fn lines_stay_and_tricks_show() {
        let table: &[(&[u8], &str)] = &[
            (b"a\tb\nc\n", "a\tb\nc\n"),
            (b"\x1b[2Jgone\r\n", "\\u{1b}[2Jgone\\r\n"),
            (b"ok \xff\xfe\xc3", "ok \\xff\\xfe\\xc3"),
            ("größe 日本 \u{202e}x\u{9b}1m".as_bytes(), "größe 日本 \\u{202e}x\\u{9b}1m"),
        ];
        for (bytes, expected) in table {
            assert_eq!(escape_output(bytes), *expected);
        }
    }

    proptest! {
        #[test]
        fn nothing_acts_on_a_terminal(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(escape_output(&bytes).chars().all(|c| matches!(c, '\n' | '\t') || !is_hidden(c)));
        }

        #[test]
        fn json_keeps_its_meaning(text in any::<String>()) {
            let json = escape_json(&serde_json::to_string(&text).unwrap());
            prop_assert!(!json.chars().any(is_hidden));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
