//! From a command line to a decided call and its sandbox: the part that `run`, `plan`, `validate` and `policy explain`
//! share. Nothing here executes or writes.

use super::args::CallArgs;
use super::failure::{ArgumentFault, Failure};
use super::filling::{Filling, Ready};
use super::session::{Session, context};
use crate::call::{Call, CallEnv, ValidatedCall, args_from_flags, parse_args, validate};
use crate::diag::{Code, Diagnostic, Severity};
use crate::manifest::{Exec, FillEnv, Tool, builtin_effects, unsupported};
use crate::model::{AllowFs, Context, Layer};
use crate::policy::{
    self, Action, Classified, Decided, FactEnv, LegacyApproval, PolicySet, PolicySource, ToolFacts,
    check_for_tool,
};
use crate::project::{ApprovalPolicy, CatalogError, CatalogTool, Control, Project, git_dirs};
use crate::sandbox::{PlanReport, SandboxError, resolve};
use crate::source::{Decoder, Files, JsonLimits, Read};
use crate::text::escape;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Everything that deciding and planning a call needs.
pub(crate) struct Prepared {
    /// The project.
    pub(crate) project: Rc<Project>,
    /// The tool, its schema and its layer.
    pub(crate) tool: CatalogTool,
    /// What policy has to know of the tool.
    pub(crate) facts: Arc<ToolFacts>,
    /// The policies.
    pub(crate) policies: Rc<PolicySet>,
    /// The caller's claims.
    pub(crate) ctx: Context,
    /// The control files.
    pub(crate) control: Control,
    /// What no call may write to.
    pub(crate) protected: Vec<PathBuf>,
    /// The folders of the workspace's repository, if the tool's sandbox shows them.
    pub(crate) git: Vec<PathBuf>,
    /// The legacy approval list.
    pub(crate) legacy: LegacyApproval,
}

/// Finds the tool and reads what decides about it.
pub(crate) fn prepare(session: &mut Session<'_>, args: &CallArgs) -> Result<Prepared, Failure> {
    // What `@FILE` may read is decided as a call of `read_file`.
    prepare_with(session, args, Some(&[&args.tool, "read_file"]))
}

/// The same, and keeps the rules that cannot select the tool too: for what shows more than the decision.
pub(crate) fn prepare_whole(session: &mut Session<'_>, args: &CallArgs) -> Result<Prepared, Failure> {
    prepare_with(session, args, None)
}

fn prepare_with(
    session: &mut Session<'_>,
    args: &CallArgs,
    called: Option<&[&str]>,
) -> Result<Prepared, Failure> {
    session.without_arguments(args.args.is_none() && args.arg.is_empty());
    let project = Rc::new(session.project_for(Some(&args.tool))?);
    let tool = runnable_tool(session, &project, &args.tool)?;
    let policies = Rc::new(load_policies(session, &project, called)?);
    let ctx = context(&args.context, project.settings.agent_name.as_deref());
    assemble(session, project, policies, ctx, tool)
}

/// The same for one of many calls, which have the project, the whole policies and the claims in common.
pub(crate) fn prepare_tool(
    session: &mut Session<'_>,
    project: &Rc<Project>,
    policies: &Rc<PolicySet>,
    ctx: &Context,
    name: &str,
) -> Result<Prepared, Failure> {
    let tool = runnable_tool(session, project, name)?;
    assemble(session, Rc::clone(project), Rc::clone(policies), ctx.clone(), tool)
}

/// Finds a tool, and refuses one that must not or cannot run.
fn runnable_tool(session: &mut Session<'_>, project: &Project, name: &str) -> Result<CatalogTool, Failure> {
    let tool = find_tool(session, project, name)?;
    if let (Layer::Project, Some(dir)) = (tool.layer, &tool.tool.dir) {
        let name = |extension: &str| dir.join(format!("{}.{extension}", tool.tool.name));
        let manifest: Vec<_> =
            ["yaml", "yml", "json"].map(|extension| (name(extension), tool.tool.digest.clone())).into();
        as_trusted(session, project, &manifest)?;
    }
    project.check_programs(session.world, &tool).map_err(Failure::Config)?;
    let unknown =
        project.unknown_programs(session.world, &tool).map_err(|fault| Failure::Config(vec![fault]))?;
    if !unknown.is_empty() {
        return Err(Failure::Config(
            unknown.iter().map(|path| unknown_program(&tool.tool.name, path)).collect(),
        ));
    }
    let mut refused = unsupported(&tool.tool);
    refused.extend(project.settings.unsupported());
    if refused.is_empty() { Ok(tool) } else { Err(Failure::Config(refused)) }
}

/// Puts together what decides about a tool.
fn assemble(
    session: &Session<'_>,
    project: Rc<Project>,
    policies: Rc<PolicySet>,
    ctx: Context,
    tool: CatalogTool,
) -> Result<Prepared, Failure> {
    let control =
        project.control_set(session.world, Some(&tool.tool)).map_err(|fault| Failure::Config(vec![fault]))?;
    let protected = control.protected();
    let facts = Arc::new(tool_facts(&project, &tool.tool, tool.layer));
    let faults = check_for_tool(&policies, &facts);
    if faults.iter().any(|fault| fault.severity == Severity::Error) {
        return Err(Failure::Config(faults));
    }
    let git = repository_folders(session, &project, &facts)?;
    let legacy = legacy_approval(&project);
    Ok(Prepared { project, tool, facts, policies, ctx, control, protected, git, legacy })
}

/// The settings' list of tools that ask.
pub(crate) fn legacy_approval(project: &Project) -> LegacyApproval {
    match &project.settings.approval.policy {
        ApprovalPolicy::None => LegacyApproval::None,
        ApprovalPolicy::All => LegacyApproval::All,
        ApprovalPolicy::Names(names) => LegacyApproval::Names(names.iter().cloned().collect()),
    }
}

/// Refuses files of a trusted project that were exchanged after the trust was looked at.
pub(crate) fn as_trusted(
    session: &Session<'_>,
    project: &Project,
    read: &[(PathBuf, String)],
) -> Result<(), Failure> {
    match project.differs(session.world, read).map_err(|fault| Failure::Config(vec![fault]))? {
        None => Ok(()),
        Some(path) => {
            Err(Failure::Sandbox(SandboxError::Changed { path: escape(&path.to_string_lossy()).to_string() }))
        }
    }
}

fn unknown_program(tool: &str, path: &Path) -> Diagnostic {
    Diagnostic::error(
        Code::ConfigNeedsTrust,
        format!(
            "`{}` runs `{}`, which was not part of what was trusted",
            escape(tool),
            escape(&path.to_string_lossy())
        ),
    )
    .help("read that file, then run `toolctl trust` again")
    .help("or keep it beside the manifest, where no tool can write")
}

/// Opens the one manifest of a tool.
pub(crate) fn find_tool(
    session: &mut Session<'_>,
    project: &Project,
    name: &str,
) -> Result<CatalogTool, Failure> {
    let tool = project.catalog().find(session.world, &mut session.files, name).map_err(|error| {
        let unknown = matches!(error, CatalogError::Unknown { .. });
        let mut diagnostics = error.into_diagnostics();
        if unknown && diagnostics.len() == 1 {
            diagnostics.pop().map_or_else(|| Failure::Config(Vec::new()), Failure::UnknownTool)
        } else {
            Failure::Config(diagnostics)
        }
    })?;
    // What is odd about a manifest is `check`'s matter; here it would be said at every call.
    if session.global.verbose > 0 {
        session.ui.diagnostics(&session.files, &tool.warnings)?;
    }
    Ok(tool)
}

/// Reads every policy of every layer and prints its warnings. With `called`, what can only matter for other tools is looked
/// at and not kept.
pub(crate) fn load_policies(
    session: &mut Session<'_>,
    project: &Project,
    called: Option<&[&str]>,
) -> Result<PolicySet, Failure> {
    let (set, warnings) = read_policies(session, project, called)?;
    session.ui.diagnostics(&session.files, &warnings)?;
    Ok(set)
}

/// The same, giving the warnings too.
pub(crate) fn read_policies(
    session: &mut Session<'_>,
    project: &Project,
    called: Option<&[&str]>,
) -> Result<(PolicySet, Vec<Diagnostic>), Failure> {
    let nodes = project.policies(session.world, &mut session.files).map_err(Failure::Config)?;
    let read: Vec<_> = nodes.iter().map(|node| (node.path.clone(), node.digest.clone())).collect();
    as_trusted(session, project, &read)?;
    let mut decoder = Decoder::new();
    let mut sources = Vec::new();
    for node in nodes {
        let file = match (&node.read, called) {
            (Read::Outline(outline), Some(tools)) => {
                policy::decode_for(&mut decoder, outline.root(&session.files), tools)
            }
            (read, _) => policy::decode(&mut decoder, &read.tree(&session.files)),
        };
        if let Some(file) = file {
            sources.push(PolicySource {
                file,
                layer: node.layer,
                trusted: node.trusted,
                path: node.path,
                text_digest: node.digest,
            });
        }
    }
    let faulty = decoder.has_errors();
    let mut findings = decoder.into_diagnostics();
    if faulty {
        return Err(Failure::Config(findings));
    }
    let (set, more) = PolicySet::new(sources);
    findings.extend(more);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(Failure::Config(findings));
    }
    Ok((set, findings))
}

/// What `{workspace.git}` stands for; nothing unless the tool's sandbox shows it.
fn repository_folders(
    session: &Session<'_>,
    project: &Project,
    facts: &ToolFacts,
) -> Result<Vec<PathBuf>, Failure> {
    let Some(AllowFs::Paths { read_only, read_write }) =
        facts.sandbox.as_ref().and_then(|config| config.allow_fs.as_ref())
    else {
        return Ok(Vec::new());
    };
    if !read_only.iter().chain(read_write).any(|entry| entry == "{workspace.git}") {
        return Ok(Vec::new());
    }
    let found = git_dirs(session.world, &project.workspace).map_err(|error| {
        let message = format!("the repository of the workspace cannot be shown to the tool: {error}");
        let diagnostic = Diagnostic::error(Code::SandboxBadRequest, message);
        Failure::Config(vec![
            diagnostic.help("let toolctl work in the folder that has the repository: -C DIR"),
        ])
    })?;
    Ok(found.map(|dirs| dirs.folders()).unwrap_or_default())
}

/// What policy has to know of a tool of this project.
pub(crate) fn tool_facts(project: &Project, tool: &Tool, layer: Layer) -> ToolFacts {
    let builtin = match &tool.exec {
        Exec::Builtin(name) => builtin_effects(name),
        Exec::Command(_) => None,
    };
    ToolFacts {
        name: tool.name.clone(),
        layer,
        read_only: tool.read_only,
        destructive: tool.destructive,
        idempotent: tool.idempotent,
        requires_approval: tool.requires_approval.clone(),
        parameters: tool.parameters.clone(),
        sandbox: resolve(tool.sandbox.as_ref(), project.settings.sandbox.as_ref()),
        builtin_effects: builtin,
        cwd: project.workspace.clone(),
    }
}

impl Prepared {
    /// Where a call is decided.
    pub(crate) fn env<'a>(&'a self, session: &Session<'a>) -> FactEnv<'a> {
        FactEnv {
            world: session.world,
            workspace: self.project.workspace.as_path(),
            protected: &self.protected,
            legacy_approval: &self.legacy,
            project_untrusted: is_untrusted(&self.project),
        }
    }

    /// What placeholders stand for in this call.
    pub(crate) fn fill_env(&self) -> FillEnv<'_> {
        FillEnv {
            workspace: self.project.workspace.as_path(),
            git: &self.git,
            tool_dir: self.tool.tool.dir.as_deref(),
            ctx: &self.ctx,
        }
    }

    fn filling(&self) -> Filling<'_> {
        Filling::new(&self.project, &self.tool, self.facts.sandbox.as_ref(), &self.git, &self.ctx)
    }

    /// Reads and validates the arguments and fills in the command line.
    pub(crate) fn ready(&self, session: &Session<'_>, args: &CallArgs) -> Result<Ready, Failure> {
        let raw = self.read_args(session, args)?;
        self.ready_with(session, args, raw)
    }

    /// The same for arguments that were read already: stdin can be read only once.
    pub(crate) fn ready_with(
        &self,
        session: &Session<'_>,
        args: &CallArgs,
        raw: Map<String, Value>,
    ) -> Result<Ready, Failure> {
        let call = Call {
            tool_call_id: args.context.call_id.clone().unwrap_or_else(|| new_id(session.world.now())),
            tool_name: self.tool.tool.name.clone(),
            args: raw,
        };
        self.ready_call(session, call)
    }

    /// The same for a call that was read from elsewhere.
    pub(crate) fn ready_call(&self, session: &Session<'_>, call: Call) -> Result<Ready, Failure> {
        self.filling().ready(session.world, call).map_err(Failure::Arguments)
    }

    /// Reads the arguments from the flags, a file or stdin, which is then used up.
    pub(crate) fn read_args(
        &self,
        session: &Session<'_>,
        args: &CallArgs,
    ) -> Result<Map<String, Value>, Failure> {
        let limits = JsonLimits::default();
        let call_fault = |error| Failure::Arguments(ArgumentFault::Call(error));
        match args.args.as_deref() {
            Some("-") => {
                let bytes = super::stdin::read_all(limits.max_bytes)?;
                parse_args(&bytes, limits).map_err(call_fault)
            }
            Some(text) if text.starts_with('@') => {
                let name = text.trim_start_matches('@');
                let bytes = self.read_file(session, name).map_err(|message| {
                    call_fault(crate::call::CallError::BadFlag {
                        flag: format!("--args {}", escape(text)),
                        message,
                    })
                })?;
                parse_args(&bytes, limits).map_err(call_fault)
            }
            Some(text) => parse_args(text.as_bytes(), limits).map_err(call_fault),
            None => {
                let mut read = |name: &str| self.read_file(session, name);
                args_from_flags(&args.arg, &self.tool.schema, &mut read)
                    .map_err(|errors| Failure::Arguments(ArgumentFault::Flags(errors)))
            }
        }
    }

    /// Reads a file that the caller named with `@`: beneath the workspace, and only if the policy lets `read_file` read
    /// it, so that arguments are no way around the rules for reading.
    fn read_file(&self, session: &Session<'_>, name: &str) -> Result<Vec<u8>, String> {
        let workspace = self.project.workspace.as_path();
        let path = crate::canon::canonical_path(session.world, workspace, workspace, name, true)
            .map_err(|error| error.to_string())?;
        let shown = escape(name);
        if path.relative().is_none() {
            return Err(format!("`{shown}` is outside the workspace; @FILE opens beneath it only"));
        }
        let action = self.may_read(session, name)?;
        if action != Action::Allow {
            return Err(format!(
                "the policy does not allow to read `{shown}`; see: toolctl policy explain read_file -a path={shown}"
            ));
        }
        session
            .world
            .read_canonical(Path::new(path.absolute()), JsonLimits::default().max_bytes as u64)
            .map_err(|error| format!("`{shown}` cannot be read: {error}"))
    }

    fn may_read(&self, session: &Session<'_>, name: &str) -> Result<Action, String> {
        let mut files = Files::new();
        let reader = self
            .project
            .catalog()
            .find(session.world, &mut files, "read_file")
            .map_err(|error| escape(&error.to_string()).to_string())?;
        let facts = Arc::new(tool_facts(&self.project, &reader.tool, Layer::Builtin));
        let args = Map::from_iter([("path".to_owned(), Value::String(name.to_owned()))]);
        let call = Call { tool_call_id: "file".to_owned(), tool_name: "read_file".to_owned(), args };
        let workspace = self.project.workspace.as_path();
        let env = CallEnv { world: session.world, base: workspace, workspace, cwd_is_workspace: true };
        let call = validate(call, &reader.schema, &env).map_err(|error| error.to_string())?;
        let env = self.env(session);
        let ctx = Context { mode: crate::model::RunMode::Execute, ..self.ctx.clone() };
        let classified = policy::classify(policy::facts(call, facts, &env), &self.policies, &ctx);
        Ok(policy::decide(classified, &self.policies, &ctx).decision().action)
    }

    /// The canonical arguments, secrets left out: for every output that shows a call.
    pub(crate) fn shown_args(&self, call: &ValidatedCall) -> Value {
        super::filling::shown_args(&self.tool, call)
    }

    /// How arguments were written before they took their canonical form; secrets are left out.
    pub(crate) fn shown_originals(&self, call: &ValidatedCall) -> BTreeMap<String, String> {
        let secrets = self.tool.schema.secrets(&Value::Object(call.args().clone()));
        let mut originals = call.originals().clone();
        originals.retain(|pointer, _| !secrets.contains(pointer));
        originals
    }

    /// What runs, as it is shown: secrets that were filled into the command line or a path are left out.
    pub(crate) fn shown_report(&self, call: &ValidatedCall, mut report: PlanReport) -> PlanReport {
        let args = Value::Object(call.args().clone());
        let secrets: Vec<String> = self
            .tool
            .schema
            .secrets(&args)
            .iter()
            .filter_map(|pointer| args.pointer(pointer))
            .flat_map(texts)
            .filter(|text| !text.is_empty())
            .collect();
        let mask = |text: &str| {
            secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "(secret)"))
        };
        if !secrets.is_empty() {
            report.argv = report.argv.iter().map(|arg| mask(arg)).collect();
            report.cwd = mask(&report.cwd);
            for mount in &mut report.mounts {
                mount.path = PathBuf::from(mask(&mount.path.to_string_lossy()));
            }
        }
        report
    }

    /// What policy has to know of the call.
    pub(crate) fn facts<'a>(&'a self, session: &Session<'a>, call: ValidatedCall) -> policy::Facts<'a> {
        policy::facts(call, Arc::clone(&self.facts), &self.env(session))
    }

    /// Classifies the call.
    pub(crate) fn classify<'a>(&'a self, session: &Session<'a>, call: ValidatedCall) -> Classified<'a> {
        policy::classify(self.facts(session, call), &self.policies, &self.ctx)
    }

    /// Decides the call.
    pub(crate) fn decide(&self, session: &Session<'_>, call: ValidatedCall) -> Decided {
        policy::decide(self.classify(session, call), &self.policies, &self.ctx)
    }
}

/// The texts as which a value can stand in a command line.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).chain([value.to_string()]).collect(),
        Value::Object(map) => map.values().flat_map(texts).chain([value.to_string()]).collect(),
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
    }
}

/// Whether the command works in a project that its user has not trusted.
pub(crate) fn is_untrusted(project: &Project) -> bool {
    project.root.is_some() && !project.trust.is_trusted()
}

/// An id for a call that came without one: the time, and the process that made it.
pub(crate) fn new_id(now: std::time::SystemTime) -> String {
    let nanos = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    format!("call-{nanos:x}-{:x}", std::process::id())
}
