//! A call as it came in: strictly read, not yet checked against anything.

use serde_json::{Map, Value};

/// A call that was read strictly (no duplicate keys, bounded, exact numbers) and is not yet validated.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The caller's id of this call, or one that toolctl made.
    pub tool_call_id: String,
    /// The tool's name as the caller wrote it.
    pub tool_name: String,
    /// The arguments.
    pub args: Map<String, Value>,
}
