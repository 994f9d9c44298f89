//! Completion in the shell. The shell asks this program for candidates through an environment variable; what is asked
//! for while somebody types only reads names: it never prompts, never reports a fault and runs nothing.

mod bash;
mod candidates;
mod entry;
mod line;

pub(super) use entry::{VARIABLE, answer, registration};
