//! Canonical JSON: RFC 8785, except that a number is never rounded.
//!
//! RFC 8785 reads every number as a double, which turns 9007199254740993 into 9007199254740992. Here each number keeps
//! its exact decimal value and has one spelling: integers are plain digits whatever their size (10^30 is `1` and thirty
//! zeros), other numbers are laid out as RFC 8785 would lay out their digits. For every number that is the shortest
//! form of a double below 10^21 the bytes are those of RFC 8785.

use super::pointer::push_token;
use serde_json::{Map, Number, Value};
use std::fmt::Write as _;

/// Deeper values are refused; the strict reader stops long before.
const MAX_DEPTH: usize = 512;

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalJsonError {
    /// The number is too large or too small for a double; programs that read it would see infinity or zero.
    #[error("the number {text} at {} is outside the range of a double", place(.pointer))]
    NumberRange {
        /// JSON Pointer of the number.
        pointer: String,
        /// The number, shortened.
        text: String,
    },
    /// The value is nested too deeply.
    #[error("the value is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the top level".to_owned() } else { crate::text::escape(pointer).into() }
}

/// The canonical bytes of a value, as text.
///
/// # Errors
/// A number outside the range of a double, or too many levels.
pub fn canonical_json(value: &Value) -> Result<String, CanonicalJsonError> {
    let mut out = String::new();
    write_value(&mut out, value, &mut Vec::new())?;
    Ok(out)
}

/// Gives every number of a value its canonical spelling.
///
/// # Errors
/// A number outside the range of a double, or too many levels.
pub fn settle_numbers(value: &mut Value) -> Result<(), CanonicalJsonError> {
    let Some(fault) = settle(value, 0) else { return Ok(()) };
    // Where it is takes more work to find, and is only needed now.
    canonical_json(value).map_or_else(Err, |_| Err(fault))
}

fn settle(value: &mut Value, depth: usize) -> Option<CanonicalJsonError> {
    if depth > MAX_DEPTH {
        return Some(CanonicalJsonError::TooDeep);
    }
    match value {
        Value::Number(number) if is_settled(number.as_str()) => None,
        Value::Number(number) => {
            // The canonical form of a number is a number.
            match canonical_number(number).and_then(|text| text.parse::<Number>().ok()) {
                Some(canonical) => *number = canonical,
                None => return Some(out_of_range(number, &[])),
            }
            None
        }
        Value::Array(items) => items.iter_mut().find_map(|item| settle(item, depth + 1)),
        Value::Object(members) => members.values_mut().find_map(|member| settle(member, depth + 1)),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// Whether the text of a number is the canonical one at a glance: plain digits, as nearly all numbers are.
fn is_settled(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() < 300 && text != "-0" && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The canonical spelling of one number; `None` if it is outside the range of a double.
pub fn canonical_number(number: &Number) -> Option<String> {
    let text = number.as_str();
    if is_settled(text) {
        return Some(text.to_owned());
    }
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let without_zeros = all.trim_start_matches('0');
    let digits = without_zeros.trim_end_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // The value is 0.DIGITS times ten to the power of `point`. An exponent that overflows i64 is out of range anyway.
    let exponent = match exponent {
        Some(text) => text.parse::<i64>().ok()?,
        None => 0,
    };
    let leading = i64::try_from(all.len() - without_zeros.len()).ok()?;
    let point = i64::try_from(whole.len()).ok()?.checked_sub(leading)?.checked_add(exponent)?;
    if !(-400..=400).contains(&point) {
        return None;
    }
    let double = text.parse::<f64>().ok()?;
    if !double.is_finite() || double == 0.0 {
        return None;
    }
    Some(lay_out(negative, digits, point))
}

/// The digits in the layout of ECMAScript's Number::toString, save that integers never get an exponent.
fn lay_out(negative: bool, digits: &str, point: i64) -> String {
    let mut out = String::with_capacity(digits.len() + 8);
    if negative {
        out.push('-');
    }
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let split = usize::try_from(point).ok().filter(|at| *at > 0);
    match split {
        Some(at) => match digits.split_at_checked(at) {
            Some((whole, "")) => out.push_str(whole),
            Some((whole, fraction)) => {
                out.push_str(whole);
                out.push('.');
                out.push_str(fraction);
            }
            None => {
                out.push_str(digits);
                out.push_str(&"0".repeat(at - digits.len()));
            }
        },
        None if point > -6 => {
            out.push_str("0.");
            out.push_str(&zeros(-point));
            out.push_str(digits);
        }
        None => {
            let mut rest = digits.chars();
            out.extend(rest.next());
            if !rest.as_str().is_empty() {
                out.push('.');
                out.push_str(rest.as_str());
            }
            let _ = write!(out, "e{}", point - 1);
        }
    }
    out
}

/// One step on the way to a value, for the pointer in an error.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn write_value<'a>(
    out: &mut String,
    value: &'a Value,
    at: &mut Vec<Step<'a>>,
) -> Result<(), CanonicalJsonError> {
    if at.len() > MAX_DEPTH {
        return Err(CanonicalJsonError::TooDeep);
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => match canonical_number(number) {
            Some(text) => out.push_str(&text),
            None => return Err(out_of_range(number, at)),
        },
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                at.push(Step::Index(index));
                write_value(out, item, at)?;
                at.pop();
            }
            out.push(']');
        }
        Value::Object(map) => write_object(out, map, at)?,
    }
    Ok(())
}

fn write_object<'a>(
    out: &mut String,
    map: &'a Map<String, Value>,
    at: &mut Vec<Step<'a>>,
) -> Result<(), CanonicalJsonError> {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push('{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, key);
        out.push(':');
        at.push(Step::Key(key));
        write_value(out, value, at)?;
        at.pop();
    }
    out.push('}');
    Ok(())
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn out_of_range(number: &Number, at: &[Step<'_>]) -> CanonicalJsonError {
    let pointer = at.iter().fold(String::new(), |pointer, step| match step {
        Step::Key(key) => push_token(&pointer, key),
        Step::Index(index) => format!("{pointer}/{index}"),
    });
    let text = number.as_str();
    let shown: String = text.chars().take(32).collect();
    let text = if shown.len() < text.len() { format!("{shown}…") } else { shown };
    CanonicalJsonError::NumberRange { pointer, text }
}

#[cfg(test)]
mod tests {
    use super::{CanonicalJsonError, canonical_json, settle_numbers};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn canonical(text: &str) -> Result<String, CanonicalJsonError> {
        canonical_json(&serde_json::from_str::<Value>(text).unwrap())
    }

    #[test]
    fn settled_numbers_are_those_of_the_canonical_form() {
        let text = r#"{"a":[1,-1,0,-0,1.0,1e3,-12.50,9007199254740993],"b":{"c":[0.1,1e-7]}}"#;
        let mut value: Value = serde_json::from_str(text).unwrap();
        let canonical = canonical_json(&value).unwrap();
        settle_numbers(&mut value).unwrap();
        assert_eq!(value.to_string(), canonical);
        let mut value: Value = serde_json::from_str(r#"{"a":[1,1e400]}"#).unwrap();
        let error = canonical_json(&value).unwrap_err();
        assert!(matches!(&error, CanonicalJsonError::NumberRange { pointer, .. } if pointer == "/a/1"));
        assert_eq!(settle_numbers(&mut value), Err(error));
    }

    #[test]
    fn f065_numbers_keep_their_value_and_have_one_spelling() {
        let thirty = format!("1{}", "0".repeat(30));
        let rows = [
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551616", "18446744073709551616"),
            ("1e30", &thirty),
            (&thirty, &thirty),
            ("1e3", "1000"),
            ("1.0", "1"),
            ("-0", "0"),
            ("-0.0e5", "0"),
            ("0e999999999999999999999", "0"),
            ("0.1", "0.1"),
            ("0.10", "0.1"),
            ("-12.50e1", "-125"),
            ("12.5e-1", "1.25"),
            ("1e-6", "0.000001"),
            ("1e-7", "1e-7"),
            ("123e-9", "1.23e-7"),
            ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
            ("50.01", "50.01"),
            ("5e-324", "5e-324"),
            ("9007199254740993.5", "9007199254740993.5"),
        ];
        for (given, expected) in rows {
            assert_eq!(canonical(given).unwrap(), expected, "{given}");
        }
        assert_eq!(canonical("1e308").unwrap().len(), 309);
    }

    #[test]
    fn numbers_out_of_range_are_refused_with_their_place() {
        for text in
            ["1e400", "-1e400", "1e-400", "2e308", "1e99999999999999999999", "1e-99999999999999999999"]
        {
            let error = canonical(&format!(r#"{{"a/b":[0,{text}]}}"#)).unwrap_err();
            assert!(
                matches!(&error, CanonicalJsonError::NumberRange { pointer, .. } if pointer == "/a~1b/1"),
                "{text}: {error}"
            );
        }
        assert!(canonical(&"9".repeat(400)).is_err());
        assert!(canonical(&"9".repeat(300)).is_ok());
    }

    #[test]
    fn keys_sort_by_utf16_and_strings_escape_as_in_rfc_8785() {
        let value =
            json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let text = canonical_json(&value).unwrap();
        assert_eq!(
            text,
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}"
        );
        assert_eq!(
            canonical_json(&json!("\u{0}\u{1f}\u{7f}/\"\\\u{2028}")).unwrap(),
            "\"\\u0000\\u001f\u{7f}/\\\"\\\\\u{2028}\""
        );
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(canonical_json(&nested(500)).is_ok());
        assert_eq!(canonical_json(&nested(600)), Err(CanonicalJsonError::TooDeep));
    }

    fn any_double() -> impl Strategy<Value = f64> {
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |n| n.is_finite())
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(|n| Value::from(n >> 11)),
            any_double().prop_filter("below 10^21", |n| n.abs() < 1e21).prop_map(Value::from),
            (-1e9..1e9f64).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn agrees_with_rfc_8785_where_doubles_are_exact(value in any_value()) {
            let reference = serde_json_canonicalizer::to_string(&value).unwrap();
            prop_assert_eq!(canonical_json(&value).unwrap(), reference);
        }

        #[test]
        fn is_a_fixed_point_and_keeps_every_double(number in any_double()) {
            let once = canonical_json(&Value::from(number)).unwrap();
            prop_assert_eq!(canonical(&once).unwrap(), once.clone());
            prop_assert_eq!(once.parse::<f64>().unwrap().total_cmp(&(number + 0.0)), std::cmp::Ordering::Equal);
        }

        #[test]
        fn keeps_integers_of_any_size(text in "-?[1-9][0-9]{0,300}") {
            prop_assert_eq!(canonical(&text).unwrap(), text);
        }

        #[test]
        fn exponents_do_not_matter(digits in "[1-9][0-9]{0,20}", shift in -20i32..20) {
            let plain = canonical(&format!("{digits}e{shift}")).unwrap();
            let moved = canonical(&format!("0.{digits}e{}", shift + i32::try_from(digits.len()).unwrap())).unwrap();
            prop_assert_eq!(plain, moved);
        }
    }
}
