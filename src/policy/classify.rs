//! The second arrow: what the call may do, and who says so.

use super::decision::RuleRef;
use super::facts::Facts;
use super::model::EffectEntry;
use super::set::{PolicySet, PolicySource};
use super::truth::Truth;
use crate::call::ValidatedCall;
use crate::model::{Context, Effect, EffectSet};
use crate::text::Span;

/// Who says that a call has an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectSource {
    /// toolctl itself, of a built-in tool.
    Engine,
    /// An entry of a policy's `effects`; its id is `POLICY/effects/TOOL/N`.
    Entry(RuleRef),
    /// The manifest's `readOnly`, which the host lists under `trustHints`.
    Hint,
    /// Nobody: the effect is unknown.
    Nobody,
}

/// Effects and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectOrigin {
    /// The effects.
    pub effects: EffectSet,
    /// Who says so.
    pub source: EffectSource,
    /// Where, if it is in a file.
    pub span: Option<Span>,
}

/// A call with its effects, ready to be decided.
#[derive(Debug)]
pub struct Classified<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) effects: EffectSet,
    pub(super) origins: Vec<EffectOrigin>,
    /// An entry that could not be evaluated: the call will be denied.
    pub(super) fault: Option<(RuleRef, String)>,
}

impl Classified<'_> {
    /// The effects; never empty.
    pub const fn effects(&self) -> EffectSet {
        self.effects
    }

    /// Who says so.
    pub fn origins(&self) -> &[EffectOrigin] {
        &self.origins
    }

    /// The call.
    pub const fn call(&self) -> &ValidatedCall {
        &self.facts.call
    }
}

/// Classifies a call. Effects are the host's word; for what the host leaves unclassified, a trusted inner layer's.
pub fn classify<'a>(facts: Facts<'a>, set: &PolicySet, ctx: &Context) -> Classified<'a> {
    let mut origins = Vec::new();
    let mut fault = None;
    let tool = &facts.tool;
    let engine = tool.builtin_effects;
    if let Some(effects) = engine {
        origins.push(EffectOrigin { effects, source: EffectSource::Engine, span: None });
    }
    let mut covered = engine.is_some();
    for (source, entries) in set.effect_entries(&tool.name, tool.layer) {
        let found = from_entries(&facts, source, entries, ctx, &mut origins);
        match found {
            Ok(holds) => covered |= holds,
            Err(error) => fault = Some(error),
        }
    }
    // A hint is believed only where nothing better is known, and never against another hint.
    if origins.is_empty() && tool.read_only && !tool.destructive && set.trusts_hints(&tool.name) {
        let effects = EffectSet::of(Effect::Read);
        origins.push(EffectOrigin { effects, source: EffectSource::Hint, span: None });
        covered = true;
    }
    if !covered {
        let effects = EffectSet::of(Effect::Unknown);
        origins.push(EffectOrigin { effects, source: EffectSource::Nobody, span: None });
    }
    let effects = origins.iter().fold(EffectSet::EMPTY, |all, origin| all.union(origin.effects));
    Classified { facts, effects, origins, fault }
}

/// The first entry that holds. One that may hold adds its effects, and the search goes on: the call has the effects of
/// one of them, and the set covers both. Returns whether an entry certainly holds.
fn from_entries(
    facts: &Facts<'_>,
    source: &PolicySource,
    entries: &[EffectEntry],
    ctx: &Context,
    origins: &mut Vec<EffectOrigin>,
) -> Result<bool, (RuleRef, String)> {
    let env = facts.see(ctx, None);
    for entry in entries {
        if facts.tool.layer > source.layer && !entry.from_project {
            continue;
        }
        let truth = entry.when.as_ref().map_or(Truth::True, |when| when.eval(&env, None, false));
        let rule =
            RuleRef { id: entry.id.clone(), span: source.place(entry.span), layer: Some(source.layer) };
        let span = rule.span;
        match truth {
            Truth::False => {}
            Truth::Error(why) => return Err((rule, why)),
            Truth::True | Truth::Unknown(_) => {
                let certain = truth == Truth::True;
                origins.push(EffectOrigin {
                    effects: entry.effects,
                    source: EffectSource::Entry(rule),
                    span,
                });
                if certain {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}
