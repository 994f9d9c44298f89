//! The texts that were read, so that a span can be shown with its file, line and column.

use crate::text::{FileId, Span};
use std::path::{Path, PathBuf};

/// A human place: 1-based line and column, the column counted in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, as it is shown to people.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    text: String,
}

/// All sources of one run.
#[derive(Debug, Default)]
pub struct Files {
    files: Vec<File>,
}

impl Files {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a text under the path that people shall see.
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(File { path: path.into(), text: text.into() });
        id
    }

    /// The path that a file was registered under; empty for an unknown id.
    pub fn path(&self, id: FileId) -> &Path {
        self.files.get(id.0 as usize).map_or(Path::new(""), |file| &file.path)
    }

    /// The text of a file; empty for an unknown id.
    pub fn text(&self, id: FileId) -> &str {
        self.files.get(id.0 as usize).map_or("", |file| &file.text)
    }

    /// The text of a span; empty if the span does not lie on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Where a span starts.
    pub fn location(&self, span: Span) -> Location {
        let text = self.text(span.file);
        let mut start = (span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = text.get(..start).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
        Location {
            file: self.path(span.file).to_path_buf(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Files;
    use crate::text::Span;

    #[test]
    fn counts_lines_and_characters() {
        let mut files = Files::new();
        let id = files.add("a.yaml", "ä: 1\nbö: x\n");
        let at = files.location(Span::new(id, 11, 12));
        assert_eq!((at.line, at.column), (2, 5));
        assert_eq!(files.slice(Span::new(id, 11, 12)), "x");
    }
}
