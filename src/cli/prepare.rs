//! From a command line to a decided call and its sandbox: the part that `run`, `plan`, `validate` and `policy explain`
//! share. Nothing here executes or writes.

use super::args::CallArgs;
use super::failure::{ArgumentFault, Failure};
use super::session::{Session, context};
use crate::call::{Call, CallEnv, ValidatedCall, args_from_flags, parse_args, validate};
use crate::diag::{Code, Diagnostic, Severity};
use crate::manifest::{
    Exec, FillEnv, StdinSource, Template, Tool, builtin_effects, fill, fill_command, unsupported,
};
use crate::model::{AllowFs, Context, Layer, SandboxConfig};
use crate::policy::{
    self, Action, Classified, Decided, FactEnv, LegacyApproval, PolicySet, PolicySource, ToolFacts,
    check_for_tool,
};
use crate::project::{ApprovalPolicy, CatalogError, CatalogTool, Control, Project};
use crate::sandbox::{PlanReport, SandboxError, Stdin, resolve};
use crate::source::{Decoder, Files, JsonLimits};
use crate::text::escape;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that deciding and planning a call needs.
pub(crate) struct Prepared {
    /// The project.
    pub(crate) project: Project,
    /// The tool, its schema and its layer.
    pub(crate) tool: CatalogTool,
    /// What policy has to know of the tool.
    pub(crate) facts: Arc<ToolFacts>,
    /// The policies.
    pub(crate) policies: PolicySet,
    /// The caller's claims.
    pub(crate) ctx: Context,
    /// The control files.
    pub(crate) control: Control,
    /// What no call may write to.
    pub(crate) protected: Vec<PathBuf>,
    /// The legacy approval list.
    pub(crate) legacy: LegacyApproval,
}

/// A call that is validated and whose command line is filled in.
pub(crate) struct Ready {
    /// The call.
    pub(crate) call: ValidatedCall,
    /// The arguments of the program, the program included.
    pub(crate) argv: Vec<OsString>,
    /// What the tool finds on standard input.
    pub(crate) stdin: Stdin,
    /// The working folder, if the manifest names one or the workspace is mounted.
    pub(crate) cwd: Option<PathBuf>,
    /// The configuration of the sandbox with every placeholder filled in; `None`: no sandbox.
    pub(crate) sandbox: Option<SandboxConfig>,
}

/// Finds the tool and reads what decides about it.
pub(crate) fn prepare(session: &mut Session<'_>, args: &CallArgs) -> Result<Prepared, Failure> {
    let project = session.project_for(Some(&args.tool))?;
    let tool = find_tool(session, &project, &args.tool)?;
    if let (Layer::Project, Some(dir)) = (tool.layer, &tool.tool.dir) {
        let name = |extension: &str| dir.join(format!("{}.{extension}", tool.tool.name));
        let manifest: Vec<_> =
            ["yaml", "yml", "json"].map(|extension| (name(extension), tool.tool.digest.clone())).into();
        as_trusted(session, &project, &manifest)?;
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
    if !refused.is_empty() {
        return Err(Failure::Config(refused));
    }
    let policies = load_policies(session, &project)?;
    let ctx = context(&args.context, project.settings.agent_name.as_deref());
    let control =
        project.control_set(session.world, Some(&tool.tool)).map_err(|fault| Failure::Config(vec![fault]))?;
    let protected = control.protected();
    let facts = Arc::new(tool_facts(&project, &tool.tool, tool.layer));
    let faults = check_for_tool(&policies, &facts);
    if faults.iter().any(|fault| fault.severity == Severity::Error) {
        return Err(Failure::Config(faults));
    }
    let legacy = legacy_approval(&project);
    Ok(Prepared { project, tool, facts, policies, ctx, control, protected, legacy })
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
            "`{}` runs `{}`, which was not there when the project was trusted",
            escape(tool),
            escape(&path.to_string_lossy())
        ),
    )
    .help("read that file, then run `toolctl trust` again")
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

/// Reads every policy of every layer and prints its warnings.
pub(crate) fn load_policies(session: &mut Session<'_>, project: &Project) -> Result<PolicySet, Failure> {
    let (set, warnings) = read_policies(session, project)?;
    session.ui.diagnostics(&session.files, &warnings)?;
    Ok(set)
}

/// Reads every policy of every layer; gives its warnings too.
pub(crate) fn read_policies(
    session: &mut Session<'_>,
    project: &Project,
) -> Result<(PolicySet, Vec<Diagnostic>), Failure> {
    let nodes = project.policies(session.world, &mut session.files).map_err(Failure::Config)?;
    let read: Vec<_> = nodes.iter().map(|node| (node.path.clone(), node.digest.clone())).collect();
    as_trusted(session, project, &read)?;
    let mut decoder = Decoder::new();
    let mut sources = Vec::new();
    for node in nodes {
        if let Some(file) = policy::decode(&mut decoder, &node.node) {
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

    fn fill_env(&self) -> FillEnv<'_> {
        FillEnv {
            workspace: self.project.workspace.as_path(),
            tool_dir: self.tool.tool.dir.as_deref(),
            ctx: &self.ctx,
        }
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
        let workspace = self.project.workspace.as_path();
        let mounted = self.workspace_is_mounted();
        let env = CallEnv { world: session.world, base: workspace, workspace, cwd_is_workspace: mounted };
        let call = validate(call, &self.tool.schema, &env)
            .map_err(|error| Failure::Arguments(ArgumentFault::Call(error)))?;
        self.filled(call, mounted).map_err(|diagnostic| Failure::Arguments(ArgumentFault::Fill(diagnostic)))
    }

    fn filled(&self, call: ValidatedCall, mounted: bool) -> Result<Ready, Diagnostic> {
        let tool = &self.tool.tool;
        let env = self.fill_env();
        let fault = |error: crate::manifest::FillError| error.to_diagnostic();
        let argv = match &tool.exec {
            Exec::Builtin(name) => ["toolctl", "__builtin", name].iter().map(OsString::from).collect(),
            Exec::Command(_) => fill_command(tool, call.args(), &env).map_err(fault)?,
        };
        let stdin = match &tool.stdin {
            StdinSource::Args => Stdin::Bytes(call.canonical().as_bytes().to_vec()),
            StdinSource::None => Stdin::Null,
            StdinSource::Arg(name) => match call.args().get(name) {
                None | Some(Value::Null) => Stdin::Null,
                Some(Value::String(text)) => Stdin::Bytes(text.as_bytes().to_vec()),
                Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    return Err(Diagnostic::error(
                        Code::ManifestBadTemplate,
                        format!("`stdin` takes the argument `{}`, which is not a string", escape(name)),
                    ));
                }
            },
        };
        let cwd = match &tool.cwd {
            Some(template) => {
                let text = fill(template, call.args(), &env).map_err(fault)?;
                Some(self.project.workspace.as_path().join(PathBuf::from(text)))
            }
            None => mounted.then(|| self.project.workspace.as_path().to_path_buf()),
        };
        let sandbox = match &self.facts.sandbox {
            None => None,
            Some(config) => Some(fill_config(config, call.args(), &env)?),
        };
        Ok(Ready { call, argv, stdin, cwd, sandbox })
    }

    /// Whether the tool finds the workspace at its own path, as far as the manifest says. A path argument inside the
    /// workspace is then given relative to it.
    fn workspace_is_mounted(&self) -> bool {
        if self.tool.tool.cwd.as_ref().is_some_and(|cwd| !is_workspace(cwd)) {
            return false;
        }
        let workspace = self.project.workspace.as_path();
        match self.facts.sandbox.as_ref().map(|config| &config.allow_fs) {
            None | Some(Some(AllowFs::All)) => true,
            Some(None | Some(AllowFs::No)) => false,
            Some(Some(AllowFs::Paths { read_only, read_write })) => {
                let env = self.fill_env();
                read_only.iter().chain(read_write).any(|entry| {
                    fill_entry(entry, &Map::new(), &env)
                        .is_ok_and(|paths| paths.iter().any(|path| workspace.starts_with(path)))
                })
            }
        }
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
        let mut args = Value::Object(call.args().clone());
        for pointer in self.tool.schema.secrets(&args) {
            if let Some(value) = args.pointer_mut(&pointer) {
                *value = Value::String("(secret)".to_owned());
            }
        }
        args
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

    /// Classifies the call.
    pub(crate) fn classify<'a>(&'a self, session: &Session<'a>, call: ValidatedCall) -> Classified<'a> {
        let facts = policy::facts(call, Arc::clone(&self.facts), &self.env(session));
        policy::classify(facts, &self.policies, &self.ctx)
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

fn is_workspace(template: &Template) -> bool {
    template.parts.as_slice() == [crate::manifest::TemplatePart::Workspace]
}

/// A configuration whose `allowFS` entries are absolute paths.
pub(crate) fn fill_config(
    config: &SandboxConfig,
    args: &Map<String, Value>,
    env: &FillEnv<'_>,
) -> Result<SandboxConfig, Diagnostic> {
    let mut config = config.clone();
    if let Some(AllowFs::Paths { read_only, read_write }) = &mut config.allow_fs {
        for list in [read_only, read_write] {
            let mut filled = Vec::new();
            for entry in list.iter() {
                for path in fill_entry(entry, args, env)? {
                    // A path that is not UTF-8 cannot have come from a manifest, which is.
                    filled.push(path.to_string_lossy().into_owned());
                }
            }
            *list = filled;
        }
    }
    Ok(config)
}

/// The paths that an entry of `allowFS` names.
pub(crate) fn fill_entry(
    entry: &str,
    args: &Map<String, Value>,
    env: &FillEnv<'_>,
) -> Result<Vec<PathBuf>, Diagnostic> {
    let template = Template::parse(entry, None).map_err(|error| {
        Diagnostic::error(Code::ManifestBadTemplate, format!("`allowFS` entry `{}`: {error}", escape(entry)))
    })?;
    crate::manifest::fill_paths(&template, args, env).map_err(|error| error.to_diagnostic())
}

/// An id for a call that came without one: the time, and the process that made it.
pub(crate) fn new_id(now: std::time::SystemTime) -> String {
    let nanos = now.duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    format!("call-{nanos:x}-{:x}", std::process::id())
}
