//! Decoders of policy files: all errors of a file at once.

mod condition;
mod effects;
mod file;
mod matcher;
mod rule;

pub use file::decode;
pub(super) use condition::{Scope, approval_condition};
