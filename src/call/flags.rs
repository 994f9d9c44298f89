//! Arguments from `-a` flags: `k=v`, `k:=JSON`, `k=@FILE`, `k:=@FILE`, `k=@@text`.
//!
//! `k=v` is a string, or the one primitive type that the schema gives the property. Nothing else is guessed: `012` for a
//! string stays `012`, and `5` for a property of several types is the string `5`.

use super::CallError;
use crate::schema::{Primitive, Schema};
use crate::source::{JsonLimits, parse_value};
use crate::text::escape;
use serde_json::{Map, Value};

/// Reads a file that a flag names; `Err` says why it cannot be read, safe to print.
pub(super) type ReadFile<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>, String>;

/// The arguments that a list of `-a` flags gives.
///
/// # Errors
/// Every flag at fault, in order.
pub fn args_from_flags(
    flags: &[String],
    schema: &Schema,
    read_file: ReadFile<'_>,
) -> Result<Map<String, Value>, Vec<CallError>> {
    let mut args = Map::new();
    let mut errors = Vec::new();
    for flag in flags {
        match read_flag(flag, schema, read_file) {
            Ok((key, _)) if args.contains_key(key) => {
                errors.push(bad_flag(flag, format!("\"{}\" is given twice", escape(key))));
            }
            Ok((key, value)) => {
                args.insert(key.to_owned(), value);
            }
            Err(message) => errors.push(bad_flag(flag, message)),
        }
    }
    if errors.is_empty() { Ok(args) } else { Err(errors) }
}

fn bad_flag(flag: &str, message: String) -> CallError {
    // Only the key is shown: the value may be a secret or very long.
    let key = flag.split('=').next().unwrap_or_default().trim_end_matches(':');
    let shown: String = escape(key).as_str().chars().take(64).collect();
    CallError::BadFlag { flag: format!("-a {shown}"), message }
}

fn read_flag<'f>(
    flag: &'f str,
    schema: &Schema,
    read_file: ReadFile<'_>,
) -> Result<(&'f str, Value), String> {
    let Some((left, text)) = flag.split_once('=') else {
        return Err("write NAME=TEXT, NAME:=JSON or NAME=@FILE".to_owned());
    };
    let (key, json) = left.strip_suffix(':').map_or((left, false), |key| (key, true));
    if key.is_empty() {
        return Err("the name before \"=\" is missing".to_owned());
    }
    if key.starts_with("$serde_json::private::") {
        return Err(
            "the name has a meaning of its own to a JSON library and cannot be an argument".to_owned()
        );
    }
    let value = if json {
        let bytes = match text.strip_prefix('@') {
            Some(file) => read_file(file)?,
            None => text.as_bytes().to_vec(),
        };
        parse_value(&bytes, JsonLimits::ARGUMENTS)
            .map_err(|error| format!("{error}; for a text write {}=TEXT", escape(key)))?
    } else if let Some(literal) = text.strip_prefix("@@") {
        typed(key, &format!("@{literal}"), schema)?
    } else if let Some(file) = text.strip_prefix('@') {
        let bytes = read_file(file)?;
        let content = String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())?;
        typed_file(key, content, schema)?
    } else {
        typed(key, text, schema)?
    };
    Ok((key, value))
}

/// A file's text: exact for a string, without the line end for a number or boolean.
fn typed_file(key: &str, content: String, schema: &Schema) -> Result<Value, String> {
    match schema.primitive_type(key) {
        Some(Primitive::String) | None => Ok(Value::String(content)),
        Some(Primitive::Integer | Primitive::Number | Primitive::Boolean) => {
            typed(key, content.trim_end(), schema)
        }
    }
}

fn typed(key: &str, text: &str, schema: &Schema) -> Result<Value, String> {
    let Some(primitive) = schema.primitive_type(key) else {
        return Ok(Value::String(text.to_owned()));
    };
    let wrong = || {
        if schema.is_secret(key) {
            format!("has to be of type {}", primitive.as_str())
        } else {
            let shown: String = escape(text).as_str().chars().take(64).collect();
            format!("\"{shown}\" is not of type {}", primitive.as_str())
        }
    };
    match primitive {
        Primitive::String => Ok(Value::String(text.to_owned())),
        Primitive::Boolean => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(format!("{}; write true or false", wrong())),
        },
        // Whether a number is an integer (`1.0` is) stays with the schema.
        Primitive::Integer | Primitive::Number => match parse_value(text.as_bytes(), JsonLimits::ARGUMENTS) {
            Ok(value @ Value::Number(_)) if text.trim() == text => Ok(value),
            Ok(_) | Err(_) => Err(format!("{}; write a number as in JSON", wrong())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::args_from_flags;
    use crate::schema::Schema;
    use serde_json::{Value, json};

    fn schema() -> Schema {
        let schema = json!({"type": "object", "properties": {
            "s": {"type": "string"}, "n": {"type": "number"}, "i": {"type": "integer"}, "b": {"type": "boolean"},
            "maybe": {"type": ["integer", "null"]}, "opt": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "many": {"type": ["integer", "string"]}, "list": {"type": "array"}, "kind": {"enum": ["a", "b"]},
            "key": {"type": "integer", "writeOnly": true}, "by-ref": {"$ref": "#/$defs/count"}
        }, "$defs": {"count": {"type": "integer"}}});
        Schema::compile_tool(&schema).unwrap().0
    }

    fn read(flags: &[&str]) -> Result<Value, Vec<String>> {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut files = |name: &str| match name {
            "text" => Ok(b"line\n".to_vec()),
            "five" => Ok(b"5\n".to_vec()),
            "json" => Ok(br#"{"a": [1]}"#.to_vec()),
            "bytes" => Ok(vec![0xff]),
            _ => Err("no such file".to_owned()),
        };
        args_from_flags(&flags, &schema(), &mut files)
            .map(Value::Object)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn flags_become_arguments() {
        let rows: &[(&[&str], Value)] = &[
            (&[], json!({})),
            (&["s=012", "i=12"], json!({"s": "012", "i": 12})),
            (&["s="], json!({"s": ""})),
            (&["s=a=b:=c"], json!({"s": "a=b:=c"})),
            (&["n=1.5", "b=true"], json!({"n": 1.5, "b": true})),
            (&["maybe=3", "opt=4", "by-ref=5"], json!({"maybe": 3, "opt": 4, "by-ref": 5})),
            (&["many=3", "list=[1]", "unknown=3"], json!({"many": "3", "list": "[1]", "unknown": "3"})),
            (&["list:=[1,\"2\"]", "many:=3", "opt:=null"], json!({"list": [1, "2"], "many": 3, "opt": null})),
            (&["s=@text", "i=@five", "x:=@json"], json!({"s": "line\n", "i": 5, "x": {"a": [1]}})),
            (&["s=@@text", "kind=@@"], json!({"s": "@text", "kind": "@"})),
            (&["a.b=1"], json!({"a.b": "1"})),
        ];
        for (flags, expected) in rows {
            assert_eq!(read(flags).as_ref(), Ok(expected), "{flags:?}");
        }
        assert_eq!(read(&["i=9007199254740993"]).unwrap().to_string(), r#"{"i":9007199254740993}"#);
    }

    #[test]
    fn all_bad_flags_are_reported() {
        let errors =
            read(&["s", "=x", "i=ten", "i=+1", "b=yes", "n=0x1", "key=pw", "i= 1", "s=ok"]).unwrap_err();
        insta::assert_snapshot!(errors.join("\n"), @r#"
        -a s: write NAME=TEXT, NAME:=JSON or NAME=@FILE
        -a : the name before "=" is missing
        -a i: "ten" is not of type integer; write a number as in JSON
        -a i: "+1" is not of type integer; write a number as in JSON
        -a b: "yes" is not of type boolean; write true or false
        -a n: "0x1" is not of type number; write a number as in JSON
        -a key: has to be of type integer; write a number as in JSON
        -a i: " 1" is not of type integer; write a number as in JSON
        "#);
        let errors = read(&[
            "s=1",
            "s=2",
            "j:={\"a\":1,\"a\":2}",
            "s=@none",
            "s=@bytes",
            "u:=text",
            "$serde_json::private::Number=1",
        ])
        .unwrap_err();
        insta::assert_snapshot!(errors.join("\n"), @r#"
        -a s: "s" is given twice
        -a j: the key `a` stands twice in one object: keep one of the two (line 1, column 8); for a text write j=TEXT
        -a s: no such file
        -a s: the file is not UTF-8
        -a u: the text does not start with JSON: send the JSON alone, without anything around it (line 1, column 1); for a text write u=TEXT
        -a $serde_json::private::Number: the name has a meaning of its own to a JSON library and cannot be an argument
        "#);
    }
}
