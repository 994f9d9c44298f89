//! What to say of text that is nearly JSON: the mistakes that models and people make, with the repair.

use super::error::JsonErrorKind;
use super::parser::Fault;
use crate::text::escape;

/// Where the parser was when it met something else than it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before the document.
    Start,
    /// Where a value has to be.
    Value,
    /// Where a key or the end of an object has to be.
    Key,
    /// After a key.
    Colon,
    /// After a value of an array.
    AfterItem,
    /// After a value of an object.
    AfterEntry,
    /// Inside a string.
    String,
}

impl Place {
    /// What the parser needs here.
    const fn needs(self) -> &'static str {
        match self {
            Self::Start | Self::Value => "a value",
            Self::Key => "a key in double quotes",
            Self::Colon => "`:` after the key",
            Self::AfterItem => "`,` or `]`",
            Self::AfterEntry => "`,` or `}`",
            Self::String => "the closing quote of a string",
        }
    }
}

/// The text ended where something had to come.
pub(super) fn ended(place: Place, at: usize) -> Fault {
    Fault::new(
        JsonErrorKind::Truncated,
        at,
        format!("the JSON is cut off: {} is missing; send the whole document", place.needs()),
    )
}

/// Something else stands where something had to come. `rest` is not empty.
pub(super) fn unexpected(rest: &str, at: usize, place: Place) -> Fault {
    if rest.starts_with("```") {
        return fence(at);
    }
    let fault = |message: String| Fault::new(JsonErrorKind::Syntax, at, message);
    if let Some(message) = known_mistake(rest) {
        return fault(message.to_owned());
    }
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').take(40).collect();
    if let Some(right) = right_word(&word)
        && matches!(place, Place::Start | Place::Value)
    {
        return fault(format!("`{}` is not JSON: write {right}", escape(&word)));
    }
    match place {
        Place::Start => fault(
            "the text does not start with JSON: send the JSON alone, without anything around it".to_owned(),
        ),
        Place::Key if !word.is_empty() => {
            fault(format!("the key `{}` has no quotes: write it in double quotes", escape(&word)))
        }
        Place::Value | Place::Key | Place::Colon | Place::AfterItem | Place::AfterEntry | Place::String => {
            let found: String = rest.chars().take(1).collect();
            fault(format!("{} is needed here, not `{}`", place.needs(), escape(&found)))
        }
    }
}

/// Something follows the document. `rest` is not empty.
pub(super) fn trailing(rest: &str, at: usize) -> Fault {
    if rest.starts_with("```") {
        return fence(at);
    }
    let message = if rest.starts_with(['{', '[']) {
        "a second JSON document follows the first: send one"
    } else if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        "a comment follows the JSON: JSON has no comments, remove it"
    } else {
        "text follows the JSON: send the JSON alone"
    };
    Fault::new(JsonErrorKind::TrailingText, at, message)
}

fn fence(at: usize) -> Fault {
    Fault::new(
        JsonErrorKind::CodeFence,
        at,
        "the JSON is wrapped in a code fence: send only what stands between the ``` lines",
    )
}

fn known_mistake(rest: &str) -> Option<&'static str> {
    match rest.chars().next()? {
        '\'' => Some("JSON strings have double quotes: write \"…\" in place of '…'"),
        '`' => Some("JSON strings have double quotes: write \"…\" in place of `…`"),
        '\u{201c}' | '\u{201d}' | '\u{201e}' => {
            Some("these are typographic quotes: JSON needs plain ones, \"…\"")
        }
        '/' if rest.starts_with("//") || rest.starts_with("/*") => {
            Some("JSON has no comments: remove this one")
        }
        '#' => Some("JSON has no comments: remove this one"),
        '+' => Some("JSON numbers have no plus sign: remove it"),
        '.' if rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => {
            Some("JSON numbers start with a digit: write 0.5 in place of .5")
        }
        '-' if rest.starts_with("-Inf") || rest.starts_with("-inf") => {
            Some("JSON has no infinity: send a number, or leave the key out")
        }
        _ => None,
    }
}

/// What JSON writes for a word of another language.
fn right_word(word: &str) -> Option<&'static str> {
    match word {
        "True" | "TRUE" => Some("true"),
        "False" | "FALSE" => Some("false"),
        "None" | "NULL" | "Null" | "nil" | "undefined" => Some("null, or leave the key out"),
        "NaN" | "nan" | "Infinity" | "inf" => Some("a number, or leave the key out"),
        _ => None,
    }
}
