//! The one trait through which disk, clock, environment and terminal are reached.
//!
//! Everything above the sandbox asks a [`World`], so that suites and property tests can run against a [`MemoryWorld`]
//! and are hermetic. Subprocesses are reached through the sandbox backends alone.

mod host;
mod memo;
mod memory;

pub use host::HostWorld;
pub use memo::MemoWorld;
pub use memory::MemoryWorld;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What kind of thing a path is, the last symlink not followed for [`World::lstat`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A socket, device or pipe.
    Other,
}

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The kind.
    pub kind: FileKind,
    /// Size in bytes.
    pub len: u64,
    /// Permission bits, `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// When the content or the inode last changed, in nanoseconds since the epoch. No program can set it back.
    pub ctime_ns: i64,
    /// When the inode was made, in nanoseconds since the epoch; 0 where the file system does not say.
    pub born_ns: i64,
}

/// An entry of the password database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Login name.
    pub name: String,
    /// User id.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// Home folder.
    pub home: PathBuf,
}

/// Disk, clock, environment and identity.
pub trait World: Send + Sync {
    /// The bytes of a regular file of at most `max` bytes; more is [`io::ErrorKind::FileTooLarge`]. Never blocks on a
    /// pipe or a device: those are [`io::ErrorKind::InvalidInput`].
    fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>>;
    /// As [`World::read`], of a path that was canonical when it was judged: a symlink anywhere on it appeared since,
    /// and is an error.
    fn read_canonical(&self, path: &Path, max: u64) -> io::Result<Vec<u8>>;
    /// The first bytes of a regular file, at most `len`; like [`World::read`] otherwise.
    fn head(&self, path: &Path, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = self.read(path, 512 << 20)?;
        bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(bytes)
    }
    /// A file to be read bit by bit, however long it is, and its length if that is known. A named pipe waits for its
    /// writer: only what the person at the command line named is read this way.
    fn stream(&self, path: &Path) -> io::Result<(Box<dyn io::Read + Send>, Option<u64>)> {
        let bytes = self.read(path, 512 << 20)?;
        let len = bytes.len() as u64;
        Ok((Box::new(io::Cursor::new(bytes)), Some(len)))
    }
    /// The bytes of a regular file from `offset` on, at most `len`; like [`World::read`] otherwise.
    fn section(&self, path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let bytes = self.read(path, 512 << 20)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(bytes.into_iter().skip(start).take(len).collect())
    }
    /// Replaces a file's content in one step, with mode 0600 and missing folders made with 0700.
    fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Removes a file; one that is not there is fine.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// What a path is, the last symlink not followed.
    fn lstat(&self, path: &Path) -> io::Result<Stat>;
    /// What a path is, symlinks followed.
    fn stat(&self, path: &Path) -> io::Result<Stat>;
    /// The text of a symlink.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;
    /// The names in a folder, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<OsString>>;
    /// The names in a folder and what they are, the last symlink not followed; in no order. What vanishes meanwhile is
    /// left out.
    fn list_kinds(&self, dir: &Path) -> io::Result<Vec<(OsString, FileKind)>> {
        let kind = |name: OsString| Some((name.clone(), self.lstat(&dir.join(name)).ok()?.kind));
        Ok(self.list(dir)?.into_iter().filter_map(kind).collect())
    }
    /// Forgets what was remembered of the disk: time has passed.
    fn look_again(&self) {}
    /// The time of day.
    fn now(&self) -> SystemTime;
    /// A variable of the caller's environment.
    fn env(&self, name: &str) -> Option<OsString>;
    /// All names of the caller's environment.
    fn env_names(&self) -> Vec<OsString>;
    /// The working folder.
    fn current_dir(&self) -> io::Result<PathBuf>;
    /// The effective user id.
    fn euid(&self) -> u32;
    /// The account of a user id, from the password file.
    fn account(&self, uid: u32) -> Option<Account>;
}
