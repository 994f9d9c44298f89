//! The arguments of a call from their JSON text.

use super::CallError;
use crate::source::{JsonLimits, parse_arguments};
use serde_json::{Map, Value};

/// Reads the arguments of a call: one JSON object, no duplicate keys, bounded, numbers exact.
///
/// # Errors
/// [`CallError::Json`]; its message shows the repair of the usual mistakes (code fence, double encoding, cut-off text).
pub fn parse_args(bytes: &[u8], limits: JsonLimits) -> Result<Map<String, Value>, CallError> {
    Ok(parse_arguments(bytes, limits)?)
}

/// Reads arguments as providers send them: the text of a JSON object inside a string. The empty string means `{}`, since
/// that is what comes for a tool without arguments; all else is read as by [`parse_args`], and nothing is repaired.
///
/// # Errors
/// As [`parse_args`].
pub fn parse_arguments_string(text: &str, limits: JsonLimits) -> Result<Map<String, Value>, CallError> {
    if text.is_empty() { Ok(Map::new()) } else { parse_args(text.as_bytes(), limits) }
}

#[cfg(test)]
mod tests {
    use super::{parse_args, parse_arguments_string};
    use crate::diag::Code;
    use crate::source::JsonLimits;

    #[test]
    fn reads_an_object_and_nothing_else() {
        let args = parse_args(br#"{"id": 9007199254740993, "x": [1.0]}"#, JsonLimits::ARGUMENTS).unwrap();
        assert_eq!(args["id"].to_string(), "9007199254740993");
        let rows = [
            (r#"{"a":1,"a":2}"#, Code::CallDuplicateKey),
            ("[1]", Code::CallNotJson),
            ("null", Code::CallNotJson),
            ("", Code::CallNotJson),
            ("```json\n{}\n```", Code::CallNotJson),
            (r#"{"a":1e400}"#, Code::CallNumberRange),
        ];
        for (text, code) in rows {
            let error = parse_args(text.as_bytes(), JsonLimits::ARGUMENTS).unwrap_err();
            assert_eq!(error.code(), code, "{text}: {error}");
            assert!(!error.issues().is_empty());
        }
    }

    #[test]
    fn an_empty_string_of_a_provider_is_no_arguments() {
        let read = |text| parse_arguments_string(text, JsonLimits::ARGUMENTS);
        assert!(read("").unwrap().is_empty());
        assert_eq!(read(r#"{"a":1}"#).unwrap().len(), 1);
        for text in [" ", "null", r#""{}""#, "```json\n{}\n```", r#"{"a":"#] {
            assert_eq!(read(text).unwrap_err().code(), Code::CallNotJson, "{text}");
        }
    }

    #[test]
    fn f113_deep_arguments_are_refused_without_a_stack_overflow() {
        let text = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let error = parse_args(text.as_bytes(), JsonLimits::ARGUMENTS).unwrap_err();
        assert_eq!(error.code(), Code::CallTooLarge);
        let fine = format!(r#"{{"a":{}{}}}"#, "[".repeat(100), "]".repeat(100));
        assert!(parse_args(fine.as_bytes(), JsonLimits::ARGUMENTS).is_ok());
    }
}
