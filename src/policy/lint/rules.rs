//! What can be proved of rules: conditions that never hold (L003, L004), grants that change nothing (L005, L006, L017),
//! exceptions that except nothing or everything (L007).

use super::logic::{Alternatives, Goal, all, of, of_rule};
use super::refute::{can_hold, none};
use super::scope::{Scope, Subjected};
use super::work::Work;
use crate::diag::{Code, Diagnostic};
use crate::model::EXECUTED_LATER;
use crate::policy::action::{Action, Role};
use crate::policy::condition::Condition;
use crate::policy::facts::ToolFacts;
use crate::policy::model::RuleKind;
use crate::policy::subject::Subject;
use crate::text::escape;
use std::collections::HashMap;

/// What it takes to see whether two rules need a comparison.
pub(super) const PER_PAIR: usize = 20;

/// Lints of single rules.
pub(super) fn single(rule: &Subjected<'_>, work: &Work) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if rule.sound && !rule.tools.is_empty() {
        impossible_values(rule, &mut found);
        if found.is_empty() {
            never_matches(rule, work, &mut found);
        }
    }
    idle_delegate(rule, &mut found);
    found
}

fn impossible_values(rule: &Subjected<'_>, found: &mut Vec<Diagnostic>) {
    for (atom, path) in rule.arguments() {
        if rule.tools.iter().any(|tool| can_hold(&atom.test, &atom.subject, tool)) {
            continue;
        }
        let Some(tool) = rule.tools.first() else { continue };
        let whose = if rule.tools.len() == 1 {
            format!("the tool `{}`", escape(&tool.name))
        } else {
            "every tool of this rule".to_owned()
        };
        let message = format!("the schema of {whose} permits no `{path}` of which this holds");
        found.push(
            Diagnostic::error(Code::PolicyImpossibleValue, message)
                .at(atom.value, "never holds")
                .help(format!("see what the schema permits: toolctl tools show {}", escape(&tool.name))),
        );
    }
}

/// Alternatives of `effect` and `when` together.
fn selected<'r>(rule: &Subjected<'r>, goal: Goal, tool: &ToolFacts) -> Option<Alternatives<'r>> {
    let parts = [&rule.rule.effect, &rule.rule.when];
    all(parts.into_iter().flatten().map(|condition| of(condition, goal, &tool.name)))
}

fn never_matches(rule: &Subjected<'_>, work: &Work, found: &mut Vec<Diagnostic>) {
    // A tool that the conditions leave out by its name says nothing of them.
    let concerned: Vec<&ToolFacts> = rule
        .tools
        .iter()
        .copied()
        .filter(|tool| selected(rule, Goal::True, tool).is_none_or(|all| !all.is_empty()))
        .collect();
    if concerned.is_empty() {
        return;
    }
    let id = escape(&rule.rule.id);
    let place = |condition: &Condition| condition.atoms().first().map(|atom| atom.span);
    if concerned.iter().all(|tool| none(work, selected(rule, Goal::True, tool).as_ref(), tool)) {
        let at = rule.rule.when.as_ref().and_then(place).unwrap_or(rule.rule.span);
        let last = rule.rule.when.iter().flat_map(Condition::atoms).last().map_or(at, |atom| atom.span);
        let message = format!("the conditions of `{id}` contradict each other");
        found.push(
            Diagnostic::error(Code::PolicyUnsatisfiable, message)
                .at(at.to(last), "never true together")
                .help("all entries of a condition have to hold; for one of several write `any: [...]`"),
        );
        return;
    }
    let Some(unless) = &rule.rule.unless else { return };
    let (selects, excepts) =
        if rule.rule.kind.is_grant() { (Goal::True, Goal::False) } else { (Goal::NotFalse, Goal::NotTrue) };
    let never = |selects, excepts| {
        concerned.iter().all(|tool| {
            let both = all([selected(rule, selects, tool), of(unless, excepts, &tool.name)]);
            none(work, both.as_ref(), tool)
        })
    };
    let (what, help) = if never(selects, excepts) {
        ("excepts all that the rule selects", "the rule never matches; let `unless` select a part of it")
    } else if never(Goal::NotFalse, Goal::NotFalse) {
        ("excepts nothing that the rule selects", "remove it, or let `when` select what it excepts")
    } else {
        return;
    };
    let at = place(unless).unwrap_or(rule.rule.span);
    found.push(
        Diagnostic::error(Code::PolicyIdleUnless, format!("the `unless` of `{id}` {what}"))
            .at(at, "no exception")
            .help(help),
    );
}

fn idle_delegate(rule: &Subjected<'_>, found: &mut Vec<Diagnostic>) {
    let file = &rule.source.file;
    let inherits = file.role == Role::Delegate && file.default.action.is_none();
    if inherits && rule.rule.kind == RuleKind::Grant(Action::Allow) && rule.rule.limits.is_none() {
        let message = format!("`{}` allows what this delegate allows anyway", escape(&rule.rule.id));
        found.push(
            Diagnostic::error(Code::PolicyIdleDelegate, message)
                .at(rule.rule.action_span, "changes nothing")
                .help("say `default: deny` if nothing else may run, or remove the rule"),
        );
    }
}

/// Lints of two rules at a time.
pub(super) fn pairs(scope: &Scope<'_>, rules: &[Subjected<'_>]) -> Vec<Diagnostic> {
    let mut judge = Judge { by_tool: HashMap::new(), rules, work: &scope.work };
    for (at, rule) in rules.iter().enumerate() {
        for tool in &rule.tools {
            judge.by_tool.entry(tool.name.as_str()).or_default().push(at);
        }
    }
    debug_assert!(judge.by_tool.len() <= scope.tools.len());
    (0..rules.len()).filter_map(|at| judge.grant(at)).collect()
}

struct Judge<'j, 'a> {
    rules: &'j [Subjected<'a>],
    /// The rules that can select a tool, by their place.
    by_tool: HashMap<&'j str, Vec<usize>>,
    work: &'j Work,
}

impl<'j> Judge<'j, '_> {
    fn grant(&self, at: usize) -> Option<Diagnostic> {
        let rules = self.rules;
        let grant = rules.get(at)?;
        if !grant.rule.kind.is_grant() || !grant.sound {
            return None;
        }
        let tools: Vec<&ToolFacts> = grant
            .tools
            .iter()
            .copied()
            .filter(|tool| grant.counts_for(tool))
            .filter(|tool| {
                let alternatives = of_rule(grant.rule, Goal::True, &tool.name);
                // What never holds at all was reported, or is meant for other tools.
                !none(self.work, alternatives.as_ref(), tool)
            })
            .collect();
        if let Some(guard) = self.covered(at, &tools, |guard| {
            guard.rule.kind == RuleKind::Guard(Action::Deny)
                && !guard.rule.evaluate
                && guard.source.file.applies_for.is_none()
        }) {
            return rules.get(guard).map(|guard| shadowed(grant, guard));
        }
        let plain =
            grant.rule.limits.is_none() && grant.rule.remember.is_none() && grant.rule.strength.is_none();
        if !plain || names_executed_later(grant) {
            return None;
        }
        let other = self.covered(at, &tools, |other| {
            let alike = other.rule.kind.is_grant() && same_unit(grant, other);
            let stricter = other.rule.kind.action() > grant.rule.kind.action();
            // Of two that say the same the first one stays.
            let earlier = || {
                other.rule.kind == grant.rule.kind
                    && (std::ptr::eq(other.source, grant.source) && other.rule.span < grant.rule.span
                        || !std::ptr::eq(other.source, grant.source) && other.rule.id < grant.rule.id
                        || !covers_all(self.work, grant, other))
            };
            alike && (stricter || earlier())
        })?;
        rules.get(other).map(|other| redundant(grant, other))
    }

    /// A rule that, for some tool, covers the grant, if for every tool there is one.
    fn covered(
        &self,
        at: usize,
        tools: &[&'j ToolFacts],
        admits: impl Fn(&Subjected<'_>) -> bool,
    ) -> Option<usize> {
        let rules = self.rules;
        let grant = rules.get(at)?;
        let mut first = None;
        for tool in tools {
            let candidates = self.by_tool.get(tool.name.as_str()).cloned().unwrap_or_default();
            let found = candidates.into_iter().find(|other_at| {
                let Some(other) = rules.get(*other_at) else { return false };
                if !self.work.spend(PER_PAIR)
                    || *other_at == at
                    || !other.sound
                    || !other.counts_for(tool)
                    || !speaks_of_less(other, grant)
                {
                    return false;
                }
                admits(other) && covers(self.work, other, grant, tool)
            })?;
            first = first.or(Some(found));
        }
        first
    }
}

/// Whether a rule tests no subject that the other does not test: only then can it cover it, save for tests that say
/// nothing.
pub(super) fn speaks_of_less(wide: &Subjected<'_>, narrow: &Subjected<'_>) -> bool {
    let known: Vec<&Subject> = narrow.atoms().into_iter().map(|atom| &atom.subject).collect();
    wide.atoms().iter().all(|atom| atom.subject == Subject::Tool || known.contains(&&atom.subject))
}

/// Whether `wide` matches every call of the tool that the grant `narrow` matches.
pub(super) fn covers(work: &Work, wide: &Subjected<'_>, narrow: &Subjected<'_>, tool: &ToolFacts) -> bool {
    let misses = if wide.rule.kind.is_grant() { Goal::NotTrue } else { Goal::False };
    let both = all([of_rule(narrow.rule, Goal::True, &tool.name), of_rule(wide.rule, misses, &tool.name)]);
    none(work, both.as_ref(), tool)
}

/// Whether `wide` matches whenever `narrow` does, for every tool of `narrow`.
fn covers_all(work: &Work, wide: &Subjected<'_>, narrow: &Subjected<'_>) -> bool {
    narrow.tools.iter().all(|tool| {
        wide.tools.iter().any(|known| known.name == tool.name) && covers(work, wide, narrow, tool)
    })
}

/// Whether the grants of two files are weighed together.
fn same_unit(a: &Subjected<'_>, b: &Subjected<'_>) -> bool {
    let hosts = a.source.file.role == Role::Host && b.source.file.role == Role::Host;
    std::ptr::eq(a.source, b.source) || (hosts && a.source.layer == b.source.layer)
}

/// A grant that names such a file lifts a rule of the engine, so that its wording counts.
fn names_executed_later(grant: &Subjected<'_>) -> bool {
    grant.arguments().any(|(atom, _)| {
        let text = atom.test.text();
        EXECUTED_LATER.into_iter().any(|name| text.contains(name))
    })
}

fn shadowed(grant: &Subjected<'_>, guard: &Subjected<'_>) -> Diagnostic {
    let message = format!(
        "`{}` never counts: `{}` denies all that it grants",
        escape(&grant.rule.id),
        escape(&guard.rule.id)
    );
    Diagnostic::error(Code::PolicyShadowedGrant, message)
        .at(grant.rule.span, "never counts")
        .see(guard.rule.span, "denies the same calls")
        .help(
            "the strictest answer wins; remove the grant, or write the exception as `unless` into the guard",
        )
}

fn redundant(grant: &Subjected<'_>, other: &Subjected<'_>) -> Diagnostic {
    let message = format!(
        "`{}` changes no decision: `{}` matches the same calls",
        escape(&grant.rule.id),
        escape(&other.rule.id)
    );
    let what = match other.rule.kind.action() {
        Action::Allow => "allows them too",
        Action::Ask if grant.rule.kind.action() == Action::Allow => "asks, which is stricter and so holds",
        Action::Ask | Action::Deny => "asks too",
    };
    Diagnostic::error(Code::PolicyRedundant, message)
        .at(grant.rule.span, "changes nothing")
        .see(other.rule.span, what)
        .help("remove it, or write it as `unless` into the wider rule if it is meant as an exception")
}
