//! Conditions as alternatives: each a list of what has to be said of single atoms.

use crate::policy::condition::{Atom, Clause, Condition};
use crate::policy::matchers::Test;
use crate::policy::model::Rule;

/// Most alternatives; a condition with more is not looked into.
const MAX_ALTERNATIVES: usize = 192;

/// What is to be said of a condition. True and false are not all there is: an atom about an absent value is in doubt.
/// Errors are left out: they deny the call whatever the rules say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    True,
    False,
    NotTrue,
    NotFalse,
}

impl Goal {
    const fn negate(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::NotTrue => Self::NotFalse,
            Self::NotFalse => Self::NotTrue,
        }
    }

    /// Whether all parts of a conjunction have to fulfil it, rather than one.
    const fn of_all(self) -> bool {
        matches!(self, Self::True | Self::NotFalse)
    }
}

/// What is to be said of one atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Says {
    True,
    False,
    Doubt,
}

/// One atom and what is to be said of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literal<'r> {
    pub(super) atom: &'r Atom,
    pub(super) says: Says,
}

/// Alternatives, of which one has to hold; of each all literals have to.
pub(super) type Alternatives<'r> = Vec<Vec<Literal<'r>>>;

/// The alternatives under which a rule is what `goal` says, for calls of one tool; `None` if there are too many.
pub(super) fn of_rule<'r>(rule: &'r Rule, goal: Goal, tool: &str) -> Option<Alternatives<'r>> {
    let parts = [
        rule.effect.as_ref().map(|condition| (condition, goal)),
        rule.when.as_ref().map(|condition| (condition, goal)),
        rule.unless.as_ref().map(|condition| (condition, goal.negate())),
    ];
    let parts = parts.into_iter().flatten().map(|(condition, goal)| of(condition, goal, tool));
    if goal.of_all() { all(parts) } else { any(parts) }
}

/// The alternatives under which a condition is what `goal` says.
pub(super) fn of<'r>(condition: &'r Condition, goal: Goal, tool: &str) -> Option<Alternatives<'r>> {
    of_clause(&condition.0, goal, tool)
}

fn of_clause<'r>(clause: &'r Clause, goal: Goal, tool: &str) -> Option<Alternatives<'r>> {
    match clause {
        Clause::Not(part) => of_clause(part, goal.negate(), tool),
        Clause::All(parts) | Clause::Any(parts) => {
            let conjunction = matches!(clause, Clause::All(_)) == goal.of_all();
            let parts = parts.iter().map(|part| of_clause(part, goal, tool));
            if conjunction { all(parts) } else { any(parts) }
        }
        Clause::Atom(atom) => Some(of_atom(atom, goal, tool)),
    }
}

fn of_atom<'r>(atom: &'r Atom, goal: Goal, tool: &str) -> Alternatives<'r> {
    if let Test::Tool(names) = &atom.test {
        let holds = names.selects(tool) == goal.of_all();
        return if holds { vec![Vec::new()] } else { Vec::new() };
    }
    let says: &[Says] = match goal {
        Goal::True => &[Says::True],
        Goal::False => &[Says::False],
        Goal::NotTrue => &[Says::False, Says::Doubt],
        Goal::NotFalse => &[Says::True, Says::Doubt],
    };
    says.iter().map(|says| vec![Literal { atom, says: *says }]).collect()
}

/// Alternatives that fulfil all parts at once.
pub(super) fn all<'r>(parts: impl IntoIterator<Item = Option<Alternatives<'r>>>) -> Option<Alternatives<'r>> {
    let mut found: Alternatives<'r> = vec![Vec::new()];
    for part in parts {
        let part = part?;
        if found.len() * part.len() > MAX_ALTERNATIVES {
            return None;
        }
        found = found
            .iter()
            .flat_map(|one| part.iter().map(|other| one.iter().chain(other).copied().collect()))
            .collect();
    }
    Some(found)
}

fn any<'r>(parts: impl IntoIterator<Item = Option<Alternatives<'r>>>) -> Option<Alternatives<'r>> {
    let mut found = Vec::new();
    for part in parts {
        found.extend(part?);
    }
    (found.len() <= MAX_ALTERNATIVES).then_some(found)
}
