//! The policies as they are arranged: what `policy show` and `tools list` say of them.

use super::action::{Action, Role};
use super::facts::ToolFacts;
use super::model::{Rule, RuleKind};
use super::set::{PolicySet, PolicySource, Unit, UnitKind, default_of};
use crate::model::{Effect, EffectSet};
use crate::text::Span;

/// A file with its rank among the others.
#[derive(Debug)]
pub struct Ranked<'s> {
    /// 1 decides, every other can only tighten. Files that are weighed together share a rank.
    pub rank: usize,
    /// What the file is to the others: `host`, `delegate` or `guard`, whatever it calls itself.
    pub role: Role,
    /// What it says where no grant matches; `None`: nothing.
    pub default: Option<Action>,
    /// The file.
    pub source: &'s PolicySource,
    /// Its rules in the order of the file.
    pub rules: Vec<RuleSummary>,
}

/// One rule in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSummary {
    /// `POLICY/ID`.
    pub id: String,
    /// What it says.
    pub action: Action,
    /// `allow` or `ask`, rather than a guard.
    pub grant: bool,
    /// The tools that it selects, as written; `*` for all. Not escaped.
    pub tools: String,
    /// Where it stands; `None` in the built-in policy.
    pub span: Option<Span>,
    /// Why it does not count, if it does not.
    pub set_aside: Option<&'static str>,
}

/// What a tool's calls may be classified as, before any call is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleEffects {
    /// All effects that some call may have; never empty.
    pub effects: EffectSet,
    /// Whether they depend on the arguments.
    pub depends: bool,
    /// Who says so: `toolctl`, the names of policies, `hint`, or `nobody`.
    pub from: Vec<String>,
}

impl PolicySet {
    /// Every file, in the order of rank, outermost layer first.
    pub fn ranked(&self) -> Vec<Ranked<'_>> {
        let units = self.units.iter().enumerate();
        units
            .flat_map(|(at, unit)| {
                let sources = unit.sources.iter().filter_map(|source| self.sources.get(*source));
                sources.map(move |source| self.ranked_file(at + 1, unit, source))
            })
            .collect()
    }

    fn ranked_file<'s>(&'s self, rank: usize, unit: &Unit, source: &'s PolicySource) -> Ranked<'s> {
        let role = match unit.kind {
            UnitKind::Host => Role::Host,
            UnitKind::Delegate => Role::Delegate,
            UnitKind::Guards => Role::Guard,
        };
        let default = default_of(&self.sources, unit).filter(|_| role != Role::Guard);
        let rules = source.file.rules.iter().map(|rule| summary(unit, source, rule)).collect();
        Ranked { rank, role, default: default.map(|(action, _)| action), source, rules }
    }

    /// What calls of a tool may be classified as.
    pub fn possible_effects(&self, tool: &ToolFacts) -> PossibleEffects {
        let mut found = PossibleEffects { effects: EffectSet::EMPTY, depends: false, from: Vec::new() };
        let mut certain = false;
        if let Some(effects) = tool.builtin_effects {
            found.add(effects, "toolctl");
            certain = true;
        }
        for (source, entries) in self.effect_entries(&tool.name, tool.layer) {
            for entry in entries.iter().filter(|entry| tool.layer <= source.layer || entry.from_project) {
                found.add(entry.effects, &source.file.name);
                found.depends |= entry.when.is_some();
                certain |= entry.when.is_none();
                if entry.when.is_none() {
                    break;
                }
            }
        }
        if found.from.is_empty() && tool.read_only && !tool.destructive && self.trusts_hints(&tool.name) {
            found.add(EffectSet::of(Effect::Read), "hint");
            certain = true;
        }
        if !certain {
            found.add(EffectSet::of(Effect::Unknown), "nobody");
        }
        found
    }
}

impl PossibleEffects {
    fn add(&mut self, effects: EffectSet, from: &str) {
        self.effects = self.effects.union(effects);
        if !self.from.iter().any(|known| known == from) {
            self.from.push(from.to_owned());
        }
    }
}

fn summary(unit: &Unit, source: &PolicySource, rule: &Rule) -> RuleSummary {
    let grant = matches!(rule.kind, RuleKind::Grant(_));
    let set_aside = if rule.evaluate {
        Some("only evaluated")
    } else if grant && unit.kind == UnitKind::Guards {
        Some(if source.trusted { "ignored: a guard file grants nothing" } else { "ignored: needs trust" })
    } else {
        None
    };
    let tools = rule.tools.as_ref().map_or_else(
        || "*".to_owned(),
        |tools| format!("{}{}", if tools.negated { "not " } else { "" }, tools.names.join(" ")),
    );
    RuleSummary {
        id: rule.id.clone(),
        action: rule.kind.action(),
        grant,
        tools,
        span: source.place(rule.span),
        set_aside,
    }
}
