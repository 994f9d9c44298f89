//! The outline of a JSON file: every value as a few numbers, its text lent from the file.
//!
//! A policy of a thousand rules is read at each call, of which a handful can matter. The outline is as strict as the tree
//! of nodes, since the same parser makes both, and costs one allocation; only what is needed becomes nodes.

use super::files::Files;
use super::node::{Entry, Node, NodeKind};
use crate::text::{FileId, Span};

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Null,
    True,
    False,
    Number,
    /// A string, or the key of an entry. `more` is 0, or one more than its place in the list of texts with escapes.
    String,
    /// A sequence. `more` is the place of the token after its last.
    Seq,
    /// A mapping: a string and a value by turns. `more` as for a sequence.
    Map,
}

/// One value or key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) more: u32,
    pub(super) kind: TokenKind,
}

/// The outline of one document.
#[derive(Debug, Clone)]
pub struct Outline {
    file: FileId,
    tokens: Vec<Token>,
    /// The texts of strings that are written with escapes.
    unescaped: Vec<String>,
}

impl Outline {
    pub(super) const fn new(file: FileId, tokens: Vec<Token>, unescaped: Vec<String>) -> Self {
        Self { file, tokens, unescaped }
    }

    /// The whole document. `files` has to be the registry that the file was read into.
    pub fn root<'a>(&'a self, files: &'a Files) -> Part<'a> {
        Part { outline: self, text: files.text(self.file), at: 0 }
    }
}

/// A value of an outline.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    outline: &'a Outline,
    text: &'a str,
    at: usize,
}

impl<'a> Part<'a> {
    fn token(&self) -> Option<&'a Token> {
        self.outline.tokens.get(self.at)
    }

    fn is(&self, kind: TokenKind) -> bool {
        self.token().is_some_and(|token| token.kind == kind)
    }

    fn with(&self, at: usize) -> Self {
        Self { at, ..*self }
    }

    /// The place of the token after this value.
    fn after(&self) -> usize {
        match self.token() {
            Some(Token { kind: TokenKind::Seq | TokenKind::Map, more, .. }) => *more as usize,
            Some(_) | None => self.at + 1,
        }
    }

    /// The value's place.
    pub fn span(&self) -> Span {
        self.token().map_or(Span::new(self.outline.file, 0, 0), |token| {
            Span::new(self.outline.file, token.start, token.end)
        })
    }

    /// The string, if it is one.
    pub fn string(&self) -> Option<&'a str> {
        let token = self.token().filter(|token| token.kind == TokenKind::String)?;
        match (token.more as usize).checked_sub(1) {
            // Between the quotes.
            None => self.text.get(token.start as usize + 1..(token.end as usize).checked_sub(1)?),
            Some(at) => self.outline.unescaped.get(at).map(String::as_str),
        }
    }

    /// The number as it is written, if it is one.
    pub fn number(&self) -> Option<&'a str> {
        let token = self.token().filter(|token| token.kind == TokenKind::Number)?;
        self.text.get(token.start as usize..token.end as usize)
    }

    /// The boolean, if it is one.
    pub fn boolean(&self) -> Option<bool> {
        match self.token()?.kind {
            TokenKind::True => Some(true),
            TokenKind::False => Some(false),
            TokenKind::Null | TokenKind::Number | TokenKind::String | TokenKind::Seq | TokenKind::Map => None,
        }
    }

    /// Whether it is a string, a number or a boolean.
    pub fn is_scalar(&self) -> bool {
        self.token().is_some_and(|token| match token.kind {
            TokenKind::True | TokenKind::False | TokenKind::Number | TokenKind::String => true,
            TokenKind::Null | TokenKind::Seq | TokenKind::Map => false,
        })
    }

    /// The items, if it is a sequence.
    pub fn items(&self) -> Option<impl Iterator<Item = Part<'a>> + use<'a>> {
        self.is(TokenKind::Seq).then(|| Values { next: self.with(self.at + 1), end: self.after() })
    }

    /// The keys and values, if it is a mapping.
    pub fn entries(&self) -> Option<impl Iterator<Item = (Part<'a>, Part<'a>)> + use<'a>> {
        self.is(TokenKind::Map).then(|| {
            let mut all = Values { next: self.with(self.at + 1), end: self.after() };
            std::iter::from_fn(move || Some((all.next()?, all.next()?)))
        })
    }

    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<Part<'a>> {
        self.entries()?.find(|(name, _)| name.string() == Some(key)).map(|(_, value)| value)
    }

    /// Whether it is a mapping with an entry.
    pub fn has_entries(&self) -> bool {
        self.is(TokenKind::Map) && self.after() > self.at + 1
    }

    /// The value as a tree of nodes: the same that reading the file as one gives.
    pub fn node(&self) -> Node {
        let kind = match self.token().map_or(TokenKind::Null, |token| token.kind) {
            TokenKind::Null => NodeKind::Null,
            TokenKind::True => NodeKind::Bool(true),
            TokenKind::False => NodeKind::Bool(false),
            TokenKind::Number => NodeKind::Number(self.number().unwrap_or("").to_owned()),
            TokenKind::String => NodeKind::String(self.string().unwrap_or("").to_owned()),
            TokenKind::Seq => {
                NodeKind::Seq(self.items().into_iter().flatten().map(|item| item.node()).collect())
            }
            TokenKind::Map => NodeKind::Map(
                self.entries()
                    .into_iter()
                    .flatten()
                    .map(|(key, value)| key.entry_with(value.node()))
                    .collect(),
            ),
        };
        Node { span: self.span(), kind }
    }

    /// An entry with this key.
    pub fn entry_with(&self, value: Node) -> Entry {
        Entry { key: self.string().unwrap_or("").to_owned(), key_span: self.span(), value }
    }
}

struct Values<'a> {
    next: Part<'a>,
    end: usize,
}

impl<'a> Iterator for Values<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let part = self.next;
        if part.at >= self.end {
            return None;
        }
        self.next = part.with(part.after());
        Some(part)
    }
}
