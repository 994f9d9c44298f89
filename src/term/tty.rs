//! The terminal of the approval prompt: `/dev/tty`, whatever standard input and output are.
//!
//! The terminal stays in its line mode, so there is nothing to restore and Ctrl-C does what it always does. What was
//! typed before the question could be read is thrown away, and no answer in time is an answer of its own.

use super::text::Text;
use super::ui::columns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

/// Keys of this first time are ignored: they were meant for something else.
const SETTLE: Duration = Duration::from_millis(300);
/// More input within this time after a line is part of a paste.
const PASTE: Duration = Duration::from_millis(100);
/// A terminal that takes no text for this long is taken for gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer in bytes. The kernel cuts lines off somewhat above.
const MAX_LINE: usize = 4000;

/// Why there is no terminal to ask on.
#[derive(Debug, thiserror::Error)]
pub enum NoTty {
    /// The process has no terminal.
    #[error("/dev/tty does not open: {0}")]
    Open(#[source] io::Error),
    /// The process runs in the background: reading would stop it.
    #[error("this is a background job of its terminal")]
    Background,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// One line, without its end. Bytes that are no UTF-8 have become U+FFFD.
    Line(String),
    /// Ctrl-D, or the terminal has gone.
    Eof,
    /// The deadline has passed.
    Timeout,
    /// Several lines at once, or one of over 4000 bytes: something was pasted, and all of it was thrown away.
    Unclear,
}

/// An open terminal.
#[derive(Debug)]
pub struct Tty {
    fd: OwnedFd,
    color: bool,
}

impl Tty {
    /// Opens the terminal of this process, if it has one and runs in its foreground.
    pub fn open(color: bool) -> Result<Self, NoTty> {
        // Opening is the test: the path exists without a terminal too. Not blocking, so that a line which somebody
        // else takes between `poll` and `read` cannot hold us beyond the deadline.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd =
            rustix::fs::open("/dev/tty", flags, Mode::empty()).map_err(|error| NoTty::Open(error.into()))?;
        let tty = Self { fd, color };
        if tty.in_foreground() { Ok(tty) } else { Err(NoTty::Background) }
    }

    fn in_foreground(&self) -> bool {
        tcgetpgrp(&self.fd).is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// Writes text; give line feeds yourself.
    pub fn write(&self, text: &Text) -> io::Result<()> {
        let rendered = text.render(self.color);
        let deadline = Instant::now() + WRITE_TIMEOUT;
        let mut rest = rendered.as_bytes();
        while !rest.is_empty() {
            match rustix::io::write(&self.fd, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !self.wait(PollFlags::OUT, deadline)? {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Throws away what was typed and not read.
    pub fn flush_input(&self) -> io::Result<()> {
        Ok(tcflush(&self.fd, QueueSelector::IFlush)?)
    }

    /// The columns of the terminal.
    pub fn width(&self) -> Option<u16> {
        columns(&self.fd)
    }

    /// Waits for one line until the deadline. What is typed in the first 300 ms is thrown away.
    ///
    /// Errors come from the terminal; none of them is an answer.
    pub fn read_line(&self, deadline: Instant) -> io::Result<Answer> {
        let settled = (Instant::now() + SETTLE).min(deadline);
        self.flush_input()?;
        // Keys do not end the waiting, however many lines they are.
        std::thread::sleep(settled.saturating_duration_since(Instant::now()));
        self.flush_input()?;

        let mut line = Vec::new();
        let answer = loop {
            if !self.wait(PollFlags::IN, deadline)? {
                break Answer::Timeout;
            }
            match self.read_some(&mut line)? {
                Some(0) => break Answer::Eof,
                None => {}
                Some(_) if line.len() > MAX_LINE => break Answer::Unclear,
                Some(_) => {
                    if let Some(answer) = one_line(&line) {
                        break answer;
                    }
                }
            }
        };
        let more = matches!(answer, Answer::Line(_)) && self.more_follows()?;
        match self.flush_input() {
            // A terminal that has gone cannot be flushed, and nobody reads from it later.
            Err(_) if answer == Answer::Eof => Ok(answer),
            Err(error) => Err(error),
            Ok(()) if more => Ok(Answer::Unclear),
            Ok(()) => Ok(answer),
        }
    }

    /// Reads what is there. `None` if there was nothing after all; 0 at the end of the input.
    fn read_some(&self, line: &mut Vec<u8>) -> io::Result<Option<usize>> {
        let mut buffer = [0; 4096];
        match rustix::io::read(&self.fd, &mut buffer) {
            Ok(count) => {
                line.extend_from_slice(buffer.get(..count).unwrap_or_default());
                Ok(Some(count))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            // The terminal was hung up.
            Err(Errno::IO) => Ok(Some(0)),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether another line comes right behind the one that was read.
    fn more_follows(&self) -> io::Result<bool> {
        let deadline = Instant::now() + PASTE;
        if !self.wait(PollFlags::IN, deadline)? {
            return Ok(false);
        }
        Ok(self.read_some(&mut Vec::new())?.is_some_and(|count| count > 0))
    }

    /// Waits until the terminal is ready, or has gone; `false` if the deadline passes first.
    fn wait(&self, flags: PollFlags, deadline: Instant) -> io::Result<bool> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let borrowed = self.fd.as_fd();
            match poll(&mut [PollFd::new(&borrowed, flags)], Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The answer, once the input holds a whole line. A carriage return ends a line too: somebody may have turned the
/// translation of the Enter key off.
fn one_line(input: &[u8]) -> Option<Answer> {
    let end = input.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let (line, rest) = input.split_at_checked(end)?;
    if rest.len() > 1 && rest != b"\r\n" {
        return Some(Answer::Unclear);
    }
    Some(Answer::Line(String::from_utf8_lossy(line).into_owned()))
}

#[cfg(test)]
mod tests;
