//! The line-wise part of `read_file`: whole lines, line ends included, byte for byte.
//!
//! A line ends behind a line feed, or at the end of the file. Parts that are read one after another and put together are
//! the file.

use super::error::BuiltinError;
use super::io::Io;
use super::read_file::MAX_BYTES;
use crate::text::escape;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

/// Which lines of which file.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    /// The path, for messages.
    pub(super) path: &'a str,
    /// The first line, counted from 1.
    pub(super) first: u64,
    /// How many at most; `None`: all that follow, which have to fit into one result.
    pub(super) count: Option<u64>,
}

impl Lines<'_> {
    /// Copies the lines to the output, and says on stderr where the next part starts.
    pub(super) fn copy(&self, file: File, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        let mut file = BufReader::with_capacity(64 * 1024, file);
        let start = self.skip(&mut file)?;
        let (mut bytes, mut next) = (Vec::new(), self.first);
        let mut cut = false;
        while self.count.is_none_or(|count| next - self.first < count) {
            let before = bytes.len();
            let room = MAX_BYTES + 1 - before as u64;
            let mut part = (&mut file).take(room);
            let read = part.read_until(b'\n', &mut bytes).map_err(|e| self.failed(&e))?;
            if read == 0 {
                break;
            }
            if bytes.len() as u64 > MAX_BYTES {
                if before == 0 || self.count.is_none() {
                    return Err(self.too_large(next, start + before as u64));
                }
                // A line that does not fit belongs to the next part.
                bytes.truncate(before);
                cut = true;
                break;
            }
            next += 1;
        }
        let more = cut || self.has_more(&mut file)?;
        io.put(&bytes)?;
        let which = if next == self.first {
            "the file is empty".to_owned()
        } else {
            let end = start + bytes.len() as u64;
            format!("lines {} to {}, bytes {start} to {end}", self.first, next - 1)
        };
        io.note(&if more {
            format!("{which}; the next part starts at line {next}")
        } else {
            format!("{which}, the end of the file")
        })
    }

    /// Goes to the first line and returns the byte at which it starts.
    fn skip(&self, file: &mut BufReader<File>) -> Result<u64, BuiltinError> {
        let (mut line, mut offset) = (1, 0);
        // The line that is being skipped has begun.
        let mut begun = false;
        while line < self.first {
            let buffer = file.fill_buf().map_err(|e| self.failed(&e))?;
            if buffer.is_empty() {
                return Err(self.behind_the_end(line - 1 + u64::from(begun)));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(buffer.len(), |at| at + 1);
            line += u64::from(end.is_some());
            begun = end.is_none();
            offset += length as u64;
            file.consume(length);
        }
        if self.first > 1 && !self.has_more(file)? {
            return Err(self.behind_the_end(line - 1));
        }
        Ok(offset)
    }

    fn has_more(&self, file: &mut BufReader<File>) -> Result<bool, BuiltinError> {
        file.fill_buf().map(|buffer| !buffer.is_empty()).map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &std::io::Error) -> BuiltinError {
        BuiltinError::io("read", self.path, error)
    }

    fn refused(&self, why: String) -> BuiltinError {
        BuiltinError::Refused { doing: "read", path: escape(self.path), why }
    }

    fn behind_the_end(&self, lines: u64) -> BuiltinError {
        self.refused(format!("line {} lies behind the end; it has {lines} lines", self.first))
    }

    fn too_large(&self, line: u64, offset: u64) -> BuiltinError {
        if line == self.first {
            return self.refused(format!(
                "line {line} alone is longer than the {MAX_BYTES} bytes that one call returns; \
                 read it by bytes: pass limit, and offset {offset}"
            ));
        }
        self.refused(format!(
            "what follows line {} is larger than the {MAX_BYTES} bytes that one call returns; \
             read it in parts: pass line_count, and line for the next part",
            self.first
        ))
    }
}
