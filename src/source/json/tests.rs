//! Tables of what is read and refused, and agreement with the usual reader.

use super::{
    JsonError, JsonErrorKind, JsonLimits, json_number, parse_arguments, parse_json, parse_outline,
    parse_value,
};
use crate::source::Files;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;

fn read(text: &str) -> Result<Value, JsonError> {
    parse_value(text.as_bytes(), JsonLimits::ARGUMENTS)
}

/// The value as the usual reader sees it; it writes `1e3` as `1e+3`, where we keep what was written.
fn usual(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_is_read() {
    let nested = format!("{}{}", "[".repeat(128), "]".repeat(128));
    for text in [
        "{}",
        "[]",
        "null",
        " \t\r\n{\"a\" : [ 1 , true,false ,null ] }\n",
        r#""\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00\u0000""#,
        "\"grün 日本 \u{7f}\"",
        r#"{"__proto__": {"x": 1}}"#,
        "-0",
        "1e3",
        "1E+2",
        "0.10",
        "9007199254740993",
        "123456789012345678901234567890",
        "5e-324",
        "0e-999",
        "1.7976931348623157e308",
        &format!("0.{}1", "0".repeat(300)),
        &"9".repeat(300),
    ] {
        let value = read(text).unwrap_or_else(|error| panic!("{text:.80}: {error}"));
        assert_eq!(usual(&value.to_string()), usual(text), "{text:.80}");
    }
    assert!(read(&nested).is_ok());
    // The digits are kept as they were written.
    assert_eq!(read("[1.0, 0.10, 1e3]").unwrap().to_string(), "[1.0,0.10,1e3]");
}

/// Text, kind, line and column of the fault, and a part of the message.
type Refusal<'a> = (&'a str, JsonErrorKind, (u32, u32), &'a str);

fn refused(table: &[Refusal<'_>]) {
    for &(text, kind, place, part) in table {
        let error = parse_arguments(text.as_bytes(), JsonLimits::ARGUMENTS).expect_err(text);
        assert_eq!((error.kind, (error.line, error.column)), (kind, place), "{text:.60}: {error}");
        assert!(error.message.contains(part), "{text:.60}: {error}");
    }
}

/// The ways in which recorded calls of models go wrong.
#[test]
fn mistakes_of_models_get_their_repair() {
    use JsonErrorKind as Kind;
    let deep = format!("{{\"q\": {}{}}}", "[".repeat(200), "]".repeat(200));
    refused(&[
        (r#"{"q": "x", "q": "x"}"#, Kind::DuplicateKey, (1, 12), "the key `q` stands twice"),
        (r#"{"q": "x", "q": null}"#, Kind::DuplicateKey, (1, 12), "keep one"),
        (r#"{"q": "x",}"#, Kind::Syntax, (1, 10), "no trailing commas"),
        ("{'q': 'x'}", Kind::Syntax, (1, 2), "double quotes"),
        ("{\"q\": 'x'}", Kind::Syntax, (1, 7), "double quotes"),
        ("```json\n{\"q\": 1}\n```", Kind::CodeFence, (1, 1), "code fence"),
        ("{\"q\": 1}\n```", Kind::CodeFence, (2, 1), "code fence"),
        (r#""{\"q\": \"x\"}""#, Kind::NotAnObject, (1, 1), "encoded twice"),
        (r#"{"q": "go for"#, Kind::Truncated, (1, 14), "cut off"),
        (r#"{"q": 1}{"q": 1}"#, Kind::TrailingText, (1, 9), "second JSON document"),
        (r#"{"q": 1} // done"#, Kind::TrailingText, (1, 10), "comment"),
        (r#"{"q": 1} done"#, Kind::TrailingText, (1, 10), "alone"),
        ("", Kind::Empty, (1, 1), "write {}"),
        (" \n", Kind::Empty, (1, 1), "write {}"),
        ("\u{feff}{}", Kind::ByteOrderMark, (1, 1), "byte order mark"),
        (r#"{"q": NaN}"#, Kind::Syntax, (1, 7), "`NaN` is not JSON"),
        (r#"{"q": -Infinity}"#, Kind::Syntax, (1, 7), "no infinity"),
        (r#"{"q": 1e400}"#, Kind::NumberRange, (1, 7), "infinity"),
        (r#"{"q": 1e-400}"#, Kind::NumberRange, (1, 7), "zero"),
        (r#"{"q": 007}"#, Kind::Syntax, (1, 7), "not a JSON number"),
        (r#"{"q": +1}"#, Kind::Syntax, (1, 7), "no plus sign"),
        (r#"{"q": 0x10}"#, Kind::Syntax, (1, 7), "not a JSON number"),
        (r#"{"q": "\ud800"}"#, Kind::LoneSurrogate, (1, 8), "half of a surrogate pair"),
        (r#"{"q": "\ud800\u0041"}"#, Kind::LoneSurrogate, (1, 8), "half"),
        (r#"{"q": "\udc00"}"#, Kind::LoneSurrogate, (1, 8), "half"),
        ("{\"q\": \"a\nb\"}", Kind::ControlCharacter, (1, 9), "write it as \\n"),
        ("{\"q\": \"a\tb\"}", Kind::ControlCharacter, (1, 9), "write it as \\t"),
        ("{\"q\": \"a\u{1}b\"}", Kind::ControlCharacter, (1, 9), "write it as \\u0001"),
        (r#"{"q": True, "m": None}"#, Kind::Syntax, (1, 7), "write true"),
        (r#"{"m": None}"#, Kind::Syntax, (1, 7), "write null"),
        (r#"{/* c */ "q": 1}"#, Kind::Syntax, (1, 2), "no comments"),
        (&deep, Kind::TooDeep, (1, 134), "deeper than 128"),
        ("{query: 1}", Kind::Syntax, (1, 2), "`query` has no quotes"),
        ("<tool_call>{}</tool_call>", Kind::Syntax, (1, 1), "alone"),
    ]);
}

#[test]
fn other_refusals() {
    use JsonErrorKind as Kind;
    refused(&[
        ("[1]", Kind::NotAnObject, (1, 1), "not an array"),
        (" null", Kind::NotAnObject, (1, 2), "write {}"),
        ("\"x\"", Kind::NotAnObject, (1, 1), "not a string"),
        ("{\"a\":1 \"b\":2}", Kind::Syntax, (1, 8), "`,` or `}` is needed here"),
        ("{\"a\" 1}", Kind::Syntax, (1, 6), "`:` after the key"),
        ("{\"a\":}", Kind::Syntax, (1, 6), "a value is needed here, not `}`"),
        ("{,}", Kind::Syntax, (1, 2), "a key in double quotes is needed here"),
        ("{\"a\":[1,]}", Kind::Syntax, (1, 8), "no trailing commas"),
        ("{\"a\":[1 2]}", Kind::Syntax, (1, 9), "`,` or `]` is needed here"),
        ("{\"a\":\u{202e}}", Kind::Syntax, (1, 6), "not `\\u{202e}`"),
        ("{\"a\":\"\\x41\"}", Kind::Syntax, (1, 7), "no escape `\\x`"),
        ("{\"a\":\"\\u12g4\"}", Kind::Syntax, (1, 7), "four hexadecimal digits"),
        ("{\"a\":tru", Kind::Truncated, (1, 9), "cut off"),
        ("{\"a\":-", Kind::Truncated, (1, 7), "cut off"),
        ("{\"a\":1.", Kind::Truncated, (1, 8), "cut off"),
        ("{\"a\":\"\\u12", Kind::Truncated, (1, 11), "cut off"),
        ("{\"a\":truex}", Kind::Syntax, (1, 6), "a value is needed"),
        ("{\"a\":1.}", Kind::Syntax, (1, 6), "not a JSON number"),
        ("{\"a\":.5}", Kind::Syntax, (1, 6), "0.5 in place of .5"),
        ("{\"a\":-x}", Kind::Syntax, (1, 6), "a value is needed"),
        ("{\"a\": \u{201c}x\u{201d}}", Kind::Syntax, (1, 7), "typographic"),
        ("{\"$serde_json::private::Number\":\"1\"}", Kind::ReservedKey, (1, 2), "not accepted"),
        (&format!("{{\"a\": {}}}", "1".repeat(1101)), Kind::NumberRange, (1, 7), "1100 characters"),
        ("{\"ä\":\n \"\\ud83d\"}", Kind::LoneSurrogate, (2, 3), "half"),
    ]);
    let not_utf8 = parse_value(b"{\"a\":\n\"\xc3\xa4\xff\"}", JsonLimits::ARGUMENTS).unwrap_err();
    assert_eq!((not_utf8.kind, not_utf8.line, not_utf8.column), (Kind::NotUtf8, 2, 3));
    let limits = JsonLimits { max_bytes: 4, max_depth: 1 };
    assert!(parse_value(b"[12]", limits).is_ok());
    assert_eq!(parse_value(b"[123]", limits).unwrap_err().kind, Kind::TooLarge);
    assert_eq!(parse_value(b"[[]]", limits).unwrap_err().kind, Kind::TooDeep);
    // Whatever limit is asked for, the stack is safe.
    let limits = JsonLimits { max_bytes: usize::MAX, max_depth: usize::MAX };
    assert_eq!(parse_value("[".repeat(100_000).as_bytes(), limits).unwrap_err().kind, Kind::TooDeep);
}

#[test]
fn duplicates_are_compared_unescaped_and_both_places_are_told() {
    let text = "{\"x\": {\"key\": 1,\n \"k\\u0065y\": 2}}";
    let error = read(text).unwrap_err();
    assert_eq!((error.kind, error.offset, error.other), (JsonErrorKind::DuplicateKey, 18, Some(7)));
    assert_eq!((error.line, error.column), (2, 2));
    assert_eq!(read(r#"{"a": {"k": 1}, "b": {"k": 2}}"#).unwrap(), json!({"a": {"k": 1}, "b": {"k": 2}}));

    let mut files = Files::new();
    let id = files.add("a.json", text);
    let diagnostic = parse_json(&files, id, JsonLimits::FILE).unwrap_err();
    assert_eq!(files.slice(diagnostic.primary.unwrap().span), "\"k\\u0065y\"");
    assert_eq!(files.slice(diagnostic.related[0].span), "\"key\"");
}

#[test]
fn nodes_have_exact_spans() {
    let mut files = Files::new();
    let id = files.add("a.json", " {\"ä\": [1.50, \"z\\n\"],\n \"b\": {}} ");
    let node = parse_json(&files, id, JsonLimits::FILE).unwrap();
    let slice = |pointer: &str| files.slice(node.pointer_span(pointer)).to_owned();
    assert_eq!(files.slice(node.span), "{\"ä\": [1.50, \"z\\n\"],\n \"b\": {}}");
    assert_eq!(slice("/ä"), "[1.50, \"z\\n\"]");
    assert_eq!(slice("/ä/0"), "1.50");
    assert_eq!(slice("/ä/1"), "\"z\\n\"");
    assert_eq!(files.slice(node.entry("b").unwrap().key_span), "\"b\"");
    let id = files.add("b.json", "{\"a\":\n  größe}");
    let span = parse_json(&files, id, JsonLimits::FILE).unwrap_err().primary.unwrap().span;
    assert_eq!(files.slice(span), "g");
}

#[test]
fn numbers_for_yaml() {
    for text in ["0", "-0", "10", "1.5", "1e3", "-1.5E-7"] {
        assert_eq!(json_number(text), Ok(()), "{text}");
    }
    for text in ["", "-", "+1", "01", "1.", ".5", "1e", "0x1", "1_0", "1 ", "nan", "1e400"] {
        assert!(json_number(text).is_err(), "{text}");
    }
}

/// Values whose numbers are in the form that writing and reading keeps.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?(e-?[1-9][0-9]?)?"
            .prop_map(|text| Value::Number(text.parse().unwrap())),
        "[a-z \\\\\"\n\u{e4}\u{1f600}\u{1}]{0,12}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec(("[a-zäöü]{0,8}", inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn reads_what_the_usual_writer_writes(value in values()) {
        let compact = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(&read(&compact).unwrap(), &value);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(&read(&pretty).unwrap(), &value);
        let mut files = Files::new();
        let id = files.add("a.json", pretty);
        prop_assert_eq!(parse_json(&files, id, JsonLimits::FILE).unwrap().to_value(), value);
    }

    /// The outline of a document is as strict as its tree, and holds the same.
    #[test]
    fn the_outline_is_the_tree(
        value in values(), keys in 0usize..30, again in any::<bool>(), at in any::<prop::sample::Index>(),
        byte in any::<u8>(), damage in any::<bool>(),
    ) {
        // Many keys in one object, perhaps one of them twice and written with an escape.
        let many: Vec<_> = (0..keys).map(|at| format!("\"k{at}\": {value}")).collect();
        let again = if again && keys > 0 { format!(", \"\\u006b{}\": 1", keys / 2) } else { String::new() };
        let mut bytes = format!("[{value}, {{{}{again}}}]", many.join(", ")).into_bytes();
        if damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(text) = String::from_utf8(bytes) {
            let mut files = Files::new();
            let id = files.add("a.json", text);
            let tree = parse_json(&files, id, JsonLimits::FILE);
            let outline = parse_outline(&files, id, JsonLimits::FILE);
            prop_assert_eq!(outline.map(|outline| outline.root(&files).node()), tree);
        }
    }

    /// What we accept, the usual reader reads as the same; what it refuses, we refuse.
    #[test]
    fn never_looser_than_the_usual_reader(text in "[{}\\[\\]:,\"\\\\ \nutrefalsn0-9.eE+-]{0,24}") {
        if let Ok(value) = read(&text) {
            prop_assert_eq!(usual(&text), usual(&value.to_string()));
        }
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse_arguments(&bytes, JsonLimits::ARGUMENTS);
    }

    /// A valid document with a byte changed or cut off never panics, and its place lies in the text.
    #[test]
    fn damaged_documents_have_a_place(value in values(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        for bytes in [&bytes[..], &bytes[..at]] {
            if let Err(error) = parse_value(bytes, JsonLimits::ARGUMENTS) {
                prop_assert!(error.offset <= bytes.len());
            }
        }
    }

    #[test]
    fn a_key_is_never_there_twice(keys in prop::collection::vec("[ab]{1,2}", 1..5)) {
        let mut text = String::from("{");
        for (at, key) in keys.iter().enumerate() {
            let _ = write!(text, "{}\"{key}\":{at}", if at == 0 { "" } else { "," });
        }
        text.push('}');
        let mut unique = keys.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(read(&text).is_ok(), unique.len() == keys.len());
    }
}
