//! Numbers: bounds that leave something, single values that fit them.

use super::field::{Field, NumberBound};
use super::logic::Says;
use super::refute::{Said, membership};
use crate::policy::decimal::Decimal;
use crate::policy::matchers::{Bound, Compare, Operand, Test};
use serde_json::Value;

/// Whether some number satisfies everything that is said.
pub(super) fn possible(field: &Field, said: &[Said<'_>]) -> bool {
    let (mut low, mut high) = (field.low.clone(), field.high.clone());
    for (test, says) in said {
        let Test::Compare(Compare { bound, operand: Operand::Literal(value) }) = test else { continue };
        let Some(number) = decimal(value) else { continue };
        match (bound, *says == Says::True) {
            (Bound::Gt, true) | (Bound::Le, false) => low.push((number, false)),
            (Bound::Ge, true) | (Bound::Lt, false) => low.push((number, true)),
            (Bound::Lt, true) | (Bound::Ge, false) => high.push((number, false)),
            (Bound::Le, true) | (Bound::Gt, false) => high.push((number, true)),
        }
    }
    let mut sets: Vec<Vec<Decimal>> = field.choices.iter().map(decimals).collect();
    let mut excluded = Vec::new();
    for (values, inside, _) in said.iter().filter_map(|one| membership(*one)) {
        let numbers = decimals(values);
        if inside { sets.push(numbers) } else { excluded.extend(numbers) }
    }
    let fits = |number: &Decimal| {
        low.iter().all(|(bound, inclusive)| number > bound || (*inclusive && number == bound))
            && high.iter().all(|(bound, inclusive)| number < bound || (*inclusive && number == bound))
            && (!field.integer || number.is_whole())
            && sets.iter().all(|set| set.contains(number))
            && !excluded.contains(number)
    };
    match sets.first() {
        Some(candidates) => candidates.iter().any(fits),
        None => interval(field.integer, &low, &high, fits),
    }
}

/// Whether the bounds leave a number.
fn interval(
    integer: bool,
    low: &[NumberBound],
    high: &[NumberBound],
    fits: impl Fn(&Decimal) -> bool,
) -> bool {
    // Of two equal bounds the exclusive one is the tighter.
    let lowest = low.iter().max_by(|a, b| (&a.0, !a.1).cmp(&(&b.0, !b.1)));
    let highest = high.iter().min_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let (Some((low, from)), Some((high, to))) = (lowest, highest) else { return true };
    if low > high || (low == high && !(*from && *to)) {
        return false;
    }
    if low == high {
        return fits(low);
    }
    match (integer, low.whole(), high.whole()) {
        // Few enough to look at each.
        (true, Some(low), Some(high)) if high.saturating_sub(low) <= 64 => {
            (low..=high).any(|number| Decimal::parse(&number.to_string()).is_some_and(|number| fits(&number)))
        }
        _ => true,
    }
}

fn decimal(value: &Value) -> Option<Decimal> {
    if value.is_number() { Decimal::parse(&value.to_string()) } else { None }
}

fn decimals<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<Decimal> {
    values.into_iter().filter_map(decimal).collect()
}
