//! One file a command: the arguments in, the exit code out.

pub(super) mod check;
pub(super) mod doctor;
pub(super) mod environment;
pub(super) mod explain;
pub(super) mod plan;
mod plan_calls;
pub(super) mod policy;
pub(super) mod run;
pub(super) mod tools;
pub(super) mod trust;
pub(super) mod validate;
mod validate_calls;
