//! Why a sandbox could not be planned or a tool not be started.

use thiserror::Error;

/// Errors of planning and running. Paths and details are escaped already.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// A layer that the call needs cannot be had on this machine; nothing ran.
    #[error("the sandbox cannot be enforced here: {layer}: {detail}")]
    Unavailable {
        /// The layer.
        layer: String,
        /// What the kernel said, and where.
        detail: String,
        /// What a person can do.
        ways_out: Vec<String>,
    },
    /// The configuration asks for something that cannot be given; nothing ran.
    #[error("{0}")]
    BadRequest(String),
    /// The program, or what it needs to start, is not there or not visible in the sandbox; nothing ran.
    #[error("the program cannot start: {path} {problem}")]
    ProgramMissing {
        /// The program, its interpreter or the folder it lives in.
        path: String,
        /// What is wrong, as the rest of a sentence.
        problem: String,
        /// What a person can do.
        ways_out: Vec<String>,
    },
    /// A file is not the one that was planned; nothing ran.
    #[error("{path} changed after it was planned")]
    Changed {
        /// The file.
        path: String,
    },
    /// The kernel refused a step while the process was prepared; the tool did not run.
    #[error("the tool was not started: {stage}: {detail}")]
    Exec {
        /// The step.
        stage: String,
        /// The error number.
        errno: i32,
        /// The error in words.
        detail: String,
    },
    /// The supervisor process vanished: whether the tool finished is not known.
    #[error("the supervisor of the tool died; whether the tool finished is not known")]
    Lost,
    /// toolctl's own resources failed (descriptors, memory); nothing ran.
    #[error("the sandbox could not be prepared: {stage}: {detail}")]
    Host {
        /// The step.
        stage: &'static str,
        /// The error in words.
        detail: String,
    },
}

impl SandboxError {
    /// What a person can do, one line each.
    pub fn ways_out(&self) -> &[String] {
        match self {
            Self::Unavailable { ways_out, .. } | Self::ProgramMissing { ways_out, .. } => ways_out,
            Self::BadRequest(_)
            | Self::Changed { .. }
            | Self::Exec { .. }
            | Self::Lost
            | Self::Host { .. } => &[],
        }
    }

    pub(super) fn host(stage: &'static str, error: impl Into<std::io::Error>) -> Self {
        let error: std::io::Error = error.into();
        Self::Host { stage, detail: error.to_string() }
    }
}

/// A path as it can stand in a message.
pub(super) fn shown(path: &std::path::Path) -> String {
    crate::text::escape(&path.to_string_lossy()).to_string()
}
