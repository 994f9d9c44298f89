//! Whether a list of literals contradicts itself. A yes is a proof; where something is too complicated the answer is no,
//! so that nothing is reported that is not so.

use super::field::Field;
use super::logic::{Alternatives, Literal, Says};
use super::number;
use super::texts;
use super::work::Work;
use crate::model::{Effect, EffectSet};
use crate::policy::check::operands;
use crate::policy::facts::ToolFacts;
use crate::policy::matchers::{Measure, Operand, Quantifier, Test};
use crate::policy::shape::Types;
use crate::policy::subject::Subject;
use serde_json::Value;

/// What it takes to look at a literal and at a value of its test, measured in comparisons of two values.
const PER_LITERAL: usize = 200;
const PER_VALUE: usize = 50;

/// A test of one value and what is to be said of it.
pub(super) type Said<'r> = (&'r Test, Says);

/// Whether no call of the tool fulfils one of the alternatives. No, once there is no work left.
pub(super) fn none(work: &Work, alternatives: Option<&Alternatives<'_>>, tool: &ToolFacts) -> bool {
    let cost = |literals: &Vec<Literal<'_>>| {
        let values = literals.iter().map(|literal| operands(&literal.atom.test).len()).sum::<usize>();
        literals.len() * PER_LITERAL + values * PER_VALUE + values * values
    };
    let one = |literals| work.spend(cost(literals)) && contradicts(literals, tool);
    alternatives.is_some_and(|all| all.iter().all(one))
}

fn contradicts(literals: &[Literal<'_>], tool: &ToolFacts) -> bool {
    let mut subjects: Vec<&Subject> = Vec::new();
    for literal in literals {
        if !subjects.contains(&&literal.atom.subject) {
            subjects.push(&literal.atom.subject);
        }
    }
    subjects.into_iter().any(|subject| {
        let of_it = literals.iter().filter(|literal| literal.atom.subject == *subject);
        let said: Vec<Said<'_>> = of_it.map(|literal| (&literal.atom.test, literal.says)).collect();
        match subject {
            Subject::Effect => !effects_possible(&said, tool.builtin_effects),
            Subject::Args(_) | Subject::Ctx(_) | Subject::Sandbox(_) => {
                !possible(&Field::of(subject, tool), &said, subject, tool)
            }
            Subject::Tool => false,
        }
    })
}

/// Whether one test can hold of the subject at all.
pub(super) fn can_hold(test: &Test, subject: &Subject, tool: &ToolFacts) -> bool {
    possible(&Field::of(subject, tool), &[(test, Says::True)], subject, tool)
}

/// Whether a call can have effects of which all this is said.
fn effects_possible(said: &[Said<'_>], engine: Option<EffectSet>) -> bool {
    (1u32..1 << Effect::ALL.len()).any(|bits| {
        let effects: EffectSet = Effect::ALL
            .iter()
            .enumerate()
            .filter(|(at, _)| bits & (1 << at) != 0)
            .map(|(_, effect)| *effect)
            .collect();
        let known = engine.is_none_or(|engine| engine.iter().all(|effect| effects.contains(effect)));
        known && said.iter().all(|(test, says)| effect_says(test, effects) == *says)
    })
}

fn effect_says(test: &Test, effects: EffectSet) -> Says {
    let Test::Effect { among, negated } = test else { return Says::Doubt };
    let (mut inside, mut outside) = (false, false);
    for effect in effects.iter() {
        if among.contains(effect) { inside = true } else { outside = true }
    }
    match (inside, outside) {
        (true, true) | (false, false) => Says::Doubt,
        (true, false) if !negated => Says::True,
        (false, true) if *negated => Says::True,
        (true, false) | (false, true) => Says::False,
    }
}

/// Whether there is a value, or an absence, of which all this can be said.
fn possible(field: &Field, said: &[Said<'_>], subject: &Subject, tool: &ToolFacts) -> bool {
    if field.may_be_absent && said.iter().all(|one| fits_absence(*one, field.undeclared)) {
        return true;
    }
    if field.types.meets(Types::NULL) && said.iter().all(|one| fits_null(*one)) {
        return true;
    }
    let doubtful = said.iter().any(|(test, says)| *says == Says::Doubt && !can_doubt(test, field));
    if doubtful {
        return false;
    }
    let firm: Vec<Said<'_>> = said.iter().filter(|(_, says)| *says != Says::Doubt).copied().collect();
    let types = [Types::STRING, Types::NUMBER, Types::BOOLEAN, Types::ARRAY, Types::OBJECT];
    types.into_iter().filter(|kind| field.types.meets(*kind)).any(|kind| {
        let fits = firm.iter().all(|one| fits_type(*one, kind));
        fits && match kind {
            Types::STRING => texts::possible(field, &firm),
            Types::NUMBER => number::possible(field, &firm),
            Types::ARRAY => list_possible(field, &firm, subject, tool),
            Types::BOOLEAN => boolean_possible(field, &firm),
            // Nothing is known of objects.
            _ => true,
        }
    })
}

fn fits_absence((test, says): Said<'_>, undeclared: bool) -> bool {
    match (test, says) {
        (Test::Exists(wanted), Says::True) => !wanted,
        (Test::Exists(wanted), Says::False) => *wanted,
        (Test::Exists(_), Says::Doubt) | (_, Says::True) => false,
        (_, Says::False) => undeclared,
        (_, Says::Doubt) => !undeclared,
    }
}

fn fits_null((test, says): Said<'_>) -> bool {
    match (test, says) {
        (Test::Exists(wanted), Says::True) => *wanted,
        (Test::Exists(wanted), Says::False) => !wanted,
        (Test::Exists(_), Says::Doubt) => false,
        (Test::Equal(_) | Test::OneOf(_), Says::Doubt) => has_reference(test),
        (Test::Equal(_) | Test::OneOf(_), Says::True | Says::False) => {
            membership((test, says)).is_none_or(|(all, inside, _)| all.iter().any(|v| v.is_null()) == inside)
        }
        (_, Says::Doubt) => true,
        (_, Says::True | Says::False) => false,
    }
}

/// Whether a test can be in doubt of a value that is there.
fn can_doubt(test: &Test, field: &Field) -> bool {
    match test {
        Test::Under(_) | Test::Path(_) | Test::Ext(_) => field.nofollow || has_reference(test),
        Test::Quantifier(_) => true,
        Test::Equal(_)
        | Test::OneOf(_)
        | Test::Compare(_)
        | Test::Exists(_)
        | Test::Size(_)
        | Test::Text(_)
        | Test::Glob(_)
        | Test::Regular(_)
        | Test::Tool(_)
        | Test::Effect { .. } => has_reference(test),
    }
}

pub(super) fn has_reference(test: &Test) -> bool {
    operands(test).into_iter().any(|operand| matches!(operand, Operand::Ref(_)))
}

/// Whether a value of the type can be what is said; more is asked later.
fn fits_type((test, says): Said<'_>, kind: Types) -> bool {
    match (test, says) {
        (Test::Exists(wanted), Says::True) => *wanted,
        (Test::Exists(wanted), Says::False) => !wanted,
        (_, Says::False | Says::Doubt) => true,
        (Test::Equal(equal), Says::True) => may_equal(std::slice::from_ref(&equal.operand), kind),
        (Test::OneOf(one), Says::True) => one.negated || may_equal(&one.operands, kind),
        (_, Says::True) => test.needs().meets(kind),
    }
}

fn may_equal(operands: &[Operand], kind: Types) -> bool {
    operands.iter().any(|operand| match operand {
        Operand::Literal(value) => kind.meets(Types::of(value)),
        Operand::Ref(_) => true,
    })
}

/// The literals of which a value has to be one, or may be none; `None` if the test says something else. The second part
/// says which, the third that case does not count.
pub(super) fn membership((test, says): Said<'_>) -> Option<(Vec<&Value>, bool, bool)> {
    let (operands, negated, fold) = match test {
        Test::Equal(equal) => (std::slice::from_ref(&equal.operand), false, equal.fold),
        Test::OneOf(one) => (one.operands.as_slice(), one.negated, one.fold),
        Test::Compare(_)
        | Test::Exists(_)
        | Test::Size(_)
        | Test::Quantifier(_)
        | Test::Text(_)
        | Test::Glob(_)
        | Test::Regular(_)
        | Test::Under(_)
        | Test::Path(_)
        | Test::Ext(_)
        | Test::Tool(_)
        | Test::Effect { .. } => return None,
    };
    let inside = (says == Says::True) != negated;
    let literals: Vec<&Value> = operands
        .iter()
        .filter_map(|operand| match operand {
            Operand::Literal(value) => Some(value),
            Operand::Ref(_) => None,
        })
        .collect();
    // A reference can be anything: it adds to what is allowed, and takes nothing away.
    if inside && literals.len() < operands.len() {
        return None;
    }
    Some((literals, inside, fold))
}

/// Tries both.
fn boolean_possible(field: &Field, said: &[Said<'_>]) -> bool {
    [Value::Bool(true), Value::Bool(false)].iter().any(|value| {
        let chosen = field.choices.as_ref().is_none_or(|choices| choices.contains(value));
        chosen
            && said
                .iter()
                .filter_map(|one| membership(*one))
                .all(|(all, inside, _)| all.contains(&value) == inside)
    })
}

/// Lengths, and single items that have to pass.
fn list_possible(field: &Field, said: &[Said<'_>], subject: &Subject, tool: &ToolFacts) -> bool {
    let (low, high) = lengths(said, field.items, (Measure::MinItems, Measure::MaxItems));
    if low > high {
        return false;
    }
    let item = Field::item_of(subject, tool);
    let quantified = |each: bool, says: Says| {
        said.iter().filter_map(move |(test, said)| {
            let Test::Quantifier(quantifier) = test else { return None };
            (quantifier.each == each && *said == says).then_some(quantifier)
        })
    };
    let every: Vec<Said<'_>> =
        quantified(true, Says::True).flat_map(|all| &all.tests).map(|test| (test, Says::True)).collect();
    let none: Vec<Said<'_>> = quantified(false, Says::False)
        .filter_map(|some| match some.tests.as_slice() {
            [test] => Some((test, Says::False)),
            _ => None,
        })
        .collect();
    let item_possible = |more: &[Said<'_>]| {
        let all: Vec<Said<'_>> = every.iter().chain(&none).chain(more).copied().collect();
        possible(&item, &all, subject, tool)
    };
    let holds = |quantifier: &Quantifier| {
        let tests: Vec<Said<'_>> = quantifier.tests.iter().map(|test| (test, Says::True)).collect();
        item_possible(&tests)
    };
    let fails =
        |quantifier: &Quantifier| quantifier.tests.iter().any(|test| item_possible(&[(test, Says::False)]));
    (low == 0 || item_possible(&[]))
        && quantified(false, Says::True).all(holds)
        && quantified(true, Says::False).all(fails)
}

/// The least and the most that tests of length leave.
pub(super) fn lengths(said: &[Said<'_>], within: (u64, u64), measures: (Measure, Measure)) -> (u64, u64) {
    let (mut low, mut high) = within;
    for (test, says) in said {
        let Test::Size(size) = test else { continue };
        let holds = *says == Says::True;
        match (size.measure == measures.0, size.measure == measures.1, holds) {
            (true, _, true) => low = low.max(size.limit),
            // Nothing is shorter than nothing.
            (true, _, false) if size.limit == 0 => return (1, 0),
            (true, _, false) => high = high.min(size.limit - 1),
            (_, true, true) => high = high.min(size.limit),
            (_, true, false) => low = low.max(size.limit.saturating_add(1)),
            (false, false, _) => {}
        }
    }
    (low, high)
}
