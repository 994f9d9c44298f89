//! All lints of all policies.

use super::scope::Scope;
use super::{commands, effects, grants, guards, rules, wording};
use crate::diag::{Code, Diagnostic};
use crate::manifest::RequiresApproval;
use crate::policy::facts::{LegacyApproval, ToolFacts};
use crate::policy::set::PolicySet;
use crate::text::Span;

/// Lints the policies of people against all tools there are, as if the project were trusted. `exempt` gives the place of a
/// tool's `requiresApproval`, for the lint of exemptions.
pub fn lint_policies(
    set: &PolicySet,
    tools: &[ToolFacts],
    legacy: &LegacyApproval,
    exempt: &dyn Fn(&ToolFacts) -> Option<Span>,
) -> Vec<Diagnostic> {
    let scope = Scope::new(set, tools);
    let all = scope.rules();
    let mut found = Vec::new();
    for rule in &all {
        found.extend(rules::single(rule, &scope.work));
        found.extend(wording::lint(rule));
        found.extend(guards::lint(rule, &all, &scope));
        found.extend(commands::lint(rule));
        found.extend(grants::lint(rule, &all, &scope));
    }
    found.extend(rules::pairs(&scope, &all));
    found.extend(effects::lint(&scope, &all));
    let exempted = tools
        .iter()
        .filter(|tool| matches!(tool.requires_approval, Some(RequiresApproval::Always(false))))
        .filter(|tool| match legacy {
            LegacyApproval::None => false,
            LegacyApproval::All => true,
            LegacyApproval::Names(names) => names.contains(&tool.name),
        });
    for tool in exempted {
        found.extend(grants::idle_exemption(tool, &all, &scope, exempt(tool)));
    }
    if scope.work.is_spent() {
        found.push(
            Diagnostic::note_of(
                Code::PolicyRedundant,
                "not all rules were compared with each other: there are too many",
            )
            .help(
                "the decisions are not touched by it; rules that never match or change nothing may go unseen",
            ),
        );
    }
    found
}
