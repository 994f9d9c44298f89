//! Execution: an authorised call becomes a subprocess, and what it left becomes an outcome.

pub mod builtin;
mod outcome;
mod quarantine;
mod run;

pub use outcome::{Outcome, OutcomeKind};
pub use run::{Authorization, Terms, run};
