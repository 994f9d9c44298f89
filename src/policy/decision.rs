//! What was decided, as data.

use super::action::{Action, Remember, Strength};
use super::classify::EffectOrigin;
use super::facts::ToolFacts;
use super::model::Mask;
use crate::call::ValidatedCall;
use crate::diag::Code;
use crate::model::{Effect, EffectSet, Layer, SandboxConfig};
use crate::text::Span;
use std::sync::Arc;

/// A rule by its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleRef {
    /// `POLICY/ID`, `default` for the host's default, `POLICY/default` for that of a file which tightens, or
    /// `engine/NAME` for a rule of toolctl itself.
    pub id: String,
    /// Where it stands; `None` for the engine and the built-in policy.
    pub span: Option<Span>,
    /// The layer of its file; `None` for the engine.
    pub layer: Option<Layer>,
}

impl RuleRef {
    /// A rule of toolctl itself.
    pub(super) fn engine(name: &str) -> Self {
        Self { id: format!("engine/{name}"), span: None, layer: None }
    }
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// The rule's id.
    pub rule: String,
    /// What it says.
    pub action: Action,
    /// Where it stands.
    pub span: Option<Span>,
    /// Whether it is the deciding rule.
    pub decisive: bool,
    /// `mode: evaluate`: it would have said this, and did not count.
    pub evaluate: bool,
}

/// A floor that was not met by the policies alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floor {
    /// Which.
    pub rule: RuleRef,
    /// The least that it demands.
    pub action: Action,
    /// Why, escaped.
    pub reason: String,
}

/// What was decided and why. Two decisions of one call under one policy are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What is to happen.
    pub action: Action,
    /// The rule that decided.
    pub rule: RuleRef,
    /// The rule's reason with values filled in, escaped.
    pub reason: Option<String>,
    /// The code of a denial; `None` if nothing is denied.
    pub code: Option<Code>,
    /// Every rule that matched.
    pub matched: Vec<Matched>,
    /// Every floor of the engine and the manifest that applies.
    pub floors: Vec<Floor>,
    /// The `limits` of every grant that matched: the sandbox is cut down to all of them.
    pub limits: Vec<SandboxConfig>,
    /// It is an ask, and only the manifest's `requiresApproval` or the legacy approval list demands it.
    pub from_approval_floor: bool,
    /// The strongest `strength` that a matching ask demands.
    pub strength: Option<Strength>,
    /// Whether the answer may be remembered; `None` if the rules leave it to the approval stage.
    pub remember: Option<Remember>,
    /// Files that no sandbox shows.
    pub masks: Vec<Mask>,
    /// The worst of the effects.
    pub effect: Effect,
    /// All effects; never empty.
    pub effects: EffectSet,
}

/// A call that was decided. Made by [`super::decide`] alone, and not `Clone`: one decision, one use.
///
/// ```compile_fail
/// fn twice(decided: toolctl::policy::Decided) -> (toolctl::policy::Decided, toolctl::policy::Decided) {
///     (decided.clone(), decided)
/// }
/// ```
#[derive(Debug)]
pub struct Decided {
    pub(super) call: ValidatedCall,
    pub(super) tool: Arc<ToolFacts>,
    pub(super) origins: Vec<EffectOrigin>,
    pub(super) decision: Decision,
}

impl Decided {
    /// The call.
    pub const fn call(&self) -> &ValidatedCall {
        &self.call
    }

    /// The call, given up by the decision.
    pub fn into_call(self) -> ValidatedCall {
        self.call
    }

    /// The tool.
    pub fn tool(&self) -> &ToolFacts {
        &self.tool
    }

    /// The effects; never empty.
    pub const fn effects(&self) -> EffectSet {
        self.decision.effects
    }

    /// Who says that the call has these effects.
    pub fn origins(&self) -> &[EffectOrigin] {
        &self.origins
    }

    /// What was decided.
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }
}
