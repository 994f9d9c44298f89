//! A call as one line of a file: `{"toolCallId": …, "toolName": …, "args": {…}}`.
//!
//! The shapes of providers are recognised, so that the message says which one it is and where each part belongs.

use super::{Call, CallError};
use crate::source::{JsonLimits, parse_value};
use crate::text::{escape, nearest};
use serde_json::{Map, Value};

/// The line holds the arguments one level down, and the names.
const LINE: JsonLimits = JsonLimits {
    max_bytes: JsonLimits::ARGUMENTS.max_bytes + (64 << 10),
    max_depth: JsonLimits::ARGUMENTS.max_depth + 1,
};
/// Most bytes of the two names.
const MAX_NAME: usize = 1 << 10;
const KEYS: [&str; 3] = ["toolCallId", "toolName", "args"];

/// A shape of calls that is not read: what it looks like, what it is called, where its parts are.
struct Shape {
    is: fn(&Map<String, Value>) -> bool,
    name: &'static str,
    parts: [&'static str; 3],
}

const SHAPES: &[Shape] = &[
    Shape {
        is: |line| line.get("tool_calls").is_some_and(Value::is_array),
        name: "a whole message with `tool_calls`",
        parts: ["its `id`", "its `function.name`", "the object that `function.arguments` is the text of"],
    },
    Shape {
        is: |line| line.get("function").is_some_and(Value::is_object),
        name: "an OpenAI tool call",
        parts: ["`id`", "`function.name`", "the object that `function.arguments` is the text of"],
    },
    Shape {
        is: |line| line.get("type").and_then(Value::as_str) == Some("tool_use"),
        name: "an Anthropic tool_use block",
        parts: ["`id`", "`name`", "`input`"],
    },
    Shape {
        is: |line| line.contains_key("functionCall"),
        name: "a Gemini functionCall part",
        parts: ["`functionCall.id`", "`functionCall.name`", "`functionCall.args`"],
    },
    Shape {
        is: |line| line.contains_key("toolUse"),
        name: "a Bedrock toolUse block",
        parts: ["`toolUse.toolUseId`", "`toolUse.name`", "`toolUse.input`"],
    },
    Shape {
        is: |line| {
            line.contains_key("jsonrpc") || line.get("method").is_some_and(|name| name == "tools/call")
        },
        name: "an MCP request",
        parts: ["`id` as a string", "`params.name`", "`params.arguments`"],
    },
    Shape {
        is: |line| line.contains_key("name") && line.contains_key("arguments"),
        name: "a function call with `arguments`",
        parts: ["`call_id`, if it has one", "`name`", "the object that `arguments` is the text of"],
    },
    Shape {
        is: |line| line.contains_key("name") && line.contains_key("args"),
        name: "a LangChain tool call",
        parts: ["`id`", "`name`", "`args`"],
    },
];

/// Reads a call from a line. Without `toolCallId` it gets the id given.
///
/// # Errors
/// [`CallError::Json`] as for arguments, [`CallError::BadShape`] for anything but the three keys.
pub fn parse_call(bytes: &[u8], id: impl FnOnce() -> String) -> Result<Call, CallError> {
    let line = match parse_value(bytes, LINE)? {
        Value::Object(line) => line,
        Value::Array(_) => return Err(bad("a line holds one call, not an array of them".to_owned())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(bad(format!("a line holds a call: {}", wanted())));
        }
    };
    if !line.contains_key("toolName")
        && let Some(shape) = SHAPES.iter().find(|shape| (shape.is)(&line))
    {
        return Err(shape.refused());
    }
    let (mut tool_call_id, mut tool_name, mut args) = (None, None, None);
    for (key, value) in line {
        match key.as_str() {
            "toolCallId" => tool_call_id = Some(value),
            "toolName" => tool_name = Some(value),
            "args" => args = Some(value),
            _ => return Err(unknown(&key)),
        }
    }
    let tool_name = match tool_name {
        Some(Value::String(name)) if (1..=MAX_NAME).contains(&name.len()) => name,
        Some(_) => return Err(bad("\"toolName\" has to be the name of a tool".to_owned())),
        None => return Err(bad(format!("there is no \"toolName\": {}", wanted()))),
    };
    let tool_call_id = match tool_call_id {
        Some(Value::String(id)) if (1..=MAX_NAME).contains(&id.len()) => id,
        Some(_) => return Err(bad("\"toolCallId\" has to be a string that is not empty".to_owned())),
        None => id(),
    };
    let args = match args {
        Some(Value::Object(args)) => args,
        Some(Value::String(_)) => {
            return Err(bad("\"args\" is a string: send the object itself, not its text".to_owned()));
        }
        Some(_) => return Err(bad("\"args\" has to be an object".to_owned())),
        None => return Err(bad("there are no \"args\": for no arguments write {}".to_owned())),
    };
    Ok(Call { tool_call_id, tool_name, args })
}

impl Shape {
    fn refused(&self) -> CallError {
        let [id, name, args] = self.parts;
        bad(format!(
            "this is {}, a shape that is not read here: write {id} as \"toolCallId\", {name} as \"toolName\" and {args} as \"args\"",
            self.name
        ))
    }
}

fn unknown(key: &str) -> CallError {
    let hint = nearest(key, KEYS)
        .map_or_else(|| format!("known are {}", KEYS.join(", ")), |near| format!("did you mean `{near}`?"));
    let shown: String = key.chars().take(80).collect();
    bad(format!("the key `{}` is not known; {hint}", escape(&shown)))
}

const fn wanted() -> &'static str {
    r#"write {"toolCallId": "c1", "toolName": "NAME", "args": {}}"#
}

const fn bad(message: String) -> CallError {
    CallError::BadShape { message }
}

#[cfg(test)]
mod tests {
    use super::parse_call;
    use crate::call::{Call, CallError};
    use crate::diag::Code;

    fn read(line: &str) -> Result<Call, CallError> {
        parse_call(line.as_bytes(), || "made".to_owned())
    }

    #[test]
    fn a_call_has_an_id_a_name_and_arguments() {
        let call = read(r#" {"toolCallId":"c1","toolName":"t","args":{"n":9007199254740993}} "#).unwrap();
        assert_eq!((call.tool_call_id.as_str(), call.tool_name.as_str()), ("c1", "t"));
        assert_eq!(call.args["n"].to_string(), "9007199254740993");
        assert_eq!(read(r#"{"toolName":"t","args":{}}"#).unwrap().tool_call_id, "made");
    }

    #[test]
    fn each_provider_is_named_with_the_way_to_write_its_call() {
        let rows = [
            (r#"{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}"#, "OpenAI"),
            (r#"{"role":"assistant","tool_calls":[]}"#, "whole message"),
            (r#"{"type":"tool_use","id":"1","name":"t","input":{}}"#, "Anthropic"),
            (r#"{"functionCall":{"name":"t","args":{}}}"#, "Gemini"),
            (r#"{"toolUse":{"toolUseId":"1","name":"t","input":{}}}"#, "Bedrock"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, "MCP"),
            (r#"{"name":"t","args":{},"id":"1","type":"tool_call"}"#, "LangChain"),
            (r#"{"type":"function_call","call_id":"1","name":"t","arguments":"{}"}"#, "`arguments`"),
        ];
        for (line, name) in rows {
            let error = read(line).unwrap_err();
            assert_eq!(error.code(), Code::CallBadShape, "{line}");
            let message = error.to_string();
            assert!(message.contains(name) && message.contains("\"toolName\""), "{line}: {message}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_its_repair() {
        let rows = [
            ("[]", Code::CallBadShape, "not an array"),
            ("null", Code::CallBadShape, "toolName"),
            ("{}", Code::CallBadShape, "no \"toolName\""),
            (r#"{"toolName":"t"}"#, Code::CallBadShape, "write {}"),
            (r#"{"toolName":"","args":{}}"#, Code::CallBadShape, "name of a tool"),
            (r#"{"toolName":1,"args":{}}"#, Code::CallBadShape, "name of a tool"),
            (r#"{"toolName":"t","args":"{}"}"#, Code::CallBadShape, "not its text"),
            (r#"{"toolName":"t","args":[]}"#, Code::CallBadShape, "an object"),
            (r#"{"toolName":"t","args":{},"toolCallId":1}"#, Code::CallBadShape, "a string"),
            (
                r#"{"toolName":"t","args":{},"toolcallid":"1"}"#,
                Code::CallBadShape,
                "did you mean `toolCallId`",
            ),
            (r#"{"toolName":"t","args":{},"x\u001b":"1"}"#, Code::CallBadShape, "`x\\u{1b}`"),
            (r#"{"toolName":"t","args":{},"args":{}}"#, Code::CallDuplicateKey, "twice"),
            (r#"{"toolName":"t","args":{"a":1,"a":2}}"#, Code::CallDuplicateKey, "twice"),
            (r#"{"toolName":"t","args":{"a":1e400}}"#, Code::CallNumberRange, "infinity"),
            (r#"{"toolName":"t","args":{}"#, Code::CallNotJson, "cut off"),
        ];
        for (line, code, part) in rows {
            let error = read(line).unwrap_err();
            assert_eq!(error.code(), code, "{line}: {error}");
            assert!(error.to_string().contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn arguments_may_be_as_deep_as_without_a_line_around_them() {
        let line = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"toolName":"t","args":{{"a":{open}{close}}}}}"#)
        };
        assert!(read(&line(127)).is_ok());
        assert_eq!(read(&line(128)).unwrap_err().code(), Code::CallTooLarge);
    }
}
