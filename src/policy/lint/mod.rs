//! Lints: what is allowed in a policy and hardly meant. What is proved is an error, what is guessed a warning. `run` and
//! `plan` work all the same; the codes of this module are raised by `check` alone.

mod commands;
mod effects;
mod entry;
mod field;
mod grants;
mod guards;
mod language;
mod logic;
mod number;
mod refute;
mod rules;
mod scope;
mod texts;
mod wording;
mod work;

#[cfg(test)]
mod soundness;
#[cfg(test)]
mod tests;

pub use entry::lint_policies;
