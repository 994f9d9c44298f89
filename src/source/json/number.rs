//! Which texts are numbers that JSON has and that every reader keeps apart from zero and infinity.

use super::error::JsonErrorKind;

/// Longest text of a number. 1100 characters hold every double exactly.
const MAX_NUMBER_CHARS: usize = 1100;

/// Whether the text is a JSON number within our bounds; otherwise a short reason for people.
pub(in crate::source) fn json_number(text: &str) -> Result<(), &'static str> {
    if scan(text.as_bytes()) != Some(text.len()) {
        return Err("not in the form of a JSON number");
    }
    in_range(text).map_err(|(_, reason)| reason)
}

/// The length of the JSON number at the start of the bytes, if one is there. It may end in the middle of what was meant
/// as a number (`007`, `0x10`, `1.`): the caller looks at what follows.
pub(super) fn scan(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += match bytes.get(at)? {
        b'0' => 1,
        b'1'..=b'9' => digits(at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return Some(at);
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return Some(at);
        }
        at += 1 + sign + exponent;
    }
    Some(at)
}

/// Whether a JSON number is within the bounds that we keep.
pub(super) fn in_range(text: &str) -> Result<(), (JsonErrorKind, &'static str)> {
    if text.len() > MAX_NUMBER_CHARS {
        return Err((JsonErrorKind::NumberRange, "longer than 1100 characters"));
    }
    // Up to 300 characters without an exponent are far from both ends of the range.
    if text.len() <= 300 && !text.contains(['e', 'E']) {
        return Ok(());
    }
    let value: f64 = text.parse().map_err(|_| (JsonErrorKind::Syntax, "not a number"))?;
    if value.is_infinite() {
        return Err((JsonErrorKind::NumberRange, "too large: others would read it as infinity"));
    }
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    if value == 0.0 && mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        return Err((JsonErrorKind::NumberRange, "too small: others would read it as zero"));
    }
    Ok(())
}
