//! `prefix`, `suffix`, `contains`: plain text, never a pattern.

use super::{At, Operand};
use crate::policy::environ::Env;
use crate::policy::truth::Truth;

/// Where the text has to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::policy) enum TextOp {
    Prefix,
    Suffix,
    Contains,
}

impl TextOp {
    pub(in crate::policy) const fn as_str(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::Suffix => "suffix",
            Self::Contains => "contains",
        }
    }

    fn holds(self, text: &str, part: &str) -> bool {
        match self {
            Self::Prefix => text.starts_with(part),
            Self::Suffix => text.ends_with(part),
            Self::Contains => text.contains(part),
        }
    }
}

/// One of several texts at the start, at the end or anywhere.
#[derive(Debug)]
pub(in crate::policy) struct TextTest {
    pub(in crate::policy) op: TextOp,
    pub(in crate::policy) parts: Vec<Operand>,
    /// `case: fold`.
    pub(in crate::policy) fold: bool,
}

impl TextTest {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        let text = match at.string(self.op.as_str()) {
            Ok(text) => text,
            Err(doubt) => return doubt,
        };
        self.parts.iter().fold(Truth::False, |seen, part| {
            seen.or(match part.string(env, self.op.as_str()) {
                Ok(part) if self.fold => {
                    Truth::from(self.op.holds(&text.to_lowercase(), &part.to_lowercase()))
                }
                Ok(part) => Truth::from(self.op.holds(text, &part)),
                Err(doubt) => doubt,
            })
        })
    }

    pub(super) fn text(&self) -> String {
        let all: Vec<_> = self.parts.iter().map(Operand::text).collect();
        format!("{} [{}]", self.op.as_str(), all.join(", "))
    }
}
