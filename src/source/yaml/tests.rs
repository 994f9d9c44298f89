//! The contract with the YAML crate: a new version of it has to keep this table.

use super::{AliasBudget, parse_yaml, parse_yaml_with};
use crate::diag::{Code, Diagnostic};
use crate::source::{Files, Node};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;

fn read(text: &str) -> (Files, Result<Node, Vec<Diagnostic>>) {
    let mut files = Files::new();
    let id = files.add("a.yaml", text);
    let node = parse_yaml(&files, id);
    (files, node)
}

fn value(text: &str) -> Value {
    read(text).1.unwrap_or_else(|errors| panic!("{text:?}: {errors:?}")).to_value()
}

fn number(text: &str) -> Value {
    Value::Number(text.parse().unwrap())
}

#[test]
fn scalars_are_what_yaml_1_2_and_json_agree_on() {
    let table = [
        // Booleans and null.
        ("true", json!(true)),
        ("False", json!(false)),
        ("null", json!(null)),
        ("~", json!(null)),
        ("", json!(null)),
        ("no", json!("no")),
        ("NO", json!("NO")),
        ("on", json!("on")),
        ("y", json!("y")),
        ("\"true\"", json!("true")),
        ("!!str true", json!("true")),
        // Numbers keep their digits.
        ("0", number("0")),
        ("-0", number("-0")),
        ("123", number("123")),
        ("18446744073709551616", number("18446744073709551616")),
        ("-99999999999999999999", number("-99999999999999999999")),
        ("9007199254740993.0", number("9007199254740993.0")),
        ("0.10", number("0.10")),
        ("1e3", number("1e3")),
        ("1.5E+3", number("1.5E+3")),
        // What YAML 1.1 and 1.2 read differently stays text.
        ("017", json!("017")),
        ("-017", json!("-017")),
        ("1_000", json!("1_000")),
        ("1:30", json!("1:30")),
        ("2026-11-30", json!("2026-11-30")),
        ("2026-11-30T01:02:03Z", json!("2026-11-30T01:02:03Z")),
        ("=", json!("=")),
        // Text.
        ("'123'", json!("123")),
        ("!!str 123", json!("123")),
        ("'it''s'", json!("it's")),
        (r#""a\u00e4\n""#, json!("aä\n")),
        ("two words", json!("two words")),
        ("\n  two\n  lines", json!("two lines")),
        ("|\n  a\n  b\n", json!("a\nb\n")),
        (">-\n  a\n  b\n", json!("a b")),
    ];
    for (text, expected) in table {
        assert_eq!(value(&format!("k: {text}\n"))["k"], expected, "{text:?}");
    }
}

#[test]
fn what_json_cannot_hold_is_refused_with_its_place() {
    let bad_value = [
        ".inf", "-.INF", ".nan", "0x10", "0o17", "0b11", "+1", "+1.5", "1.", ".5", "-.5", "1e400", "1e-400",
        "1.e3",
    ];
    for text in bad_value {
        let (files, node) = read(&format!("a: 1\nk: {text}\n"));
        let errors = node.expect_err(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert_eq!(errors[0].code, Code::SourceBadValue, "{text}: {errors:?}");
        assert_eq!(files.slice(errors[0].primary.as_ref().unwrap().span), text);
        // In quotes each is plain text.
        assert_eq!(value(&format!("k: '{text}'"))["k"], json!(text));
    }
}

#[test]
fn refused_documents() {
    let deep = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    let many = |n: usize| format!("[{}]", "1,".repeat(n));
    let table = [
        ("a: 1\nb: 2\na: 3\n", Code::SourceDuplicateKey, "the key `a` stands twice in one mapping"),
        ("{a: 1, 'a': 1}", Code::SourceDuplicateKey, "the key `a` stands twice in one mapping"),
        ("a: 1\n---\nb: 1\n", Code::SourceYaml, "a second document starts here"),
        ("x: {<<: {a: 1}}", Code::SourceYaml, "merge keys (`<<`) are not accepted"),
        ("a: !secret x", Code::SourceYaml, "the tag `!secret` is not accepted"),
        ("a: !!null x", Code::SourceYaml, "a tag changes what this value is"),
        ("a: !!int '5'", Code::SourceBadValue, "`'5'` is not a number that JSON has"),
        ("a: !!binary aGk=", Code::SourceYaml, "a tag changes what this value is"),
        ("1: a", Code::SourceYaml, "a key must be a string, not a number"),
        ("true: a", Code::SourceYaml, "a key must be a string, not a boolean"),
        ("? [a]\n: b", Code::SourceYaml, "a key must be a string, not a list"),
        ("a: &x 1", Code::SourceYaml, "anchors and aliases are not accepted in this file"),
        ("a: *x", Code::SourceYaml, "this alias names no anchor"),
        ("\u{feff}a: 1", Code::SourceYaml, "the file starts with a byte order mark"),
        (&deep("[", "]", 33), Code::SourceTooLarge, "the file is nested deeper than 32 levels"),
        (&deep("[", "]", 20_000), Code::SourceTooLarge, "the file is nested deeper than 32 levels"),
        (&many(20_001), Code::SourceTooLarge, "the file has more than 20000 values"),
    ];
    for (text, code, message) in table {
        let (_, node) = read(text);
        let errors = node.expect_err(text);
        let shown: String = text.chars().take(40).collect();
        assert_eq!((errors[0].code, errors[0].message.as_str()), (code, message), "{shown:?}");
        assert!(errors[0].primary.is_some(), "{shown:?} has no place");
    }
    // The controls: what lies just inside the limits is read.
    assert!(read(&deep("[", "]", 32)).1.is_ok());
    assert!(read(&many(19_999)).1.is_ok());
    assert_eq!(value("'<<': 1"), json!({"<<": 1}));
    assert_eq!(value("'1': a\n'true': b"), json!({"1": "a", "true": "b"}));
    assert_eq!(value("---\na: 1\n"), json!({"a": 1}));
}

#[test]
fn broken_syntax_says_where() {
    for text in
        ["a: [1, 2", "a: 'x", "a: b: c", "a:\n\t b: 1", "a: 1\n b: 2\n", "a: @x", "- a\nb: 1\n", "a: \"\\q\""]
    {
        let errors = read(text).1.expect_err(text);
        assert_eq!(errors[0].code, Code::SourceYaml, "{text:?}");
        assert!(errors[0].primary.is_some(), "{text:?} has no place");
        assert!(!errors[0].message.contains("line "), "{text:?}: {}", errors[0].message);
    }
}

#[test]
fn broken_syntax_is_placed_on_its_line() {
    for broken in ["x: { a: [b, c }", "x: @y", "x: y: z", "x: \"\\q\""] {
        let (files, result) = read(&format!("größe: 1\nlänge: [1,\n 2]\n{broken}\nend: 1\n"));
        let errors = result.unwrap_err();
        let at = files.location(errors[0].primary.as_ref().unwrap().span);
        assert_eq!(at.line, 4, "{broken}: {errors:?}");
    }
}

#[test]
fn every_duplicate_is_reported_with_both_places() {
    let (files, node) = read("a: 1\nm: {x: 1, x: 2}\na: 3\nb: .inf\n");
    let errors = node.unwrap_err();
    let lines: Vec<_> = errors
        .iter()
        .map(|error| {
            let line = |span| files.location(span).line;
            let label = error.primary.as_ref().unwrap();
            (error.code, line(label.span), error.related.first().map(|other| line(other.span)))
        })
        .collect();
    assert_eq!(
        lines,
        [
            (Code::SourceDuplicateKey, 2, Some(2)),
            (Code::SourceDuplicateKey, 3, Some(1)),
            (Code::SourceBadValue, 4, None),
        ]
    );
}

#[test]
fn spans_are_exact() {
    let text = "größe: {x: [1, 'zwei'], y: ~}\nfluss: [ # ]\n  {}, [ ], {k:},\n ]\nliste:\n  - a: \"q\"\n    b: 2\n  - 日本\nleer:\n";
    let (files, node) = read(text);
    let node = node.unwrap();
    let slice = |pointer: &str| files.slice(node.pointer_span(pointer)).to_owned();
    assert_eq!(files.slice(node.span), "größe");
    assert_eq!(slice("/größe"), "{x: [1, 'zwei'], y: ~}");
    assert_eq!(slice("/größe/x"), "[1, 'zwei']");
    assert_eq!(slice("/größe/x/1"), "'zwei'");
    assert_eq!(slice("/größe/y"), "~");
    assert_eq!(slice("/fluss"), "[ # ]\n  {}, [ ], {k:},\n ]");
    assert_eq!(slice("/fluss/0"), "{}");
    assert_eq!(slice("/fluss/1"), "[ ]");
    assert_eq!(slice("/fluss/2"), "{k:}");
    assert_eq!(slice("/liste"), "a");
    assert_eq!(slice("/liste/0/a"), "\"q\"");
    assert_eq!(slice("/liste/0/b"), "2");
    assert_eq!(slice("/liste/1"), "日本");
    assert_eq!(files.slice(node.entry("leer").unwrap().key_span), "leer");
}

#[test]
fn an_empty_file_is_null() {
    for text in ["", "\n", "# only a remark\n", "---\n", "~"] {
        assert_eq!(value(text), Value::Null, "{text:?}");
    }
}

#[test]
fn aliases_are_few_and_cannot_explode() {
    let with = |text: &str| {
        let mut files = Files::new();
        let id = files.add("a.yaml", text);
        let node = parse_yaml_with(&files, id, AliasBudget::Few);
        node.map(|node| (files.slice(node.pointer_span("/b")).to_owned(), node.to_value()))
    };
    let (at, value) = with("a: &x {n: 0.10}\nb: *x\n").unwrap();
    assert_eq!(at, "*x");
    assert_eq!(value, json!({"a": {"n": number("0.10")}, "b": {"n": number("0.10")}}));

    let repeated = |n: usize| format!("a: &x 1\nb: [{}]\n", "*x,".repeat(n));
    assert!(with(&repeated(64)).is_ok());
    assert_eq!(with(&repeated(65)).unwrap_err()[0].code, Code::SourceTooLarge);

    let mut bomb = String::from("l0: &l0 [x,x,x,x,x,x,x,x,x]\n");
    for level in 1..7 {
        let below = format!("*l{},", level - 1).repeat(9);
        let _ = writeln!(bomb, "l{level}: &l{level} [{below}]");
    }
    assert_eq!(with(&bomb).unwrap_err()[0].code, Code::SourceTooLarge);
    assert!(with("a: &x [*x]\n").is_err());
    assert!(with("a: &x [1]\n<<: *x\n").is_err());
}

proptest! {
    #[test]
    fn never_panics(text in "[-a\\[\\]{}:,&*!|>'\"#%@`\\\\~? \n\t.0-9é\u{feff}]{0,60}") {
        let _ = read(&text);
    }

    /// JSON is YAML: both readers give the same value.
    #[test]
    fn agrees_with_json(value in crate::source::json::tests::values()) {
        let text = serde_json::to_string(&value).unwrap();
        let (_, node) = read(&text);
        prop_assert_eq!(node.unwrap().to_value(), value);
    }
}
