//! Rules of toolctl itself. No policy can write them away: they are joined to whatever the policies say.

use super::action::Action;
use super::classify::Classified;
use super::condition::{Clause, Condition};
use super::decision::{Floor, RuleRef};
use super::decode::approval_condition;
use super::facts::LegacyApproval;
use super::matchers::{Operand, Test};
use super::model::Rule;
use super::subject::Subject;
use super::truth::Truth;
use crate::canon::is_under;
use crate::diag::Code;
use crate::manifest::RequiresApproval;
use crate::model::{Context, Effect, EffectSet, Layer, RunMode, executed_later};
use crate::source::Decoder;
use crate::text::escape;

/// What a rule of the engine says, with the code of a denial.
pub(super) struct Verdict {
    pub(super) floor: Floor,
    pub(super) code: Option<Code>,
    /// What is reported if several deny, lowest first. See `decide`.
    pub(super) rank: u8,
}

fn verdict(name: &str, action: Action, reason: String, code: Option<Code>, rank: u8) -> Verdict {
    Verdict { floor: Floor { rule: RuleRef::engine(name), action, reason }, code, rank }
}

/// All rules of the engine that tighten this call. `grants` are the host's grants that matched.
pub(super) fn verdicts(call: &Classified<'_>, ctx: &Context, grants: &[&Rule]) -> Vec<Verdict> {
    [
        untrusted(call),
        control_files(call, grants),
        plan_mode(call.effects, ctx),
        approval(call, ctx),
        legacy(call),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// In a project that nobody trusted only the built-in tools that read may run.
fn untrusted(call: &Classified<'_>) -> Option<Verdict> {
    let tool = &call.facts.tool;
    let reads = tool.layer == Layer::Builtin && call.effects.is_only_read();
    if !call.facts.env.project_untrusted || reads {
        return None;
    }
    let reason = "the project is not trusted, so only the built-in tools that read may run".to_owned();
    Some(verdict("untrusted", Action::Deny, reason, Some(Code::ConfigNeedsTrust), 1))
}

/// The plan gate (002): the strictest answer over all effects.
fn plan_mode(effects: EffectSet, ctx: &Context) -> Option<Verdict> {
    if ctx.mode != RunMode::Plan {
        return None;
    }
    let action = effects.iter().map(gate).max().unwrap_or(Action::Ask);
    let names: Vec<_> = effects.iter().filter(|effect| gate(*effect) == action).map(in_words).collect();
    let names = names.join(" or ");
    let (reason, code) = match action {
        Action::Allow => return None,
        Action::Ask => ("the effect is unknown, so plan mode needs a review".to_owned(), None),
        Action::Deny => (format!("plan mode does not run what may {names}"), Some(Code::PolicyPlanMode)),
    };
    Some(verdict("plan-mode", action, reason, code, 5))
}

const fn in_words(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Unknown => "do anything",
        Effect::Write => "write",
        Effect::Execute => "execute programs",
        Effect::External => "reach out",
    }
}

const fn gate(effect: Effect) -> Action {
    match effect {
        Effect::Read => Action::Allow,
        Effect::Unknown => Action::Ask,
        Effect::Write | Effect::Execute | Effect::External => Action::Deny,
    }
}

/// The manifest's `requiresApproval`: a floor of ask.
fn approval(call: &Classified<'_>, ctx: &Context) -> Option<Verdict> {
    let truth = match call.facts.tool.requires_approval.as_ref()? {
        RequiresApproval::Always(wanted) => Truth::from(*wanted),
        RequiresApproval::When(node) => {
            let mut decoder = Decoder::new();
            match approval_condition(&mut decoder, node) {
                Some(when) if !decoder.has_errors() => {
                    when.eval(&call.facts.see(ctx, Some(call.effects)), None, false)
                }
                Some(_) | None => Truth::Error("the `when` of `requiresApproval` cannot be read".to_owned()),
            }
        }
    };
    let name = "requires-approval";
    match truth {
        Truth::False => None,
        Truth::True => {
            Some(verdict(name, Action::Ask, "the tool's manifest requires approval".to_owned(), None, 6))
        }
        Truth::Unknown(why) => {
            let reason = format!("the tool's manifest may require approval: {}", escape(&why));
            Some(verdict(name, Action::Ask, reason, None, 6))
        }
        Truth::Error(why) => {
            let reason = format!("`requiresApproval` cannot be evaluated: {}", escape(&why));
            Some(verdict(name, Action::Deny, reason, Some(Code::PolicyError), 0))
        }
    }
}

/// The project's legacy list, which `requiresApproval: false` lifts.
fn legacy(call: &Classified<'_>) -> Option<Verdict> {
    let tool = &call.facts.tool;
    let listed = match call.facts.env.legacy_approval {
        LegacyApproval::None => false,
        LegacyApproval::All => true,
        LegacyApproval::Names(names) => names.contains(&tool.name),
    };
    let exempt = matches!(tool.requires_approval, Some(RequiresApproval::Always(false)));
    (listed && !exempt).then(|| {
        let reason = "the settings' `approval.policy` names this tool".to_owned();
        verdict("approval-policy", Action::Ask, reason, None, 7)
    })
}

/// No call may write to the files that control toolctl, or to files that other programs execute later.
fn control_files(call: &Classified<'_>, grants: &[&Rule]) -> Option<Verdict> {
    let harmless = EffectSet::of(Effect::Read).with(Effect::External);
    if call.effects.iter().all(|effect| harmless.contains(effect)) {
        return None;
    }
    let paths = &call.facts.paths;
    for declared in paths.declared() {
        let meaning = paths.of(&declared.pointer, &declared.text);
        let facts = match meaning.as_ref() {
            Ok(facts) => facts,
            Err(why) => {
                let reason = format!("the path cannot be judged: {}", escape(why));
                return Some(verdict("control-files", Action::Deny, reason, Some(Code::PolicyError), 0));
            }
        };
        for fact in facts {
            // A protected path that is not UTF-8 is compared by its own lossy form: at worst it covers more.
            let protected = call.facts.env.protected.iter().find_map(|path| {
                let path = path.to_string_lossy();
                let inside = is_under(&fact.absolute, &path);
                // A name that is not followed is moved, replaced or removed, and with it all that is below it.
                let holds = !declared.follow_last && is_under(&path, &fact.absolute);
                (inside || holds).then(|| (inside, path.into_owned()))
            });
            let later = executed_later(&fact.absolute)
                .filter(|name| !grants.iter().any(|rule| names(rule, &declared.pointer, name)));
            let what = match (protected, later) {
                (Some((true, _)), _) => "controls toolctl".to_owned(),
                (Some((false, path)), _) => format!("holds \"{}\", which controls toolctl", escape(&path)),
                (None, Some(name)) => format!("is executed later by other programs ({name})"),
                (None, None) => continue,
            };
            let reason = format!("\"{}\" {what}", escape(&fact.absolute));
            return Some(verdict("control-files", Action::Deny, reason, Some(Code::PolicyControlFiles), 2));
        }
    }
    None
}

/// Whether a grant literally names such a file in a test of this argument.
fn names(rule: &Rule, pointer: &str, name: &str) -> bool {
    rule.when.as_ref().is_some_and(|Condition(clause)| clause_names(clause, pointer, name))
}

fn clause_names(clause: &Clause, pointer: &str, name: &str) -> bool {
    match clause {
        Clause::All(parts) | Clause::Any(parts) => parts.iter().any(|part| clause_names(part, pointer, name)),
        Clause::Not(_) => false,
        Clause::Atom(atom) => match &atom.subject {
            Subject::Args(path) => is_under(pointer, &path.pointer()) && test_names(&atom.test, name),
            Subject::Ctx(_) | Subject::Tool | Subject::Effect | Subject::Sandbox(_) => false,
        },
    }
}

fn test_names(test: &Test, name: &str) -> bool {
    let literal = |operand: &Operand| match operand {
        Operand::Literal(value) => value.as_str().is_some_and(|text| text.contains(name)),
        Operand::Ref(_) => false,
    };
    match test {
        Test::Path(globs) => globs.written.iter().any(|text| text.contains(name)),
        Test::Under(under) => under.folders.iter().any(|folder| folder.written.contains(name)),
        Test::Equal(equal) => literal(&equal.operand),
        Test::OneOf(one) => !one.negated && one.operands.iter().any(literal),
        Test::Quantifier(quantifier) => quantifier.tests.iter().any(|test| test_names(test, name)),
        Test::Compare(_)
        | Test::Exists(_)
        | Test::Size(_)
        | Test::Text(_)
        | Test::Glob(_)
        | Test::Regular(_)
        | Test::Ext(_)
        | Test::Tool(_)
        | Test::Effect { .. } => false,
    }
}
