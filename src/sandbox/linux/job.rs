//! What the helper process is told, and what it answers.

use super::wire::{wire_enum, wire_struct};
use std::ffi::OsString;
use std::path::PathBuf;

/// Which of the three forms the helper takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// First process of new namespaces.
    Ns,
    /// Subreaper on the host's tree, with Landlock and the filter.
    Flat,
    /// Subreaper only.
    Off,
}
wire_enum!(Mode { Ns = 0, Flat = 1, Off = 2 });

/// What a tool may do at a path, as Landlock and the mount see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Look.
    Read,
    /// Look and run.
    ReadExec,
    /// Look and change.
    Write,
    /// Look, change and run.
    WriteExec,
    /// Read and write a device, change nothing about it.
    Device,
    /// Nothing: an empty file or folder stands there.
    Hidden,
}
wire_enum!(Access { Read = 0, ReadExec = 1, Write = 2, WriteExec = 3, Device = 4, Hidden = 5 });

impl Access {
    /// Whether the mount is writable.
    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteExec)
    }

    /// The word in reports.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadExec => "read+exec",
            Self::Write => "write",
            Self::WriteExec => "write+exec",
            Self::Device => "device",
            Self::Hidden => "hidden",
        }
    }
}

/// What stands at a path of the private root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The path, absolute and without symlinks; the same on the host.
    pub target: PathBuf,
    /// What may be done there.
    pub access: Access,
    /// Whether it is a folder.
    pub dir: bool,
    /// Device and inode that the planner saw; another one at run time is refused.
    pub identity: Option<(u64, u64)>,
    /// SHA-256 of a file that is copied rather than bound, in hexadecimal.
    pub copy: Option<String>,
}
wire_struct!(Entry { target, access, dir, identity, copy });

/// What the filter lets through of the socket families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Net {
    /// No socket at all, pairs of stream sockets aside.
    None,
    /// A loopback device of its own.
    Loopback,
    /// The host's network.
    Host,
}
wire_enum!(Net { None = 0, Loopback = 1, Host = 2 });

/// Everything that the helper needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub mode: Mode,
    pub entries: Vec<Entry>,
    /// Symlinks to make: path and text.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Small files to write: path and content.
    pub files: Vec<(PathBuf, OsString)>,
    /// The program's path; absent if it is toolctl itself.
    pub program: Option<PathBuf>,
    pub argv: Vec<OsString>,
    pub env: Vec<OsString>,
    pub cwd: PathBuf,
    /// Resource limits: kind, value.
    pub rlimits: Vec<(u32, u64)>,
    pub memory_kib: u64,
    pub max_processes: u64,
    pub temp_bytes: u64,
    pub net: Net,
    /// Whether the helper has a network namespace of its own.
    pub netns: bool,
    /// The user runs as root: process limits of the kernel's user accounting do not hold.
    pub root: bool,
    /// Whether files in the private temp folder may be run.
    pub temp_exec: bool,
    /// The private temp folder of a helper on the host.
    pub temp: PathBuf,
    /// The tool finds the null device on its standard input, not a pipe.
    pub null_stdin: bool,
}
wire_struct!(Job {
    mode,
    entries,
    links,
    files,
    program,
    argv,
    env,
    cwd,
    rlimits,
    memory_kib,
    max_processes,
    temp_bytes,
    net,
    netns,
    root,
    temp_exec,
    temp,
    null_stdin,
});

/// What kind of failure the helper reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailKind {
    /// A layer cannot be had.
    Layer,
    /// The request cannot be met with the files as they are.
    Request,
    /// A file is not the planned one.
    Changed,
    /// The tool could not be started.
    Exec,
}
wire_enum!(FailKind { Layer = 0, Request = 1, Changed = 2, Exec = 3 });

/// What the helper sends before the tool runs, if it cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub kind: FailKind,
    /// The layer or step.
    pub stage: String,
    pub errno: i32,
    /// The path in question or more words.
    pub detail: String,
}
wire_struct!(Failed { kind, stage, errno, detail });

/// A layer as the helper reports it: name, state (enforced) and detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layer {
    pub name: String,
    pub enforced: bool,
    pub detail: String,
}
wire_struct!(Layer { name, enforced, detail });

/// Why the helper ended the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It did not.
    None,
    Memory,
    Processes,
}
wire_enum!(Verdict { None = 0, Memory = 1, Processes = 2 });

/// What the helper sends at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    /// The tool's exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub verdict: Verdict,
    pub peak_kib: u64,
}
wire_struct!(Done { code, signal, verdict, peak_kib });

/// A message of the helper: exactly one of the three is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub failed: Option<Failed>,
    pub started: Option<Vec<Layer>>,
    pub done: Option<Done>,
}
wire_struct!(Message { failed, started, done });
