//! Why a call is decided as it is: the same evaluator, watched.

use super::action::Action;
use super::classify::{Classified, EffectOrigin};
use super::decide::{RuleTrace, UnitTrace, judge};
use super::decision::Decision;
use super::set::PolicySet;
use crate::model::Context;
use crate::text::escape;

/// A string of the arguments as a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathNote {
    /// Its JSON Pointer, escaped.
    pub argument: String,
    /// What the caller wrote, escaped.
    pub original: String,
    /// Its canonical form, escaped; or why there is none.
    pub canonical: Result<String, String>,
    /// The first symlink on the way, escaped.
    pub via: Option<String>,
    /// Whether it is inside the workspace.
    pub inside: bool,
}

/// The grant that was nearest to matching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearMiss {
    /// The rule's id.
    pub rule: String,
    /// What it would have said.
    pub action: Action,
    /// The atoms that stood in its way, escaped.
    pub failing: Vec<String>,
}

/// Why a call is decided as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The decision: equal to the one that `decide` makes.
    pub decision: Decision,
    /// Who says that the call has its effects.
    pub origins: Vec<EffectOrigin>,
    /// Every unit of policies, with every rule that can select the tool.
    pub units: Vec<UnitTrace>,
    /// The path arguments.
    pub paths: Vec<PathNote>,
    /// The grant nearest to matching, if none matched in the host policy.
    pub nearest: Option<NearMiss>,
    /// Remarks, escaped: what was said and has no force.
    pub notes: Vec<String>,
}

/// Explains a call; it can still be decided afterwards.
pub fn explain(classified: &Classified<'_>, set: &PolicySet, ctx: &Context) -> Explanation {
    let mut units = Vec::new();
    let decision = judge(classified, set, ctx, Some(&mut units));
    let nearest = nearest(&units);
    let notes = notes(classified, &decision, set);
    Explanation {
        origins: classified.origins.clone(),
        paths: paths(classified),
        units,
        nearest,
        notes,
        decision,
    }
}

fn paths(classified: &Classified<'_>) -> Vec<PathNote> {
    let facts = &classified.facts;
    let note = |declared: &super::shape::DeclaredPath| {
        let original = facts.call.originals().get(&declared.pointer).unwrap_or(&declared.text);
        let meaning = facts.paths.of(&declared.pointer, &declared.text);
        let first = meaning.as_ref().as_ref().map(|all| all.first());
        let canonical = match first {
            Ok(Some(fact)) => Ok(escape(&fact.absolute).into()),
            Ok(None) => Err("no meaning as a path".to_owned()),
            Err(why) => Err(escape(why).into()),
        };
        PathNote {
            argument: escape(&declared.pointer).into(),
            original: escape(original).into(),
            canonical,
            via: facts.paths.via(original).map(|link| escape(&link).into()),
            inside: matches!(first, Ok(Some(fact)) if fact.relative.is_some()),
        }
    };
    facts.paths.declared().iter().map(note).collect()
}

/// The grant with the fewest atoms in its way.
fn nearest(units: &[UnitTrace]) -> Option<NearMiss> {
    let host = units.iter().find(|unit| unit.role == "host")?;
    let grants: Vec<&RuleTrace> = host
        .rules
        .iter()
        .filter(|rule| rule.grant && rule.set_aside.is_none() && rule.to_hold.is_some())
        .collect();
    if grants.iter().any(|rule| rule.matched) {
        return None;
    }
    grants
        .into_iter()
        .map(|rule| NearMiss {
            rule: rule.rule.clone(),
            action: rule.action,
            failing: rule
                .wanted(rule.to_hold.as_deref().unwrap_or_default())
                .into_iter()
                .map(|(wish, _)| wish)
                .collect(),
        })
        .min_by(|a, b| (a.failing.len(), a.action, &a.rule).cmp(&(b.failing.len(), b.action, &b.rule)))
}

fn notes(classified: &Classified<'_>, decision: &Decision, set: &PolicySet) -> Vec<String> {
    let tool = &classified.facts.tool;
    let mut notes = Vec::new();
    let exempt = matches!(tool.requires_approval, Some(crate::manifest::RequiresApproval::Always(false)));
    if exempt && decision.action != Action::Allow {
        notes.push(format!(
            "the manifest's `requiresApproval: false` has no force here: `{}` says {}",
            escape(&decision.rule.id),
            decision.action
        ));
    }
    if tool.read_only && !classified.effects.is_only_read() {
        notes.push("the manifest's `readOnly: true` is a hint and was not believed".to_owned());
    }
    let untrusted = set.sources.iter().filter(|source| !source.trusted);
    for source in untrusted.filter(|source| source.file.effects.contains_key(&tool.name)) {
        let name = escape(&source.file.name);
        notes.push(format!(
            "the effects that `{name}` gives for {} are ignored: needs trust",
            escape(&tool.name)
        ));
    }
    notes
}
