//! toolctl runs, plans and decides the tool calls of language-model agents.
//!
//! One call goes through these stages, each of which takes its input by value:
//!
//! ```text
//! bytes or flags
//!   -> call::parse        Call              strict JSON: no duplicate keys, bounded, exact numbers
//!   -> call::validate     ValidatedCall     JSON Schema, defaults, canonical arguments, callDigest
//!   -> policy::facts      Facts             paths and URLs parsed once into typed values
//!   -> policy::classify   Effects           read | write | execute | external | unknown, with origins
//!   -> policy::decide     Decision          allow | ask | deny, the deciding rule, every match
//!   -> gate::authorize    AuthorizedCall    the only value that can be executed
//!   -> execute::run       Outcome           a subprocess under limits that the kernel holds
//!   -> result::build      ToolCallResult    what the caller sees
//! ```
//!
//! The modules are listed here in layering order: a module may use those above it and nothing else. A test reads
//! the `use` lines and fails on an arrow that points up.

pub mod text;
pub mod world;

pub mod diag;
pub mod source;
pub mod term;

pub mod model;

pub mod canon;

pub mod schema;

pub mod manifest;

pub mod call;

pub mod policy;

pub mod project;

pub mod sandbox;

pub mod gate;

pub mod execute;

pub mod result;

pub mod cli;
