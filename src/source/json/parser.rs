//! The parser: the grammar of JSON, bounded in depth, strict in everything that readers disagree about.

use super::build::{Build, Seen};
use super::error::JsonErrorKind;
use super::number::{in_range, scan};
use super::remark::{Place, ended, trailing, unexpected};
use crate::text::escape;
use std::borrow::Cow;

/// The parser calls itself once a level; this keeps its stack small whatever limit is asked for.
const MAX_RECURSION: usize = 256;

/// A JSON library of ours writes and reads numbers of any size under this key of an object with one entry. A value
/// with it would turn into a number as soon as it is copied through that library.
const RESERVED_KEY: &str = "$serde_json::private::";

/// A fault without line and column.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: JsonErrorKind,
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) other: Option<usize>,
}

impl Fault {
    pub(super) fn new(kind: JsonErrorKind, offset: usize, message: impl Into<String>) -> Self {
        Self { kind, offset, message: message.into(), other: None }
    }
}

/// One pass over one document.
pub(super) struct Parser<'t, B> {
    text: &'t str,
    at: usize,
    depth: usize,
    max_depth: usize,
    build: B,
}

impl<'t, B: Build<'t>> Parser<'t, B> {
    pub(super) fn new(text: &'t str, max_depth: usize, build: B) -> Self {
        Self { text, at: 0, depth: 0, max_depth: max_depth.min(MAX_RECURSION), build }
    }

    /// The whole text as one document.
    pub(super) fn document(mut self) -> Result<B::Value, Fault> {
        self.skip_space();
        if self.at == self.text.len() {
            return Err(Fault::new(JsonErrorKind::Empty, 0, "there is no JSON: for no arguments write {}"));
        }
        let value = self.value()?;
        self.skip_space();
        if self.at < self.text.len() {
            return Err(trailing(self.rest(), self.at));
        }
        Ok(value)
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes the byte if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn unexpected(&self, place: Place) -> Fault {
        if self.rest().is_empty() { ended(place, self.at) } else { unexpected(self.rest(), self.at, place) }
    }

    fn value(&mut self) -> Result<B::Value, Fault> {
        let start = self.at;
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => {
                let text = self.string()?;
                Ok(self.build.string(text, start..self.at))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<B::Value, Fault> {
        let start = self.at;
        let rest = self.rest();
        let length =
            rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')).count();
        self.at += length;
        match rest.get(..length) {
            Some("true") => Ok(self.build.boolean(true, start..self.at)),
            Some("false") => Ok(self.build.boolean(false, start..self.at)),
            Some("null") => Ok(self.build.null(start..self.at)),
            Some(part)
                if self.rest().is_empty()
                    && !part.is_empty()
                    && ["true", "false", "null"].iter().any(|word| word.starts_with(part)) =>
            {
                Err(ended(Place::Value, self.at))
            }
            _ => {
                self.at = start;
                let place = if self.depth == 0 { Place::Start } else { Place::Value };
                Err(self.unexpected(place))
            }
        }
    }

    fn number(&mut self) -> Result<B::Value, Fault> {
        let start = self.at;
        let Some(length) = scan(self.rest().as_bytes()) else {
            let alone = self.rest() == "-";
            return Err(if alone {
                ended(Place::Value, self.text.len())
            } else {
                self.unexpected(Place::Value)
            });
        };
        let text = self.rest().get(..length).unwrap_or("");
        self.at += length;
        // `007`, `0x10`, `1.`, `1e`, `1_000`: the number goes on in a way that JSON does not have.
        if matches!(self.peek(), Some(b) if b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'+' | b'-'))
        {
            let tail = self.rest();
            if matches!(tail, "." | "e" | "E" | "e+" | "e-" | "E+" | "E-") {
                return Err(ended(Place::Value, self.text.len()));
            }
            return Err(Fault::new(
                JsonErrorKind::Syntax,
                start,
                "this is not a JSON number: write plain decimal digits such as 7, -1.5 or 1e3",
            ));
        }
        if let Err((kind, reason)) = in_range(text) {
            let message = format!("this number cannot be kept exactly, it is {reason}");
            return Err(Fault::new(kind, start, message));
        }
        Ok(self.build.number(text, start..self.at))
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<B::Value, Fault>) -> Result<B::Value, Fault> {
        if self.depth == self.max_depth {
            return Err(Fault::new(
                JsonErrorKind::TooDeep,
                self.at,
                format!("the values are nested deeper than {} levels", self.max_depth),
            ));
        }
        self.depth += 1;
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<B::Value, Fault> {
        let start = self.at;
        let mut array = self.build.open_array(start);
        self.at += 1;
        self.skip_space();
        if self.take(b']') {
            return Ok(self.build.array(array, start..self.at));
        }
        loop {
            let value = self.value()?;
            self.build.item(&mut array, value);
            self.skip_space();
            if self.take(b']') {
                return Ok(self.build.array(array, start..self.at));
            }
            if !self.take(b',') {
                return Err(self.unexpected(Place::AfterItem));
            }
            self.no_trailing_comma()?;
        }
    }

    fn object(&mut self) -> Result<B::Value, Fault> {
        let start = self.at;
        let mut object = self.build.open_object(start);
        self.at += 1;
        self.skip_space();
        if self.take(b'}') {
            return Ok(self.build.object(object, start..self.at));
        }
        loop {
            self.entry(&mut object)?;
            self.skip_space();
            if self.take(b'}') {
                return Ok(self.build.object(object, start..self.at));
            }
            if !self.take(b',') {
                return Err(self.unexpected(Place::AfterEntry));
            }
            self.no_trailing_comma()?;
        }
    }

    fn entry(&mut self, object: &mut B::Object) -> Result<(), Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(Place::Key));
        }
        let start = self.at;
        let key = self.string()?;
        let end = self.at;
        check_key(&key, start)?;
        once(&self.build.key(object, key.clone(), start..end), &key, start)?;
        self.skip_space();
        if !self.take(b':') {
            return Err(self.unexpected(Place::Colon));
        }
        self.skip_space();
        let value = self.value()?;
        self.build.entry(object, key, start..end, value);
        Ok(())
    }

    /// After a comma: the next value or key has to come, not the end.
    fn no_trailing_comma(&mut self) -> Result<(), Fault> {
        let comma = self.at - 1;
        self.skip_space();
        match self.peek() {
            Some(b'}' | b']') => Err(Fault::new(
                JsonErrorKind::Syntax,
                comma,
                "a comma stands after the last value: JSON has no trailing commas, remove it",
            )),
            _ => Ok(()),
        }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, Fault> {
        self.at += 1;
        let first = self.plain();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(first));
        }
        let mut out = first.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(out));
                }
                Some(b'\\') => {
                    out.push(self.escaped()?);
                    out.push_str(self.plain());
                }
                Some(control) => {
                    return Err(Fault::new(
                        JsonErrorKind::ControlCharacter,
                        self.at,
                        format!("a string holds a raw control character: write it as {}", written(control)),
                    ));
                }
                None => return Err(ended(Place::String, self.at)),
            }
        }
    }

    /// The part of a string up to its end or to what cannot stand for itself.
    fn plain(&mut self) -> &'t str {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let length = rest.iter().position(|&b| b < b' ' || b == b'"' || b == b'\\').unwrap_or(rest.len());
        self.at += length;
        self.text.get(start..self.at).unwrap_or("")
    }

    fn escaped(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.rest().chars().next() else { return Err(ended(Place::String, self.at)) };
        self.at += letter.len_utf8();
        Ok(match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(start),
            other => {
                return Err(Fault::new(
                    JsonErrorKind::Syntax,
                    start,
                    format!(
                        "JSON has no escape `\\{}`: for a backslash write two",
                        escape(&other.to_string())
                    ),
                ));
            }
        })
    }

    /// The character of `\uXXXX` or of a pair of these; `start` is the first backslash.
    fn unicode(&mut self, start: usize) -> Result<char, Fault> {
        let first = self.hex4(start)?;
        let code = match first {
            0xd800..=0xdbff if self.rest().starts_with("\\u") => {
                self.at += 2;
                let second = self.hex4(start)?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(lone(start));
                }
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| lone(start))
    }

    fn hex4(&mut self, start: usize) -> Result<u32, Fault> {
        let rest = self.rest();
        let digits = rest.bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
        if digits < 4 {
            return Err(if digits == rest.len() {
                ended(Place::String, self.text.len())
            } else {
                Fault::new(JsonErrorKind::Syntax, start, "`\\u` needs four hexadecimal digits")
            });
        }
        self.at += 4;
        rest.get(..4)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| Fault::new(JsonErrorKind::Syntax, start, "`\\u` needs four hexadecimal digits"))
    }
}

fn check_key(key: &str, at: usize) -> Result<(), Fault> {
    if key.starts_with(RESERVED_KEY) {
        let message = format!("keys that start with `{RESERVED_KEY}` are not accepted");
        return Err(Fault::new(JsonErrorKind::ReservedKey, at, message));
    }
    Ok(())
}

fn once(seen: &Seen, key: &str, at: usize) -> Result<(), Fault> {
    let other = match seen {
        Seen::No => return Ok(()),
        Seen::Somewhere => None,
        Seen::At(other) => Some(*other),
    };
    let message = format!("the key `{}` stands twice in one object: keep one of the two", escape(key));
    Err(Fault { other, ..Fault::new(JsonErrorKind::DuplicateKey, at, message) })
}

fn lone(at: usize) -> Fault {
    Fault::new(
        JsonErrorKind::LoneSurrogate,
        at,
        "this escape is half of a surrogate pair and stands for no character: write both halves, or the character",
    )
}

/// How a control character is written in JSON.
fn written(control: u8) -> String {
    match control {
        b'\n' => "\\n".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\t' => "\\t".to_owned(),
        other => format!("\\u{other:04x}"),
    }
}
