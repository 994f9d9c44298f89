//! One thing that is wrong with the arguments of a call.

use serde::Serialize;

/// One violation of a schema (004 StandardIssue), in words from which the call can be repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Issue {
    /// JSON Pointer of the value at fault; empty for the arguments as a whole. For a missing or unknown property that
    /// of the object that lacks or has it. Not escaped for terminals.
    pub path: String,
    /// What is wrong and what is expected; safe to print.
    pub message: String,
    /// The keyword of the schema that is violated.
    #[serde(skip)]
    pub keyword: String,
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", crate::text::escape(&self.path), self.message)
        }
    }
}
