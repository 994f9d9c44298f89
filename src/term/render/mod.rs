//! Diagnostics as text or JSON, one renderer a file.

mod excerpt;
mod human;
mod json;

pub use human::render;
pub use json::{JsonDiagnostic, JsonPlace, to_json};

#[cfg(test)]
mod tests;
