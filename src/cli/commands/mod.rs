//! One file a command: the arguments in, the exit code out.

pub(super) mod check;
pub(super) mod completions;
pub(super) mod doctor;
pub(super) mod environment;
pub(super) mod explain;
pub(super) mod man;
pub(super) mod plan;
pub(super) mod policy;
mod policy_explain;
pub(super) mod run;
pub(super) mod schema;
pub(super) mod tools;
mod tools_show;
pub(super) mod trust;
pub(super) mod validate;
