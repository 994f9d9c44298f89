//! Why a call is not decided more mildly: the fewest conditions that would have to be otherwise.

use super::action::Action;
use super::condition::{AtomTrace, Flip};
use super::decide::{RuleTrace, UnitTrace};
use super::explain::Explanation;
use super::truth::Truth;
use crate::text::{Span, escape};
use std::cmp::Reverse;

/// What keeps a call from a milder decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhyNot {
    /// The decision that was asked for.
    pub target: Action,
    /// The call is decided as mildly already.
    pub holds: bool,
    /// Rules whose conditions stand in the way.
    pub changes: Vec<RuleChange>,
    /// What no condition can change: rules of the engine, rules without conditions, and tools that no rule grants.
    /// Escaped.
    pub fixed: Vec<String>,
}

/// A rule that would have to say something else of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleChange {
    /// The rule's id.
    pub rule: String,
    /// Where it stands.
    pub span: Option<Span>,
    /// It would have to match; else it may not.
    pub to_match: bool,
    /// The atoms that would have to be otherwise, as they would have to be, escaped; with the atom as it is.
    pub atoms: Vec<(String, AtomTrace)>,
}

/// The smallest set of atoms that keeps the call from `target`. Each atom is taken by itself: two that speak of one
/// argument count twice, even where one other value would change both.
pub fn why_not(explanation: &Explanation, target: Action) -> WhyNot {
    let decision = &explanation.decision;
    let mut answer =
        WhyNot { target, holds: decision.action <= target, changes: Vec::new(), fixed: Vec::new() };
    if answer.holds {
        return answer;
    }
    for unit in explanation.units.iter().filter(|unit| unit.active) {
        of_unit(unit, &mut answer);
    }
    for floor in decision.floors.iter().filter(|floor| floor.action > target) {
        answer.fixed.push(format!("{}: {}", escape(&floor.rule.id), floor.reason));
    }
    if answer.changes.is_empty() && answer.fixed.is_empty() {
        let reason = decision.reason.as_deref().unwrap_or("it decides so");
        answer.fixed.push(format!("{}: {reason}", escape(&decision.rule.id)));
    }
    answer
}

fn of_unit(unit: &UnitTrace, answer: &mut WhyNot) {
    let target = answer.target;
    let counting = || unit.rules.iter().filter(|rule| rule.set_aside.is_none());
    for rule in counting().filter(|rule| rule.action > target || matches!(rule.truth, Truth::Error(_))) {
        if !rule.matched && !matches!(rule.truth, Truth::Error(_)) {
            continue;
        }
        if let Some(atoms) = &rule.to_fail {
            answer.changes.push(change(rule, false, atoms));
        } else {
            let says = format!("{} says {} of every such call", escape(&rule.rule), rule.action);
            answer.fixed.push(says);
        }
    }
    let Some(default) = unit.default.filter(|default| *default > target) else { return };
    if counting().any(|rule| rule.grant && rule.matched && rule.action <= target) {
        return;
    }
    let milder = counting().filter(|rule| rule.grant && rule.action <= target);
    let nearest = milder
        .filter_map(|rule| rule.to_hold.as_ref().map(|atoms| (rule, atoms)))
        .min_by_key(|(rule, atoms)| (atoms.len(), Reverse(rule.action), &rule.rule));
    if let Some((rule, atoms)) = nearest {
        answer.changes.push(change(rule, true, atoms));
    } else {
        let could = if target == Action::Allow { "allow" } else { "ask about" };
        let policies = escape(&unit.policies.join(", ")).to_string();
        answer
            .fixed
            .push(format!("no rule of {policies} could {could} this call, and its default is {default}"));
    }
}

fn change(rule: &RuleTrace, to_match: bool, flips: &[Flip]) -> RuleChange {
    let atoms = rule.wanted(flips).into_iter().map(|(wish, atom)| (wish, atom.clone())).collect();
    RuleChange { rule: rule.rule.clone(), span: rule.span, to_match, atoms }
}
