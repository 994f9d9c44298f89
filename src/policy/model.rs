//! A policy file as it was decoded.

use super::action::{Action, Remember, Role, Strength};
use super::condition::Condition;
use super::matchers::ToolNames;
use super::reason::Reason;
use crate::model::{EffectSet, SandboxConfig};
use crate::text::Span;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One policy file, decoded. Conditions are built; their globs are compiled when first needed.
#[derive(Debug)]
pub struct PolicyFile {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) default: Default,
    pub(super) reason_default: Option<Reason>,
    pub(super) effects: BTreeMap<String, Vec<EffectEntry>>,
    pub(super) trust_hints: Vec<String>,
    /// The place of each.
    pub(super) hint_spans: Vec<Span>,
    pub(super) applies_for: Option<Condition>,
    pub(super) rules: Vec<Rule>,
}

impl PolicyFile {
    /// The policy's name: rule ids are `NAME/ID`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file's role.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// The full ids of all rules, in the order of the file.
    pub fn rule_ids(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.id.as_str())
    }
}

/// `default:`, with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Default {
    /// What happens if no grant matches; `None` is `inherit`.
    pub(super) action: Option<Action>,
    pub(super) span: Option<Span>,
}

/// One entry of a tool's effects.
#[derive(Debug)]
pub(super) struct EffectEntry {
    /// `POLICY/effects/TOOL/N`, counted from 1.
    pub(super) id: String,
    pub(super) when: Option<Condition>,
    pub(super) effects: EffectSet,
    pub(super) from_project: bool,
    pub(super) span: Span,
    /// The tool's name above the list.
    pub(super) tool_span: Span,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// `allow` or `ask`: opens the default.
    Grant(Action),
    /// `deny` or `{atLeast: ask}`: tightens and grants nothing.
    Guard(Action),
}

impl RuleKind {
    pub(super) const fn action(self) -> Action {
        match self {
            Self::Grant(action) | Self::Guard(action) => action,
        }
    }

    pub(super) const fn is_grant(self) -> bool {
        matches!(self, Self::Grant(_))
    }
}

/// A rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// `POLICY/ID`.
    pub(super) id: String,
    /// The place of the id.
    pub(super) span: Span,
    pub(super) tools: Option<ToolNames>,
    pub(super) effect: Option<Condition>,
    pub(super) when: Option<Condition>,
    pub(super) unless: Option<Condition>,
    pub(super) kind: RuleKind,
    pub(super) reason: Option<Reason>,
    /// The place of `reason`.
    pub(super) reason_span: Option<Span>,
    /// The place of `action`.
    pub(super) action_span: Span,
    pub(super) mask: Option<Mask>,
    pub(super) examples: Vec<Example>,
    /// `mode: evaluate`: computed and reported, not applied.
    pub(super) evaluate: bool,
    pub(super) limits: Option<SandboxConfig>,
    pub(super) from_project: bool,
    pub(super) remember: Option<Remember>,
    pub(super) strength: Option<Strength>,
}

/// Files that no sandbox shows: what a `mask: true` guard protects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// The guard's id.
    pub rule: String,
    /// Globs of canonical paths; one that starts with `/` is matched against the absolute path, any other against the
    /// path below the workspace. `*` stops at `/`.
    pub globs: Vec<String>,
    /// Globs of files that stay visible.
    pub except: Vec<String>,
    /// Case means nothing; the globs are in lower case then, and paths have to be brought to lower case.
    pub fold: bool,
}

/// A row of `match` or `notMatch`.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) args: Map<String, Value>,
    /// `match` rather than `notMatch`.
    pub(super) matches: bool,
    pub(super) span: Span,
}
