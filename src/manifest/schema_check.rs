//! The manifest's side of argument schemas: faults of a schema and of examples become findings at their lines.

use crate::diag::{Code, Diagnostic};
use crate::schema::{Schema, SchemaFault};
use crate::source::{Decoder, Node};
use serde_json::Value;

/// Compiles `parameters`, which has to be an object schema.
pub(super) fn compile_parameters(decoder: &mut Decoder, value: &Value, node: &Node) -> Option<Schema> {
    if !value.is_object() {
        decoder.wrong_type(node, "`parameters`", "a JSON Schema of an object");
        return None;
    }
    match Schema::compile_tool(value) {
        Ok((schema, warnings)) => {
            for warning in warnings {
                // What is wrong with an idle keyword is the keyword, not what it says.
                let span = if warning.code == Code::ManifestIdleKeyword {
                    node.pointer_key_span(&warning.pointer)
                } else {
                    node.pointer_span(&warning.pointer)
                };
                decoder.report(Diagnostic::warning(warning.code, warning.message).at(span, "here"));
            }
            Some(schema)
        }
        Err(faults) => {
            report_faults(decoder, faults, node);
            None
        }
    }
}

/// Whether `outputSchema` is a usable schema.
pub(super) fn compile_output(decoder: &mut Decoder, value: &Value, node: &Node) -> bool {
    match Schema::compile_any(value) {
        Ok(_) => true,
        Err(faults) => {
            report_faults(decoder, faults, node);
            false
        }
    }
}

fn report_faults(decoder: &mut Decoder, faults: Vec<SchemaFault>, node: &Node) {
    for fault in faults {
        decoder.report(
            Diagnostic::error(Code::ManifestBadSchema, fault.message)
                .at(node.pointer_span(&fault.pointer), "here"),
        );
    }
}

/// Checks one of `inputExamples` against the schema of the arguments.
pub(super) fn check_example(decoder: &mut Decoder, schema: &Schema, value: &Value, node: &Node) {
    for issue in schema.check(value) {
        decoder.report(
            Diagnostic::error(
                Code::ManifestBadExample,
                format!("this example breaks the tool's own schema: {}", issue.message),
            )
            .at(node.pointer_span(&issue.path), "not a valid call")
            .help("correct the example or the schema; models imitate what they see"),
        );
    }
}
