//! `toolctl validate`: checks arguments against a tool's schema; no policy is asked.

use crate::cli::args::CallArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::prepare;
use crate::cli::session::Session;
use crate::term::{Format, Text};
use crate::text::escape;
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &CallArgs) -> Result<Exit, Failure> {
    let outcome = prepare(session, args).and_then(|prepared| {
        let ready = prepared.ready(session, args)?;
        Ok((ready.call, prepared))
    });
    match outcome {
        Ok((call, prepared)) => {
            let args = prepared.shown_args(&call);
            if session.ui.format() == Format::Human {
                session.ui.line(&Text::new().escaped(&escape(&args.to_string())))?;
                if !call.defaults().is_empty() {
                    let defaults = call.defaults().join(" ");
                    session.ui.say(&Text::new().plain("by default ").escaped(&escape(&defaults)))?;
                }
            } else {
                session.ui.document(&json!({
                    "schema": "toolctl.validation/v1", "success": true, "toolName": call.tool_name(),
                    "data": args, "defaults": call.defaults(), "callDigest": call.digest(),
                }))?;
            }
            Ok(Exit::Ok)
        }
        Err(failure) => {
            if session.ui.format() != Format::Human {
                session.ui.document(&refused(&args.tool, &failure))?;
            }
            Ok(session.fail(&failure))
        }
    }
}

/// The failure in the form of 000 safeParseSchema.
fn refused(tool: &str, failure: &Failure) -> Value {
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
