//! `minBytes`, `maxBytes`, `minItems`, `maxItems`.

use super::At;
use crate::policy::shape::Types;
use crate::policy::truth::Truth;
use serde_json::Value;

/// What is counted and against which bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::policy) enum Measure {
    MinBytes,
    MaxBytes,
    MinItems,
    MaxItems,
}

impl Measure {
    const fn as_str(self) -> &'static str {
        match self {
            Self::MinBytes => "minBytes",
            Self::MaxBytes => "maxBytes",
            Self::MinItems => "minItems",
            Self::MaxItems => "maxItems",
        }
    }
}

/// A bound on the length of a string, in UTF-8 bytes, or of a list, in items.
#[derive(Debug)]
pub(in crate::policy) struct Size {
    pub(in crate::policy) measure: Measure,
    pub(in crate::policy) limit: u64,
}

impl Size {
    pub(super) fn eval(&self, at: At<'_>) -> Truth {
        let length = match (self.measure, at.value) {
            (Measure::MinBytes | Measure::MaxBytes, Value::String(text)) => text.len(),
            (Measure::MinItems | Measure::MaxItems, Value::Array(items)) => items.len(),
            (measure, _) => return at.mistyped(measure.as_str(), &self.needs().describe()),
        };
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        Truth::from(match self.measure {
            Measure::MinBytes | Measure::MinItems => length >= self.limit,
            Measure::MaxBytes | Measure::MaxItems => length <= self.limit,
        })
    }

    pub(super) const fn needs(&self) -> Types {
        match self.measure {
            Measure::MinBytes | Measure::MaxBytes => Types::STRING,
            Measure::MinItems | Measure::MaxItems => Types::ARRAY,
        }
    }

    pub(super) fn text(&self) -> String {
        format!("{} {}", self.measure.as_str(), self.limit)
    }
}
