//! Calls as lines and as strings of providers: never panics, and what is accepted reads the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use toolctl::call::{parse_arguments_string, parse_call};
use toolctl::source::JsonLimits;

fuzz_target!(|text: &str| {
    if let Ok(args) = parse_arguments_string(text, JsonLimits::ARGUMENTS) {
        let again = parse_arguments_string(&Value::Object(args.clone()).to_string(), JsonLimits::ARGUMENTS);
        assert_eq!(again.expect("accepted arguments are JSON"), args);
    }
    if let Ok(call) = parse_call(text.as_bytes(), || "made".to_owned()) {
        let line = json!({"toolCallId": &call.tool_call_id, "toolName": &call.tool_name, "args": &call.args});
        let again = parse_call(line.to_string().as_bytes(), String::new).expect("an accepted call is one");
        assert_eq!(again, call);
    }
});
