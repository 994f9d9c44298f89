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
mod docs;
mod errors;
mod field_cases;
mod harness;
mod lint;
mod main_job;
mod plan_is_run;
mod prompt;
mod sandbox;
mod schemas;
