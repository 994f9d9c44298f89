//! `toolctl plan`: what `run` would do, without doing it. Starts nothing and writes nothing.

use crate::cli::args::PlanArgs;
use crate::cli::confine::confine;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, sandbox_diagnostic};
use crate::cli::prepare::{Prepared, prepare};
use crate::cli::session::Session;
use crate::cli::verdict::{
    decision_exit, decision_info, denied, nobody_to_ask, origin_line, place, rule_line,
};
use crate::diag::Diagnostic;
use crate::gate::{approval_digest, sandbox_line};
use crate::model::Effect;
use crate::policy::{Action, Decided, EffectOrigin, decide_for_plan};
use crate::result::DecisionInfo;
use crate::sandbox::{PlanReport, SandboxError, probe};
use crate::term::{Format, Text, quote_argv};
use crate::text::escape;
use serde::Serialize;
use serde_json::Value;

/// `toolctl.plan/v1`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlanDocument {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    tool_call_id: String,
    tool_name: String,
    layer: &'static str,
    args: Value,
    defaults: Vec<String>,
    originals: Value,
    decision: DecisionInfo,
    matched: Vec<Value>,
    origins: Vec<Value>,
    would_ask: bool,
    plan_mode: DecisionInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<PlanReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preflight: Option<Value>,
    call_digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_digest: Option<String>,
    exit: u8,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &PlanArgs) -> Result<Exit, Failure> {
    if let Some(file) = &args.calls.calls {
        return super::plan_calls::run(session, file, &args.calls.context);
    }
    let call = args.calls.one();
    let prepared = prepare(session, &call)?;
    let ready = prepared.ready(session, &call)?;
    let (call, command, _stdin) = ready.split();
    let (decided, in_plan_mode) =
        decide_for_plan(prepared.facts(session, call), &prepared.policies, &prepared.ctx);
    let in_plan_mode = decision_info(&session.files, &in_plan_mode);
    let mut exit = decision_exit(decided.decision());
    let plan = if decided.decision().action == Action::Deny {
        None
    } else {
        Some(confine(session, &prepared, &decided, command)?)
    };
    let digest = plan
        .as_ref()
        .map(|plan| approval_digest(&decided, plan, &prepared.tool.tool.digest, &prepared.policies.digest()));
    let report = plan.as_ref().map(|plan| prepared.shown_report(decided.call(), plan.report()));
    let fault = if args.preflight { report.as_ref().and_then(preflight) } else { None };
    if fault.is_some() {
        exit = Exit::SandboxUnavailable;
    }
    let shown = Shown {
        prepared: &prepared,
        decided: &decided,
        report,
        digest,
        in_plan_mode,
        fault,
        exit,
        asked: args.preflight,
        line: None,
    };
    if session.ui.format() == Format::Human {
        let explain = prepared.again(session, &["policy", "explain"], &args.calls.one(), decided.call());
        human(session, &shown, &explain)?;
    } else {
        session.ui.document(&json(session, &shown))?;
    }
    Ok(exit)
}

/// What is shown of a planned call.
pub(super) struct Shown<'a> {
    /// The tool and its policies.
    pub(super) prepared: &'a Prepared,
    /// The decision.
    pub(super) decided: &'a Decided,
    /// The sandbox, if it was planned.
    pub(super) report: Option<PlanReport>,
    /// What an approval would be for.
    pub(super) digest: Option<String>,
    /// The decision on the same call in plan mode.
    pub(super) in_plan_mode: DecisionInfo,
    /// Why this machine cannot hold the sandbox.
    pub(super) fault: Option<SandboxError>,
    /// What `run` would end with.
    pub(super) exit: Exit,
    /// Whether the machine was asked.
    pub(super) asked: bool,
    /// The line of the call in a file of them.
    pub(super) line: Option<u64>,
}

/// Whether this machine can hold the sandbox, tried for real in a throw-away process. `None` is yes.
fn preflight(report: &PlanReport) -> Option<SandboxError> {
    let found = probe();
    let held = match report.backend.as_str() {
        "none" => true,
        "ns" => found.ns,
        "flat" => found.flat,
        _ => found.ns || (found.flat && report.flat_refusal.is_none()),
    };
    if held {
        return None;
    }
    let missing = found.layers.iter().find(|layer| !layer.works);
    Some(SandboxError::Unavailable {
        layer: missing.map_or_else(|| report.backend.clone(), |layer| layer.name.clone()),
        detail: missing.map_or_else(String::new, |layer| layer.detail.clone()),
        ways_out: vec!["see what this machine can enforce: toolctl doctor".to_owned()],
    })
}

/// The document of a planned call.
pub(super) fn json(session: &Session<'_>, shown: &Shown<'_>) -> PlanDocument {
    let call = shown.decided.call();
    let decision = shown.decided.decision();
    PlanDocument {
        schema: "toolctl.plan/v1",
        line: shown.line,
        tool_call_id: call.tool_call_id().to_owned(),
        tool_name: call.tool_name().to_owned(),
        layer: shown.prepared.tool.layer.as_str(),
        args: shown.prepared.shown_args(call),
        defaults: call.defaults().to_vec(),
        originals: serde_json::to_value(shown.prepared.shown_originals(call)).unwrap_or(Value::Null),
        decision: decision_info(&session.files, decision),
        matched: decision
            .matched
            .iter()
            .map(|matched| {
                serde_json::json!({
                    "rule": matched.rule, "action": matched.action.as_str(), "decisive": matched.decisive,
                    "evaluate": matched.evaluate, "at": matched.span.map(|span| place(&session.files, span)),
                })
            })
            .collect(),
        origins: shown.decided.origins().iter().map(origin).collect(),
        would_ask: decision.action == Action::Ask,
        plan_mode: shown.in_plan_mode.clone(),
        sandbox: shown.report.clone(),
        preflight: shown.asked.then(|| match &shown.fault {
            None => serde_json::json!({"ok": true}),
            Some(fault) => {
                serde_json::json!({"ok": false, "error": fault.to_string(), "waysOut": fault.ways_out()})
            }
        }),
        call_digest: call.digest().to_owned(),
        approval_digest: shown.digest.clone(),
        exit: shown.exit.code(),
    }
}

fn origin(origin: &EffectOrigin) -> Value {
    serde_json::json!({"effects": origin.effects.iter().map(Effect::as_str).collect::<Vec<_>>(), "from": origin_line(&origin.source)})
}

fn human(session: &mut Session<'_>, shown: &Shown<'_>, explain: &str) -> Result<(), Failure> {
    let decision = shown.decided.decision();
    let call = shown.decided.call();
    let mut lines = vec![
        row("tool")
            .strong_escaped(&escape(call.tool_name()))
            .plain(" (")
            .escaped(&escape(shown.prepared.tool.layer.as_str()))
            .plain(")"),
        row("arguments").escaped(&escape(&shown.prepared.shown_args(call).to_string())),
    ];
    if !call.defaults().is_empty() {
        lines.push(row("").plain("by default ").escaped(&escape(&call.defaults().join(" "))));
    }
    for (pointer, original) in shown.prepared.shown_originals(call) {
        lines.push(row("").escaped(&escape(&pointer)).plain(" was written ").code(&escape(&original)));
    }
    let effects: Vec<&str> = decision.effects.iter().map(Effect::as_str).collect();
    lines.push(row("effects").escaped(&escape(&effects.join(", "))));
    for origin in shown.decided.origins() {
        lines.push(row("").plain("from ").escaped(&escape(&origin_line(&origin.source))));
    }
    let action = match decision.action {
        Action::Allow => row("decision").good("allow"),
        Action::Ask => row("decision").warning("ask"),
        Action::Deny => row("decision").bad("deny"),
    };
    lines.push(action.plain("  ").escaped(&escape(&rule_line(&session.files, decision))));
    if let Some(reason) = &decision.reason {
        lines.push(row("").escaped(&escape(reason)));
    }
    for matched in decision.matched.iter().filter(|matched| !matched.decisive) {
        lines.push(
            row("also").escaped(&escape(matched.action.as_str())).plain("  ").escaped(&escape(&matched.rule)),
        );
    }
    let mode = &shown.in_plan_mode;
    lines.push(row("plan mode").escaped(&escape(mode.action)).plain("  ").escaped(&escape(&mode.rule)));
    if let Some(report) = &shown.report {
        if let Some(program) = &report.program {
            lines.push(row("runs").escaped(&quote_argv(&report.argv)));
            lines.push(row("program").escaped(&escape(&program.to_string_lossy())));
        } else {
            lines.push(row("runs").plain("toolctl itself, inside the sandbox"));
        }
        lines.push(row("in").escaped(&escape(&report.cwd)));
        lines.push(row("sandbox").escaped(&escape(&sandbox_line(report))));
        lines.push(row("env").escaped(&escape(&report.env.join(" "))));
        for digest in &report.digests {
            lines.push(row("hashed").escaped(&escape(&format!(
                "{} {}",
                digest.path.to_string_lossy(),
                digest.digest
            ))));
        }
    }
    lines.push(row("digest").escaped(&escape(call.digest())));
    lines.push(
        row("not run")
            .plain("this was a plan; run would end with exit code ")
            .number(shown.exit.code())
            .plain(if shown.exit == Exit::Ok { " or with that of the tool's end" } else { "" }),
    );
    for line in &lines {
        session.ui.line(line)?;
    }
    if let Some(diagnostic) = trouble(session, shown, explain) {
        session.ui.diagnostics(&session.files, &[diagnostic])?;
    }
    Ok(())
}

fn trouble(session: &Session<'_>, shown: &Shown<'_>, explain: &str) -> Option<Diagnostic> {
    if let Some(fault) = &shown.fault {
        return Some(sandbox_diagnostic(fault));
    }
    match shown.decided.decision().action {
        Action::Allow => None,
        Action::Ask => Some(nobody_to_ask(shown.decided, "a plan asks nobody")),
        Action::Deny => Some(denied(shown.decided, &shown.prepared.project, &session.global, explain)),
    }
}

/// A label in a column of its own.
fn row(label: &'static str) -> Text {
    const COLUMN: &str = "           ";
    Text::new().dim(label).plain(COLUMN.get(label.len()..).unwrap_or(" "))
}
