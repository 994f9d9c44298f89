//! `each` and `some`: tests of the items of a list.

use super::{At, Test};
use crate::policy::environ::Env;
use crate::policy::truth::Truth;
use serde_json::Value;

/// Tests of the items. `each` of an empty list holds, `some` of one does not.
#[derive(Debug)]
pub(in crate::policy) struct Quantifier {
    /// `each` rather than `some`.
    pub(in crate::policy) each: bool,
    /// All of these have to hold of one item.
    pub(in crate::policy) tests: Vec<Test>,
}

impl Quantifier {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        let operator = if self.each { "each" } else { "some" };
        let Value::Array(items) = at.value else { return at.mistyped(operator, "a list") };
        let mut truth = Truth::from(self.each);
        for (index, item) in items.iter().enumerate() {
            let pointer = format!("{}/{index}", at.pointer);
            let name = format!("{}[{index}]", at.name);
            let here = At { value: item, pointer: &pointer, lenient: at.lenient, name: &name };
            let one = self.tests.iter().fold(Truth::True, |seen, test| seen.and(test.eval(here, env)));
            truth = if self.each { truth.and(one) } else { truth.or(one) };
        }
        truth
    }

    pub(super) fn text(&self) -> String {
        let all: Vec<_> = self.tests.iter().map(Test::text).collect();
        format!("{} ({})", if self.each { "each" } else { "some" }, all.join(" and "))
    }
}
