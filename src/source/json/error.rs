//! Why a text is not JSON that we accept.

use super::parser::Fault;
use crate::diag::Code;

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JsonErrorKind {
    /// There is nothing but white space.
    Empty,
    /// The text is not UTF-8.
    NotUtf8,
    /// The text starts with a byte order mark.
    ByteOrderMark,
    /// The JSON is wrapped in a Markdown code fence.
    CodeFence,
    /// The text breaks the grammar of JSON.
    Syntax,
    /// The text ends before the document does.
    Truncated,
    /// Something follows the document.
    TrailingText,
    /// A string holds a control character that is not escaped.
    ControlCharacter,
    /// A string holds half of a surrogate pair.
    LoneSurrogate,
    /// An object has a key twice.
    DuplicateKey,
    /// An object has a key that a JSON library of ours gives a meaning of its own.
    ReservedKey,
    /// A number cannot be kept: out of the range of a double, or too long.
    NumberRange,
    /// The text is larger than allowed.
    TooLarge,
    /// The values are nested deeper than allowed.
    TooDeep,
    /// The document is JSON but not an object, where one is needed.
    NotAnObject,
}

/// Why a text is not JSON that we accept, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct JsonError {
    /// What kind of fault it is.
    pub kind: JsonErrorKind,
    /// What is wrong and what to do about it; safe to print.
    pub message: String,
    /// The byte at which the fault was seen, from 0.
    pub offset: usize,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// For a duplicate key, the byte at which the first one starts.
    pub other: Option<usize>,
}

impl JsonError {
    /// Adds line and column to a fault.
    pub(super) fn locate(text: &str, fault: Fault) -> Self {
        let mut end = fault.offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or("");
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Self {
            kind: fault.kind,
            message: fault.message,
            offset: fault.offset,
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
            other: fault.other,
        }
    }

    /// The code of this fault in the arguments of a call.
    pub const fn call_code(&self) -> Code {
        match self.kind {
            JsonErrorKind::DuplicateKey => Code::CallDuplicateKey,
            JsonErrorKind::NumberRange => Code::CallNumberRange,
            JsonErrorKind::TooLarge | JsonErrorKind::TooDeep => Code::CallTooLarge,
            JsonErrorKind::Empty
            | JsonErrorKind::NotUtf8
            | JsonErrorKind::ByteOrderMark
            | JsonErrorKind::CodeFence
            | JsonErrorKind::Syntax
            | JsonErrorKind::Truncated
            | JsonErrorKind::TrailingText
            | JsonErrorKind::ControlCharacter
            | JsonErrorKind::LoneSurrogate
            | JsonErrorKind::ReservedKey
            | JsonErrorKind::NotAnObject => Code::CallNotJson,
        }
    }

    /// The code of this fault in a file of the project.
    pub const fn source_code(&self) -> Code {
        match self.kind {
            JsonErrorKind::DuplicateKey => Code::SourceDuplicateKey,
            JsonErrorKind::TooLarge | JsonErrorKind::TooDeep => Code::SourceTooLarge,
            JsonErrorKind::Empty
            | JsonErrorKind::NotUtf8
            | JsonErrorKind::ByteOrderMark
            | JsonErrorKind::CodeFence
            | JsonErrorKind::Syntax
            | JsonErrorKind::Truncated
            | JsonErrorKind::TrailingText
            | JsonErrorKind::ControlCharacter
            | JsonErrorKind::LoneSurrogate
            | JsonErrorKind::ReservedKey
            | JsonErrorKind::NumberRange
            | JsonErrorKind::NotAnObject => Code::SourceJson,
        }
    }
}
