//! The texts that were read, so that a span can be shown with its file, line and column.

use crate::text::{FileId, Span};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    lines: OnceLock<Lines>,
}

/// Where the lines of a text start. Found once: a decision names several places, and a batch thousands.
#[derive(Debug)]
struct Lines {
    starts: Vec<usize>,
    ascii: bool,
}

impl Lines {
    fn of(text: &str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after).collect(), ascii: text.is_ascii() }
    }
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
        self.files.push(File { path: path.into(), text: text.into(), lines: OnceLock::new() });
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
        let Some(file) = self.files.get(span.file.0 as usize) else {
            return Location { file: PathBuf::new(), line: 1, column: 1 };
        };
        let mut start = (span.start as usize).min(file.text.len());
        while !file.text.is_char_boundary(start) {
            start -= 1;
        }
        let lines = file.lines.get_or_init(|| Lines::of(&file.text));
        let line = lines.starts.partition_point(|first| *first <= start);
        let line_start = lines.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = file.text.get(line_start..start).unwrap_or("");
        let column = if lines.ascii { before.len() } else { before.chars().count() } + 1;
        Location {
            file: file.path.clone(),
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
        for (start, place) in
            [(0, (1, 1)), (1, (1, 1)), (5, (1, 5)), (6, (2, 1)), (12, (2, 6)), (13, (3, 1)), (99, (3, 1))]
        {
            let at = files.location(Span::new(id, start, start));
            assert_eq!((at.line, at.column), place, "{start}");
        }
        let plain = files.add("b.yaml", "a\n\nbc");
        for (start, place) in [(0, (1, 1)), (1, (1, 2)), (2, (2, 1)), (3, (3, 1)), (4, (3, 2))] {
            let at = files.location(Span::new(plain, start, start));
            assert_eq!((at.line, at.column), place, "{start}");
        }
        let at = files.location(Span::new(crate::text::FileId(9), 3, 4));
        assert_eq!((at.file, at.line, at.column), ("".into(), 1, 1));
    }
}
