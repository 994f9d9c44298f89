//! The JSON Schemas of toolctl's own files and outputs, as `toolctl schema` prints them.

/// A kind of file or document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// Its name: `policy`, `result` and so on.
    pub(crate) name: &'static str,
    /// Whether people write such files; else toolctl prints such documents.
    pub(crate) written: bool,
    /// The schema.
    pub(crate) text: &'static str,
}

macro_rules! kinds {
    ($($written:ident $name:literal,)+) => {
        /// Every kind, those that people write first.
        pub(crate) const ALL: &[Kind] = &[$(Kind {
            name: $name,
            written: kinds!(@ $written),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/", $name, ".v1.json")),
        },)+];
    };
    (@ file) => { true };
    (@ output) => { false };
}

kinds! {
    file "manifest",
    file "policy",
    file "settings",
    output "check",
    output "completions",
    output "doctor",
    output "environment",
    output "explain",
    output "explanation",
    output "failure",
    output "man",
    output "plan",
    output "plans",
    output "policies",
    output "result",
    output "schema",
    output "tool",
    output "tools",
    output "trust",
    output "trusted",
    output "validation",
    output "validations",
}

impl Kind {
    /// One line on what the schema describes: its own title.
    pub(crate) fn title(self) -> &'static str {
        let rest = self.text.split_once("\"title\": \"").map_or("", |(_, rest)| rest);
        rest.split('"').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
