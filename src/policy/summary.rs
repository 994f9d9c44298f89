//! What a policy file does, in a few words: for people who decide whether to trust it.

use super::action::{Action, Role};
use super::matchers::ToolNames;
use super::model::{PolicyFile, Rule};
use crate::model::Effect;

/// A policy file in a few words. Names are as written, not escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The file's role.
    pub role: Role,
    /// What happens if no grant matches; `None` is `inherit`, or a guard.
    pub default: Option<Action>,
    /// The tools that grants allow; `(if)` behind those whose rule has conditions.
    pub allows: Vec<String>,
    /// The tools that grants ask for.
    pub asks: Vec<String>,
    /// The tools that guards deny or ask for.
    pub guards: Vec<String>,
    /// What tools are said to do, as `TOOL read, write`.
    pub effects: Vec<String>,
    /// The tools whose hints are believed.
    pub trust_hints: Vec<String>,
}

impl PolicyFile {
    /// What the file does, in a few words.
    pub fn summary(&self) -> Summary {
        let rules = |wanted: &dyn Fn(&Rule) -> bool| {
            let mut names: Vec<String> =
                self.rules.iter().filter(|rule| !rule.evaluate && wanted(rule)).map(tools).collect();
            names.sort();
            names.dedup();
            names
        };
        let grants = |action| move |rule: &Rule| rule.kind.is_grant() && rule.kind.action() == action;
        let effects = self.effects.iter().flat_map(|(tool, entries)| {
            entries.iter().map(move |entry| {
                let effects: Vec<&str> = entry.effects.iter().map(Effect::as_str).collect();
                let condition = if entry.when.is_some() { " (if)" } else { "" };
                format!("{tool} {}{condition}", effects.join("+"))
            })
        });
        Summary {
            role: self.role,
            default: self.default.action,
            allows: rules(&grants(Action::Allow)),
            asks: rules(&grants(Action::Ask)),
            guards: rules(&|rule| !rule.kind.is_grant()),
            effects: effects.collect(),
            trust_hints: self.trust_hints.clone(),
        }
    }
}

fn tools(rule: &Rule) -> String {
    let names = rule.tools.as_ref().map_or_else(|| "every tool".to_owned(), ToolNames::in_words);
    let conditions = rule.when.is_some() || rule.unless.is_some() || rule.effect.is_some();
    if conditions { format!("{names} (if)") } else { names }
}
