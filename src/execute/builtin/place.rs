//! A name in an opened folder, and what is done to it: the part that the tools that write share.
//!
//! Nothing here follows a symbolic link in the last place, and no folder on the way was reached through one.

use super::error::BuiltinError;
use super::root::{Target, kind_words};
use crate::text::escape;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, StatxAttributes, StatxFlags};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name in an opened folder.
#[derive(Debug)]
pub(super) struct Place<'t> {
    pub(super) dir: OwnedFd,
    pub(super) leaf: OsString,
    target: &'t Target<'t>,
    /// The verb for messages.
    doing: &'static str,
}

impl<'t> Place<'t> {
    /// Opens the folder that holds the path's last name. With `create`, missing folders are made.
    ///
    /// Outside the workspace nothing is changed: all that can be written there are the sandbox's own temporary files, and
    /// what is put there is gone with them.
    pub(super) fn of(
        target: &'t Target<'t>,
        doing: &'static str,
        create: bool,
    ) -> Result<Self, BuiltinError> {
        if !target.is_inside() {
            return Err(BuiltinError::Refused {
                doing,
                path: escape(target.shown()),
                why: "it lies outside the workspace, where this tool changes nothing".to_owned(),
            });
        }
        let (dir, leaf) = target.parent(create)?;
        Ok(Self { dir, leaf, target, doing })
    }

    /// What is at the name, links not followed; `None` if nothing is.
    pub(super) fn stat(&self) -> Result<Option<Stat>, BuiltinError> {
        match rustix::fs::statat(&self.dir, &self.leaf, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error(self.doing, errno)),
        }
    }

    /// A refusal in words of the tool.
    pub(super) fn refused(&self, why: impl Into<String>) -> BuiltinError {
        BuiltinError::Refused { doing: self.doing, path: escape(self.target.shown()), why: why.into() }
    }

    pub(super) fn error(&self, doing: &'static str, errno: Errno) -> BuiltinError {
        BuiltinError::system(doing, self.target.shown(), errno)
    }

    pub(super) fn io(&self, doing: &'static str, error: &std::io::Error) -> BuiltinError {
        BuiltinError::io(doing, self.target.shown(), error)
    }

    /// The regular file that is there; anything else that is there is refused.
    pub(super) fn existing(&self) -> Result<Option<Stat>, BuiltinError> {
        let stat = self.stat()?;
        stat.as_ref().map_or(Ok(()), |stat| self.require_regular(stat))?;
        Ok(stat)
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
    pub(super) fn check_writable(&self) -> Result<(), BuiltinError> {
        rustix::fs::accessat(&self.dir, &self.leaf, Access::WRITE_OK, AtFlags::empty())
            .map_err(|errno| self.error(self.doing, errno))
    }

    pub(super) fn open_existing(&self, flags: OFlags) -> Result<File, BuiltinError> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.dir, &self.leaf, flags, Mode::empty())
            .map_err(|errno| self.error(self.doing, errno))?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| self.error(self.doing, errno))?;
        self.require_regular(&stat)?;
        Ok(File::from(fd))
    }

    /// Makes the file, complete or not at all; one that appears meanwhile is not replaced.
    pub(super) fn create(&self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let open =
            rustix::fs::fstat(&self.dir).map_err(|errno| self.error(self.doing, errno))?.st_mode & 0o644;
        let temp =
            self.temporary(bytes, Mode::from_raw_mode(open | 0o600)).map_err(|e| self.io(self.doing, &e))?;
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
            Err(errno) => Err(self.error(self.doing, errno)),
        }
    }

    /// Replaces the content: true if by a new file in one step, false if in place.
    pub(super) fn replace(&self, bytes: &[u8], old: &Stat) -> Result<bool, BuiltinError> {
        let ours = old.st_uid == rustix::process::geteuid().as_raw()
            && old.st_gid == rustix::process::getegid().as_raw();
        if !ours || old.st_nlink > 1 {
            return self.rewrite(bytes).map(|()| false);
        }
        let temp = match self.temporary(bytes, Mode::from_raw_mode(old.st_mode & 0o777)) {
            Ok(temp) => temp,
            Err(error) if in_place_may_do(&error) => return self.rewrite(bytes).map(|()| false),
            Err(error) => return Err(self.io(self.doing, &error)),
        };
        match rustix::fs::renameat(&self.dir, &temp, &self.dir, &self.leaf) {
            Ok(()) => Ok(true),
            Err(errno) => {
                self.remove(&temp);
                if in_place_may_do(&errno.into()) {
                    return self.rewrite(bytes).map(|()| false);
                }
                Err(self.error(self.doing, errno))
            }
        }
    }

    fn rewrite(&self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let mut file = self.open_existing(OFlags::WRONLY)?;
        file.write_all(bytes)
            .and_then(|()| rustix::fs::ftruncate(&file, bytes.len() as u64).map_err(Into::into))
            .map_err(|e| self.io(self.doing, &e))
    }

    /// A new file beside the target with this content. The permissions are set when it is made: backends without
    /// namespaces refuse to change them later.
    fn temporary(&self, bytes: &[u8], mode: Mode) -> std::io::Result<OsString> {
        self.temporary_from(&mut &*bytes, mode)
    }

    /// The same with what a reader gives.
    pub(super) fn temporary_from(&self, content: &mut dyn Read, mode: Mode) -> std::io::Result<OsString> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, fd) = unused_name(|name| rustix::fs::openat(self.dir.as_fd(), name, flags, mode))?;
        if let Err(error) = std::io::copy(content, &mut File::from(fd)) {
            self.remove(&name);
            return Err(error);
        }
        Ok(name)
    }

    /// A new symbolic link beside the target.
    pub(super) fn temporary_link(&self, to: &CStr) -> Result<OsString, Errno> {
        unused_name(|name| rustix::fs::symlinkat(to, self.dir.as_fd(), name)).map(|(name, ())| name)
    }

    pub(super) fn remove(&self, name: &OsStr) {
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

/// Makes something under a name that nothing has yet.
fn unused_name<T>(make: impl Fn(&str) -> Result<T, Errno>) -> Result<(OsString, T), Errno> {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    for attempt in 0..100_u32 {
        let name = format!(".toolctl-{}-{nanos}-{attempt}.tmp", std::process::id());
        match make(&name) {
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
            Ok(new) => return Ok((name.into(), new)),
        }
    }
    Err(Errno::EXIST)
}

/// Whether something is mounted at a name: the sandbox holds in place what must not be changed, and hides what must not
/// be seen, by mounting over it. Kernels before 5.8 do not tell; there the kernel's own refusal has to do.
pub(super) fn is_held(dir: impl AsFd, name: &OsStr) -> Result<bool, Errno> {
    let found = rustix::fs::statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())?;
    Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}
