//! `toolctl policy show`: the policies and rules in force, which of them decides, and what is ignored.

use super::policy_explain;
use crate::cli::args::{PolicyCommand, PolicyShowArgs};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::load_policies;
use crate::cli::session::Session;
use crate::cli::verdict::place;
use crate::model::Layer;
use crate::policy::{Action, PolicySet, Ranked, RuleSummary};
use crate::source::Files;
use crate::term::{Format, Table, Text};
use crate::text::{Escaped, escape};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, command: &PolicyCommand) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::Explain(args) => policy_explain::run(session, args),
        PolicyCommand::Show(args) => show(session, args),
    }
}

fn show(session: &mut Session<'_>, args: &PolicyShowArgs) -> Result<Exit, Failure> {
    let project = session.project()?;
    let set = load_policies(session, &project)?;
    let ranked = set.ranked();
    if session.ui.format() != Format::Human {
        let document = document(&session.files, &set, &ranked);
        session.ui.document(&document)?;
        return Ok(Exit::Ok);
    }
    session.ui.table(&files_table(&ranked))?;
    session.ui.line(&Text::new())?;
    let rules = rules_table(&session.files, &ranked, args.sources);
    session.ui.table(&rules)?;
    for ignored in set.ignored() {
        session.ui.line(&Text::new().warning("ignored").plain("  ").escaped(&escape(&ignored.message)))?;
    }
    if !set.ignored().is_empty() {
        session.ui.line(&Text::new().plain("look at the project, then trust it: toolctl trust"))?;
    }
    session.ui.line(&Text::new().dim("digest  ").escaped(&escape(&set.digest())))?;
    Ok(Exit::Ok)
}

const fn counts(trusted: bool) -> &'static str {
    if trusted { "fully" } else { "guards only: needs trust" }
}

fn file_of(ranked: &Ranked<'_>) -> Escaped {
    match ranked.source.layer {
        Layer::Builtin => escape("(built in)"),
        Layer::System | Layer::User | Layer::Project => escape(&ranked.source.path.to_string_lossy()),
    }
}

fn files_table(ranked: &[Ranked<'_>]) -> Table {
    let mut table = Table::new(&["rank", "policy", "role", "layer", "default", "counts", "file"]);
    for file in ranked {
        table.row([
            escape(&file.rank.to_string()),
            escape(file.source.file.name()),
            escape(file.role.as_str()),
            escape(file.source.layer.as_str()),
            escape(file.default.map_or("", Action::as_str)),
            escape(counts(file.source.trusted)),
            file_of(file),
        ]);
    }
    table
}

fn rules_table(files: &Files, ranked: &[Ranked<'_>], sources: bool) -> Table {
    let columns = ["rule", "says", "tools", "state", "rank", "layer", "place"];
    let mut table = Table::new(columns.get(..if sources { columns.len() } else { 4 }).unwrap_or(&columns));
    for file in ranked {
        for rule in &file.rules {
            table.row([
                escape(&rule.id),
                escape(&says(rule)),
                escape(&rule.tools),
                escape(rule.set_aside.unwrap_or("counts")),
                escape(&file.rank.to_string()),
                escape(file.source.layer.as_str()),
                rule.span.map_or_else(
                    || file_of(file),
                    |span| {
                        let at = place(files, span);
                        escape(&format!("{}:{}:{}", at.file, at.line, at.column))
                    },
                ),
            ]);
        }
    }
    table
}

/// `allow`, `ask`, `deny` or `at least ask`.
fn says(rule: &RuleSummary) -> String {
    if !rule.grant && rule.action == Action::Ask {
        "at least ask".to_owned()
    } else {
        rule.action.to_string()
    }
}

fn document(files: &Files, set: &PolicySet, ranked: &[Ranked<'_>]) -> Value {
    let rule = |rule: &RuleSummary| {
        json!({
            "rule": rule.id, "action": rule.action.as_str(), "grant": rule.grant, "tools": rule.tools,
            "setAside": rule.set_aside, "at": rule.span.map(|span| place(files, span)),
        })
    };
    let policies: Vec<Value> = ranked
        .iter()
        .map(|file| {
            let source = file.source;
            json!({
                "policy": source.file.name(), "rank": file.rank, "role": file.role.as_str(),
                "layer": source.layer.as_str(), "trusted": source.trusted,
                "default": file.default.map(Action::as_str), "file": source.path.to_string_lossy(),
                "digest": source.text_digest, "rules": file.rules.iter().map(rule).collect::<Vec<_>>(),
            })
        })
        .collect();
    let ignored: Vec<Value> = set
        .ignored()
        .iter()
        .map(|ignored| {
            let at = ignored.primary.as_ref().map(|label| place(files, label.span));
            json!({"what": ignored.message, "at": at})
        })
        .collect();
    json!({"schema": "toolctl.policies/v1", "digest": set.digest(), "policies": policies, "ignored": ignored})
}
