//! `toolctl trust`: shows what a project asks for, then remembers that its files may act.

use crate::cli::args::TrustArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::Session;
use crate::cli::verdict::trust_notes;
use crate::diag::{Code, Diagnostic};
use crate::manifest::Exec;
use crate::model::{AllowFs, AllowNetwork, SandboxConfig};
use crate::project::{CatalogTool, Project, TrustState};
use crate::sandbox::resolve;
use crate::term::{Format, Table, Text};
use crate::text::escape;
use serde_json::json;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &TrustArgs) -> Result<Exit, Failure> {
    if let Some(dir) = &args.dir {
        let base = session.start()?;
        session.global.directory = Some(base.join(dir));
    }
    let project = session.project()?;
    if project.root.is_none() {
        return Err(Failure::NothingToDo(
            Diagnostic::error(Code::NothingToDo, "there is no project here that could be trusted")
                .help("a project has a `toolctl.yaml` or a `tools.d` folder at its root"),
        ));
    }
    if args.revoke {
        return revoke(session, &project);
    }
    let (tools, faults) = project.catalog().all(session.world, &mut session.files);
    let record = project.prepare_trust(session.world, &tools, args.author).map_err(Failure::of)?;
    if matches!(project.trust, TrustState::Changed(_)) {
        for note in trust_notes(&project) {
            session.ui.say(&Text::new().escaped(&escape(&note)))?;
        }
    }
    reach(session, &project, &tools)?;
    session.ui.diagnostics(&session.files, &faults)?;
    project.trust(session.world, &record).map_err(|fault| Failure::of(vec![fault]))?;
    let root = project.root.as_ref().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default();
    if session.ui.format() == Format::Human {
        let follows = if args.author {
            "trusted as its author; edits are followed"
        } else {
            "trusted as it is now; any change asks again"
        };
        session.ui.say(&Text::new().escaped(&escape(&root)).plain(": ").plain(follows))?;
    } else {
        session.ui.document(&json!({
            "schema": "toolctl.trust/v1", "root": root, "trusted": true, "author": args.author, "digest": record.digest(),
            "files": record.files().collect::<Vec<_>>(),
        }))?;
    }
    Ok(Exit::Ok)
}

fn revoke(session: &mut Session<'_>, project: &Project) -> Result<Exit, Failure> {
    let was = project.revoke_trust(session.world).map_err(|fault| Failure::of(vec![fault]))?;
    let text = if was { "no longer trusted" } else { "it was not trusted" };
    if session.ui.format() == Format::Human {
        session.ui.say(&Text::new().plain(text))?;
    } else {
        session.ui.document(&json!({"schema": "toolctl.trust/v1", "trusted": false, "changed": was}))?;
    }
    Ok(Exit::Ok)
}

/// What the project's tools could reach once it is trusted, as far as its manifests say.
fn reach(session: &mut Session<'_>, project: &Project, tools: &[CatalogTool]) -> Result<(), Failure> {
    let mut table = Table::new(&["tool", "runs", "files", "network", "environment"]);
    for found in tools.iter().filter(|found| found.layer == crate::model::Layer::Project) {
        let config = resolve(found.tool.sandbox.as_ref(), project.settings.sandbox.as_ref());
        table.row([
            escape(&found.tool.name),
            escape(&runs(found)),
            escape(&config.as_ref().map_or_else(|| "everything of yours: no sandbox".to_owned(), files)),
            escape(config.as_ref().map_or("yes", network)),
            escape(&config.as_ref().map_or_else(String::new, environment)),
        ]);
    }
    if !table.is_empty() && session.ui.format() == Format::Human {
        let width = None;
        for line in table.render(width).lines() {
            session.ui.say(&Text::new().escaped(&escape(line)))?;
        }
    }
    Ok(())
}

fn runs(found: &CatalogTool) -> String {
    match &found.tool.exec {
        Exec::Builtin(name) => format!("built-in {name}"),
        Exec::Command(elements) => match elements.first() {
            Some(crate::manifest::ArgvElement::One(template)) => {
                template.literal().map_or_else(|| "a program in the project".to_owned(), str::to_owned)
            }
            Some(
                crate::manifest::ArgvElement::Splice { .. } | crate::manifest::ArgvElement::Group { .. },
            )
            | None => "a program that the call names".to_owned(),
        },
    }
}

fn files(config: &SandboxConfig) -> String {
    match &config.allow_fs {
        None | Some(AllowFs::No) => "none".to_owned(),
        Some(AllowFs::All) => "the whole machine".to_owned(),
        Some(AllowFs::Paths { read_only, read_write }) => {
            let mut parts = Vec::new();
            if !read_only.is_empty() {
                parts.push(format!("read {}", read_only.join(" ")));
            }
            if !read_write.is_empty() {
                parts.push(format!("write {}", read_write.join(" ")));
            }
            parts.join("; ")
        }
    }
}

const fn network(config: &SandboxConfig) -> &'static str {
    match &config.allow_network {
        None | Some(AllowNetwork::No) => "no",
        Some(AllowNetwork::Loopback) => "loopback",
        Some(AllowNetwork::Hosts(_)) => "listed hosts",
        Some(AllowNetwork::Yes) => "yes",
    }
}

fn environment(config: &SandboxConfig) -> String {
    config.env.as_ref().map(|env| env.forward.join(" ")).unwrap_or_default()
}
