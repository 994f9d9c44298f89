//! Runs an authorised call and says how it counts.

use super::outcome::{Outcome, OutcomeKind};
use super::quarantine::quarantine;
use crate::gate::{Authorized, AuthorizedCall};
use crate::manifest::OutputKind;
use crate::sandbox::{self, Cancel, Early, EndCause, Ended, SandboxError};
use crate::source::{JsonLimits, parse_value};
use crate::text::escape;
use serde_json::Value;
use std::path::Path;

/// An exit code by which a tool says that trying again may help.
const RETRYABLE_EXIT: i32 = 75;

/// What the execution needs beyond the authorisation.
#[derive(Debug)]
pub struct Terms<'a> {
    /// What the tool prints.
    pub output: OutputKind,
    /// Where created control files are moved.
    pub quarantine: &'a Path,
    /// What ends it from outside.
    pub cancel: Option<&'a Cancel>,
    /// A helper that was started while the call was decided.
    pub early: Option<Early>,
}

/// Executes the call. The authorisation is used up, whatever happens.
///
/// # Errors
/// A [`SandboxError`] means that nothing of the tool ran, [`SandboxError::Lost`] excepted.
pub fn run(call: AuthorizedCall, terms: Terms<'_>) -> Result<(Authorization, Outcome), SandboxError> {
    let Authorized { decided, plan, stdin, approval } = call.into_parts();
    let id = decided.call().tool_call_id().to_owned();
    let ended = sandbox::run_with(plan, stdin, terms.cancel, terms.early)?;
    let (kind, json) = if ended.created.is_empty() {
        judge(&ended, terms.output)
    } else {
        let moved = quarantine(&ended.created, terms.quarantine, &file_safe(&id));
        (OutcomeKind::ControlFiles { moved }, None)
    };
    Ok((Authorization { decided, approval }, Outcome { kind, ended, json }))
}

/// What is left of an authorisation after its use: the decision and who approved it.
#[derive(Debug)]
pub struct Authorization {
    /// The decided call.
    pub decided: crate::policy::Decided,
    /// Who approved it.
    pub approval: Option<crate::gate::Approval>,
}

fn file_safe(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(64).collect()
}

fn judge(ended: &Ended, output: OutputKind) -> (OutcomeKind, Option<Value>) {
    match ended.cause {
        EndCause::Exit => judge_exit(ended, output),
        EndCause::Timeout => (OutcomeKind::Timeout, None),
        EndCause::Memory
        | EndCause::Output
        | EndCause::Processes
        | EndCause::FileSize
        | EndCause::Cpu
        | EndCause::ForeignAbi => (OutcomeKind::Limit, None),
        EndCause::Signal => (OutcomeKind::Signal, None),
        EndCause::Cancelled => (OutcomeKind::Cancelled, None),
    }
}

fn judge_exit(ended: &Ended, output: OutputKind) -> (OutcomeKind, Option<Value>) {
    let code = ended.exit_code.unwrap_or(-1);
    if output == OutputKind::Text {
        return (if code == 0 { OutcomeKind::Done } else { failed(ended, code, None) }, None);
    }
    match parse_value(&ended.stdout, JsonLimits::default()) {
        Ok(value) => {
            if let Some(error) = tool_error(&value) {
                return (failed(ended, code, Some(error)), Some(value));
            }
            if code != 0 {
                return (failed(ended, code, None), Some(value));
            }
            (OutcomeKind::Done, Some(value))
        }
        Err(_) if code != 0 => (failed(ended, code, None), None),
        Err(error) => {
            let message = format!("the tool promises JSON and printed something else: {}", error.message);
            (OutcomeKind::BadResult { message }, None)
        }
    }
}

/// The message and flag of a ToolError: `{"error": {"message": …, "retryable": …}}` (004).
fn tool_error(value: &Value) -> Option<(String, bool)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    let error = map.get("error")?.as_object()?;
    let message = error.get("message")?.as_str()?;
    let retryable = error.get("retryable").is_some_and(|flag| flag.as_bool() == Some(true));
    Some((escape(message).to_string(), retryable))
}

fn failed(ended: &Ended, code: i32, error: Option<(String, bool)>) -> OutcomeKind {
    let (message, retryable) = error.unwrap_or_else(|| {
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
        let said: String = escape(last).as_str().chars().take(300).collect();
        let message =
            if said.is_empty() { format!("exit code {code}") } else { format!("exit code {code}: {said}") };
        (message, code == RETRYABLE_EXIT)
    });
    OutcomeKind::ToolFailed { message, retryable }
}

#[cfg(test)]
mod tests {
    use super::{file_safe, tool_error};
    use serde_json::json;

    #[test]
    fn tool_errors_are_recognised_exactly() {
        assert_eq!(
            tool_error(&json!({"error": {"message": "no\u{1b}", "retryable": true}})),
            Some(("no\\u{1b}".to_owned(), true))
        );
        assert_eq!(tool_error(&json!({"error": {"message": "no"}})), Some(("no".to_owned(), false)));
        assert_eq!(tool_error(&json!({"error": "no"})), None);
        assert_eq!(tool_error(&json!({"error": {"message": "no"}, "rows": []})), None);
    }

    #[test]
    fn ids_cannot_leave_the_folder() {
        assert_eq!(file_safe("../../x y"), "______x_y");
    }
}
