//! Everything that can stop a call before or after the tool ran, with its exit code, its code and its ways out.

use super::exit::Exit;
use crate::call::CallError;
use crate::diag::{Code, Diagnostic};
use crate::gate::PromptError;
use crate::sandbox::SandboxError;
use crate::text::Escaped;
use std::io;

/// A failure of a command. Every variant has one exit code, by an exhaustive match.
#[derive(Debug)]
pub enum Failure {
    /// The command line makes no sense.
    Usage(Diagnostic),
    /// The arguments are not JSON or break the schema.
    Arguments(CallError),
    /// A manifest, policy or setting cannot be loaded or needs trust.
    Config(Vec<Diagnostic>),
    /// There is no such tool.
    UnknownTool(Diagnostic),
    /// Nobody to ask.
    NobodyToAsk(PromptError),
    /// What was approved is not what would run.
    Stale,
    /// The sandbox could not be had, or the program is not there.
    Sandbox(SandboxError),
    /// The output could not be written.
    Output(io::Error),
    /// toolctl itself failed.
    Internal(anyhow::Error),
}

impl Failure {
    /// The exit code.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Arguments(_) => Exit::Arguments,
            Self::Config(_) => Exit::Config,
            Self::UnknownTool(_) => Exit::UnknownTool,
            Self::NobodyToAsk(_) => Exit::ApprovalUnavailable,
            Self::Stale => Exit::Stale,
            Self::Sandbox(error) => sandbox_exit(error),
            Self::Output(_) => Exit::Output,
            Self::Internal(_) => Exit::Internal,
        }
    }
}
