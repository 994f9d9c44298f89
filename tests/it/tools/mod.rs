//! The shipped tools and policies, each run for real in its sandbox: a call that works, one that is denied, and what a
//! hostile file, repository or server can do.

mod data;
mod git;
mod hostile;
pub(crate) mod kit;
mod network;
mod policy;
