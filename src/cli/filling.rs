//! From validated arguments to what would run: the command line, standard input, the working folder, the sandbox.

use super::failure::ArgumentFault;
use crate::call::{Call, CallEnv, ValidatedCall, accept, validate};
use crate::diag::{Code, Diagnostic};
use crate::manifest::{ArgvElement, Exec, FillEnv, StdinSource, Template, fill, fill_command};
use crate::model::{AllowFs, Context, SandboxConfig};
use crate::project::{CatalogTool, Project};
use crate::sandbox::Stdin;
use crate::text::escape;
use crate::world::World;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::PathBuf;

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

/// A tool and what its placeholders stand for.
pub(crate) struct Filling<'a> {
    project: &'a Project,
    tool: &'a CatalogTool,
    /// `None`: the tool has none.
    sandbox: Option<&'a SandboxConfig>,
    /// The folders of the workspace's repository, if they are to be shown.
    git: &'a [PathBuf],
    ctx: &'a Context,
    /// The tool finds the workspace at its own path.
    mounted: bool,
    /// Nothing of the arguments is filled in, and what is filled in was found to be in order.
    fixed: bool,
}

/// What is filled in and can fail.
struct Parts {
    argv: Vec<OsString>,
    cwd: Option<PathBuf>,
    sandbox: Option<SandboxConfig>,
}

impl<'a> Filling<'a> {
    /// A tool with what its sandbox is to be.
    pub(crate) fn new(
        project: &'a Project,
        tool: &'a CatalogTool,
        sandbox: Option<&'a SandboxConfig>,
        git: &'a [PathBuf],
        ctx: &'a Context,
    ) -> Self {
        let mut filling = Self { project, tool, sandbox, git, ctx, mounted: false, fixed: false };
        filling.mounted = filling.workspace_is_mounted();
        filling
    }

    fn env(&self) -> FillEnv<'_> {
        FillEnv {
            workspace: self.project.workspace.as_path(),
            git: self.git,
            tool_dir: self.tool.tool.dir.as_deref(),
            ctx: self.ctx,
        }
    }

    fn call_env<'w>(&'w self, world: &'w dyn World) -> CallEnv<'w> {
        let workspace = self.project.workspace.as_path();
        CallEnv { world, base: workspace, workspace, cwd_is_workspace: self.mounted }
    }

    /// Validates a call and fills in the command line.
    pub(crate) fn ready(&self, world: &dyn World, call: Call) -> Result<Ready, ArgumentFault> {
        let call = validate(call, &self.tool.schema, &self.call_env(world)).map_err(ArgumentFault::Call)?;
        let Parts { argv, cwd, sandbox } = self.parts(call.args()).map_err(ArgumentFault::Fill)?;
        let stdin = self.stdin(call.args(), call.canonical()).map_err(ArgumentFault::Fill)?;
        Ok(Ready { call, argv, stdin, cwd, sandbox })
    }

    /// Whether [`Self::ready`] would succeed, without what only a run needs.
    pub(crate) fn accept(&self, world: &dyn World, args: Map<String, Value>) -> Result<(), ArgumentFault> {
        let args = accept(args, &self.tool.schema, &self.call_env(world)).map_err(ArgumentFault::Call)?;
        if !self.fixed {
            self.parts(&args).map_err(ArgumentFault::Fill)?;
            self.stdin(&args, "").map_err(ArgumentFault::Fill)?;
        }
        Ok(())
    }

    /// Remembers what [`Self::is_fixed`] found.
    pub(crate) const fn with_fixed(mut self, fixed: bool) -> Self {
        self.fixed = fixed;
        self
    }

    /// Whether what is filled in is the same for every call, and in order.
    pub(crate) fn is_fixed(&self) -> bool {
        let tool = &self.tool.tool;
        let command = match &tool.exec {
            Exec::Builtin(_) => true,
            Exec::Command(elements) => elements.iter().all(|element| match element {
                ArgvElement::One(template) => template.literal().is_some(),
                ArgvElement::Splice { .. } | ArgvElement::Group { .. } => false,
            }),
        };
        let folder = tool.cwd.as_ref().is_none_or(|cwd| cwd.literal().is_some());
        let paths = match self.sandbox.and_then(|config| config.allow_fs.as_ref()) {
            None | Some(AllowFs::All | AllowFs::No) => true,
            Some(AllowFs::Paths { read_only, read_write }) => read_only
                .iter()
                .chain(read_write)
                .all(|entry| !["{args.", "{ctx."].iter().any(|of| entry.contains(of))),
        };
        let stdin = !matches!(tool.stdin, StdinSource::Arg(_));
        command && folder && paths && stdin && self.parts(&Map::new()).is_ok()
    }

    fn parts(&self, args: &Map<String, Value>) -> Result<Parts, Diagnostic> {
        let tool = &self.tool.tool;
        let env = self.env();
        let fault = |error: crate::manifest::FillError| error.to_diagnostic();
        let command = match &tool.exec {
            Exec::Builtin(name) => ["toolctl", "__builtin", name].iter().map(OsString::from).collect(),
            Exec::Command(_) => fill_command(tool, args, &env).map_err(fault)?,
        };
        let cwd = match &tool.cwd {
            Some(template) => {
                let text = fill(template, args, &env).map_err(fault)?;
                Some(self.project.workspace.as_path().join(PathBuf::from(text)))
            }
            None => self.mounted.then(|| self.project.workspace.as_path().to_path_buf()),
        };
        let sandbox = self.sandbox.map(|config| fill_config(config, args, &env)).transpose()?;
        Ok(Parts { argv: command, cwd, sandbox })
    }

    fn stdin(&self, args: &Map<String, Value>, canonical: &str) -> Result<Stdin, Diagnostic> {
        Ok(match &self.tool.tool.stdin {
            StdinSource::Args => Stdin::Bytes(canonical.as_bytes().to_vec()),
            StdinSource::None => Stdin::Null,
            StdinSource::Arg(name) => match args.get(name) {
                None | Some(Value::Null) => Stdin::Null,
                Some(Value::String(text)) => Stdin::Bytes(text.as_bytes().to_vec()),
                Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    return Err(Diagnostic::error(
                        Code::ManifestBadTemplate,
                        format!("`stdin` takes the argument `{}`, which is not a string", escape(name)),
                    ));
                }
            },
        })
    }

    /// Whether the tool finds the workspace at its own path, as far as the manifest says. A path argument inside the
    /// workspace is then given relative to it.
    fn workspace_is_mounted(&self) -> bool {
        if self.tool.tool.cwd.as_ref().is_some_and(|cwd| !is_workspace(cwd)) {
            return false;
        }
        let workspace = self.project.workspace.as_path();
        match self.sandbox.map(|config| &config.allow_fs) {
            None | Some(Some(AllowFs::All)) => true,
            Some(None | Some(AllowFs::No)) => false,
            Some(Some(AllowFs::Paths { read_only, read_write })) => {
                let env = self.env();
                read_only.iter().chain(read_write).any(|entry| {
                    fill_entry(entry, &Map::new(), &env)
                        .is_ok_and(|paths| paths.iter().any(|path| workspace.starts_with(path)))
                })
            }
        }
    }
}

fn is_workspace(template: &Template) -> bool {
    template.parts.as_slice() == [crate::manifest::TemplatePart::Workspace]
}

/// The canonical arguments, secrets left out: for every output that shows a call.
pub(crate) fn shown_args(tool: &CatalogTool, call: &ValidatedCall) -> Value {
    let mut args = Value::Object(call.args().clone());
    for pointer in tool.schema.secrets(&args) {
        if let Some(value) = args.pointer_mut(&pointer) {
            *value = Value::String("(secret)".to_owned());
        }
    }
    args
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
