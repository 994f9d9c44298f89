//! The sandbox against a real kernel: every denial has a control that shows the same thing succeed without it.

mod closed;
mod files;
mod kernel;
mod kit;
mod life;
mod network;
mod slice;
mod speed;
