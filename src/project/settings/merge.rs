//! Puts the layers together, outermost first. Every setting has a direction that tightens it; an inner layer can only go
//! that way. What goes the other way is left out, with a warning that says so: an inner file cannot be wrong about
//! an outer one that it does not know.
//!
//! A layer is held against what the layers outside it say. A project that is not trusted is held against the defaults
//! too.

use super::file::SettingsFile;
use super::sandbox;
use super::values::{ApprovalPolicy, Backend, LoopAction, OnException, Settings, TimeoutAction};
use crate::diag::{Code, Diagnostic};
use crate::model::Layer;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Collects the layers.
#[derive(Debug, Default)]
pub(in crate::project) struct Merger {
    settings: Settings,
    /// Which layer said a key last.
    from: BTreeMap<&'static str, Layer>,
    warnings: Vec<Diagnostic>,
}

/// The layer being added.
pub(super) struct Inner<'a> {
    pub(super) layer: Layer,
    pub(super) file: &'a SettingsFile,
    pub(super) trusted: bool,
    pub(super) from: &'a mut BTreeMap<&'static str, Layer>,
    pub(super) warnings: &'a mut Vec<Diagnostic>,
}

impl Inner<'_> {
    /// Whether a value may replace the one of the outer layers; warns if not.
    pub(super) fn accepts(&mut self, key: &'static str, tighter: bool) -> bool {
        let outer = self.from.get(key).copied();
        if tighter || (outer.is_none() && self.trusted) {
            self.from.insert(key, self.layer);
            return true;
        }
        let diagnostic = match outer {
            Some(outer) => Diagnostic::warning(
                Code::ConfigBadSetting,
                format!("`{key}` is left out: it would loosen what the {outer} layer says"),
            )
            .help("an inner layer can only tighten; change the outer one"),
            None => Diagnostic::warning(
                Code::ConfigNeedsTrust,
                format!("`{key}` is left out: it would loosen the default, and the project is not trusted"),
            )
            .help("read the project's files, then run `toolctl trust`"),
        };
        self.warn(key, diagnostic, "left out");
        false
    }

    fn outer_only(&mut self, key: &'static str) -> bool {
        if self.layer != Layer::Project {
            return true;
        }
        let diagnostic = Diagnostic::warning(
            Code::ConfigBadSetting,
            format!("`{key}` is left out: it is read from the system's and your own settings only"),
        )
        .help("set it in your own toolctl.yaml: a project cannot choose what acts for you");
        self.warn(key, diagnostic, "not read in a project");
        false
    }

    fn warn(&mut self, key: &str, diagnostic: Diagnostic, remark: &str) {
        let parent = key.split('.').next().unwrap_or(key);
        self.warnings.push(match self.file.place(key).or_else(|| self.file.place(parent)) {
            Some(span) => diagnostic.at(span, remark),
            None => diagnostic,
        });
    }

    fn set<T: Clone>(
        &mut self,
        key: &'static str,
        new: Option<&T>,
        old: &mut T,
        tighter: fn(&T, &T) -> bool,
    ) {
        if let Some(new) = new
            && self.accepts(key, tighter(new, old))
        {
            *old = new.clone();
        }
    }
}

impl Merger {
    /// Adds the next layer inwards. `trusted` only matters for a project.
    pub(in crate::project) fn add(&mut self, layer: Layer, file: &SettingsFile, trusted: bool) {
        let mut inner = Inner { layer, file, trusted, from: &mut self.from, warnings: &mut self.warnings };
        let now = &mut self.settings;
        let less = |new: &u64, old: &u64| new <= old;
        inner.set("concurrency", file.concurrency.as_ref(), &mut now.concurrency, less);
        // A name is neither loose nor tight: the outermost layer pins it.
        if let Some(name) = &file.agent_name
            && inner.accepts("agentName", now.agent_name.is_none() || now.agent_name.as_ref() == Some(name))
        {
            now.agent_name = Some(name.clone());
        }
        sandbox::merge(&mut inner, &mut now.sandbox);
        inner.set("sandbox.backend", file.backend.as_ref(), &mut now.backend, |new, old| {
            new == old || *new == Backend::Ns && *old == Backend::Auto
        });
        inner.set(
            "onToolException",
            file.on_tool_exception.as_ref(),
            &mut now.on_tool_exception,
            |new, old| new == old || *new == OnException::Abort,
        );
        approval(&mut inner, now);
        limits(&mut inner, now);
        router(&mut inner, now);
        environment(&mut inner, now);
    }

    /// The settings in force, and what was left out.
    pub(in crate::project) fn finish(self) -> (Settings, Vec<Diagnostic>) {
        (self.settings, self.warnings)
    }
}

fn approval(inner: &mut Inner<'_>, now: &mut Settings) {
    let file = &inner.file.approval;
    let now = &mut now.approval;
    if let Some(policy) = &file.policy {
        // Lists add up, so any value can only tighten.
        inner.from.insert("approval.policy", inner.layer);
        now.policy = union(&now.policy, policy);
    }
    inner.set("approval.timeout", file.timeout.as_ref(), &mut now.timeout, |new, old| new <= old);
    inner.set("approval.timeoutAction", file.timeout_action.as_ref(), &mut now.timeout_action, |new, old| {
        *new != TimeoutAction::Approve || new == old
    });
    if let Some(command) = &file.command
        && inner.outer_only("approval.command")
        && inner.accepts("approval.command", now.command.is_none())
    {
        now.command = Some(command.clone());
    }
    now.additional.extend(file.additional.iter().flatten().cloned());
    if let Some(approvers) = &file.approvers {
        let names: BTreeSet<String> = approvers.iter().cloned().collect();
        if inner.accepts("approval.approvers", now.approvers.is_empty() || names.is_subset(&now.approvers)) {
            now.approvers = names;
        }
    }
    inner.set("approval.need", file.need.as_ref(), &mut now.need, |new, old| new >= old);
}

fn union(old: &ApprovalPolicy, new: &ApprovalPolicy) -> ApprovalPolicy {
    match (old, new) {
        (ApprovalPolicy::All, _) | (_, ApprovalPolicy::All) => ApprovalPolicy::All,
        (ApprovalPolicy::None, other) | (other, ApprovalPolicy::None) => other.clone(),
        (ApprovalPolicy::Names(a), ApprovalPolicy::Names(b)) => {
            ApprovalPolicy::Names(a.union(b).cloned().collect())
        }
    }
}

fn limits(inner: &mut Inner<'_>, now: &mut Settings) {
    let file = inner.file;
    // An absent bound is the loosest one.
    let less = |new: &Option<u64>, old: &Option<u64>| match (new, old) {
        (Some(new), Some(old)) => new <= old,
        (_, None) => true,
        (None, Some(_)) => false,
    };
    let said = |value: Option<u64>| value.map(Some);
    inner.set(
        "artifacts.maxToolOutputBytes",
        said(file.max_tool_output_bytes).as_ref(),
        &mut now.artifacts.max_tool_output_bytes,
        less,
    );
    inner.set(
        "artifacts.previewChars",
        said(file.preview_chars).as_ref(),
        &mut now.artifacts.preview_chars,
        less,
    );
    let loops = &mut now.loop_detection;
    inner.set("loopDetection.maxRepeats", said(file.max_repeats).as_ref(), &mut loops.max_repeats, less);
    inner.set("loopDetection.action", file.loop_action.as_ref(), &mut loops.action, |new, old| {
        new == old || *new == LoopAction::Abort
    });
    inner.set(
        "loopDetection.resetOnNewResult",
        file.reset_on_new_result.as_ref(),
        &mut loops.reset_on_new_result,
        |new, old| new == old || !new,
    );
}

/// Which tools are offered decides nothing, so the innermost layer has its way; its command is another matter.
fn router(inner: &mut Inner<'_>, now: &mut Settings) {
    let file = &inner.file.router;
    let now = &mut now.router;
    now.max_tools = file.max_tools.unwrap_or(now.max_tools);
    now.min_tools = file.min_tools.unwrap_or(now.min_tools);
    if let Some(temperature) = &file.temperature {
        now.temperature.clone_from(temperature);
    }
    if let Some(command) = &file.command
        && inner.outer_only("router.command")
        && inner.accepts("router.command", now.command.is_none())
    {
        now.command = Some(command.clone());
    }
}

fn environment(inner: &mut Inner<'_>, now: &mut Settings) {
    let file = inner.file;
    if let Some(roots) = &file.runtime {
        let roots: BTreeSet<PathBuf> = roots.iter().map(PathBuf::from).collect();
        if inner.accepts("runtime", roots.is_subset(&now.runtime)) {
            now.runtime = roots;
        }
    }
    if let Some(path) = &file.path
        && inner.outer_only("path")
    {
        let path: Vec<PathBuf> = path.iter().map(PathBuf::from).collect();
        if inner.accepts("path", path.iter().all(|dir| now.path.contains(dir))) {
            now.path = path;
        }
    }
    if let Some(names) = &file.forwardable_env
        && inner.outer_only("forwardableEnv")
    {
        let names: BTreeSet<String> = names.iter().cloned().collect();
        if inner.accepts("forwardableEnv", names.is_subset(&now.forwardable_env)) {
            now.forwardable_env = names;
        }
    }
}
