//! The sandbox against a real kernel: every denial has a control that shows the same thing succeed without it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::unreachable,
    reason = "a test fails by panicking, in its helpers too"
)]

mod closed;
mod files;
mod kernel;
mod kit;
mod life;
mod network;
mod slice;
mod speed;
