//! Grants that give more than they look (L009, L010), or rest on a claim; exemptions that exempt from nothing (L018).

use super::rules::{PER_PAIR, covers, speaks_of_less};
use super::scope::{Scope, Subjected};
use crate::diag::{Code, Diagnostic};
use crate::manifest::RequiresApproval;
use crate::model::{AllowNetwork, Effect, EffectSet};
use crate::policy::action::Action;
use crate::policy::facts::ToolFacts;
use crate::policy::matchers::Test;
use crate::policy::model::RuleKind;
use crate::policy::subject::{CtxField, Subject};
use crate::text::{Span, escape};
use serde_json::Value;

pub(super) fn lint(rule: &Subjected<'_>, all: &[Subjected<'_>], scope: &Scope<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !rule.rule.kind.is_grant() {
        return found;
    }
    claims(rule, &mut found);
    if rule.rule.kind == RuleKind::Grant(Action::Allow) && rule.sound {
        let open: Vec<(&ToolFacts, EffectSet)> = rule
            .tools
            .iter()
            .filter(|tool| rule.counts_for(tool))
            .map(|tool| (*tool, scope.effects(tool)))
            .collect();
        over_broad(rule, &open, all, scope, &mut found);
        unconfined(rule, &open, all, scope, &mut found);
    }
    found
}

/// Whether calls that the rule allows can run without anybody being asked.
fn runs_unseen(rule: &Subjected<'_>, tool: &ToolFacts, all: &[Subjected<'_>], scope: &Scope<'_>) -> bool {
    let asks = matches!(tool.requires_approval, Some(RequiresApproval::Always(true)));
    // Other rules may make the call ask or deny it; only where none certainly does, the call runs.
    let stopped = || {
        all.iter().any(|other| {
            other.rule.kind.action() > Action::Allow
                && !other.rule.evaluate
                && other.sound
                && other.source.file.applies_for.is_none()
                && scope.work.spend(PER_PAIR)
                && speaks_of_less(other, rule)
                && other.tools.iter().any(|known| known.name == tool.name)
                && covers(&scope.work, other, rule, tool)
        })
    };
    // What was not looked at is not known to run.
    !asks && !stopped() && !scope.work.is_spent()
}

fn tests(rule: &Subjected<'_>, wanted: impl Fn(&Subject) -> bool) -> bool {
    rule.atoms().iter().any(|atom| wanted(&atom.subject))
}

fn over_broad(
    rule: &Subjected<'_>,
    open: &[(&ToolFacts, EffectSet)],
    all: &[Subjected<'_>],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    if tests(rule, |subject| matches!(subject, Subject::Args(_) | Subject::Effect)) {
        return;
    }
    let acts = |effects: EffectSet| {
        effects.iter().any(|effect| match effect {
            Effect::Write | Effect::Execute | Effect::External => true,
            Effect::Read | Effect::Unknown => false,
        })
    };
    let has_arguments = |tool: &ToolFacts| {
        tool.parameters.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty())
    };
    let mut acting = open.iter().filter(|(tool, effects)| acts(*effects) && has_arguments(tool));
    let Some((tool, effects)) = acting.find(|(tool, _)| runs_unseen(rule, tool, all, scope)) else { return };
    let effects: Vec<&str> = effects.iter().map(Effect::as_str).collect();
    let message = format!(
        "`{}` allows every call of `{}`, whose effect is {}",
        escape(&rule.rule.id),
        escape(&tool.name),
        effects.join(" and ")
    );
    found.push(
        Diagnostic::warning(Code::PolicyOverBroad, message)
            .at(rule.rule.action_span, "whatever the arguments are")
            .help("add a condition on the arguments, or `action: ask`"),
    );
}

fn unconfined(
    rule: &Subjected<'_>,
    open: &[(&ToolFacts, EffectSet)],
    all: &[Subjected<'_>],
    scope: &Scope<'_>,
    found: &mut Vec<Diagnostic>,
) {
    if tests(rule, |subject| matches!(subject, Subject::Sandbox(_))) {
        return;
    }
    let hole = |tool: &ToolFacts, effects: EffectSet| match &tool.sandbox {
        _ if !effects.contains(Effect::External) && !effects.contains(Effect::Execute) => None,
        None => Some("no sandbox"),
        Some(config) if config.enabled == Some(false) => Some("no sandbox"),
        Some(config) if effects.contains(Effect::External) => {
            (config.allow_network == Some(AllowNetwork::Yes)).then_some("the whole network")
        }
        Some(_) => None,
    };
    let limited = rule.rule.limits.as_ref().is_some_and(|limits| limits.allow_network.is_some());
    for (tool, effects) in open {
        let Some(what) = hole(tool, *effects) else { continue };
        if (limited && what != "no sandbox") || !runs_unseen(rule, tool, all, scope) {
            continue;
        }
        let message = format!(
            "`{}` allows calls of `{}`, which has {what}, without asking",
            escape(&rule.rule.id),
            escape(&tool.name)
        );
        found.push(
            Diagnostic::warning(Code::PolicyUnconfined, message)
                .at(rule.rule.action_span, "nothing but this rule holds it back")
                .help("let the rule ask, or give the tool a sandbox without it"),
        );
        return;
    }
}

/// Grants that need a value of the context. Guards and `for` may rest on it: they only tighten.
fn claims(rule: &Subjected<'_>, found: &mut Vec<Diagnostic>) {
    let Some(when) = &rule.rule.when else { return };
    for atom in when.atoms() {
        let Subject::Ctx(field) = &atom.subject else { continue };
        // Plan mode holds whoever asks for it.
        if *field == CtxField::RunMode || matches!(atom.test, Test::Exists(false)) {
            continue;
        }
        let message = format!(
            "`{}` grants because of `ctx.{}`, which the caller says of itself",
            escape(&rule.rule.id),
            field.as_str()
        );
        found.push(
            Diagnostic::warning(Code::PolicyClaim, message)
                .at(atom.key, "proves nothing")
                .help("use it in a guard or in `for`, where it only tightens"),
        );
        return;
    }
}

/// `requiresApproval: false` where no call runs without being asked about anyway.
pub(super) fn idle_exemption(
    tool: &ToolFacts,
    all: &[Subjected<'_>],
    scope: &Scope<'_>,
    at: Option<Span>,
) -> Option<Diagnostic> {
    let allows = all.iter().any(|rule| {
        rule.rule.kind == RuleKind::Grant(Action::Allow)
            && rule.counts_for(tool)
            && rule.tools.iter().any(|known| known.name == tool.name)
    });
    let open = scope.hosts().any(|host| host.file.default.action == Some(Action::Allow));
    if allows || open {
        return None;
    }
    let message = format!(
        "`requiresApproval: false` of `{}` exempts from nothing: no rule allows a call of it",
        escape(&tool.name)
    );
    let finding = Diagnostic::error(Code::PolicyIdleExemption, message)
        .help("it lifts `approval.policy` alone; a rule with `action: allow` is needed as well");
    Some(match at {
        Some(span) => finding.at(span, "has no effect"),
        None => finding,
    })
}
