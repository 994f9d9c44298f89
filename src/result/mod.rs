//! The result document: what the caller of a tool sees, with the field names of the seed documents.

mod document;

pub use document::{
    ApprovalInfo, DecisionInfo, Denial, Execution, ExecutionSandbox, LayerInfo, Place, SandboxDenial,
    ToolCallResult, ToolResultValue,
};
