//! Diagnostics as data: what is wrong, where, and what to do next.
//!
//! A stage builds [`Diagnostic`] values; only `term::render` turns them into text, JSON, SARIF or annotations.

mod code;
mod diagnostic;

pub use code::Code;
pub use diagnostic::{Diagnostic, Label, Severity};
