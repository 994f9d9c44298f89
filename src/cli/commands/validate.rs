//! `toolctl validate`: checks arguments against a tool's schema and its command line; no policy is asked.

use crate::call::{Call, ValidatedCall, args_from_flags, parse_args};
use crate::cli::args::{CallArgs, CallsArgs};
use crate::cli::exit::Exit;
use crate::cli::failure::{ArgumentFault, Failure};
use crate::cli::filling::shown_args;
use crate::cli::prepare::{new_id, prepare};
use crate::cli::session::{Session, context};
use crate::cli::stdin;
use crate::cli::validation::{accepted, refused};
use crate::cli::validator::Validator;
use crate::project::CatalogTool;
use crate::source::JsonLimits;
use crate::term::{Format, Text};
use crate::text::escape;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &CallsArgs) -> Result<Exit, Failure> {
    if let Some(file) = &args.calls {
        return super::validate_calls::run(session, file, &args.context);
    }
    let args = args.one();
    match validated(session, &args) {
        Ok((tool, call)) => {
            if session.ui.format() == Format::Human {
                let shown = shown_args(&tool, &call).to_string();
                session.ui.line(&Text::new().escaped(&escape(&shown)))?;
                if !call.defaults().is_empty() {
                    let defaults = call.defaults().join(" ");
                    session.ui.say(&Text::new().plain("by default ").escaped(&escape(&defaults)))?;
                }
            } else {
                session.ui.document(&accepted(&tool, &call))?;
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

/// The call, if it is valid.
fn validated(session: &mut Session<'_>, args: &CallArgs) -> Result<(CatalogTool, ValidatedCall), Failure> {
    if reads_a_file(args) {
        // What may be read with @FILE is a question to the policies, so here everything is prepared.
        let prepared = prepare(session, args)?;
        let ready = prepared.ready(session, args)?;
        return Ok((prepared.tool, ready.call));
    }
    let project = session.project_for(Some(&args.tool))?;
    let tool = Validator::open(session, &project, &args.tool)?;
    let limits = JsonLimits::default();
    let read = match args.args.as_deref() {
        Some("-") => parse_args(&stdin::read_all(limits.max_bytes)?, limits).map_err(|error| vec![error]),
        Some(text) => parse_args(text.as_bytes(), limits).map_err(|error| vec![error]),
        None => {
            let mut nothing = |_: &str| Err("files are read elsewhere".to_owned());
            args_from_flags(&args.arg, tool.schema(), &mut nothing)
        }
    };
    let call = Call {
        tool_call_id: args.context.call_id.clone().unwrap_or_else(|| new_id(session.world.now())),
        tool_name: args.tool.clone(),
        args: read.map_err(|errors| Failure::Arguments(ArgumentFault::Flags(errors)))?,
    };
    let ctx = context(&args.context, project.settings.agent_name.as_deref());
    let ready = tool.filling(&project, &ctx).ready(session.world, call).map_err(Failure::Arguments)?;
    Ok((tool.into_tool(), ready.call))
}

/// Whether a flag may name a file. `k:=@x` is JSON and names none, but is rare enough to be prepared for.
fn reads_a_file(args: &CallArgs) -> bool {
    args.args.as_deref().is_some_and(|text| text.starts_with('@'))
        || args.arg.iter().any(|flag| flag.contains("=@"))
}
