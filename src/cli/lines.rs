//! A file with one call a line, read as it comes and never held as a whole.

use super::failure::{ArgumentFault, Failure};
use super::session::Session;
use crate::call::CallError;
use crate::source::JsonLimits;
use crate::text::escape;
use std::io::{self, BufRead as _, BufReader, Read};

/// Most bytes of a line: the arguments, and the names around them.
const MAX_LINE: usize = JsonLimits::ARGUMENTS.max_bytes + (64 << 10);
/// About so many bytes are read and handed on at once.
const CHUNK: usize = 32 << 10;
/// Lines of a chunk at most. What is said of a line that is refused takes far more memory than a short line does.
const MAX_LINES: usize = 512;
/// The first chunk is small, so that the threads start soon.
const FIRST: usize = 4 << 10;

/// The lines of a file or of stdin.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    flag: String,
    number: u64,
    length: Option<u64>,
}

/// Some lines, without those that are blank.
#[derive(Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    /// The number of each line, from 1, and where it ends in `bytes`.
    ends: Vec<(u64, usize)>,
    /// How far into the input the chunk reaches.
    read: u64,
}

impl Chunk {
    /// Each line with its number, its end left out.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        self.ends
            .iter()
            .zip(starts)
            .map(|((number, end), start)| (*number, self.bytes.get(start..*end).unwrap_or_default()))
    }

    /// How many bytes of the input were read up to its end.
    pub(crate) const fn read(&self) -> u64 {
        self.read
    }
}

impl Lines {
    /// Opens what `--calls` names. The file is one of the person at the command line, so it may be anywhere and may be a
    /// pipe.
    pub(crate) fn open(session: &Session<'_>, name: &str) -> Result<Self, Failure> {
        let flag = format!("--calls {}", escape(name));
        let (reader, length): (Box<dyn Read + Send>, Option<u64>) = if name == "-" {
            (Box::new(io::stdin()), None)
        } else {
            let path = session.start()?.join(name);
            session.world.stream(&path).map_err(|error| unreadable(&flag, &error))?
        };
        Ok(Self { reader: BufReader::with_capacity(CHUNK, reader), flag, number: 0, length })
    }

    /// The size of the file in bytes, if it is known.
    pub(crate) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// The first few lines.
    pub(crate) fn first(&mut self) -> Result<Option<Chunk>, Failure> {
        self.up_to(FIRST, 0)
    }

    /// The lines that are there, at least one: who writes them one by one into a pipe gets an answer to each. `None` at the
    /// end. `before`: the chunk before this one.
    pub(crate) fn next(&mut self, before: u64) -> Result<Option<Chunk>, Failure> {
        self.up_to(CHUNK, before)
    }

    fn up_to(&mut self, size: usize, before: u64) -> Result<Option<Chunk>, Failure> {
        let mut chunk = Chunk { read: before, ..Chunk::default() };
        while self.line(&mut chunk).map_err(|error| unreadable(&self.flag, &error))? {
            let more = self.reader.buffer().contains(&b'\n');
            let full = chunk.bytes.len() >= size || chunk.ends.len() >= MAX_LINES;
            if !chunk.ends.is_empty() && (full || !more) {
                break;
            }
        }
        Ok((!chunk.ends.is_empty()).then_some(chunk))
    }

    /// Adds a line to the chunk, unless it is blank; false at the end of the input. Of a line that is too long one byte
    /// more than is allowed is kept, so that the reader of the call refuses it.
    fn line(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        let start = chunk.bytes.len();
        let limit = u64::try_from(MAX_LINE + 1).unwrap_or(u64::MAX);
        let got = (&mut self.reader).take(limit).read_until(b'\n', &mut chunk.bytes)?;
        if got == 0 {
            return Ok(false);
        }
        self.number += 1;
        chunk.read += got as u64;
        if chunk.bytes.last() == Some(&b'\n') {
            chunk.bytes.pop();
        } else if got > MAX_LINE {
            chunk.read += self.reader.skip_until(b'\n')? as u64;
        }
        if chunk.bytes.iter().skip(start).all(u8::is_ascii_whitespace) {
            chunk.bytes.truncate(start);
        } else {
            chunk.ends.push((self.number, chunk.bytes.len()));
        }
        Ok(true)
    }
}

fn unreadable(flag: &str, error: &io::Error) -> Failure {
    Failure::Arguments(ArgumentFault::Call(CallError::BadFlag {
        flag: flag.to_owned(),
        message: format!("it cannot be read: {error}"),
    }))
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Lines};
    use std::io::{BufReader, Read};

    /// Gives what it has in pieces, as a pipe does.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            into[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn chunks(pieces: &[&str]) -> Vec<Vec<(u64, String)>> {
        let pieces = Pieces(pieces.iter().map(|piece| piece.as_bytes().to_vec()).collect());
        let reader = BufReader::with_capacity(CHUNK, Box::new(pieces) as Box<dyn Read + Send>);
        let mut lines = Lines { reader, flag: String::new(), number: 0, length: None };
        let mut found = Vec::new();
        while let Some(chunk) = lines.next(0).unwrap() {
            let line = |(number, line): (u64, &[u8])| (number, String::from_utf8(line.to_vec()).unwrap());
            found.push(chunk.lines().map(line).collect());
        }
        found
    }

    #[test]
    fn lines_come_as_they_were_written_and_are_counted() {
        let row = |number: u64, text: &str| (number, text.to_owned());
        assert_eq!(chunks(&["a\n\n \t\nb\r\n", "c"]), [vec![row(1, "a"), row(4, "b\r")], vec![row(5, "c")]]);
        // Half a line is waited for; a whole one is handed on at once.
        assert_eq!(chunks(&["a\nb", "b\n", "\n"]), [vec![row(1, "a")], vec![row(2, "bb")]]);
        let short = "x\n".repeat(1500);
        let lengths: Vec<usize> = chunks(&[&short]).iter().map(Vec::len).collect();
        assert_eq!(lengths, [512, 512, 476]);
        assert_eq!(chunks(&["\n\n"]), Vec::<Vec<_>>::new());
        assert_eq!(chunks(&[]), Vec::<Vec<_>>::new());
    }
}
