//! Builds the result document of a call, whatever became of it.

use super::exit::Exit;
use super::failure::Failure;
use super::verdict::{decision_info, denial_code};
use crate::diag::{Code, Diagnostic};
use crate::execute::{Authorization, Outcome, OutcomeKind};
use crate::policy::{Action, Decided};
use crate::result::{
    ApprovalInfo, Denial, Execution, ExecutionSandbox, LayerInfo, ToolCallResult, ToolResultValue,
};
use crate::sandbox::{Backend, Ended};
use crate::source::Files;
use serde_json::json;

/// A document about a tool, in which nothing has happened yet.
fn empty(tool_call_id: &str, tool_name: &str) -> ToolCallResult {
    ToolCallResult {
        schema: ToolCallResult::SCHEMA,
        tool_call_id: tool_call_id.to_owned(),
        tool_name: tool_name.to_owned(),
        result: ToolResultValue::Text(String::new()),
        lossy: false,
        error: None,
        code: None,
        denial: None,
        issues: Vec::new(),
        retryable: false,
        cached: false,
        approval: None,
        decision: None,
        execution: None,
        audit: "none",
        call_digest: None,
    }
}

fn failed(mut document: ToolCallResult, diagnostic: &Diagnostic) -> ToolCallResult {
    let mut text = format!("Error: {}", diagnostic.message);
    for note in &diagnostic.notes {
        text.push_str("\n- ");
        text.push_str(note);
    }
    document.result = ToolResultValue::Text(text);
    document.error = Some(diagnostic.message.clone());
    document.code = Some(diagnostic.code.as_str());
    document
}

/// The document of a call that failed before it was decided.
pub(crate) fn of_failure(tool_call_id: &str, tool_name: &str, failure: &Failure) -> ToolCallResult {
    let diagnostics = failure.diagnostics();
    let internal = Diagnostic::error(Code::InternalError, "the call failed for no known reason");
    let mut document = failed(empty(tool_call_id, tool_name), diagnostics.first().unwrap_or(&internal));
    if let Failure::Arguments(fault) = failure {
        document.issues = fault
            .issues()
            .iter()
            .map(|issue| json!({"path": issue.path, "message": issue.message}))
            .collect();
    }
    document
}

/// The document of a decided call that was not executed; `diagnostic` says why.
pub(crate) fn of_refusal(
    files: &Files,
    decided: &Decided,
    diagnostic: &Diagnostic,
    denial: Option<Denial>,
) -> ToolCallResult {
    let call = decided.call();
    let mut document = failed(empty(call.tool_call_id(), call.tool_name()), diagnostic);
    document.denial = denial;
    document.decision = Some(decision_info(files, decided.decision()));
    document.call_digest = Some(call.digest().to_owned());
    if decided.decision().action == Action::Deny {
        document.code = Some(denial_code(decided.decision()).as_str());
    }
    document
}

/// The document of an execution.
pub(crate) fn of_outcome(
    files: &Files,
    authorization: &Authorization,
    outcome: &Outcome,
    diagnostic: Option<&Diagnostic>,
) -> ToolCallResult {
    let decided = &authorization.decided;
    let call = decided.call();
    let mut document = empty(call.tool_call_id(), call.tool_name());
    let (text, lossy) = text_of(&outcome.ended.stdout);
    if let Some(diagnostic) = diagnostic {
        document = failed(document, diagnostic);
        // A failed tool's output is still what the model should see, unless it may not be shown at all.
        if !matches!(outcome.kind, OutcomeKind::ControlFiles { .. } | OutcomeKind::BadResult { .. })
            && !text.is_empty()
        {
            document.result = ToolResultValue::Text(text);
            document.lossy = lossy;
        }
        document.retryable = matches!(outcome.kind, OutcomeKind::ToolFailed { retryable: true, .. });
    } else {
        document.result = outcome.json.clone().map_or(ToolResultValue::Text(text), ToolResultValue::Json);
        document.lossy = lossy;
    }
    document.approval = authorization.approval.as_ref().map(|approval| ApprovalInfo {
        request_id: approval.request_id().to_owned(),
        decided_by: approval.decided_by().to_owned(),
        strength: approval.strength().as_str(),
    });
    document.decision = Some(decision_info(files, decided.decision()));
    document.execution = Some(execution(&outcome.ended));
    document.call_digest = Some(call.digest().to_owned());
    document
}

fn text_of(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

fn execution(ended: &Ended) -> Execution {
    Execution {
        exit_code: ended.exit_code,
        signal: ended.signal,
        duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
        attempts: 1,
        peak_memory_mb: ended.peak_memory_kib.map(|kib| kib.div_ceil(1024)),
        stderr: text_of(&ended.stderr).0,
        ended: ended.cause.as_str(),
        sandbox: ExecutionSandbox {
            backend: ended.backend.as_str(),
            effect_enforcement: if ended.backend == Backend::None { "declared" } else { "kernel" },
            layers: ended
                .layers
                .iter()
                .map(|layer| LayerInfo {
                    name: layer.name.clone(),
                    state: layer.state.as_str(),
                    detail: layer.detail.clone(),
                })
                .collect(),
            denials: Vec::new(),
        },
    }
}

/// The exit code of an outcome.
pub(crate) const fn outcome_exit(kind: &OutcomeKind) -> Exit {
    match kind {
        OutcomeKind::Done => Exit::Ok,
        OutcomeKind::ToolFailed { .. } => Exit::ToolFailed,
        OutcomeKind::Signal => Exit::ToolSignal,
        OutcomeKind::Timeout => Exit::ToolTimeout,
        OutcomeKind::Limit => Exit::ToolLimit,
        OutcomeKind::BadResult { .. } | OutcomeKind::ControlFiles { .. } => Exit::BadResult,
        OutcomeKind::Cancelled => Exit::Interrupted,
    }
}
