//! The plan as it is shown, in JSON and to people.

use super::FileDigest;
use serde::Serialize;
use std::path::PathBuf;

/// What a run would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanReport {
    /// `auto`, `ns`, `flat` or `none`.
    pub backend: String,
    /// What is visible, parents first.
    pub mounts: Vec<MountReport>,
    /// `none`, `loopback` or `host`.
    pub network: String,
    /// The limits.
    pub limits: LimitsReport,
    /// Names of the environment variables, sorted.
    pub env: Vec<String>,
    /// The working folder.
    pub cwd: String,
    /// The program's path; `toolctl` itself if absent.
    pub program: Option<PathBuf>,
    /// The arguments.
    pub argv: Vec<String>,
    /// Names that must not exist after the run.
    pub absent: Vec<PathBuf>,
    /// Layers that are meant to stand.
    pub layers: Vec<String>,
    /// `kernel`, or `declared` without a sandbox.
    pub effect_enforcement: String,
    /// Programs and scripts that are hashed, and copied where there is a sandbox.
    pub digests: Vec<FileDigest>,
    /// Why the flat backend could not hold this plan, if it could not.
    pub flat_refusal: Option<String>,
}

/// One place of the private root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountReport {
    /// The path, on the host and in the sandbox.
    pub path: PathBuf,
    /// `read`, `read+exec`, `write`, `write+exec` or `hidden`.
    pub access: String,
}

/// The limits of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsReport {
    /// Wall time in milliseconds.
    pub timeout_ms: u64,
    /// Memory of the tree in KiB; absent without a sandbox.
    pub memory_kib: Option<u64>,
    /// Bytes of each output stream.
    pub output_bytes: u64,
    /// Processes and threads at once; absent without a sandbox.
    pub processes: Option<u64>,
    /// Bytes of one written file; absent without a sandbox.
    pub file_bytes: Option<u64>,
    /// Processor seconds of one process; absent without a sandbox.
    pub cpu_seconds: Option<u64>,
}
