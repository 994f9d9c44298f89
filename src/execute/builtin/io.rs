//! What a built-in tool writes to, and how it ends.

use super::error::BuiltinError;
use std::io::Write;
use std::process::ExitCode;

/// How a built-in tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltinExit {
    /// It did what was asked: exit 0.
    Done,
    /// It failed: exit 1.
    Failed,
    /// It failed, and the same call may succeed a moment later: exit 75.
    Retry,
    /// A command's own exit code; 126 and 127 also say that it could not be run.
    Code(u8),
}

impl From<BuiltinExit> for ExitCode {
    fn from(exit: BuiltinExit) -> Self {
        Self::from(match exit {
            BuiltinExit::Done => 0,
            BuiltinExit::Failed => 1,
            BuiltinExit::Retry => 75,
            BuiltinExit::Code(code) => code,
        })
    }
}

/// Result and messages of a built-in tool.
pub(super) struct Io<'w> {
    pub(super) out: &'w mut dyn Write,
    pub(super) err: &'w mut dyn Write,
    pub(super) name: &'w str,
}

impl Io<'_> {
    /// Writes a part of the result.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        self.out.write_all(bytes).map_err(|source| BuiltinError::Stream { doing: "write the result", source })
    }

    /// Passes on what a command wrote to its stderr.
    pub(super) fn put_error(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        self.err.write_all(bytes).map_err(|source| BuiltinError::Stream { doing: "write a message", source })
    }

    /// Writes a message for people; it is not part of the result.
    pub(super) fn note(&mut self, text: &str) -> Result<(), BuiltinError> {
        writeln!(self.err, "{}: {text}", self.name)
            .map_err(|source| BuiltinError::Stream { doing: "write a message", source })
    }
}
