//! What `validate` says of a call, as a document.

use super::failure::Failure;
use super::filling::shown_args;
use crate::call::ValidatedCall;
use crate::project::CatalogTool;
use serde_json::{Value, json};

/// The document of a valid call.
pub(crate) fn accepted(tool: &CatalogTool, call: &ValidatedCall) -> Value {
    json!({
        "schema": "toolctl.validation/v1", "success": true, "toolName": call.tool_name(),
        "data": shown_args(tool, call), "defaults": call.defaults(), "callDigest": call.digest(),
    })
}

/// The failure in the form of 000 safeParseSchema.
pub(crate) fn refused(tool: &str, failure: &Failure) -> Value {
    let diagnostics = failure.diagnostics();
    let first = diagnostics.first();
    let issues: Vec<Value> = match failure {
        Failure::Arguments(fault) => {
            fault.issues().iter().map(|issue| json!({"path": issue.path, "message": issue.message})).collect()
        }
        Failure::Usage(_)
        | Failure::Config(_)
        | Failure::UnknownTool(_)
        | Failure::NothingToDo(_)
        | Failure::Unwritten(_)
        | Failure::Program(_)
        | Failure::Gate(_)
        | Failure::Sandbox(_)
        | Failure::Output(_)
        | Failure::Internal(_) => Vec::new(),
    };
    json!({
        "schema": "toolctl.validation/v1", "success": false, "toolName": tool,
        "error": {"code": first.map(|d| d.code.as_str()), "message": first.map(|d| d.message.clone()), "issues": issues},
    })
}
