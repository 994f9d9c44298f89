//! The sandbox of one decided call: what the manifest asks for, cut down to the decided effects and the rule's limits.

use super::failure::Failure;
use super::filling::{Ready, fill_config, fill_entry};
use super::masks::{Found, Walk};
use super::narrow;
use super::prepare::{Prepared, as_trusted};
use super::session::Session;
use crate::canon::{canonical_path, is_under};
use crate::diag::{Code, Diagnostic};
use crate::manifest::{
    ArgvElement, BuiltinReach, Exec, FillEnv, Template, TemplatePart, fill, resolve_program,
};
use crate::model::{AllowFs, Effect, SandboxConfig};
use crate::policy::Decided;
use crate::project::Backend;
use crate::sandbox::{BackendChoice, Launcher, Plan, PlanInput, Program, Protected, SandboxError, cut};
use crate::text::escape;
use crate::world::FileKind;
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The parts of [`Ready`] that the sandbox is made of, once the call itself was given to the decision.
pub(crate) struct Command {
    /// The arguments of the program, the program included.
    pub(crate) argv: Vec<OsString>,
    /// The working folder, if not the default.
    pub(crate) cwd: Option<PathBuf>,
    /// The filled-in configuration; `None`: no sandbox.
    pub(crate) sandbox: Option<SandboxConfig>,
}

impl Ready {
    /// Splits the call from what runs it.
    pub(crate) fn split(self) -> (crate::call::ValidatedCall, Command, crate::sandbox::Stdin) {
        (self.call, Command { argv: self.argv, cwd: self.cwd, sandbox: self.sandbox }, self.stdin)
    }
}

/// Plans the sandbox of a decided call. Starts and writes nothing.
pub(crate) fn confine(
    session: &Session<'_>,
    prepared: &Prepared,
    decided: &Decided,
    command: Command,
) -> Result<Plan, Failure> {
    let workspace = prepared.project.workspace.as_path();
    let env = prepared.fill_env();
    let args = decided.call().args();
    let effects = decided.effects();
    let mut limits = Vec::new();
    for limit in &decided.decision().limits {
        limits.push(fill_config(limit, args, &env).map_err(|fault| Failure::Config(vec![fault]))?);
    }
    let config = command.sandbox.map(|config| cut(config, effects, &limits));
    let (mut read_only, mut read_write) = match config.as_ref().and_then(|config| config.allow_fs.as_ref()) {
        Some(AllowFs::Paths { read_only, read_write }) => (paths(read_only), paths(read_write)),
        None | Some(AllowFs::No | AllowFs::All) => (Vec::new(), Vec::new()),
    };
    let mut decided_to = decided_places(prepared, decided, &env)?;
    if let Some(folder) = narrow::written(session.world, prepared, decided) {
        narrow::narrow(&folder, &mut read_only, &mut read_write);
        decided_to.entry(folder.clone()).or_insert(folder);
    }
    let program = program(session, prepared, &command.argv)?;
    // Of a tool of ours that opens just the paths of its arguments, which the guards have judged already, and of one that
    // takes what is below them along, no more is looked through: walking the workspace would cost more than the call.
    let roots = match narrow::reach(prepared) {
        BuiltinReach::Arguments => Vec::new(),
        BuiltinReach::Trees => folders(session, decided),
        BuiltinReach::Workspace => shown_roots(session, config.as_ref(), workspace, &read_only, &read_write),
    };
    let found = if roots.is_empty() {
        Found::default()
    } else {
        let masks = if config.is_some() { decided.decision().masks.as_slice() } else { &[] };
        let writes = config.is_some() && effects.contains(Effect::Write);
        let held = prepared.control.read_only.as_slice();
        Walk { world: session.world, workspace, repositories: writes, held }.find(masks, &roots)?
    };
    let plan = Plan::build(PlanInput {
        world: session.world,
        backend: backend(prepared.project.settings.backend),
        effects,
        workspace: workspace.to_path_buf(),
        scripts: scripts(session, prepared, &env),
        env: environment(session, prepared, config.as_ref(), decided)?,
        argv: command.argv,
        cwd: command.cwd,
        protected: protected(prepared, decided, &found),
        masks: found.masked,
        decided: decided_to,
        runtime: prepared.project.settings.runtime.iter().cloned().collect(),
        launcher: Launcher::SelfExe,
        config,
        read_only,
        read_write,
        program,
    })?;
    let copied = plan.report().digests.into_iter().map(|digest| (digest.path, digest.digest));
    as_trusted(session, &prepared.project, &copied.collect::<Vec<_>>())?;
    Ok(plan)
}

/// The folders that the call names, links left out: nothing is below a link that is not followed.
fn folders(session: &Session<'_>, decided: &Decided) -> Vec<PathBuf> {
    let is_folder = |path: &PathBuf| session.world.lstat(path).is_ok_and(|stat| stat.kind == FileKind::Dir);
    narrow::named(decided).filter(is_folder).collect()
}

/// What the sandbox holds, whatever is bound above it. A path argument at or below a file that is executed later came
/// through `engine/control-files`, so a grant of the host names that file: it is not held in this call.
fn protected(prepared: &Prepared, decided: &Decided, found: &Found) -> Protected {
    let control = &prepared.control;
    let named = |path: &PathBuf| {
        let held = path.to_string_lossy();
        decided.call().paths().values().any(|argument| is_under(argument.absolute(), &held))
    };
    let later = control.exec_later.iter().chain(&found.exec_later).filter(|path| !named(path));
    let absent = control.absent.iter().chain(&found.absent);
    Protected {
        read_only: control.read_only.iter().chain(later).cloned().collect(),
        hidden: control.hidden.clone(),
        absent: absent.filter(|path| prepared.protected.contains(path) || !named(path)).cloned().collect(),
    }
}

/// What the walk looks through: all that the sandbox shows and that is not the system's. With the host's whole tree that
/// is the workspace and the user's home; the rest of the machine is too large for a look at each call.
fn shown_roots(
    session: &Session<'_>,
    config: Option<&SandboxConfig>,
    workspace: &Path,
    read_only: &[PathBuf],
    read_write: &[PathBuf],
) -> Vec<PathBuf> {
    if config.and_then(|config| config.allow_fs.as_ref()) == Some(&AllowFs::All) {
        let home = session.world.account(session.world.euid()).map(|account| account.home);
        return std::iter::once(workspace.to_path_buf()).chain(home).collect();
    }
    read_only.iter().chain(read_write).cloned().collect()
}

/// The binds that the call's arguments name, and what the decision took each for. An argument that is not declared a path
/// and a place below an argument were judged as they are written, so no symlink may be on the way.
fn decided_places(
    prepared: &Prepared,
    decided: &Decided,
    env: &FillEnv<'_>,
) -> Result<BTreeMap<PathBuf, PathBuf>, Failure> {
    let mut places = BTreeMap::new();
    for path in decided.call().paths().values() {
        let given = path.link().unwrap_or_else(|| path.absolute());
        places.insert(PathBuf::from(given), PathBuf::from(path.absolute()));
    }
    let configs = prepared.facts.sandbox.iter().chain(&decided.decision().limits);
    for fs in configs.filter_map(|config| config.allow_fs.as_ref()) {
        let AllowFs::Paths { read_only, read_write } = fs else { continue };
        for entry in read_only.iter().chain(read_write).filter(|entry| entry.contains("{args.")) {
            let filled = fill_entry(entry, decided.call().args(), env)
                .map_err(|fault| Failure::Config(vec![fault]))?;
            for path in filled {
                places.entry(path.clone()).or_insert(path);
            }
        }
    }
    Ok(places)
}

fn paths(list: &[String]) -> Vec<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

const fn backend(choice: Backend) -> BackendChoice {
    match choice {
        Backend::Auto => BackendChoice::Auto,
        Backend::Ns => BackendChoice::Ns,
        Backend::Flat => BackendChoice::Flat,
    }
}

fn program(session: &Session<'_>, prepared: &Prepared, argv: &[OsString]) -> Result<Program, Failure> {
    let tool = &prepared.tool.tool;
    if matches!(tool.exec, Exec::Builtin(_)) {
        return Ok(Program::SelfExe);
    }
    let name = argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let found = resolve_program(session.world, &name, tool.dir.as_deref(), &prepared.project.settings.path)
        .map_err(Failure::Program)?;
    let root = Path::new("/");
    let canonical =
        canonical_path(session.world, root, root, &found.to_string_lossy(), true).map_err(|error| {
            Failure::Sandbox(SandboxError::BadRequest(format!(
                "the program {}: {error}",
                escape(&found.to_string_lossy())
            )))
        })?;
    Ok(Program::HostFile(PathBuf::from(canonical.absolute())))
}

/// Files beside the manifest that its command names literally: bound one by one, so that a manifest in a home folder
/// does not show the home folder.
fn scripts(session: &Session<'_>, prepared: &Prepared, env: &FillEnv<'_>) -> Vec<PathBuf> {
    let (Exec::Command(elements), Some(dir)) = (&prepared.tool.tool.exec, &prepared.tool.tool.dir) else {
        return Vec::new();
    };
    elements
        .iter()
        .skip(1)
        .filter_map(|element| match element {
            ArgvElement::One(template) if is_literal(template) => fill(template, &Map::new(), env).ok(),
            ArgvElement::One(_) | ArgvElement::Splice { .. } | ArgvElement::Group { .. } => None,
        })
        .map(PathBuf::from)
        .filter(|path| path.starts_with(dir))
        .filter(|path| session.world.stat(path).is_ok_and(|stat| stat.kind == FileKind::File))
        .collect()
}

fn is_literal(template: &Template) -> bool {
    template.parts.iter().all(|part| match part {
        TemplatePart::Text(_) | TemplatePart::Workspace | TemplatePart::ToolDir => true,
        TemplatePart::WorkspaceGit | TemplatePart::Arg(_) | TemplatePart::Ctx(_) => false,
    })
}

fn environment(
    session: &Session<'_>,
    prepared: &Prepared,
    config: Option<&SandboxConfig>,
    decided: &Decided,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut env: Vec<(OsString, OsString)> = Vec::new();
    let request = config.and_then(|config| config.env.clone()).unwrap_or_default();
    let forwardable = &prepared.project.settings.forwardable_env;
    for name in &request.forward {
        if !forwardable.contains(name) {
            return Err(Failure::Config(vec![
                Diagnostic::error(
                    Code::SandboxBadRequest,
                    format!("the tool asks for the variable `{}`, which may not be forwarded", escape(name)),
                )
                .help(forwardable_help(name, forwardable)),
            ]));
        }
        if let Some(value) = session.world.env(name) {
            env.push((name.into(), value));
        }
    }
    env.extend(request.set.iter().map(|(name, value)| (name.into(), value.into())));
    env.push(("TOOLCTL_CALL_ID".into(), decided.call().tool_call_id().into()));
    if let Some(run) = &prepared.ctx.run_id {
        env.push(("TOOLCTL_RUN_ID".into(), run.into()));
    }
    Ok(env)
}

/// The whole line to write: the list replaces the default one, so one that only had this name would lose the others.
fn forwardable_help(name: &str, forwardable: &BTreeSet<String>) -> String {
    let names: Vec<&str> = forwardable.iter().map(String::as_str).chain([name]).collect();
    format!(
        "if it may leave your shell, write into your own settings (~/.config/toolctl/toolctl.yaml): \
         `forwardableEnv: [{}]`",
        escape(&names.join(", "))
    )
}
