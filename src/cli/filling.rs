//! From validated arguments to what would run: the command line, standard input, the working folder, the sandbox.

use super::prepare::{Ready, fill_config, fill_entry};
use crate::call::{Call, CallEnv, CallError, ValidatedCall, validate};
use crate::diag::{Code, Diagnostic};
use crate::manifest::{Exec, FillEnv, StdinSource, Template, fill, fill_command};
use crate::model::{AllowFs, Context, SandboxConfig};
use crate::project::{CatalogTool, Project};
use crate::sandbox::Stdin;
use crate::text::escape;
use crate::world::World;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::PathBuf;

use super::failure::ArgumentFault;

/// A tool and what its placeholders stand for.
pub(crate) struct Filling<'a> {
    /// The project.
    pub(crate) project: &'a Project,
    /// The tool.
    pub(crate) tool: &'a CatalogTool,
    /// The tool's sandbox; `None`: it has none.
    pub(crate) sandbox: Option<&'a SandboxConfig>,
    /// The caller's claims.
    pub(crate) ctx: &'a Context,
}

impl Filling<'_> {
    fn env(&self) -> FillEnv<'_> {
        FillEnv {
            workspace: self.project.workspace.as_path(),
            tool_dir: self.tool.tool.dir.as_deref(),
            ctx: self.ctx,
        }
    }

    /// Validates a call and fills in the command line.
    pub(crate) fn ready(&self, world: &dyn World, call: Call) -> Result<Ready, ArgumentFault> {
        let mounted = self.workspace_is_mounted();
        let call = self.validated(world, call, mounted).map_err(ArgumentFault::Call)?;
        self.filled(call, mounted).map_err(ArgumentFault::Fill)
    }

    fn validated(&self, world: &dyn World, call: Call, mounted: bool) -> Result<ValidatedCall, CallError> {
        let workspace = self.project.workspace.as_path();
        let env = CallEnv { world, base: workspace, workspace, cwd_is_workspace: mounted };
        validate(call, &self.tool.schema, &env)
    }

    fn filled(&self, call: ValidatedCall, mounted: bool) -> Result<Ready, Diagnostic> {
        let tool = &self.tool.tool;
        let env = self.env();
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
        let sandbox = match self.sandbox {
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
