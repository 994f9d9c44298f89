//! The settings in force, after all layers.

use crate::diag::{Code, Diagnostic};
use crate::manifest::DEFAULT_PATH;
use crate::model::SandboxSetting;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Variables of the caller that a manifest may forward unless the outer layers list others: language, time zone and
/// terminal width, which change how output looks, and the name under which git commits. None carries a secret.
const FORWARDABLE: [&str; 17] = [
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TERM",
    "COLUMNS",
    "NO_COLOR",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
];

/// All settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `agentName`: a pin of the outermost agent.
    pub agent_name: Option<String>,
    /// `concurrency`: calls of a batch at once.
    pub concurrency: u64,
    /// `sandbox`: for tools that say nothing. `None` is on with the defaults.
    pub sandbox: Option<SandboxSetting>,
    /// `sandbox.backend`.
    pub backend: Backend,
    /// `approval`.
    pub approval: Approval,
    /// `artifacts`.
    pub artifacts: Artifacts,
    /// `loopDetection`.
    pub loop_detection: LoopDetection,
    /// `router`.
    pub router: Router,
    /// `onToolException`.
    pub on_tool_exception: OnException,
    /// `runtime`: more folders that every sandbox binds read-only, absolute.
    pub runtime: BTreeSet<PathBuf>,
    /// `path`: where bare names of programs are looked for. Outer layers only.
    pub path: Vec<PathBuf>,
    /// `forwardableEnv`: variables that manifests may forward. Outer layers only.
    pub forwardable_env: BTreeSet<String>,
}

/// `sandbox.backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// `ns`, else `flat` if that can hold all that a call asks for.
    #[default]
    Auto,
    /// Namespaces.
    Ns,
    /// Landlock and the syscall filter alone.
    Flat,
}

/// `approval`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Tools that ask in any case, below what policies and manifests say.
    pub policy: ApprovalPolicy,
    /// How long a request waits.
    pub timeout: Duration,
    /// What happens then.
    pub timeout_action: TimeoutAction,
    /// A program that answers in place of a person. Outer layers only.
    pub command: Option<HelperCommand>,
    /// Approvers that must agree in addition.
    pub additional: BTreeSet<String>,
    /// Approvers that may answer; empty: anybody who can.
    pub approvers: BTreeSet<String>,
    /// How many must agree.
    pub need: u64,
}

/// `approval.policy` (000 approval policy).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalPolicy {
    /// No tool but those that policy or manifest name.
    None,
    /// These tools.
    Names(BTreeSet<String>),
    /// Every tool.
    All,
}

/// `approval.timeoutAction`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutAction {
    /// The call is denied.
    Deny,
    /// The whole run ends.
    Throw,
    /// The call runs if it only reads.
    Approve,
}

/// A program that acts for the host: an argv, and the sandbox it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperCommand {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Its sandbox; `None` is the defaults.
    pub sandbox: Option<SandboxSetting>,
}

/// `artifacts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Artifacts {
    /// Size in bytes from which a result becomes an artifact.
    pub max_tool_output_bytes: Option<u64>,
    /// Characters of the preview.
    pub preview_chars: Option<u64>,
}

/// `loopDetection`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoopDetection {
    /// Identical calls of one run that are let through.
    pub max_repeats: Option<u64>,
    /// What happens at the next one.
    pub action: LoopAction,
    /// Count only repeats that gave the same result.
    pub reset_on_new_result: bool,
}

/// `loopDetection.action`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoopAction {
    /// The run ends.
    #[default]
    Abort,
    /// The model is told.
    Hint,
}

/// `router`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Router {
    /// Tools offered at most.
    pub max_tools: u64,
    /// Fewer than this many: all are offered.
    pub min_tools: u64,
    /// Passed to the command, as written.
    pub temperature: String,
    /// A program that selects. Outer layers only.
    pub command: Option<HelperCommand>,
}

/// `onToolException`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnException {
    /// The error is the item's result.
    #[default]
    Report,
    /// The batch ends.
    Abort,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            agent_name: None,
            concurrency: 5,
            sandbox: None,
            backend: Backend::Auto,
            approval: Approval {
                policy: ApprovalPolicy::None,
                timeout: Duration::from_secs(300),
                timeout_action: TimeoutAction::Deny,
                command: None,
                additional: BTreeSet::new(),
                approvers: BTreeSet::new(),
                need: 1,
            },
            artifacts: Artifacts::default(),
            loop_detection: LoopDetection::default(),
            router: Router { max_tools: 8, min_tools: 0, temperature: "0".to_owned(), command: None },
            on_tool_exception: OnException::Report,
            runtime: BTreeSet::new(),
            path: DEFAULT_PATH.iter().map(PathBuf::from).collect(),
            forwardable_env: FORWARDABLE.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

impl Settings {
    /// One error for each setting in force that this version does not carry out and that would make a call stricter:
    /// `run` refuses rather than leave it out. Settings of commands that do not exist yet change nothing and pass.
    pub fn unsupported(&self) -> Vec<Diagnostic> {
        let approval = &self.approval;
        [
            (approval.command.is_some(), "approval.command"),
            (!approval.additional.is_empty(), "approval.additional"),
            (!approval.approvers.is_empty(), "approval.approvers"),
            (approval.need > 1, "approval.need"),
            (self.loop_detection.max_repeats.is_some(), "loopDetection"),
            (self.artifacts != Artifacts::default(), "artifacts"),
        ]
        .into_iter()
        .filter(|(asked, _)| *asked)
        .map(|(_, key)| {
            Diagnostic::error(
                Code::ConfigBadSetting,
                format!("the setting `{key}` is in force and this version does not carry it out"),
            )
            .help(format!("remove `{key}` from toolctl.yaml to run without it"))
        })
        .collect()
    }
}
