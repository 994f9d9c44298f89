//! `toolctl tools list`: the tools, what their calls may do, and whether they may run at all.

use super::tools_show;
use crate::cli::args::ToolsCommand;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::{is_untrusted, load_policies, tool_facts};
use crate::cli::session::Session;
use crate::diag::Diagnostic;
use crate::model::{Effect, Layer};
use crate::policy::{PolicySet, PossibleEffects};
use crate::project::{CatalogTool, Project};
use crate::term::{Format, Table};
use crate::text::escape;
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, command: &ToolsCommand) -> Result<Exit, Failure> {
    match command {
        ToolsCommand::List => list(session),
        ToolsCommand::Show { tool } => tools_show::run(session, tool),
    }
}

/// What policies make of a tool before any call is known.
pub(super) struct Standing {
    /// What its calls may do; `None` if the policies cannot be read.
    pub(super) effects: Option<PossibleEffects>,
    /// Nothing of it runs before the project is trusted.
    pub(super) needs_trust: bool,
}

impl Standing {
    pub(super) fn of(project: &Project, policies: Option<&PolicySet>, found: &CatalogTool) -> Self {
        let facts = tool_facts(project, &found.tool, found.layer);
        let effects = policies.map(|policies| policies.possible_effects(&facts));
        let reads = found.layer == Layer::Builtin
            && facts.builtin_effects.is_some_and(crate::model::EffectSet::is_only_read);
        Self { effects, needs_trust: is_untrusted(project) && !reads }
    }

    /// `read`, `write, external (by arguments)`.
    pub(super) fn words(&self) -> String {
        let Some(found) = &self.effects else { return "?".to_owned() };
        let names: Vec<&str> = found.effects.iter().map(Effect::as_str).collect();
        format!("{}{}", names.join(", "), if found.depends { " (by arguments)" } else { "" })
    }

    /// The parts of a document.
    pub(super) fn effects_document(&self) -> Value {
        self.effects.as_ref().map_or(Value::Null, |found| {
            let names: Vec<&str> = found.effects.iter().map(Effect::as_str).collect();
            json!({"effects": names, "dependsOnArguments": found.depends, "from": found.from})
        })
    }
}

/// The policies, or what is wrong with them: a list of tools is of use even then.
pub(super) fn policies(
    session: &mut Session<'_>,
    project: &Project,
) -> Result<(Option<PolicySet>, Vec<Diagnostic>), Failure> {
    match load_policies(session, project) {
        Ok(set) => Ok((Some(set), Vec::new())),
        Err(Failure::Config(faults)) => Ok((None, faults)),
        Err(other) => Err(other),
    }
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let project = session.project()?;
    let (tools, mut faults) = project.catalog().all(session.world, &mut session.files);
    let (policies, more) = policies(session, &project)?;
    faults.extend(more);
    let standings: Vec<Standing> =
        tools.iter().map(|found| Standing::of(&project, policies.as_ref(), found)).collect();
    if session.ui.format() == Format::Human {
        let mut table = Table::new(&["tool", "effect", "source", "trust", "description"]);
        for (found, standing) in tools.iter().zip(&standings) {
            table.row([
                escape(&found.tool.name),
                escape(&standing.words()),
                escape(found.layer.as_str()),
                escape(if standing.needs_trust { "needs trust" } else { "" }),
                escape(first_sentence(&found.tool.description)),
            ]);
        }
        session.ui.table(&table)?;
    } else {
        let tools: Vec<Value> = tools
            .iter()
            .zip(&standings)
            .map(|(found, standing)| {
                json!({
                    "name": found.tool.name, "layer": found.layer.as_str(), "description": found.tool.description,
                    "effects": standing.effects_document(), "needsTrust": standing.needs_trust,
                    "readOnly": found.tool.read_only, "destructive": found.tool.destructive,
                    "idempotent": found.tool.idempotent,
                })
            })
            .collect();
        session.ui.document(&json!({"schema": "toolctl.tools/v1", "tools": tools}))?;
    }
    session.ui.diagnostics(&session.files, &faults)?;
    Ok(if faults.is_empty() { Exit::Ok } else { Exit::Config })
}

/// The words for the hints that a manifest gives.
pub(super) fn hints(found: &CatalogTool) -> Vec<&'static str> {
    [
        (found.tool.read_only, "read-only"),
        (found.tool.destructive, "destructive"),
        (found.tool.idempotent, "idempotent"),
    ]
    .into_iter()
    .filter_map(|(set, name)| set.then_some(name))
    .collect()
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or(text).lines().next().unwrap_or("")
}
