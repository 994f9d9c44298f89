//! `toolctl.result/v1` (000 ToolCallResult, with toolctl's own fields beside the seed's).

use serde::Serialize;
use serde_json::Value;

/// Why a call was not executed (000 ToolCallResult.denial). Absent for every other failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Denial {
    /// The policy denies it.
    Policy,
    /// It needs an approval and there is nobody to ask.
    ApprovalRequired,
    /// A person, or the clock, said no.
    ApprovalDenied,
    /// It was cancelled before it ran.
    Cancelled,
}

/// What a tool returned: text, or a JSON value (000 `string | ToolResult`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ToolResultValue {
    /// Text, as the model should see it; bytes that are not UTF-8 are replaced and `lossy` says so.
    Text(String),
    /// A JSON value of a tool with `output: json`.
    Json(Value),
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file, as shown to people.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The decision behind a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionInfo {
    /// `allow`, `ask` or `deny`.
    pub action: &'static str,
    /// The deciding rule, `policy/id`, `engine/…` or `default`.
    pub rule: String,
    /// The most severe effect.
    pub effect: &'static str,
    /// All effects, mildest first.
    pub effects: Vec<&'static str>,
    /// The rule's reason, escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the rule stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

/// Who approved a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalInfo {
    /// The request's id.
    pub request_id: String,
    /// `terminal:NAME`, `timeout` and so on.
    pub decided_by: String,
    /// `presence`, `same-user` or `client`.
    pub strength: &'static str,
}

/// One layer of the sandbox and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerInfo {
    /// Name, such as `landlock`.
    pub name: String,
    /// `enforced`, `absent` or `off`.
    pub state: &'static str,
    /// More on it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Something that the sandbox refused to the tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SandboxDenial {
    /// What was tried.
    pub what: String,
    /// How often; absent where it cannot be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// True if this was read from the tool's messages rather than seen by the kernel.
    pub hint: bool,
}

/// The sandbox as it was enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionSandbox {
    /// `ns`, `flat` or `none`.
    pub backend: &'static str,
    /// `kernel` where the decided effect is held by the kernel, else `declared`.
    pub effect_enforcement: &'static str,
    /// Each layer.
    pub layers: Vec<LayerInfo>,
    /// What was refused, as far as known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<SandboxDenial>,
}

/// How the subprocess went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// The tool's exit code; null if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// How often it was started.
    pub attempts: u32,
    /// Peak memory of the process tree in MiB, rounded up; absent where it was not measured.
    #[serde(rename = "peakMemoryMB", skip_serializing_if = "Option::is_none")]
    pub peak_memory_mb: Option<u64>,
    /// The tool's stderr, bounded.
    pub stderr: String,
    /// What ended it: exit, timeout, memory, output, processes, fileSize, cpu, signal, foreignAbi, cancelled.
    pub ended: &'static str,
    /// The sandbox.
    pub sandbox: ExecutionSandbox,
}

/// The result of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallResult {
    /// `toolctl.result/v1`.
    pub schema: &'static str,
    /// The caller's id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool_name: String,
    /// What the model should see; on failure too.
    pub result: ToolResultValue,
    /// True if the result's text is not exactly what the tool printed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// One line on what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The diagnostic code of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Why it was not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denial: Option<Denial>,
    /// Every way in which the arguments break the schema: `{path, message}` (004 StandardIssue).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Value>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// Whether the result came from the cache.
    pub cached: bool,
    /// Who approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalInfo>,
    /// The decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionInfo>,
    /// The execution, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<Execution>,
    /// `none`: this version keeps no audit trail.
    pub audit: &'static str,
    /// The digest of the canonical call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_digest: Option<String>,
}

impl ToolCallResult {
    /// The name and version of the document's format.
    pub const SCHEMA: &'static str = "toolctl.result/v1";
}
