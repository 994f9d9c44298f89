//! What became of an execution.

use crate::sandbox::Ended;
use serde_json::Value;
use std::path::PathBuf;

/// How an execution counts.
#[derive(Debug, Clone, PartialEq)]
pub enum OutcomeKind {
    /// Exit 0, and the result is what the manifest promises.
    Done,
    /// The tool failed in its own way: an exit code, or a ToolError (004).
    ToolFailed {
        /// What went wrong, in the tool's own words if it gave any.
        message: String,
        /// Whether the tool says that trying again may help.
        retryable: bool,
    },
    /// A signal ended it.
    Signal,
    /// It outlived its timeout.
    Timeout,
    /// A limit ended it.
    Limit,
    /// It ended well, but its result is not what the manifest promises.
    BadResult {
        /// What is wrong with it.
        message: String,
    },
    /// It created files that would control toolctl or later programs; they were moved away.
    ControlFiles {
        /// Where each was, and where it is now (`None`: it could not be moved).
        moved: Vec<(PathBuf, Option<PathBuf>)>,
    },
    /// toolctl was interrupted.
    Cancelled,
}

/// An execution that ended.
#[derive(Debug)]
pub struct Outcome {
    /// How it counts.
    pub kind: OutcomeKind,
    /// What the sandbox reported.
    pub ended: Ended,
    /// The parsed result of a tool with `output: json`.
    pub json: Option<Value>,
}
