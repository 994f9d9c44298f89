//! `eq`, `in` and `not_in`. Numbers are compared exactly, strings by character, types are never converted.

use super::{At, Operand};
use crate::policy::decimal::Decimal;
use crate::policy::environ::Env;
use crate::policy::shape::Types;
use crate::policy::truth::Truth;
use serde_json::Value;

/// `eq`, or a bare scalar.
#[derive(Debug)]
pub(in crate::policy) struct Equal {
    pub(in crate::policy) operand: Operand,
    /// `case: fold`.
    pub(in crate::policy) fold: bool,
}

impl Equal {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        match self.operand.value(env) {
            Ok(other) => same(at, &other, self.fold, env),
            Err(doubt) => doubt,
        }
    }

    pub(super) fn text(&self) -> String {
        format!("eq {}", self.operand.text())
    }
}

/// `in` and `not_in`.
#[derive(Debug)]
pub(in crate::policy) struct OneOf {
    pub(in crate::policy) operands: Vec<Operand>,
    pub(in crate::policy) negated: bool,
    /// `case: fold`.
    pub(in crate::policy) fold: bool,
}

impl OneOf {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        let mut truth = Truth::False;
        let mut comparable = at.lenient || at.value.is_null();
        let mut mistake = None;
        for operand in &self.operands {
            let one = match operand.value(env) {
                Ok(other) => match other.as_ref() {
                    // A reference to a list stands for its items.
                    Value::Array(items) if matches!(operand, Operand::Ref(_)) => {
                        comparable |= items.is_empty();
                        items.iter().fold(Truth::False, |seen, item| seen.or(same(at, item, self.fold, env)))
                    }
                    other => same(at, other, self.fold, env),
                },
                Err(doubt) => doubt,
            };
            // A list of several types: only if none of them fits is the value's type a mistake.
            if let Truth::Error(_) = one {
                mistake = Some(one);
            } else {
                comparable = true;
                truth = truth.or(one);
            }
        }
        let truth = match mistake {
            Some(mistake) if !comparable => mistake,
            Some(_) | None => truth,
        };
        if self.negated { truth.negate() } else { truth }
    }

    pub(super) fn text(&self) -> String {
        let all: Vec<_> = self.operands.iter().map(Operand::text).collect();
        format!("{} [{}]", if self.negated { "not_in" } else { "in" }, all.join(", "))
    }
}

/// Whether two values are one.
fn same(at: At<'_>, other: &Value, fold: bool, env: &Env<'_>) -> Truth {
    match (at.value, other) {
        (Value::String(a), Value::String(b)) if fold => Truth::from(a.to_lowercase() == b.to_lowercase()),
        (Value::String(a), Value::String(b)) => Truth::from(a == b),
        (Value::Number(a), Value::Number(b)) => {
            match (Decimal::parse(&a.to_string()), Decimal::parse(&b.to_string())) {
                (Some(a), Some(b)) => Truth::from(a == b),
                _ => Truth::Error(format!("{} is a number beyond all use", at.name)),
            }
        }
        (Value::Bool(a), Value::Bool(b)) => Truth::from(a == b),
        (Value::Null, Value::Null) => Truth::True,
        (Value::Null, _) | (_, Value::Null) => Truth::False,
        (a, b) => {
            if at.lenient || env.permits(at.pointer, Types::of(b)) && !a.is_array() && !a.is_object() {
                return Truth::False;
            }
            at.mistyped("eq", &Types::of(b).describe())
        }
    }
}
