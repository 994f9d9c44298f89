//! How a run ended, as far as the supervisor knows it for certain.

use super::FileDigest;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// What held the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Namespaces, a private root, Landlock and a syscall filter.
    Ns,
    /// Landlock and a syscall filter on the host's own tree.
    Flat,
    /// No kernel sandbox: limits, a clean environment and the tree kill only.
    None,
}

impl Backend {
    /// `ns`, `flat` or `none`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Flat => "flat",
            Self::None => "none",
        }
    }
}

/// Why the tool ended. Each is observed where it happens, never inferred from an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndCause {
    /// It exited by itself.
    Exit,
    /// The wall time of the attempt was over.
    Timeout,
    /// The tree used more memory than allowed.
    Memory,
    /// A stream was longer than allowed.
    Output,
    /// More processes at once than allowed.
    Processes,
    /// It wrote past the file-size limit (`SIGXFSZ`).
    FileSize,
    /// It used up its processor time (`SIGXCPU`).
    Cpu,
    /// Another signal.
    Signal,
    /// It used a system-call interface that is not this machine's own (`SIGSYS` of the filter).
    ForeignAbi,
    /// The caller gave up.
    Cancelled,
}

impl EndCause {
    /// The name in `execution.ended`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Output => "output",
            Self::Processes => "processes",
            Self::FileSize => "fileSize",
            Self::Cpu => "cpu",
            Self::Signal => "signal",
            Self::ForeignAbi => "foreignAbi",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Whether a layer stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerState {
    /// The kernel accepted it before the tool started.
    Enforced,
    /// It was wanted and could not be had.
    Absent,
    /// It was not asked for.
    Off,
}

impl LayerState {
    /// `enforced`, `absent` or `off`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Absent => "absent",
            Self::Off => "off",
        }
    }
}

/// One layer of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerReport {
    /// `userns`, `pidns`, `mountns`, `netns`, `landlock`, `seccomp`, `memory`, `processes`, …
    pub name: String,
    /// Whether it stood.
    pub state: LayerState,
    /// Its form or the reason of its absence; empty if there is nothing to say.
    pub detail: String,
}

/// A run that ended, however it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub cause: EndCause,
    /// The tool's exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the tool, if one did.
    pub signal: Option<i32>,
    /// What it wrote to stdout, up to the limit.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr, up to the limit.
    pub stderr: Vec<u8>,
    /// Wall time from before the first process was made.
    pub duration: Duration,
    /// The highest use that was seen, in KiB.
    pub peak_memory_kib: Option<u64>,
    /// What held it.
    pub backend: Backend,
    /// Each layer and whether it stood.
    pub layers: Vec<LayerReport>,
    /// Protected names that were absent before and exist now: the caller quarantines them.
    pub created: Vec<PathBuf>,
    /// Program and scripts that were hashed while they were copied.
    pub digests: Vec<FileDigest>,
}
