//! The integration tests: one binary, one module a feature. Everything goes through the real `toolctl`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a failed expectation in a test is a panic, and a skipped one is said aloud"
)]

mod architecture;
mod attacks;
mod completion;
mod docs;
mod errors;
mod field_cases;
mod harness;
mod main_job;
mod plan_is_run;
mod prompt;
mod reference;
mod sandbox;
mod schemas;
