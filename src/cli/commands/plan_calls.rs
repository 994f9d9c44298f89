//! `toolctl plan --calls`: the decisions on a file of calls, one a line, however long it is. Starts nothing and writes
//! nothing. Sandboxes are not planned: that is another hundred looks at the disk a call.

use super::plan::{Shown, json};
use crate::call::{Call, parse_call};
use crate::cli::args::ContextArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::{ArgumentFault, Failure};
use crate::cli::lines::Lines;
use crate::cli::prepare::{Prepared, load_policies, prepare_tool};
use crate::cli::session::{Session, context};
use crate::cli::verdict::{decision_exit, decision_info, rule_line};
use crate::diag::{Code, Diagnostic};
use crate::model::Context;
use crate::policy::{Action, Decided, Decision, PolicySet, decide_for_plan};
use crate::project::Project;
use crate::term::{Format, Text, render};
use crate::text::escape;
use serde_json::json;
use std::collections::HashMap;
use std::rc::Rc;

/// What is remembered of the disk is forgotten after so many calls: time passes, and memory is bounded.
const FORGET_AFTER: u64 = 4096;

/// The tools met so far. A name that is no tool is looked up each time, so that a file of such names cannot fill memory.
struct Tools {
    project: Rc<Project>,
    policies: Rc<PolicySet>,
    ctx: Context,
    known: HashMap<String, Result<Prepared, Failure>>,
}

/// Which call is spoken of.
struct Place {
    line: u64,
    call_id: Option<String>,
    tool: Option<String>,
}

#[derive(Default)]
struct Tally {
    calls: u64,
    allow: u64,
    ask: u64,
    deny: u64,
    exit: Option<Exit>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, file: &str, claims: &ContextArgs) -> Result<Exit, Failure> {
    let project = Rc::new(session.project()?);
    let policies = Rc::new(load_policies(session, &project, None)?);
    let ctx = context(claims, project.settings.agent_name.as_deref());
    let mut tools = Tools { project, policies, ctx, known: HashMap::new() };
    let mut lines = Lines::open(session, file)?;
    let mut progress = session.ui.progress(lines.length());
    let mut tally = Tally::default();
    let mut read = 0;
    while let Some(chunk) = lines.next(read)? {
        read = chunk.read();
        progress.aside(|| {
            chunk.lines().try_for_each(|(number, line)| one(session, &mut tools, &mut tally, line, number))
        })?;
        progress.step(read, tally.calls, "calls");
    }
    drop(progress);
    tally.finish(session, file)
}

/// Decides the call of one line. A failure is that line's alone, save of the output.
fn one(
    session: &mut Session<'_>,
    tools: &mut Tools,
    tally: &mut Tally,
    line: &[u8],
    number: u64,
) -> Result<(), Failure> {
    tally.calls += 1;
    if tally.calls.is_multiple_of(FORGET_AFTER) {
        session.world.look_again();
    }
    let mut place = Place { line: number, call_id: None, tool: None };
    let call = match parse_call(line, || format!("line-{number}")) {
        Ok(call) => call,
        Err(error) => {
            return tally.failed(session, &place, &Failure::Arguments(ArgumentFault::Call(error)));
        }
    };
    (place.call_id, place.tool) = (Some(call.tool_call_id.clone()), Some(call.tool_name.clone()));
    if !tools.known.contains_key(&call.tool_name) {
        match prepare_tool(session, &tools.project, &tools.policies, &tools.ctx, &call.tool_name) {
            Err(failure @ Failure::UnknownTool(_)) => return tally.failed(session, &place, &failure),
            prepared => {
                tools.known.insert(call.tool_name.clone(), prepared);
            }
        }
    }
    let prepared = match tools.known.get(&call.tool_name) {
        Some(Ok(prepared)) => prepared,
        Some(Err(failure)) => return tally.failed(session, &place, failure),
        // It was put in above.
        None => return Err(Failure::Internal(anyhow::anyhow!("a tool was lost"))),
    };
    match decide(session, prepared, call) {
        Ok((decided, in_plan_mode)) => tally.decided(session, number, prepared, &decided, &in_plan_mode),
        Err(failure) => tally.failed(session, &place, &failure),
    }
}

fn decide(session: &Session<'_>, prepared: &Prepared, call: Call) -> Result<(Decided, Decision), Failure> {
    // The command line is filled in as for a run, since that can fail.
    let (call, _command, _stdin) = prepared.ready_call(session, call)?.split();
    Ok(decide_for_plan(prepared.facts(session, call), &prepared.policies, &prepared.ctx))
}

impl Tally {
    fn ends(&mut self, exit: Exit) {
        self.exit = Some(self.exit.unwrap_or(Exit::Ok).or_worse(exit));
    }

    fn decided(
        &mut self,
        session: &mut Session<'_>,
        line: u64,
        prepared: &Prepared,
        decided: &Decided,
        in_plan_mode: &Decision,
    ) -> Result<(), Failure> {
        let decision = decided.decision();
        match decision.action {
            Action::Allow => self.allow += 1,
            Action::Ask => self.ask += 1,
            Action::Deny => self.deny += 1,
        }
        let exit = decision_exit(decision);
        self.ends(exit);
        match session.ui.format() {
            Format::Ndjson => {
                let in_plan_mode = decision_info(&session.files, in_plan_mode);
                let shown = Shown {
                    prepared,
                    decided,
                    report: None,
                    digest: None,
                    in_plan_mode,
                    fault: None,
                    exit,
                    asked: false,
                    line: Some(line),
                };
                session.ui.document(&json(session, &shown))?;
            }
            Format::Json => {}
            Format::Human => {
                let call = decided.call();
                let action = match decision.action {
                    Action::Allow => Text::new().good("allow"),
                    Action::Ask => Text::new().warning("ask  "),
                    Action::Deny => Text::new().bad("deny "),
                };
                let text = action
                    .plain("  ")
                    .escaped(&escape(call.tool_call_id()))
                    .plain("  ")
                    .escaped(&escape(call.tool_name()))
                    .plain("  ")
                    .escaped(&escape(&rule_line(&session.files, decision)));
                session.ui.line(&text)?;
            }
        }
        Ok(())
    }

    /// A line that came to no decision.
    fn failed(&mut self, session: &mut Session<'_>, place: &Place, failure: &Failure) -> Result<(), Failure> {
        let exit = failure.exit();
        self.ends(exit);
        let mut diagnostics = failure.diagnostics_about(place.tool.as_deref());
        if session.ui.format() == Format::Ndjson {
            let mut document = json!({
                "schema": "toolctl.failure/v1", "exit": exit.code(), "line": place.line,
                "diagnostics": render::to_json(&session.files, &diagnostics),
            });
            if let (Some(map), Some(id), Some(tool)) = (document.as_object_mut(), &place.call_id, &place.tool)
            {
                map.insert("toolCallId".to_owned(), json!(id));
                map.insert("toolName".to_owned(), json!(tool));
            }
            session.ui.document(&document)?;
        }
        for diagnostic in &mut diagnostics {
            diagnostic.message = format!("line {}: {}", place.line, diagnostic.message);
        }
        session.ui.diagnostics(&session.files, &diagnostics)?;
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
        let exit = self.exit.unwrap_or(Exit::Ok);
        let failed = self.calls - self.allow - self.ask - self.deny;
        match session.ui.format() {
            Format::Human => {
                let text = Text::new().number(self.calls).plain(" calls: ").number(self.allow);
                let text = text.plain(" allow, ").number(self.ask).plain(" ask, ").number(self.deny);
                session.ui.line(&text.plain(" deny, ").number(failed).plain(" not decided"))?;
            }
            Format::Json => session.ui.document(&json!({
                "schema": "toolctl.plans/v1", "calls": self.calls, "allow": self.allow, "ask": self.ask,
                "deny": self.deny, "failed": failed, "exit": exit.code(),
            }))?,
            Format::Ndjson => {}
        }
        Ok(exit)
    }
}
