//! One test of one value, whichever matcher it is.

use super::{
    Compare, Equal, Ext, Globs, OneOf, Quantifier, Regular, Size, TextGlob, TextTest, ToolNames, Under,
};
use crate::model::EffectSet;
use crate::policy::environ::Env;
use crate::policy::shape::Types;
use crate::policy::truth::Truth;
use serde_json::Value;
use std::fmt::Display;

/// The value that is tested, and how it is called.
#[derive(Clone, Copy)]
pub(in crate::policy) struct At<'a> {
    /// The value.
    pub(in crate::policy) value: &'a Value,
    /// Its JSON Pointer in the arguments; empty for other subjects.
    pub(in crate::policy) pointer: &'a str,
    /// Another type is a difference and not a mistake.
    pub(in crate::policy) lenient: bool,
    /// Its name in messages.
    pub(in crate::policy) name: &'a dyn Display,
}

impl At<'_> {
    /// The value has a type that the test cannot judge. `null` is how strict schemas spell an absent value.
    pub(super) fn mistyped(&self, operator: &str, needs: &str) -> Truth {
        if self.value.is_null() {
            return Truth::Unknown(format!("{} is null", self.name));
        }
        let is = Types::of(self.value).describe();
        Truth::Error(format!("{} is {is}, and `{operator}` needs {needs}", self.name))
    }

    /// The string, or what to say of something else.
    pub(super) fn string(&self, operator: &str) -> Result<&str, Truth> {
        self.value.as_str().ok_or_else(|| self.mistyped(operator, "a string"))
    }
}

/// A test. See `docs/policies.md` for what each means.
#[derive(Debug)]
pub(in crate::policy) enum Test {
    Equal(Equal),
    OneOf(OneOf),
    Compare(Compare),
    Exists(bool),
    Size(Size),
    Quantifier(Quantifier),
    Text(TextTest),
    Glob(TextGlob),
    Regular(Box<Regular>),
    Under(Under),
    Path(Globs),
    Ext(Ext),
    Tool(ToolNames),
    Effect { among: EffectSet, negated: bool },
}

impl Test {
    /// Tests a value.
    pub(in crate::policy) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        match self {
            Self::Equal(test) => test.eval(at, env),
            Self::OneOf(test) => test.eval(at, env),
            Self::Compare(test) => test.eval(at, env),
            Self::Exists(wanted) => Truth::from(*wanted),
            Self::Size(test) => test.eval(at),
            Self::Quantifier(test) => test.eval(at, env),
            Self::Text(test) => test.eval(at, env),
            Self::Glob(test) => test.eval(at),
            Self::Regular(test) => test.eval(at),
            Self::Under(test) => test.eval(at, env),
            Self::Path(test) => test.eval(at, env),
            Self::Ext(test) => test.eval(at, env),
            Self::Tool(_) | Self::Effect { .. } => {
                Truth::Error("a test of the call was used on a value".to_owned())
            }
        }
    }

    /// The answer of the tests that look at the call and not at a value.
    pub(in crate::policy) fn of_the_call(&self, env: &Env<'_>) -> Option<Truth> {
        match self {
            Self::Tool(names) => Some(names.eval(env.tool)),
            Self::Effect { among, negated } => {
                // The call has one of its effects, we do not know which: all of them, none, or doubt.
                let truth = match env.effects {
                    Some(effects) => Truth::agree(
                        effects.iter().map(|effect| among.contains(effect)),
                        "the call has several effects, and not all of them are named",
                    ),
                    None => Truth::Unknown("the effect is not known here".to_owned()),
                };
                Some(if *negated { truth.negate() } else { truth })
            }
            Self::Equal(_)
            | Self::OneOf(_)
            | Self::Compare(_)
            | Self::Exists(_)
            | Self::Size(_)
            | Self::Quantifier(_)
            | Self::Text(_)
            | Self::Glob(_)
            | Self::Regular(_)
            | Self::Under(_)
            | Self::Path(_)
            | Self::Ext(_) => None,
        }
    }

    /// The answer of the one test that accepts absence.
    pub(in crate::policy) fn of_nothing(&self) -> Option<Truth> {
        if let Self::Exists(wanted) = self { Some(Truth::from(!*wanted)) } else { None }
    }

    /// The test in words, not escaped.
    pub(in crate::policy) fn text(&self) -> String {
        match self {
            Self::Equal(test) => test.text(),
            Self::OneOf(test) => test.text(),
            Self::Compare(test) => test.text(),
            Self::Exists(wanted) => format!("exists {wanted}"),
            Self::Size(test) => test.text(),
            Self::Quantifier(test) => test.text(),
            Self::Text(test) => test.text(),
            Self::Glob(test) => test.text(),
            Self::Regular(test) => test.text(),
            Self::Under(test) => test.text(),
            Self::Path(test) => test.text(),
            Self::Ext(test) => test.text(),
            Self::Tool(names) => names.text(),
            Self::Effect { among, negated } => {
                let names: Vec<_> = among.iter().map(crate::model::Effect::as_str).collect();
                format!("{} [{}]", if *negated { "not_in" } else { "in" }, names.join(", "))
            }
        }
    }

    /// The types that the test can judge.
    pub(in crate::policy) fn needs(&self) -> Types {
        match self {
            Self::Equal(_) | Self::OneOf(_) | Self::Exists(_) | Self::Tool(_) | Self::Effect { .. } => {
                Types::ANY
            }
            Self::Compare(_) => Types::NUMBER,
            Self::Size(test) => test.needs(),
            Self::Quantifier(_) => Types::ARRAY,
            Self::Text(_)
            | Self::Glob(_)
            | Self::Regular(_)
            | Self::Under(_)
            | Self::Path(_)
            | Self::Ext(_) => Types::STRING,
        }
    }
}
