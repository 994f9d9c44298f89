//! What the messages of a tool that failed do not say: that its sandbox was cut down to the decided effect, or that the
//! workspace has no repository. The program only sees a file system that it cannot write, a name that does not resolve.

use super::again::again;
use super::args::CallArgs;
use super::prepare::Prepared;
use super::session::Session;
use crate::diag::Diagnostic;
use crate::manifest::{ArgvElement, Exec};
use crate::model::{AllowFs, AllowNetwork, Effect};
use crate::policy::Decided;
use crate::text::escape;
use std::path::Path;

/// The diagnostic of a failure with what may be behind it.
pub(crate) fn with_hints(
    mut diagnostic: Diagnostic,
    session: &Session<'_>,
    prepared: &Prepared,
    decided: &Decided,
    args: &CallArgs,
) -> Diagnostic {
    diagnostic = cut_down(diagnostic, prepared, decided);
    if is_git(prepared) { no_repository(diagnostic, session, prepared, args) } else { diagnostic }
}

/// The manifest asks for more than the decided effects give.
fn cut_down(diagnostic: Diagnostic, prepared: &Prepared, decided: &Decided) -> Diagnostic {
    let Some(config) = &prepared.facts.sandbox else { return diagnostic };
    let effects = decided.effects();
    let writes = match &config.allow_fs {
        Some(AllowFs::Paths { read_write, .. }) => !read_write.is_empty(),
        None | Some(AllowFs::No | AllowFs::All) => false,
    };
    let network = match &config.allow_network {
        None | Some(AllowNetwork::No) => false,
        Some(AllowNetwork::Loopback | AllowNetwork::Hosts(_) | AllowNetwork::Yes) => true,
    };
    let mut lacked = Vec::new();
    let mut wanted = Vec::new();
    if writes && !effects.contains(Effect::Write) {
        lacked.push("could write nothing");
        wanted.push("write");
    }
    if network && !effects.contains(Effect::External) {
        lacked.push("had no network");
        wanted.push("external");
    }
    if lacked.is_empty() {
        return diagnostic;
    }
    let tool = escape(&prepared.tool.tool.name);
    let decided: Vec<&str> = effects.iter().map(Effect::as_str).collect();
    diagnostic
        .note(format!(
            "its manifest asks for more, but the effect of the call was decided as {}, so it {}",
            decided.join(", "),
            lacked.join(" and ")
        ))
        .help(format!(
            "if it may, say so in a policy: `effects: {{ {tool}: [ {{ effect: [{}] }} ] }}`",
            wanted.join(", ")
        ))
}

fn is_git(prepared: &Prepared) -> bool {
    let shown = match prepared.facts.sandbox.as_ref().and_then(|config| config.allow_fs.as_ref()) {
        Some(AllowFs::Paths { read_only, read_write }) => {
            read_only.iter().chain(read_write).any(|entry| entry == "{workspace.git}")
        }
        None | Some(AllowFs::No | AllowFs::All) => false,
    };
    let named = match &prepared.tool.tool.exec {
        Exec::Command(argv) => match argv.first() {
            Some(ArgvElement::One(program)) => program.to_string() == "git",
            Some(ArgvElement::Splice { .. } | ArgvElement::Group { .. }) | None => false,
        },
        Exec::Builtin(_) => false,
    };
    shown || named
}

/// The workspace has no repository of its own; a folder above it may have one, which the sandbox does not show.
fn no_repository(
    diagnostic: Diagnostic,
    session: &Session<'_>,
    prepared: &Prepared,
    args: &CallArgs,
) -> Diagnostic {
    let workspace = prepared.project.workspace.as_path();
    let has = |path: &Path| session.world.lstat(path).is_ok();
    // A bare repository is its own folder.
    if has(&workspace.join(".git")) || has(&workspace.join("HEAD")) {
        return diagnostic;
    }
    let shown = |path: &Path| escape(&path.to_string_lossy()).to_string();
    match workspace.ancestors().skip(1).find(|above| has(&above.join(".git"))) {
        Some(above) => {
            let mut global = session.global.clone();
            global.directory = Some(above.to_path_buf());
            diagnostic
                .note(format!(
                    "the workspace is {}, a folder inside the repository {}; a sandbox shows the workspace alone",
                    shown(workspace),
                    shown(above)
                ))
                .help(format!("work where the repository is: {}", again(&global, &["run"], args, false)))
        }
        None => diagnostic
            .note(format!("the workspace {} is no git repository", shown(workspace)))
            .help("name the folder of a repository with -C DIR, or make one: git init"),
    }
}
