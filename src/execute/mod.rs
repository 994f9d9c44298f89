//! Carrying a call out: the built-in tools, and the run of an authorised call.

pub mod builtin;
