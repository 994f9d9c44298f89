//! `gt`, `ge`, `lt`, `le`: exact decimals.

use super::{At, Operand};
use crate::policy::decimal::Decimal;
use crate::policy::environ::Env;
use crate::policy::truth::Truth;
use serde_json::Value;
use std::cmp::Ordering;

/// Which bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::policy) enum Bound {
    Gt,
    Ge,
    Lt,
    Le,
}

impl Bound {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
        }
    }

    const fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Gt => ordering.is_gt(),
            Self::Ge => ordering.is_ge(),
            Self::Lt => ordering.is_lt(),
            Self::Le => ordering.is_le(),
        }
    }
}

/// A bound on a number.
#[derive(Debug)]
pub(in crate::policy) struct Compare {
    pub(in crate::policy) bound: Bound,
    pub(in crate::policy) operand: Operand,
}

impl Compare {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        let other = match self.operand.value(env) {
            Ok(other) => other,
            Err(doubt) => return doubt,
        };
        let name = self.bound.as_str();
        let (Value::Number(a), Value::Number(b)) = (at.value, other.as_ref()) else {
            let at = if at.value.is_number() { At { value: &other, name: &"the bound", ..at } } else { at };
            return at.mistyped(name, "a number");
        };
        match (Decimal::parse(&a.to_string()), Decimal::parse(&b.to_string())) {
            (Some(a), Some(b)) => Truth::from(self.bound.holds(a.cmp(&b))),
            _ => Truth::Error(format!("{} is a number beyond all use", at.name)),
        }
    }

    pub(super) fn text(&self) -> String {
        format!("{} {}", self.bound.as_str(), self.operand.text())
    }
}
