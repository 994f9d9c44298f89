//! What a plan is made of.

use crate::model::{EffectSet, SandboxConfig};
use crate::world::World;
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// Which backend was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BackendChoice {
    /// `ns`, else `flat` if it can hold all that is asked for.
    #[default]
    Auto,
    /// Namespaces or nothing.
    Ns,
    /// Landlock and the filter on the host's tree, or nothing.
    Flat,
}

impl BackendChoice {
    /// `auto`, `ns` or `flat`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ns => "ns",
            Self::Flat => "flat",
        }
    }
}

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A file of the host, canonical.
    HostFile(PathBuf),
    /// toolctl itself, by descriptor.
    SelfExe,
}

/// Which executable is started as the helper.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Launcher {
    /// The running one.
    #[default]
    SelfExe,
    /// This file; for programs that embed the library.
    Path(PathBuf),
}

/// Files that hold whatever is bound above them. Absolute paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Protected {
    /// Read-only everywhere.
    pub read_only: Vec<PathBuf>,
    /// Visible nowhere.
    pub hidden: Vec<PathBuf>,
    /// Names that must not appear; looked for after the run. One that is there already is read-only.
    pub absent: Vec<PathBuf>,
}

/// The input of [`Plan::build`](super::Plan::build).
pub struct PlanInput<'a> {
    /// The disk.
    pub world: &'a dyn World,
    /// The configuration after [`cut`](crate::sandbox::cut); `None`: no sandbox. One with `enabled: false` is
    /// no sandbox either, and its `timeout` and `maxOutputBytes` still count.
    pub config: Option<SandboxConfig>,
    /// Which backend.
    pub backend: BackendChoice,
    /// The decided effects.
    pub effects: EffectSet,
    /// `allowFS.readOnly` with placeholders filled in, absolute.
    pub read_only: Vec<PathBuf>,
    /// `allowFS.readWrite` with placeholders filled in, absolute.
    pub read_write: Vec<PathBuf>,
    /// Those of both that came from the call's arguments, and what each was decided to lead to: one that leads somewhere
    /// else by now is refused.
    pub decided: BTreeMap<PathBuf, PathBuf>,
    /// The workspace: the working folder where it is mounted.
    pub workspace: PathBuf,
    /// What is executed.
    pub program: Program,
    /// The arguments, the first being the program's name for itself.
    pub argv: Vec<OsString>,
    /// Files beside the manifest that the arguments name, bound one by one.
    pub scripts: Vec<PathBuf>,
    /// Variables to set beyond `PATH`, `HOME`, `TMPDIR` and `LANG`; those may be given too.
    pub env: Vec<(OsString, OsString)>,
    /// The working folder, if not the default.
    pub cwd: Option<PathBuf>,
    /// Control files and their like.
    pub protected: Protected,
    /// Single files to hide.
    pub masks: Vec<PathBuf>,
    /// Extra read-only roots with programs and libraries.
    pub runtime: Vec<PathBuf>,
    /// The helper's executable.
    pub launcher: Launcher,
}

/// A file that was hashed: what was hashed is what runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileDigest {
    /// The file.
    pub path: PathBuf,
    /// SHA-256 in hexadecimal, after `sha256:`.
    pub digest: String,
}
