//! Diagnostics as text, JSON, SARIF or annotations, one renderer a file.

mod excerpt;
mod github;
mod human;
mod json;
mod sarif;

pub use github::to_github;
pub use human::render;
pub use json::{JsonDiagnostic, JsonPlace, to_json};
pub use sarif::{SarifLog, to_sarif};

#[cfg(test)]
mod tests;
