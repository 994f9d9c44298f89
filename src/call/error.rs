//! Why a call cannot be decided: the caller's mistakes, each in words from which it can be repaired.

use crate::canon::CanonicalJsonError;
use crate::diag::Code;
use crate::schema::Issue;
use crate::source::JsonError;

/// A call that is refused before any policy is asked. All of these end with exit code 3.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The arguments are not one JSON object that is read strictly.
    #[error("the arguments cannot be read: {0}")]
    Json(#[from] JsonError),
    /// A flag cannot be turned into an argument.
    #[error("{flag}: {message}")]
    BadFlag {
        /// The flag as it was typed, such as `-a count`; cut short and safe to print.
        flag: String,
        /// What is wrong with it; safe to print.
        message: String,
    },
    /// The line of a file with calls is no call.
    #[error("{message}")]
    BadShape {
        /// What it is instead, and what to write; safe to print.
        message: String,
    },
    /// The arguments do not satisfy the schema. Never empty.
    #[error("the arguments do not satisfy the schema: {}", joined(.0))]
    Invalid(Vec<Issue>),
    /// Arguments that were declared a path or a URI have no canonical form. Never empty.
    #[error("an argument cannot be used: {}", joined(.0))]
    BadPath(Vec<Issue>),
    /// The arguments have no canonical JSON.
    #[error(transparent)]
    Canonical(#[from] CanonicalJsonError),
}

fn joined(issues: &[Issue]) -> String {
    issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl CallError {
    /// The diagnostic code.
    pub const fn code(&self) -> Code {
        match self {
            Self::Json(error) => error.call_code(),
            Self::BadFlag { .. } => Code::CallBadFlag,
            Self::BadShape { .. } => Code::CallBadShape,
            Self::Invalid(_) => Code::CallSchema,
            Self::BadPath(_) => Code::CallBadPath,
            Self::Canonical(CanonicalJsonError::NumberRange { .. }) => Code::CallNumberRange,
            Self::Canonical(CanonicalJsonError::TooDeep) => Code::CallTooLarge,
        }
    }

    /// The same as issues (004 StandardIssue): those of the schema or paths, or one that says it all.
    pub fn issues(&self) -> Vec<Issue> {
        let one = |path: &str, keyword: &str| {
            vec![Issue { path: path.to_owned(), message: self.to_string(), keyword: keyword.to_owned() }]
        };
        match self {
            Self::Invalid(issues) | Self::BadPath(issues) => issues.clone(),
            Self::Canonical(CanonicalJsonError::NumberRange { pointer, .. }) => one(pointer, "number"),
            Self::Canonical(CanonicalJsonError::TooDeep) => one("", "depth"),
            Self::Json(_) => one("", "json"),
            Self::BadFlag { .. } => one("", "flag"),
            Self::BadShape { .. } => one("", "shape"),
        }
    }
}
