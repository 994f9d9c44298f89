//! The sandbox against a real kernel.

mod kit;
mod slice;
