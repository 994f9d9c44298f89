//! `write_file`: creates, replaces or extends a file.
//!
//! A file is replaced in one step: the content goes to a temporary file beside it, which then takes its name, so a
//! reader sees the old content or the new. Where that would change more than the content (a file with other hard
//! links, or of another owner) or cannot be done (only the file itself is writable), it is rewritten in place, and the
//! result says so. The last name is never followed if it is a symbolic link.

use super::entry::Io;
use super::error::BuiltinError;
use super::root::{Root, Target, kind_words};
use crate::text::escape;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// The tool's name.
pub(super) const NAME: &str = "write_file";

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    content: String,
    #[serde(default)]
    mode: WriteMode,
    #[serde(default)]
    create_dirs: bool,
}

/// What to do with a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WriteMode {
    /// Refuse.
    Create,
    /// Replace its content.
    #[default]
    Overwrite,
    /// Add to its end.
    Append,
}

/// A file in an opened folder.
struct Place<'t> {
    dir: OwnedFd,
    leaf: OsString,
    target: &'t Target<'t>,
}

/// Writes the file and says on the output what was done.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let target = root.target(&args.path)?;
    let (dir, leaf) = target.parent(args.create_dirs)?;
    let place = Place { dir, leaf, target: &target };
    let existing = place.existing()?;
    let bytes = args.content.as_bytes();
    let done = match (args.mode, existing) {
        (WriteMode::Create, Some(_)) => return Err(BuiltinError::Exists(escape(&args.path))),
        (WriteMode::Create | WriteMode::Overwrite, None) => {
            place.create(bytes)?;
            "created"
        }
        (WriteMode::Append, None) => {
            place.create(bytes)?;
            "created, since it was not there,"
        }
        (WriteMode::Append, Some(_)) => {
            place.check_writable()?;
            let mut file = place.open_existing(OFlags::WRONLY | OFlags::APPEND)?;
            file.write_all(bytes).map_err(|e| place.io("write", &e))?;
            "appended to"
        }
        (WriteMode::Overwrite, Some(stat)) => {
            place.check_writable()?;
            if place.replace(bytes, &stat)? { "replaced" } else { "rewrote in place" }
        }
    };
    let length = bytes.len();
    io.put(format!("{done} {} ({length} bytes)\n", escape(&args.path)).as_bytes())
}

impl Place<'_> {
    fn error(&self, doing: &'static str, errno: Errno) -> BuiltinError {
        BuiltinError::system(doing, self.target.shown(), errno)
    }

    fn io(&self, doing: &'static str, error: &std::io::Error) -> BuiltinError {
        BuiltinError::io(doing, self.target.shown(), error)
    }

    /// The regular file that is there; anything else that is there is refused.
    fn existing(&self) -> Result<Option<Stat>, BuiltinError> {
        match rustix::fs::statat(&self.dir, &self.leaf, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.require_regular(&stat).map(|()| Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error("write", errno)),
        }
    }

    fn require_regular(&self, stat: &Stat) -> Result<(), BuiltinError> {
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind.is_file() {
            return Ok(());
        }
        let hint = match kind {
            FileType::Directory => "; name a file in it",
            FileType::Symlink => {
                "; it was not there when the call was decided: call again with the real path"
            }
            FileType::RegularFile
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => "",
        };
        Err(BuiltinError::Kind {
            path: escape(self.target.shown()),
            kind: kind_words(kind),
            wanted: "a regular file",
            hint,
        })
    }

    /// A read-only file stays as it is, although its folder would let it be replaced.
    fn check_writable(&self) -> Result<(), BuiltinError> {
        rustix::fs::accessat(&self.dir, &self.leaf, Access::WRITE_OK, AtFlags::empty())
            .map_err(|errno| self.error("write", errno))
    }

    fn open_existing(&self, flags: OFlags) -> Result<File, BuiltinError> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.dir, &self.leaf, flags, Mode::empty())
            .map_err(|errno| self.error("write", errno))?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| self.error("write", errno))?;
        self.require_regular(&stat)?;
        Ok(File::from(fd))
    }

    /// Makes the file, complete or not at all; one that appears meanwhile is not replaced.
    fn create(&self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let open = rustix::fs::fstat(&self.dir).map_err(|errno| self.error("write", errno))?.st_mode & 0o644;
        let temp =
            self.temporary(bytes, Mode::from_raw_mode(open | 0o600)).map_err(|e| self.io("write", &e))?;
        let named =
            rustix::fs::renameat_with(&self.dir, &temp, &self.dir, &self.leaf, RenameFlags::NOREPLACE);
        let named = match named {
            // The file system cannot rename without replacing; a hard link does not replace either.
            Err(Errno::INVAL | Errno::NOSYS) => {
                let linked = rustix::fs::linkat(&self.dir, &temp, &self.dir, &self.leaf, AtFlags::empty());
                self.remove(&temp);
                linked
            }
            Err(errno) => {
                self.remove(&temp);
                Err(errno)
            }
            Ok(()) => Ok(()),
        };
        match named {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(BuiltinError::Exists(escape(self.target.shown()))),
            Err(errno) => Err(self.error("write", errno)),
        }
    }

    /// Replaces the content: true if by a new file in one step, false if in place.
    fn replace(&self, bytes: &[u8], old: &Stat) -> Result<bool, BuiltinError> {
        let ours = old.st_uid == rustix::process::geteuid().as_raw()
            && old.st_gid == rustix::process::getegid().as_raw();
        if !ours || old.st_nlink > 1 {
            return self.rewrite(bytes).map(|()| false);
        }
        let temp = match self.temporary(bytes, Mode::from_raw_mode(old.st_mode & 0o777)) {
            Ok(temp) => temp,
            Err(error) if in_place_may_do(&error) => return self.rewrite(bytes).map(|()| false),
            Err(error) => return Err(self.io("write", &error)),
        };
        match rustix::fs::renameat(&self.dir, &temp, &self.dir, &self.leaf) {
            Ok(()) => Ok(true),
            Err(errno) => {
                self.remove(&temp);
                if in_place_may_do(&errno.into()) {
                    return self.rewrite(bytes).map(|()| false);
                }
                Err(self.error("write", errno))
            }
        }
    }

    fn rewrite(&self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let mut file = self.open_existing(OFlags::WRONLY)?;
        file.write_all(bytes)
            .and_then(|()| rustix::fs::ftruncate(&file, bytes.len() as u64).map_err(Into::into))
            .map_err(|e| self.io("write", &e))
    }

    /// A new file beside the target with this content. The permissions are set when it is made: backends without
    /// namespaces refuse to change them later.
    fn temporary(&self, bytes: &[u8], mode: Mode) -> std::io::Result<OsString> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
        for attempt in 0..100_u32 {
            let name = format!(".toolctl-{}-{nanos}-{attempt}.tmp", std::process::id());
            let fd = match rustix::fs::openat(self.dir.as_fd(), &name, flags, mode) {
                Ok(fd) => fd,
                Err(Errno::EXIST) => continue,
                Err(errno) => return Err(errno.into()),
            };
            let written = File::from(fd).write_all(bytes);
            if let Err(error) = written {
                self.remove(OsStr::new(&name));
                return Err(error);
            }
            return Ok(name.into());
        }
        Err(Errno::EXIST.into())
    }

    fn remove(&self, name: &OsStr) {
        // There is nobody to tell; the write's own error is the one that matters.
        let _ = rustix::fs::unlinkat(&self.dir, name, AtFlags::empty());
    }
}

/// Whether writing into the existing file can succeed where making a new one did not.
fn in_place_may_do(error: &std::io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY | Errno::XDEV)
    )
}
