//! What the lints know of a rule: its file, the tools that it speaks of, the effects that those can have.

use super::work::Work;
use crate::model::{EffectSet, Layer};
use crate::policy::action::Role;
use crate::policy::check::check_rule;
use crate::policy::condition::{Atom, Condition};
use crate::policy::facts::ToolFacts;
use crate::policy::matchers::Test;
use crate::policy::model::Rule;
use crate::policy::set::{PolicySet, PolicySource};
use crate::policy::subject::{ArgPath, Subject};
use std::collections::HashMap;

/// Everything that is checked together.
pub(super) struct Scope<'a> {
    pub(super) set: &'a PolicySet,
    pub(super) tools: &'a [ToolFacts],
    /// What the lints may still do.
    pub(super) work: Work,
    by_name: HashMap<&'a str, &'a ToolFacts>,
}

/// A rule with its file and the tools that it can select.
pub(super) struct Subjected<'a> {
    pub(super) source: &'a PolicySource,
    pub(super) rule: &'a Rule,
    pub(super) tools: Vec<&'a ToolFacts>,
    /// The check against the tools found no fault, so that it can be reasoned about.
    pub(super) sound: bool,
}

impl<'a> Scope<'a> {
    pub(super) fn new(set: &'a PolicySet, tools: &'a [ToolFacts]) -> Self {
        let by_name = tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        Self { set, tools, work: Work::new(), by_name }
    }

    /// The files of people; nobody can change the built-in one.
    pub(super) fn sources(&self) -> impl Iterator<Item = &'a PolicySource> {
        self.set.sources().iter().filter(|source| source.layer != Layer::Builtin)
    }

    /// All their rules.
    pub(super) fn rules(&self) -> Vec<Subjected<'a>> {
        self.sources()
            .flat_map(|source| source.file.rules.iter().map(move |rule| (source, rule)))
            .map(|(source, rule)| {
                let tools = self.selected(rule);
                let sound = tools.iter().all(|tool| check_rule(rule, tool).is_empty());
                Subjected { source, rule, tools, sound }
            })
            .collect()
    }

    fn selected(&self, rule: &Rule) -> Vec<&'a ToolFacts> {
        match &rule.tools {
            None => self.tools.iter().collect(),
            Some(names) if !names.negated && !names.names.iter().any(|name| name.contains('*')) => {
                names.names.iter().filter_map(|name| self.by_name.get(name.as_str()).copied()).collect()
            }
            Some(names) => self.tools.iter().filter(|tool| names.selects(&tool.name)).collect(),
        }
    }

    /// The files that decide what a tool's effects are.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &'a PolicySource> {
        self.sources().filter(|source| source.file.role == Role::Host)
    }

    /// All effects that calls of a tool can have; empty if nobody says any.
    pub(super) fn effects(&self, tool: &ToolFacts) -> EffectSet {
        let entries =
            self.hosts().flat_map(|source| source.file.effects.get(&tool.name).into_iter().flatten());
        let found = entries.fold(EffectSet::EMPTY, |all, entry| all.union(entry.effects));
        tool.builtin_effects.map_or(found, |engine| engine.union(found))
    }

    /// Whether a file of the host lets the tool's own hint count.
    pub(super) fn trusts_hints(&self, tool: &ToolFacts) -> bool {
        self.hosts().any(|source| source.file.trust_hints.contains(&tool.name))
    }
}

impl Subjected<'_> {
    /// Whether the rule names the tool, so that it is written for it.
    pub(super) fn names(&self, tool: &ToolFacts) -> bool {
        let named = self.rule.tools.as_ref();
        named.is_some_and(|names| !names.negated && names.names.contains(&tool.name))
    }

    /// Whether a grant counts for a tool: it speaks of tools of its own and of outer layers.
    pub(super) fn counts_for(&self, tool: &ToolFacts) -> bool {
        !self.rule.kind.is_grant() || tool.layer <= self.source.layer || self.rule.from_project
    }

    /// The atoms of its conditions.
    pub(super) fn atoms(&self) -> Vec<&Atom> {
        let conditions = [&self.rule.effect, &self.rule.when, &self.rule.unless];
        conditions.into_iter().flatten().flat_map(Condition::atoms).collect()
    }

    /// The arguments that its conditions test.
    pub(super) fn arguments(&self) -> impl Iterator<Item = (&Atom, &ArgPath)> {
        self.atoms().into_iter().filter_map(|atom| match &atom.subject {
            Subject::Args(path) => Some((atom, path)),
            Subject::Ctx(_) | Subject::Tool | Subject::Effect | Subject::Sandbox(_) => None,
        })
    }
}

/// A test and those inside it.
pub(super) fn inner(test: &Test) -> Vec<&Test> {
    if let Test::Quantifier(quantifier) = test {
        return quantifier.tests.iter().flat_map(inner).collect();
    }
    vec![test]
}
