//! A file with one call a line, read as it comes and never held as a whole.

use super::failure::{ArgumentFault, Failure};
use super::session::Session;
use crate::call::CallError;
use crate::source::JsonLimits;
use crate::text::escape;
use std::io::{BufRead as _, BufReader, Read};

/// Most bytes of a line: the arguments, and the names around them.
const MAX_LINE: usize = JsonLimits::ARGUMENTS.max_bytes + (64 << 10);

/// The lines of a file or of stdin.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    flag: String,
    number: u64,
    read: u64,
    length: Option<u64>,
}

impl Lines {
    /// Opens what `--calls` names. The file is one of the person at the command line, so it may be anywhere and may be a
    /// pipe.
    pub(crate) fn open(session: &Session<'_>, name: &str) -> Result<Self, Failure> {
        let flag = format!("--calls {}", escape(name));
        let (reader, length): (Box<dyn Read + Send>, Option<u64>) = if name == "-" {
            (Box::new(std::io::stdin()), None)
        } else {
            let path = session.start()?.join(name);
            session.world.stream(&path).map_err(|error| unreadable(&flag, &error))?
        };
        Ok(Self { reader: BufReader::with_capacity(1 << 18, reader), flag, number: 0, read: 0, length })
    }

    /// The size of the file in bytes, if it is known.
    pub(crate) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// The bytes read so far.
    pub(crate) const fn read(&self) -> u64 {
        self.read
    }

    /// Puts the next line that is not blank into `line`, without its end, and gives its number from 1. A line that is too
    /// long keeps one byte more than is allowed, so that the reader of the call refuses it.
    pub(crate) fn next(&mut self, line: &mut Vec<u8>) -> Result<Option<u64>, Failure> {
        loop {
            line.clear();
            let limit = u64::try_from(MAX_LINE + 1).unwrap_or(u64::MAX);
            let fault = |flag: &str, error: &std::io::Error| unreadable(flag, error);
            let got = (&mut self.reader).take(limit).read_until(b'\n', line);
            let got = got.map_err(|error| fault(&self.flag, &error))?;
            if got == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.read += got as u64;
            if line.last() == Some(&b'\n') {
                line.pop();
            } else if got > MAX_LINE {
                self.read += self.reader.skip_until(b'\n').map_err(|error| fault(&self.flag, &error))? as u64;
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(self.number));
            }
        }
    }
}

fn unreadable(flag: &str, error: &std::io::Error) -> Failure {
    Failure::Arguments(ArgumentFault::Call(CallError::BadFlag {
        flag: flag.to_owned(),
        message: format!("it cannot be read: {error}"),
    }))
}
