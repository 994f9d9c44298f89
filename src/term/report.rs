//! Reports for machines that go beside the normal output, into files.

use super::output::escape_json;
use super::ui::OutputError;
use crate::text::escape;
use serde::Serialize;
use std::path::Path;

/// Writes a JSON document to a file, hidden characters as escapes.
pub fn write_json_report<T: Serialize + ?Sized>(path: &Path, value: &T) -> Result<(), OutputError> {
    let json = serde_json::to_string_pretty(value)?;
    // The ends of lines are the layout's: inside strings they are escapes already.
    let lines: Vec<String> = json.lines().map(escape_json).collect();
    write_text_report(path, &(lines.join("\n") + "\n"))
}

/// Writes text to a file, in place of what was in it.
pub fn write_text_report(path: &Path, text: &str) -> Result<(), OutputError> {
    std::fs::write(path, text)
        .map_err(|source| OutputError::File { path: escape(&path.to_string_lossy()), source })
}
