//! File names in line-oriented output: one name is always one unambiguous piece of one line.

use crate::text::is_hidden;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A name as it is, or in double quotes if its bytes are not plain text.
///
/// In quotes, `\"`, `\\`, `\n`, `\r`, `\t` and `\u{202e}` stand for characters and `\xff` for a byte that is not UTF-8.
/// Names that could be taken for a quoted one, a note or a link's arrow are quoted too.
pub(super) fn quote(name: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(name)
        && !text.starts_with(['"', '#'])
        && !text.contains(" -> ")
        && !text.chars().any(is_hidden)
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(name.len() + 8);
    out.push('"');
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            push(&mut out, c);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    Cow::Owned(out)
}

fn push(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_hidden(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::quote;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn plain_names_stay_and_others_are_quoted() {
        for (name, shown) in [
            (&b"a b.rs"[..], "a b.rs"),
            (b"C:\\x", "C:\\x"),
            (b"a\nb", "\"a\\nb\""),
            (b"a\xffb", "\"a\\xffb\""),
            (b"# note", "\"# note\""),
            (b"a -> b", "\"a -> b\""),
            ("ma\u{202e}in".as_bytes(), "\"ma\\u{202e}in\""),
            (b"\"q\"", "\"\\\"q\\\"\""),
        ] {
            assert_eq!(quote(name), shown);
        }
    }

    proptest! {
        #[test]
        fn no_hidden_character_is_left_and_no_two_names_look_alike(names in prop::collection::vec(prop::collection::vec(prop::sample::select(&b"a\\\"n\n#x\xff \t"[..]), 0..5), 0..40)) {
            let mut seen: HashMap<String, Vec<u8>> = HashMap::new();
            for name in names {
                let shown = quote(&name).into_owned();
                prop_assert!(!shown.chars().any(crate::text::is_hidden));
                let other = seen.entry(shown).or_insert_with(|| name.clone());
                prop_assert_eq!(&*other, &name);
            }
        }
    }
}
