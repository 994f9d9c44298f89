//! The entrances: a document of a file, a value, the arguments of a call.

use super::build::{Build, Nodes, Places, Values};
use super::error::{JsonError, JsonErrorKind};
use super::parser::{Fault, Parser};
use super::tokens::Tokens;
use crate::diag::{Code, Diagnostic};
use crate::source::{Files, Node, Outline};
use crate::text::{FileId, Span};
use serde_json::{Map, Value};

/// How much a document may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Most bytes of the text.
    pub max_bytes: usize,
    /// Deepest nesting: `[[]]` is 2. More than 256 counts as 256.
    pub max_depth: usize,
}

impl JsonLimits {
    /// The limits of call arguments: 16 MiB, 128 levels.
    pub const ARGUMENTS: Self = Self { max_bytes: 16 << 20, max_depth: 128 };
    /// The limits of manifests, policies and settings: 1 MiB, 32 levels, as for YAML.
    pub const FILE: Self = Self { max_bytes: 1 << 20, max_depth: 32 };
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self::ARGUMENTS
    }
}

/// Reads one JSON document of a registered file, with the place of each part.
pub fn parse_json(files: &Files, id: FileId, limits: JsonLimits) -> Result<Node, Diagnostic> {
    let text = files.text(id);
    parse(text.as_bytes(), limits, Nodes(id)).map_err(|error| of_file(&error, text, id))
}

/// The same as an outline, which is made faster and of which parts can be left out.
pub fn parse_outline(files: &Files, id: FileId, limits: JsonLimits) -> Result<Outline, Diagnostic> {
    let text = files.text(id);
    let mut tokens = Tokens::for_bytes(text.len());
    let parsed = parse(text.as_bytes(), limits, &mut tokens);
    if let (Ok(()), Some(outline)) = (parsed, tokens.outline(id)) {
        return Ok(outline);
    }
    // Whatever is wrong is said by the builder of nodes; it finds no less.
    Err(parse_json(files, id, limits).err().unwrap_or_else(|| {
        Diagnostic::error(Code::SourceJson, "the file cannot be read").at(Span::new(id, 0, 0), "")
    }))
}

/// A fault, shown in its file.
fn of_file(error: &JsonError, text: &str, id: FileId) -> Diagnostic {
    let nodes = Nodes(id);
    let next = text.get(error.offset..).and_then(|rest| rest.chars().next());
    let end = error.offset + next.map_or(0, char::len_utf8);
    let key = |start: usize| nodes.span(start..string_end(text, start));
    let diagnostic = Diagnostic::error(error.source_code(), error.message.clone());
    match (error.kind, error.other) {
        (JsonErrorKind::DuplicateKey, Some(first)) => {
            diagnostic.at(key(error.offset), "again here").see(key(first), "first here")
        }
        (JsonErrorKind::TooLarge, _) => diagnostic.at(Span::new(id, 0, 0), ""),
        _ => diagnostic.at(nodes.span(error.offset..end), ""),
    }
}

/// Reads one JSON document as a plain value. Numbers keep their digits.
pub fn parse_value(bytes: &[u8], limits: JsonLimits) -> Result<Value, JsonError> {
    parse(bytes, limits, Values).map_err(|error| match error {
        // Plain values do not remember where their keys stood, so the document is looked at once more.
        JsonError { kind: JsonErrorKind::DuplicateKey, other: None, .. } => {
            parse(bytes, limits, Places).err().unwrap_or(error)
        }
        other => other,
    })
}

/// Reads one JSON object, such as the arguments of a call. Anything else is [`JsonErrorKind::NotAnObject`].
pub fn parse_arguments(bytes: &[u8], limits: JsonLimits) -> Result<Map<String, Value>, JsonError> {
    let message = match parse_value(bytes, limits)? {
        Value::Object(map) => return Ok(map),
        Value::String(inner) if parse_arguments_once(&inner, limits) => {
            "the arguments are encoded twice: send the object itself, not a string that holds it"
        }
        Value::String(_) => "the arguments have to be a JSON object, not a string",
        Value::Null => "the arguments have to be a JSON object, not null: for no arguments write {}",
        Value::Bool(_) => "the arguments have to be a JSON object, not a boolean",
        Value::Number(_) => "the arguments have to be a JSON object, not a number",
        Value::Array(_) => "the arguments have to be a JSON object, not an array",
    };
    let text = std::str::from_utf8(bytes).unwrap_or("");
    let offset = text.len() - text.trim_start().len();
    Err(JsonError::locate(text, Fault::new(JsonErrorKind::NotAnObject, offset, message)))
}

/// Whether a string is itself the text of an object.
fn parse_arguments_once(inner: &str, limits: JsonLimits) -> bool {
    matches!(parse_value(inner.as_bytes(), limits), Ok(Value::Object(_)))
}

fn parse<'t, B: Build<'t>>(bytes: &'t [u8], limits: JsonLimits, build: B) -> Result<B::Value, JsonError> {
    if bytes.len() > limits.max_bytes {
        let message =
            format!("the JSON has {} bytes, more than the {} allowed", bytes.len(), limits.max_bytes);
        return Err(JsonError::locate("", Fault::new(JsonErrorKind::TooLarge, 0, message)));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let valid = error.valid_up_to();
        let before = bytes.get(..valid).and_then(|part| std::str::from_utf8(part).ok()).unwrap_or("");
        let message = "the text is not UTF-8: encode it as UTF-8";
        JsonError::locate(before, Fault::new(JsonErrorKind::NotUtf8, valid, message))
    })?;
    if text.starts_with('\u{feff}') {
        let message = "the text starts with a byte order mark: send it without";
        return Err(JsonError::locate(text, Fault::new(JsonErrorKind::ByteOrderMark, 0, message)));
    }
    Parser::new(text, limits.max_depth, build).document().map_err(|fault| JsonError::locate(text, fault))
}

/// The end of the string that starts at `start`, quotes included. The parser has seen it end.
fn string_end(text: &str, start: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(start + 1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}
