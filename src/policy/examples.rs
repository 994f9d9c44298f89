//! The inline examples of a rule: rows of arguments that it has to match, or may not match, judged in an empty
//! world whose workspace is `/ws`.

use super::environ::Env;
use super::model::{Example, PolicyFile, Rule};
use super::paths::PathFacts;
use super::truth::Truth;
use crate::diag::{Code, Diagnostic};
use crate::text::escape;
use crate::world::MemoryWorld;
use std::path::Path;

/// Checks the inline examples of all rules of a file.
pub fn check_examples(file: &PolicyFile) -> Vec<Diagnostic> {
    file.rules.iter().flat_map(check_rule_examples).collect()
}

/// Checks the inline examples of one rule.
pub(super) fn check_rule_examples(rule: &Rule) -> Vec<Diagnostic> {
    if rule.examples.is_empty() {
        return Vec::new();
    }
    let world = MemoryWorld::new("/ws");
    rule.examples.iter().filter_map(|example| check_one(rule, example, &world)).collect()
}

fn check_one(rule: &Rule, example: &Example, world: &MemoryWorld) -> Option<Diagnostic> {
    let workspace = Path::new("/ws");
    let paths = PathFacts::new(world, workspace, workspace, Vec::new());
    let tool = rule.tools.as_ref().and_then(|names| match names.names.as_slice() {
        [name] if !names.negated && !name.contains('*') => Some(name.as_str()),
        _ => None,
    });
    let env = Env {
        args: &example.args,
        schema: None,
        tool,
        effects: None,
        ctx: None,
        per_agent: false,
        sandbox: None,
        paths: &paths,
    };
    let mut truth = rule.when.as_ref().map_or(Truth::True, |when| when.eval(&env, None, false));
    if let Some(unless) = &rule.unless {
        truth = truth.and(unless.eval(&env, None, true).negate());
    }
    let key = if example.matches { "match" } else { "notMatch" };
    let why = match (&truth, example.matches) {
        (Truth::True, true) | (Truth::False, false) => return None,
        (Truth::False, true) => "the rule does not match it".to_owned(),
        (Truth::True, false) => "the rule matches it".to_owned(),
        (Truth::Unknown(why), _) => format!("the rule neither matches it nor not: {}", escape(why)),
        (Truth::Error(why), _) => format!("the rule cannot be evaluated: {}", escape(why)),
    };
    let message = format!("a `{key}` example of `{}` does not hold: {why}", escape(&rule.id));
    let mut diagnostic = Diagnostic::error(Code::PolicyExampleFailed, message)
        .at(example.span, "this example")
        .see(rule.span, "of this rule");
    if let Truth::Unknown(_) = truth {
        diagnostic = diagnostic.help("give the arguments that the rule looks at");
    }
    Some(diagnostic)
}
