//! The first arrow: what policy has to know of a call and its tool.

use super::environ::Env;
use super::paths::PathFacts;
use super::shape;
use crate::call::ValidatedCall;
use crate::manifest::RequiresApproval;
use crate::model::{AllowFs, AllowNetwork, Context, EffectSet, Layer, SandboxConfig};
use crate::world::World;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What policy has to know of a tool.
#[derive(Debug, Clone)]
pub struct ToolFacts {
    /// The tool's name.
    pub name: String,
    /// The layer of its manifest; [`Layer::Builtin`] for a tool that toolctl itself is.
    pub layer: Layer,
    /// Hint: no side effects.
    pub read_only: bool,
    /// Hint: may destroy data.
    pub destructive: bool,
    /// Hint: twice is the same as once.
    pub idempotent: bool,
    /// `requiresApproval`.
    pub requires_approval: Option<RequiresApproval>,
    /// The JSON Schema of the arguments.
    pub parameters: Value,
    /// The resolved sandbox; `None` if there is none.
    pub sandbox: Option<SandboxConfig>,
    /// What a built-in tool does: an engine fact, which policies may add to and never remove.
    pub builtin_effects: Option<EffectSet>,
    /// The folder that relative paths in undeclared strings start from: the tool's working folder.
    pub cwd: PathBuf,
}

/// The project's legacy approval list, `approval.policy` of the settings (000).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LegacyApproval {
    /// `none`.
    #[default]
    None,
    /// `all`.
    All,
    /// `[names]`.
    Names(Vec<String>),
}

/// Where a call is decided.
#[derive(Clone, Copy)]
pub struct FactEnv<'a> {
    /// Asked for the symlinks on the way to path arguments, and for nothing else.
    pub world: &'a dyn World,
    /// The workspace, absolute.
    pub workspace: &'a Path,
    /// Control files and folders, absolute and without symlinks: no call may write at or below one.
    pub protected: &'a [PathBuf],
    /// The legacy approval list.
    pub legacy_approval: &'a LegacyApproval,
    /// The project was not trusted by the user.
    pub project_untrusted: bool,
}

impl std::fmt::Debug for FactEnv<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FactEnv").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

/// A call with its facts, ready to be classified.
#[derive(Debug)]
pub struct Facts<'a> {
    pub(super) call: ValidatedCall,
    pub(super) tool: Arc<ToolFacts>,
    pub(super) env: FactEnv<'a>,
    pub(super) paths: PathFacts<'a>,
    pub(super) sandbox: Value,
    pub(super) secrets: Vec<String>,
}

/// Finds out what policy has to know of a call. Disk is touched only where a rule looks at a path.
pub fn facts<'a>(call: ValidatedCall, tool: Arc<ToolFacts>, env: &FactEnv<'a>) -> Facts<'a> {
    let declared = shape::declared_paths(&tool.parameters, call.args());
    let secrets = shape::secrets(&tool.parameters, call.args());
    let paths = PathFacts::new(env.world, env.workspace, &tool.cwd, declared);
    let sandbox = sandbox_value(tool.sandbox.as_ref());
    Facts { call, tool, env: *env, paths, sandbox, secrets }
}

impl Facts<'_> {
    /// What conditions see of the call.
    pub(super) fn see<'s>(&'s self, ctx: &'s Context, effects: Option<EffectSet>) -> Env<'s> {
        Env {
            args: self.call.args(),
            schema: Some(&self.tool.parameters),
            tool: Some(&self.tool.name),
            effects,
            ctx: Some(ctx),
            per_agent: false,
            sandbox: Some(&self.sandbox),
            paths: &self.paths,
        }
    }
}

/// The resolved sandbox as `tool.sandbox.*` sees it, times in milliseconds. Without a sandbox nothing holds network and
/// files back.
pub fn sandbox_value(config: Option<&SandboxConfig>) -> Value {
    let Some(config) = config.filter(|config| config.enabled != Some(false)) else {
        return json!({"enabled": false, "allowNetwork": true, "allowFS": true});
    };
    let milliseconds = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut map = Map::new();
    map.insert("enabled".to_owned(), Value::Bool(true));
    map.insert("timeout".to_owned(), config.timeout.map_or(30_000, milliseconds).into());
    map.insert("maxMemoryMB".to_owned(), config.max_memory_mb.unwrap_or(256).into());
    map.insert("maxOutputBytes".to_owned(), config.max_output_bytes.unwrap_or(1 << 20).into());
    map.insert("maxProcesses".to_owned(), config.max_processes.unwrap_or(64).into());
    map.insert("maxFileSizeMB".to_owned(), config.max_file_size_mb.unwrap_or(256).into());
    if let Some(seconds) = config.cpu_seconds {
        map.insert("cpuSeconds".to_owned(), seconds.into());
    }
    if let Some(run_as) = config.run_as {
        map.insert("runAs".to_owned(), format!("{}:{}", run_as.uid, run_as.gid).into());
    }
    let network = match &config.allow_network {
        None | Some(AllowNetwork::No) => Value::Bool(false),
        Some(AllowNetwork::Yes) => Value::Bool(true),
        Some(AllowNetwork::Loopback) => "loopback".into(),
        Some(AllowNetwork::Hosts(hosts)) => {
            hosts.iter().map(|host| format!("{}:{}", host.host, host.port)).collect::<Vec<_>>().into()
        }
    };
    map.insert("allowNetwork".to_owned(), network);
    let files = match &config.allow_fs {
        None | Some(AllowFs::No) => Value::Bool(false),
        Some(AllowFs::All) => Value::Bool(true),
        Some(AllowFs::Paths { read_only, read_write }) => {
            json!({"readOnly": read_only, "readWrite": read_write})
        }
    };
    map.insert("allowFS".to_owned(), files);
    Value::Object(map)
}
