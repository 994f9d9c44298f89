//! `toolctl validate --calls`: the same for a file of calls, one a line, however long it is.

use super::validate::{accepted, refused};
use crate::call::{ValidatedCall, parse_call};
use crate::cli::args::ContextArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::{ArgumentFault, Failure};
use crate::cli::lines::Lines;
use crate::cli::session::{Session, context};
use crate::cli::validator::Validator;
use crate::diag::{Code, Diagnostic};
use crate::model::Context;
use crate::project::Project;
use crate::term::{Format, Text};
use crate::text::escape;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Most failures that the one document of `--format json` lists.
const MAX_LISTED: usize = 1000;
/// What is remembered of the disk is forgotten after so many calls: time passes, and memory is bounded.
const FORGET_AFTER: u64 = 4096;

/// The tools met so far. A name that is no tool is looked up each time, so that a file of such names cannot fill memory.
struct Tools<'p> {
    project: &'p Project,
    ctx: Context,
    known: HashMap<String, Result<Validator, Failure>>,
}

/// What is known of one line.
struct Judged<'t> {
    call_id: Option<String>,
    tool: Option<String>,
    outcome: Result<(&'t Validator, ValidatedCall), &'t Failure>,
}

#[derive(Default)]
struct Tally {
    calls: u64,
    refused: u64,
    exit: Option<Exit>,
    listed: Vec<Value>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, file: &str, claims: &ContextArgs) -> Result<Exit, Failure> {
    let project = session.project()?;
    let ctx = context(claims, project.settings.agent_name.as_deref());
    let mut tools = Tools { project: &project, ctx, known: HashMap::new() };
    let mut lines = Lines::open(session, file)?;
    let mut progress = session.ui.progress(lines.length());
    let mut tally = Tally::default();
    let mut line = Vec::new();
    while let Some(number) = lines.next(&mut line)? {
        let mut own = None;
        let judged = tools.judge(session, &line, number, &mut own);
        progress.step(lines.read(), tally.calls, "calls");
        progress.aside(|| tally.add(session, number, &judged))?;
        if tally.calls.is_multiple_of(FORGET_AFTER) {
            session.world.look_again();
        }
    }
    drop(progress);
    tally.finish(session, file)
}

impl<'p> Tools<'p> {
    /// Judges one line. A failure that belongs to the line alone is kept in `own`.
    fn judge<'t>(
        &'t mut self,
        session: &mut Session<'_>,
        line: &[u8],
        number: u64,
        own: &'t mut Option<Failure>,
    ) -> Judged<'t> {
        let call = match parse_call(line, || format!("line-{number}")) {
            Ok(call) => call,
            Err(error) => {
                let failure = Failure::Arguments(ArgumentFault::Call(error));
                return Judged { call_id: None, tool: None, outcome: Err(own.insert(failure)) };
            }
        };
        let (call_id, tool) = (Some(call.tool_call_id.clone()), Some(call.tool_name.clone()));
        if !self.known.contains_key(&call.tool_name) {
            match Validator::open(session, self.project, &call.tool_name) {
                Err(failure @ Failure::UnknownTool(_)) => {
                    return Judged { call_id, tool, outcome: Err(own.insert(failure)) };
                }
                opened => {
                    self.known.insert(call.tool_name.clone(), opened);
                }
            }
        }
        let outcome = match self.known.get(&call.tool_name) {
            Some(Ok(validator)) => match validator.judge(session.world, self.project, &self.ctx, call) {
                Ok(call) => Ok((validator, call)),
                Err(fault) => Err(&*own.insert(Failure::Arguments(fault))),
            },
            Some(Err(failure)) => Err(failure),
            // It was put in above.
            None => Err(&*own.insert(Failure::Internal(anyhow::anyhow!("a tool was lost")))),
        };
        Judged { call_id, tool, outcome }
    }
}

impl Tally {
    fn add(&mut self, session: &mut Session<'_>, number: u64, judged: &Judged<'_>) -> Result<(), Failure> {
        self.calls += 1;
        let human = session.ui.format() == Format::Human;
        match &judged.outcome {
            Ok((validator, call)) => {
                if session.ui.format() == Format::Ndjson {
                    session.ui.document(&placed(accepted(validator.tool(), call), number, judged))?;
                }
            }
            Err(failure) => {
                self.refused += 1;
                self.exit = Some(self.exit.unwrap_or(Exit::Ok).or_worse(failure.exit()));
                if !human {
                    let name = judged.tool.as_deref().unwrap_or("");
                    let document = placed(refused(name, failure), number, judged);
                    if session.ui.format() == Format::Ndjson {
                        session.ui.document(&document)?;
                    } else if self.listed.len() < MAX_LISTED {
                        self.listed.push(document);
                    }
                }
                let diagnostics = at_line(failure, number, judged);
                session.ui.diagnostics(&session.files, &diagnostics)?;
            }
        }
        Ok(())
    }

    fn finish(self, session: &mut Session<'_>, file: &str) -> Result<Exit, Failure> {
        if self.calls == 0 {
            let message = format!("there is no call in `{}`", escape(file));
            return Err(Failure::NothingToDo(
                Diagnostic::error(Code::NothingToDo, message)
                    .help(r#"write one call a line: {"toolCallId": "c1", "toolName": "NAME", "args": {}}"#),
            ));
        }
        match session.ui.format() {
            Format::Human => {
                let text = Text::new().number(self.calls - self.refused).plain(" of ").number(self.calls);
                session.ui.line(&text.plain(if self.calls == 1 {
                    " call is valid"
                } else {
                    " calls are valid"
                }))?;
            }
            Format::Json => {
                let omitted = self.refused - u64::try_from(self.listed.len()).unwrap_or(0);
                session.ui.document(&json!({
                    "schema": "toolctl.validations/v1", "success": self.refused == 0, "calls": self.calls,
                    "refused": self.refused, "failures": self.listed, "omitted": omitted,
                }))?;
            }
            Format::Ndjson => {}
        }
        Ok(self.exit.unwrap_or(Exit::Ok))
    }
}

/// A document with the place of its call in the input.
fn placed(mut document: Value, number: u64, judged: &Judged<'_>) -> Value {
    if let Value::Object(map) = &mut document {
        map.insert("line".to_owned(), json!(number));
        if let Some(id) = &judged.call_id {
            map.insert("toolCallId".to_owned(), json!(id));
        }
    }
    document
}

/// What is said of a line to people.
fn at_line(failure: &Failure, number: u64, judged: &Judged<'_>) -> Vec<Diagnostic> {
    let clip = |text: &str| {
        let short: String = text.chars().take(60).collect();
        escape(&short).to_string()
    };
    let who = match (&judged.tool, &judged.call_id) {
        (Some(tool), Some(id)) => format!(" (`{}`, {})", clip(tool), clip(id)),
        _ => String::new(),
    };
    let mut found = failure.diagnostics();
    for diagnostic in &mut found {
        diagnostic.message = format!("line {number}{who}: {}", diagnostic.message);
    }
    found
}
