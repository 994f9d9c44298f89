//! One settings file as it was written: `None` where it says nothing.

use super::values::{ApprovalPolicy, Backend, HelperCommand, LoopAction, OnException, TimeoutAction};
use crate::model::SandboxSetting;
use crate::text::Span;
use std::collections::BTreeMap;
use std::time::Duration;

/// A decoded `toolctl.yaml` of one layer.
#[derive(Debug, Clone, Default)]
pub struct SettingsFile {
    pub(super) places: BTreeMap<&'static str, Span>,
    pub(super) workspace: Option<String>,
    pub(super) agent_name: Option<String>,
    pub(super) concurrency: Option<u64>,
    pub(super) sandbox: Option<SandboxSetting>,
    pub(super) backend: Option<Backend>,
    pub(super) approval: ApprovalFile,
    pub(super) max_tool_output_bytes: Option<u64>,
    pub(super) preview_chars: Option<u64>,
    pub(super) max_repeats: Option<u64>,
    pub(super) loop_action: Option<LoopAction>,
    pub(super) reset_on_new_result: Option<bool>,
    pub(super) router: RouterFile,
    pub(super) on_tool_exception: Option<OnException>,
    pub(super) runtime: Option<Vec<String>>,
    pub(super) path: Option<Vec<String>>,
    pub(super) forwardable_env: Option<Vec<String>>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) policies: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct ApprovalFile {
    pub(super) policy: Option<ApprovalPolicy>,
    pub(super) timeout: Option<Duration>,
    pub(super) timeout_action: Option<TimeoutAction>,
    pub(super) command: Option<HelperCommand>,
    pub(super) additional: Option<Vec<String>>,
    pub(super) approvers: Option<Vec<String>>,
    pub(super) need: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct RouterFile {
    pub(super) max_tools: Option<u64>,
    pub(super) min_tools: Option<u64>,
    pub(super) temperature: Option<String>,
    pub(super) command: Option<HelperCommand>,
}

impl SettingsFile {
    /// Where a key stands, dotted for nested ones.
    pub fn place(&self, key: &str) -> Option<Span> {
        self.places.get(key).copied()
    }

    /// The same, or where the mapping stands that holds the key.
    pub fn place_of(&self, key: &str) -> Option<Span> {
        self.place(key).or_else(|| self.place(key.split('.').next().unwrap_or(key)))
    }

    /// `workspace` as written.
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// `tools` as written, or the usual folder.
    pub fn tool_dirs(&self) -> Vec<&str> {
        self.tools.as_ref().map_or_else(|| vec!["tools.d"], |dirs| dirs.iter().map(String::as_str).collect())
    }

    /// `policies` as written, or the usual folder.
    pub fn policy_dirs(&self) -> Vec<&str> {
        self.policies
            .as_ref()
            .map_or_else(|| vec!["policies"], |dirs| dirs.iter().map(String::as_str).collect())
    }
}
