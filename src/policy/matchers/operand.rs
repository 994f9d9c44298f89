//! What a value is compared with: a literal, or another value of the same call.

use super::At;
use crate::policy::environ::{Env, Seen};
use crate::policy::subject::Subject;
use crate::policy::truth::Truth;
use serde_json::Value;
use std::borrow::Cow;

/// A literal or a reference.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::policy) enum Operand {
    /// A scalar of the policy.
    Literal(Value),
    /// `{ref: ctx.x}` or `{ref: args.y}`.
    Ref(Subject),
}

impl Operand {
    /// The value, or why there is none.
    pub(super) fn value<'a>(&'a self, env: &Env<'a>) -> Result<Cow<'a, Value>, Truth> {
        match self {
            Self::Literal(value) => Ok(Cow::Borrowed(value)),
            Self::Ref(subject) => match env.see(subject) {
                Seen::Value(value) => Ok(value),
                Seen::Absent | Seen::Undeclared => Err(Truth::Unknown(format!("{subject} is absent"))),
                Seen::NotThere(why) => Err(Truth::Error(why)),
            },
        }
    }

    /// The string, or why there is none.
    pub(super) fn string<'a>(&'a self, env: &Env<'a>, operator: &str) -> Result<Cow<'a, str>, Truth> {
        match self.value(env)? {
            Cow::Borrowed(Value::String(text)) => Ok(Cow::Borrowed(text)),
            Cow::Owned(Value::String(text)) => Ok(Cow::Owned(text)),
            other => {
                let name: &dyn std::fmt::Display = match self {
                    Self::Ref(subject) => subject,
                    Self::Literal(_) => &"the literal",
                };
                Err(At { value: &other, pointer: "", lenient: false, name }.mistyped(operator, "a string"))
            }
        }
    }

    /// The operand in words.
    pub(in crate::policy) fn text(&self) -> String {
        match self {
            Self::Literal(value) => value.to_string(),
            Self::Ref(subject) => format!("{{ref: {subject}}}"),
        }
    }
}

/// Several literals in words.
pub(in crate::policy) fn show_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<_> = texts.into_iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", all.join(", "))
}
