//! A command line as a person would type it. For display only: nothing here is ever given to a shell.

use crate::text::{Escaped, escape, is_hidden};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

/// The words of an argv, quoted as a POSIX shell needs it and joined by spaces.
///
/// A word with hidden characters or bytes that are no UTF-8 is written as `$'…'` with escapes, so that all of it can
/// be seen.
pub fn quote_argv<S: AsRef<OsStr>>(argv: &[S]) -> Escaped {
    let words: Vec<String> =
        argv.iter().enumerate().map(|(at, word)| quote_word(word.as_ref().as_bytes(), at == 0)).collect();
    // Nothing hidden is left, so this changes nothing; it is the proof.
    escape(&words.join(" "))
}

fn quote_word(word: &[u8], first: bool) -> String {
    match std::str::from_utf8(word) {
        Ok(text) if !text.chars().any(is_hidden) => {
            // `a=b` in front of a command would be an assignment.
            let safe = |c: char| c.is_ascii_alphanumeric() || "_@%+:,./-".contains(c) || (c == '=' && !first);
            if !text.is_empty() && text.chars().all(safe) {
                text.to_owned()
            } else {
                format!("'{}'", text.replace('\'', r"'\''"))
            }
        }
        _ => dollar_quote(word),
    }
}

fn dollar_quote(word: &[u8]) -> String {
    let mut out = String::from("$'");
    for chunk in word.utf8_chunks() {
        for c in chunk.valid().chars() {
            let code = u32::from(c);
            let _ = match c {
                '\n' => out.write_str("\\n"),
                '\r' => out.write_str("\\r"),
                '\t' => out.write_str("\\t"),
                '\\' | '\'' => write!(out, "\\{c}"),
                c if !is_hidden(c) => out.write_char(c),
                _ if code < 0x80 => write!(out, "\\x{code:02x}"),
                _ if code < 0x1_0000 => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::quote_argv;
    use crate::text::is_hidden;
    use proptest::prelude::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::process::Command;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let table: &[(&[&[u8]], &str)] = &[
            (&[b"git", b"log", b"--format=%h", b"-n5", b"a/b.c"], "git log --format=%h -n5 a/b.c"),
            (&[b"A=1", b"A=1"], "'A=1' A=1"),
            (
                &[b"echo", b"", b"two words", b"it's", b"$x", b"~", b"*"],
                r"echo '' 'two words' 'it'\''s' '$x' '~' '*'",
            ),
            (&["ma\u{202e}in".as_bytes(), b"a\nb\x1b", b"\xff'\\"], r"$'ma\u202ein' $'a\nb\x1b' $'\xff\'\\'"),
            (&["größe".as_bytes(), "\u{e0041}".as_bytes()], r"'größe' $'\U000e0041'"),
        ];
        for (argv, expected) in table {
            let argv: Vec<_> = argv.iter().map(|word| OsStr::from_bytes(word)).collect();
            assert_eq!(quote_argv(&argv).as_str(), *expected);
        }
    }

    /// What is shown, typed into a shell, is what would run.
    #[test]
    fn a_shell_reads_it_back() {
        let argv =
            ["printf", "%s|", "", "a b", "it's", "$HOME `id` \"x\" \\", "*", "!x", "#", "-n", "ü=\u{1f600}"];
        let line = quote_argv(&argv);
        let out = Command::new("sh").arg("-c").arg(line.as_str()).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), argv[2..].join("|") + "|");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(words in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..4)) {
            let argv: Vec<_> = words.iter().map(|word| OsStr::from_bytes(word)).collect();
            prop_assert!(!quote_argv(&argv).as_str().chars().any(is_hidden));
        }
    }
}
