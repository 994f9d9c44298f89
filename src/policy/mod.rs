//! Policies: what a call may do, decided from files that people can review.
//!
//! [`facts`], [`classify`] and [`decide`] are the three arrows; `run`, `plan`, `test` and `explain` all go through
//! them. The language is described in `docs/policies.md`.

mod action;
mod builtin;
mod check;
mod classify;
mod condition;
mod decide;
mod decimal;
mod decision;
mod decode;
mod engine;
mod environ;
mod examples;
mod explain;
mod facts;
mod lint;
mod matchers;
mod model;
mod paths;
mod reason;
mod set;
mod shape;
mod subject;
mod truth;
mod vars;

#[cfg(test)]
mod tests;

pub use action::{Action, Remember, Role, Strength};
pub use builtin::text as builtin_text;
pub use check::{check_approval, check_file, check_for_tool};
pub use classify::{Classified, EffectOrigin, EffectSource, classify};
pub use condition::{AtomTrace, Condition};
pub use decide::{RuleTrace, UnitTrace, decide};
pub use decision::{Decided, Decision, Floor, Matched, RuleRef};
pub use decode::decode;
pub use examples::check_examples;
pub use explain::{Explanation, NearMiss, PathNote, explain};
pub use facts::{FactEnv, Facts, LegacyApproval, ToolFacts, facts};
pub use lint::lint_policies;
pub use model::{Mask, PolicyFile};
pub use set::{PolicySet, PolicySource};
pub use truth::Truth;
