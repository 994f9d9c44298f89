//! Collects the hits of one file and turns them into lines.

use super::read_file::MAX_BYTES;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use std::cell::OnceCell;
use std::fmt::Write as _;
use std::io;

/// The most bytes of a line's text that are shown.
const MAX_SHOWN: usize = 500;
/// How much of the line before the match is kept when a line is cut.
const BEFORE_MATCH: usize = 100;

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hit {
    /// It matches.
    Match(u64, Vec<u8>),
    /// It stands around one that matches.
    Context(u64, Vec<u8>),
    /// Lines are left out here.
    Break,
}

/// The hits of one file. They are kept until the file is read, since a file may turn out to be binary late.
#[derive(Debug)]
pub(super) struct FileHits {
    lines: Vec<Hit>,
    matches: u64,
    bytes: u64,
    most: u64,
    binary: bool,
}

impl FileHits {
    /// Collects at most `most` matches.
    pub(super) const fn new(most: u64) -> Self {
        Self { lines: Vec::new(), matches: 0, bytes: 0, most, binary: false }
    }

    /// Whether the file is not text.
    pub(super) const fn is_binary(&self) -> bool {
        self.binary
    }

    /// How many lines match.
    pub(super) const fn matches(&self) -> u64 {
        self.matches
    }

    /// The lines in the order of the file.
    pub(super) fn into_lines(self) -> Vec<Hit> {
        self.lines
    }

    /// Whether another line is wanted. One line more than fits is kept, so that the cut is noticed.
    const fn wants_more(&mut self, length: usize) -> bool {
        self.bytes += length as u64;
        self.matches < self.most && self.bytes <= MAX_BYTES + (MAX_SHOWN as u64)
    }
}

impl Sink for FileHits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = trimmed(found.bytes());
        self.lines.push(Hit::Match(found.line_number().unwrap_or(0), line.to_vec()));
        self.matches += 1;
        Ok(self.wants_more(line.len().min(MAX_SHOWN)))
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        let line = trimmed(around.bytes());
        self.lines.push(Hit::Context(around.line_number().unwrap_or(0), line.to_vec()));
        Ok(self.wants_more(line.len().min(MAX_SHOWN)))
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.lines.push(Hit::Break);
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Writes hits as lines, within the bound of one result.
#[derive(Debug)]
pub(super) struct Show {
    left: u64,
    separate: bool,
    started: bool,
    last_path: String,
    /// Compiled when a line has to be cut.
    find: LazyFind,
}

impl Show {
    /// For hits of this pattern; `separate` puts `--` between groups of lines.
    pub(super) fn new(pattern: &str, fixed: bool, ignore_case: bool, separate: bool) -> Self {
        let find = LazyFind { pattern: pattern.to_owned(), fixed, ignore_case, compiled: OnceCell::new() };
        Self { left: MAX_BYTES, separate, started: false, last_path: String::new(), find }
    }

    /// The bytes of a hit; `None` if the result is full.
    pub(super) fn line(&mut self, path: &str, hit: &Hit) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        if self.separate && self.started && self.last_path != path {
            out.extend_from_slice(b"--\n");
        }
        match hit {
            Hit::Match(number, text) => {
                out.extend_from_slice(format!("{path}:{number}:").as_bytes());
                let at = if text.len() > MAX_SHOWN { self.find.start_in(text) } else { 0 };
                push_cut(&mut out, text, at);
            }
            Hit::Context(number, text) => {
                out.extend_from_slice(format!("{path}-{number}-").as_bytes());
                push_cut(&mut out, text, 0);
            }
            Hit::Break => out.extend_from_slice(b"--"),
        }
        out.push(b'\n');
        self.left = self.left.checked_sub(out.len() as u64)?;
        self.started = true;
        path.clone_into(&mut self.last_path);
        Some(out)
    }
}

/// Finds where in a line the pattern matches. Only where a long line is cut depends on it.
#[derive(Debug)]
struct LazyFind {
    pattern: String,
    fixed: bool,
    ignore_case: bool,
    compiled: OnceCell<Option<regex::bytes::Regex>>,
}

impl LazyFind {
    /// The start of the first match; 0, the line's start, if the pattern is one that only the searcher understands.
    fn start_in(&self, line: &[u8]) -> usize {
        let compiled = self.compiled.get_or_init(|| {
            let pattern = if self.fixed { regex::escape(&self.pattern) } else { self.pattern.clone() };
            regex::bytes::RegexBuilder::new(&pattern).case_insensitive(self.ignore_case).build().ok()
        });
        compiled.as_ref().and_then(|find| find.find(line)).map_or(0, |found| found.start())
    }
}

/// Appends a line as UTF-8 text, cut to [`MAX_SHOWN`] bytes around `at`; what is left out is counted.
fn push_cut(out: &mut Vec<u8>, line: &[u8], at: usize) {
    let mut text = String::new();
    if line.len() <= MAX_SHOWN {
        text.push_str(&String::from_utf8_lossy(line));
    } else {
        let start = boundary(line, at.saturating_sub(BEFORE_MATCH).min(line.len() - MAX_SHOWN));
        let end = boundary(line, start + MAX_SHOWN);
        if start > 0 {
            let _ = write!(text, "[{start} bytes cut]");
        }
        text.push_str(&String::from_utf8_lossy(line.get(start..end).unwrap_or_default()));
        if end < line.len() {
            let _ = write!(text, "[{} bytes cut]", line.len() - end);
        }
    }
    out.extend_from_slice(text.as_bytes());
}

/// The nearest start of a character at or before `at`.
fn boundary(line: &[u8], at: usize) -> usize {
    let mut start = at.min(line.len());
    for _ in 0..3 {
        if start > 0 && line.get(start).is_some_and(|byte| byte & 0xc0 == 0x80) {
            start -= 1;
        }
    }
    start
}
