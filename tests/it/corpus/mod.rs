//! Proof on real data: tool definitions, calls and argument strings that nobody of this project wrote, with the verdicts
//! of other validators.
//!
//! A sample of 2 % is in `tests/fixtures/corpus/` and always runs. The whole collection runs as well where the variable
//! `CORPUS_DIR` names its folder. Where toolctl differs from a label, `exceptions.jsonl` says so and why: a difference that
//! is not listed fails, and so does a listed one that is none any more.

mod calls;
mod drafts;
mod exceptions;
mod kit;
mod program;
mod raw;
mod sample;
mod tools;
