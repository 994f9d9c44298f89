//! Builds the outline of a document.
//!
//! A key that stands twice is only noticed here, when its object ends; where and what is then said by the builder of
//! nodes, see `parse_outline`.

use super::build::{Build, FEW_KEYS, Seen};
use crate::source::outline::{Outline, Token, TokenKind};
use crate::text::FileId;
use std::borrow::Cow;
use std::ops::Range;

/// Builds tokens.
pub(super) struct Tokens<'t> {
    list: Vec<Token>,
    unescaped: Vec<String>,
    /// The keys of all objects that are open, those of the innermost last.
    keys: Vec<Cow<'t, str>>,
    /// A key stood twice in one object.
    twice: bool,
}

/// An object that is being built.
pub(super) struct OpenMap {
    /// Its token.
    at: usize,
    /// Where its keys begin.
    keys: usize,
}

fn clamp(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Tokens<'_> {
    /// For a text of so many bytes.
    pub(super) fn for_bytes(bytes: usize) -> Self {
        // Pages that are never touched cost nothing, and a smaller list would be copied as it grows.
        Self { list: Vec::with_capacity(bytes / 4), unescaped: Vec::new(), keys: Vec::new(), twice: false }
    }

    /// The outline, unless a key stood twice.
    pub(super) fn outline(self, file: FileId) -> Option<Outline> {
        (!self.twice).then(|| Outline::new(file, self.list, self.unescaped))
    }

    fn push(&mut self, kind: TokenKind, at: Range<usize>, more: u32) {
        self.list.push(Token { start: clamp(at.start), end: clamp(at.end), more, kind });
    }

    fn text(&mut self, text: Cow<'_, str>, at: Range<usize>) {
        let more = match text {
            Cow::Borrowed(_) => 0,
            Cow::Owned(text) => {
                self.unescaped.push(text);
                clamp(self.unescaped.len())
            }
        };
        self.push(TokenKind::String, at, more);
    }

    fn open(&mut self, kind: TokenKind, at: usize) -> usize {
        self.push(kind, at..at, 0);
        self.list.len() - 1
    }

    fn close(&mut self, opened: usize, end: usize) {
        let more = clamp(self.list.len());
        if let Some(token) = self.list.get_mut(opened) {
            token.end = clamp(end);
            token.more = more;
        }
    }
}

impl<'t> Build<'t> for &mut Tokens<'t> {
    type Value = ();
    type Array = usize;
    type Object = OpenMap;

    fn null(&mut self, at: Range<usize>) {
        self.push(TokenKind::Null, at, 0);
    }

    fn boolean(&mut self, value: bool, at: Range<usize>) {
        self.push(if value { TokenKind::True } else { TokenKind::False }, at, 0);
    }

    fn number(&mut self, _: &'t str, at: Range<usize>) {
        self.push(TokenKind::Number, at, 0);
    }

    fn string(&mut self, text: Cow<'t, str>, at: Range<usize>) {
        self.text(text, at);
    }

    fn open_array(&mut self, at: usize) -> usize {
        self.open(TokenKind::Seq, at)
    }

    fn item(&mut self, _: &mut usize, (): ()) {}

    fn array(&mut self, opened: usize, at: Range<usize>) {
        self.close(opened, at.end);
    }

    fn open_object(&mut self, at: usize) -> OpenMap {
        OpenMap { at: self.open(TokenKind::Map, at), keys: self.keys.len() }
    }

    fn key(&mut self, _: &mut OpenMap, key: Cow<'t, str>, at: Range<usize>) -> Seen {
        self.text(key.clone(), at);
        self.keys.push(key);
        Seen::No
    }

    fn entry(&mut self, _: &mut OpenMap, _: Cow<'t, str>, _: Range<usize>, (): ()) {}

    fn object(&mut self, object: OpenMap, at: Range<usize>) {
        self.twice |= self.keys.get_mut(object.keys..).is_some_and(any_twice);
        self.keys.truncate(object.keys);
        self.close(object.at, at.end);
    }
}

fn any_twice(keys: &mut [Cow<'_, str>]) -> bool {
    if keys.len() > FEW_KEYS {
        keys.sort_unstable();
        return keys.iter().zip(keys.iter().skip(1)).any(|(a, b)| a == b);
    }
    keys.iter().enumerate().any(|(at, key)| keys.iter().take(at).any(|earlier| earlier == key))
}
