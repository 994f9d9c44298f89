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

/// Collects atoms while a condition is evaluated.
pub(super) type Trace<'t> = Option<&'t mut Vec<AtomTrace>>;

impl Condition {
    /// What the condition says.
    pub(super) fn eval(&self, env: &Env<'_>, trace: Trace<'_>, negated: bool) -> Truth {
        self.0.eval(env, trace, negated)
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
