//! Decoders of policy files: all errors of a file at once.

mod condition;
mod effects;
mod file;
mod matcher;
mod plain;
mod prune;
mod rule;

pub(super) use condition::approval_condition;
pub use file::{decode, decode_for};
