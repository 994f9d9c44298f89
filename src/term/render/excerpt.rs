//! The lines of a source file that a snippet shows, made safe to print, with places moved to match.
//!
//! Only marked lines and their neighbours are copied: a snippet of a large file costs no more than one of a small
//! file. A mark ends with its first line. Hidden characters are written as escapes, and very long lines are cut
//! around the mark.

use crate::text::is_hidden;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Characters kept in front of the first and behind the last mark of a line.
const AROUND: usize = 160;

/// A text with the numbers of its lines and the places of the marks in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines from the first to the last one that is shown.
    pub(super) text: String,
    /// The number of the first line, from 1.
    pub(super) first_line: usize,
    /// The marks as ranges of bytes of `text`, in the order in which they were given.
    pub(super) marks: Vec<Range<usize>>,
    /// Whether an escape stands for a hidden character of the source.
    pub(super) escaped: bool,
}

/// A mark within one line, in bytes from the start of the line.
struct Mark {
    index: usize,
    range: Range<usize>,
}

impl Excerpt {
    /// Cuts out what the marks need. Marks may lie outside of the text or inside of a character; they are moved in.
    pub(super) fn new(source: &str, marks: &[Range<usize>]) -> Self {
        let starts: Vec<usize> =
            std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of = |at: usize| starts.partition_point(|start| *start <= at).saturating_sub(1);
        let line_text = |line: usize| {
            let start = starts.get(line).copied().unwrap_or(source.len());
            let end = starts.get(line + 1).map_or(source.len(), |next| next - 1);
            let text = source.get(start..end).unwrap_or("");
            text.strip_suffix('\r').unwrap_or(text)
        };

        let mut by_line: BTreeMap<usize, Vec<Mark>> = BTreeMap::new();
        for (index, mark) in marks.iter().enumerate() {
            let start = floor(source, mark.start);
            let line = line_of(start);
            let base = starts.get(line).copied().unwrap_or(0);
            let length = line_text(line).len();
            let from = (start - base).min(length);
            let to = (ceil(source, mark.end).saturating_sub(base)).clamp(from, length);
            by_line.entry(line).or_default().push(Mark { index, range: from..to });
        }

        let first = by_line.keys().next().copied().unwrap_or(0);
        let last = by_line.keys().next_back().copied().unwrap_or(0);
        let mut out = Self {
            text: String::new(),
            first_line: first + 1,
            marks: vec![0..0; marks.len()],
            escaped: false,
        };
        for line in first..=last {
            if line > first {
                out.text.push('\n');
            }
            let near = |at: usize| by_line.contains_key(&at);
            // The renderer shows a line between two marked ones, and folds longer gaps.
            if near(line) || (near(line + 1) && line > first && near(line - 1)) {
                out.line(line_text(line), by_line.get(&line).map_or(&[], Vec::as_slice));
            }
        }
        out
    }

    fn line(&mut self, line: &str, marks: &[Mark]) {
        let from = marks.iter().map(|mark| mark.range.start).min().unwrap_or(0);
        let to = marks.iter().map(|mark| mark.range.end).max().unwrap_or(0);
        let (from, to) = window(line, from..to);
        if from > 0 {
            self.text.push('…');
        }
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (at, c) in line.get(from..to).unwrap_or("").char_indices() {
            places.push((from + at, self.text.len()));
            if is_hidden(c) && c != '\t' {
                let _ = write!(self.text, "\\u{{{:x}}}", u32::from(c));
                self.escaped = true;
            } else {
                self.text.push(c);
            }
        }
        places.push((to, self.text.len()));
        if to < line.len() {
            self.text.push('…');
        }
        let moved = |at: usize| {
            let next = places.partition_point(|(source, _)| *source < at);
            places.get(next).or(places.last()).map_or(0, |(_, target)| *target)
        };
        for mark in marks {
            if let Some(place) = self.marks.get_mut(mark.index) {
                *place = moved(mark.range.start)..moved(mark.range.end);
            }
        }
    }
}

/// The part of a line to keep, in bytes on character boundaries. A mark itself is cut if it is longer than is shown.
fn window(line: &str, mark: Range<usize>) -> (usize, usize) {
    let before = line.get(..mark.start).unwrap_or("");
    let from = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let kept = line.get(from..).unwrap_or("");
    let behind = (mark.end - from).min(4 * AROUND);
    let to = kept
        .char_indices()
        .skip_while(|(at, _)| *at < behind)
        .nth(AROUND)
        .map_or(line.len(), |(at, _)| from + at);
    (from, to)
}

/// The character boundary at or in front of `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The character boundary at or behind `at`.
fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
