//! Conditions: atoms joined by all, any and not. There is one evaluator, and `explain` watches it.

use super::environ::{Env, Seen};
use super::matchers::{At, Test};
use super::subject::Subject;
use super::truth::Truth;
use crate::text::{Span, escape};

/// A condition of a rule, an effect entry, a `for` or a `requiresApproval`.
#[derive(Debug)]
pub struct Condition(pub(super) Clause);

/// A node of a condition.
#[derive(Debug)]
pub(super) enum Clause {
    /// Each has to hold.
    All(Vec<Self>),
    /// One has to hold.
    Any(Vec<Self>),
    /// It may not hold.
    Not(Box<Self>),
    /// One test of one subject.
    Atom(Box<Atom>),
}

/// One test of one subject.
#[derive(Debug)]
pub(super) struct Atom {
    pub(super) subject: Subject,
    pub(super) test: Test,
    /// The subject and the operator with its value.
    pub(super) span: Span,
    /// The subject alone.
    pub(super) key: Span,
    /// The operator with its value, or the value alone.
    pub(super) value: Span,
}

impl Atom {
    /// The atom in words, escaped: `args.path under ["src"]`.
    pub(super) fn text(&self) -> String {
        escape(&format!("{} {}", self.subject, self.test.text())).into()
    }
}

/// What was seen of an atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtomTrace {
    /// The atom in words, escaped.
    pub text: String,
    /// Its value.
    pub truth: Truth,
    /// Whether an odd number of `not` and `unless` stand above it: the rule wants it false.
    pub negated: bool,
    /// Where it stands; `None` in the built-in policy.
    pub span: Option<Span>,
}

impl AtomTrace {
    /// The atom as it would have to be: `args.amount le 50`, `not (args.path path [.env])`.
    pub(super) fn wanted(&self, value: bool) -> String {
        if value { self.text.clone() } else { format!("not ({})", self.text) }
    }
}

/// An atom of a trace, by its index, with the value that it would have to have.
pub(super) type Flip = (usize, bool);

/// Atoms whose value would have to be another; `None` where no change of atoms does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flips {
    /// For the condition to hold.
    pub(super) hold: Option<Vec<Flip>>,
    /// For it to be false.
    pub(super) fail: Option<Vec<Flip>>,
}

impl Flips {
    /// Of parts that all have to hold. Each atom is taken by itself, as if no two spoke of one value.
    pub(super) fn all(parts: Vec<Self>) -> Self {
        let mut hold = Some(Vec::new());
        let mut fail: Option<Vec<Flip>> = None;
        for part in parts {
            hold = hold.zip(part.hold).map(|(all, more)| [all, more].concat());
            let fewer = |now: &Vec<Flip>| fail.as_ref().is_none_or(|best| now.len() < best.len());
            if part.fail.as_ref().is_some_and(fewer) {
                fail = part.fail;
            }
        }
        Self { hold, fail }
    }

    /// Of the opposite.
    pub(super) fn negate(self) -> Self {
        Self { hold: self.fail, fail: self.hold }
    }
}

/// Collects atoms while a condition is evaluated.
pub(super) type Trace<'t> = Option<&'t mut Vec<AtomTrace>>;

impl Condition {
    /// What the condition says.
    pub(super) fn eval(&self, env: &Env<'_>, trace: Trace<'_>, negated: bool) -> Truth {
        self.0.eval(env, trace, negated)
    }

    /// The fewest atoms whose value would have to be another for the condition to hold, and for it to be false. `atoms`
    /// are those of a trace; the ones of this condition start at `at`, which is moved behind them.
    pub(super) fn flips(&self, atoms: &[AtomTrace], at: &mut usize) -> Flips {
        self.0.flips(atoms, at)
    }

    /// All atoms with their place, for checks.
    pub(super) fn atoms(&self) -> Vec<&Atom> {
        let mut atoms = Vec::new();
        self.0.collect(&mut atoms);
        atoms
    }
}

impl Clause {
    fn eval(&self, env: &Env<'_>, mut trace: Trace<'_>, negated: bool) -> Truth {
        let traced = trace.is_some();
        match self {
            Self::All(parts) => {
                let mut truth = Truth::True;
                for part in parts {
                    truth = truth.and(part.eval(env, trace.as_deref_mut(), negated));
                    if truth == Truth::False && !traced {
                        break;
                    }
                }
                truth
            }
            Self::Any(parts) => {
                let mut truth = Truth::False;
                for part in parts {
                    truth = truth.or(part.eval(env, trace.as_deref_mut(), negated));
                    if truth == Truth::True && !traced {
                        break;
                    }
                }
                truth
            }
            Self::Not(part) => part.eval(env, trace, !negated).negate(),
            Self::Atom(atom) => {
                let truth = atom.eval(env);
                if let Some(trace) = trace {
                    let span = Some(atom.span);
                    trace.push(AtomTrace { text: atom.text(), truth: truth.clone(), negated, span });
                }
                truth
            }
        }
    }

    fn flips(&self, atoms: &[AtomTrace], at: &mut usize) -> Flips {
        match self {
            Self::All(parts) => Flips::all(parts.iter().map(|part| part.flips(atoms, at)).collect()),
            Self::Any(parts) => {
                Flips::all(parts.iter().map(|part| part.flips(atoms, at).negate()).collect()).negate()
            }
            Self::Not(part) => part.flips(atoms, at).negate(),
            Self::Atom(_) => {
                let here = *at;
                *at += 1;
                let truth = atoms.get(here).map(|atom| &atom.truth);
                let needs = |value: bool| {
                    if truth == Some(&Truth::from(value)) { Vec::new() } else { vec![(here, value)] }
                };
                Flips { hold: Some(needs(true)), fail: Some(needs(false)) }
            }
        }
    }

    fn collect<'c>(&'c self, atoms: &mut Vec<&'c Atom>) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.collect(atoms)),
            Self::Not(part) => part.collect(atoms),
            Self::Atom(atom) => atoms.push(atom),
        }
    }
}

impl Atom {
    fn eval(&self, env: &Env<'_>) -> Truth {
        if let Some(truth) = self.test.of_the_call(env) {
            return truth;
        }
        let pointer = match &self.subject {
            Subject::Args(path) => path.pointer(),
            Subject::Ctx(_) | Subject::Tool | Subject::Effect | Subject::Sandbox(_) => String::new(),
        };
        match env.see(&self.subject) {
            Seen::Value(value) => {
                let at = At {
                    value: &value,
                    pointer: &pointer,
                    lenient: matches!(self.subject, Subject::Sandbox(_)),
                    name: &self.subject,
                };
                self.test.eval(at, env)
            }
            Seen::Absent => self.test.of_nothing().unwrap_or_else(|| {
                let what = if env.schema.is_some() { "is absent" } else { "is not given" };
                Truth::Unknown(format!("{} {what}", self.subject))
            }),
            Seen::Undeclared => self.test.of_nothing().unwrap_or(Truth::False),
            Seen::NotThere(why) => self.test.of_nothing().unwrap_or(Truth::Error(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Atom, AtomTrace, Clause, Subject, Test, Truth};
    use proptest::prelude::*;

    fn atom() -> Clause {
        let span = crate::text::Span { file: crate::text::FileId(0), start: 0, end: 0 };
        Clause::Atom(Box::new(Atom {
            subject: Subject::Tool,
            test: Test::Exists(true),
            span,
            key: span,
            value: span,
        }))
    }

    fn clauses() -> impl Strategy<Value = Clause> {
        let leaf = any::<u8>().prop_map(|_| atom());
        leaf.prop_recursive(3, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Clause::All),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Clause::Any),
                inner.prop_map(|part| Clause::Not(Box::new(part))),
            ]
        })
    }

    fn value(clause: &Clause, values: &[Truth], at: &mut usize) -> Truth {
        match clause {
            Clause::All(parts) => {
                parts.iter().fold(Truth::True, |truth, part| truth.and(value(part, values, at)))
            }
            Clause::Any(parts) => {
                parts.iter().fold(Truth::False, |truth, part| truth.or(value(part, values, at)))
            }
            Clause::Not(part) => value(part, values, at).negate(),
            Clause::Atom(_) => {
                *at += 1;
                values[*at - 1].clone()
            }
        }
    }

    fn count(clause: &Clause) -> usize {
        let mut atoms = Vec::new();
        clause.collect(&mut atoms);
        atoms.len()
    }

    /// The fewest atoms of which another value makes the clause `wanted`, found by trying all.
    fn fewest(clause: &Clause, values: &[Truth], wanted: bool) -> Option<usize> {
        let all = 3_usize.pow(u32::try_from(values.len()).unwrap());
        let tried = (0..all).filter_map(|mut choice| {
            let mut changed = 0;
            let tried: Vec<Truth> = values
                .iter()
                .map(|old| {
                    let pick = choice % 3;
                    choice /= 3;
                    if pick == 0 {
                        return old.clone();
                    }
                    changed += 1;
                    Truth::from(pick == 1)
                })
                .collect();
            (value(clause, &tried, &mut 0) == Truth::from(wanted)).then_some(changed)
        });
        tried.min()
    }

    proptest! {
        #[test]
        fn flips_do_what_they_say_and_none_is_too_many(
            clause in clauses(),
            truths in prop::collection::vec(0..4_u8, 0..40),
        ) {
            let atoms = count(&clause);
            prop_assume!(atoms <= 6);
            let values: Vec<Truth> = (0..atoms)
                .map(|at| match truths.get(at).copied().unwrap_or(0) {
                    0 => Truth::True,
                    1 => Truth::False,
                    2 => Truth::Unknown("u".to_owned()),
                    _ => Truth::Error("e".to_owned()),
                })
                .collect();
            let traces: Vec<AtomTrace> = values
                .iter()
                .map(|truth| AtomTrace { text: "a".to_owned(), truth: truth.clone(), negated: false, span: None })
                .collect();
            let mut at = 0;
            let flips = clause.flips(&traces, &mut at);
            prop_assert_eq!(at, atoms);
            for (wanted, found) in [(true, flips.hold), (false, flips.fail)] {
                prop_assert_eq!(found.as_ref().map(Vec::len), fewest(&clause, &values, wanted));
                let Some(found) = found else { continue };
                let mut changed = values.clone();
                for (at, value) in found {
                    changed[at] = Truth::from(value);
                }
                prop_assert_eq!(value(&clause, &changed, &mut 0), Truth::from(wanted));
            }
        }
    }
}
