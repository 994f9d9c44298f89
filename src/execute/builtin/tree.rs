//! What is in a folder that is to be moved or deleted as a whole, looked at before anything is touched.
//!
//! Whatever the sandbox holds in place stops the whole operation here, with its name, instead of in the middle. No link is
//! followed, and no other file system is entered.

use super::error::BuiltinError;
use super::names::quote;
use super::place::is_held;
use super::root::stat_of;
use crate::model::executed_later;
use crate::text::escape;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// A deeper tree is refused: each level keeps a folder open.
pub(super) const MAX_DEPTH: usize = 100;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder and the names in it, sorted by their bytes.
#[derive(Debug)]
pub(super) struct Folder {
    /// The folder, opened.
    pub(super) dir: OwnedFd,
    /// Names and kinds.
    pub(super) entries: Vec<(OsString, FileType)>,
}

/// Opens a folder by its name in another, if it is one and no link, and reads its names: at most `most`, and one more.
pub(super) fn open_folder(parent: impl AsFd, name: &OsStr, most: usize) -> Result<Folder, Errno> {
    let dir = rustix::fs::openat(parent, name, FOLDER, Mode::empty())?;
    let mut entries = Vec::new();
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let name = OsStr::from_bytes(name).to_owned();
        // Not every file system tells the kind with the name.
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(rustix::fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
            }
            kind => kind,
        };
        entries.push((name, kind));
        if entries.len() > most {
            break;
        }
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Folder { dir, entries })
}

/// Why a path inside a folder stops an operation on the whole of it: files that other programs execute later are only
/// ever changed by a call that names them.
pub(super) fn held_by_name(path: &[u8]) -> Option<String> {
    executed_later(&String::from_utf8_lossy(path))
        .map(|later| format!("it is executed later by other programs ({later})"))
}

/// Looks through a folder that an operation takes as a whole.
#[derive(Debug)]
pub(super) struct Survey {
    doing: &'static str,
    /// How many more entries may be seen.
    left: usize,
    most: usize,
    device: u64,
}

impl Survey {
    /// For at most `most` entries. `doing` is the verb for messages.
    pub(super) const fn new(doing: &'static str, most: usize) -> Self {
        Self { doing, left: most, most, device: 0 }
    }

    /// Looks at the folder `name` in `parent`, which is at `path`.
    ///
    /// Refused are more entries than asked for, a tree deeper than [`MAX_DEPTH`], something that is held in place or is on
    /// another file system, a file that other programs execute later, and a folder that cannot be read.
    pub(super) fn look(
        &mut self,
        parent: impl AsFd,
        name: &OsStr,
        path: &OsStr,
        device: u64,
    ) -> Result<(), BuiltinError> {
        self.device = device;
        self.folder(parent.as_fd(), name, &mut path.as_bytes().to_vec(), 1)
    }

    fn folder(
        &mut self,
        parent: rustix::fd::BorrowedFd<'_>,
        name: &OsStr,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Result<(), BuiltinError> {
        if depth > MAX_DEPTH {
            return Err(self.refused(path, &format!("it is deeper than {MAX_DEPTH} folders")));
        }
        let folder = open_folder(parent, name, self.left).map_err(|errno| self.failed(path, errno))?;
        let stat = stat_of(&folder.dir).map_err(|errno| self.failed(path, errno))?;
        if stat.st_dev != self.device {
            return Err(self.refused(path, "it is on another file system"));
        }
        let base = path.len();
        for (name, kind) in &folder.entries {
            path.push(b'/');
            path.extend_from_slice(name.as_bytes());
            self.left = self.left.checked_sub(1).ok_or_else(|| {
                let top = path.get(..base).unwrap_or_default();
                self.refused(
                    top,
                    &format!("with it there are more than {} entries; take parts of it", self.most),
                )
            })?;
            if let Some(why) = held_by_name(path) {
                return Err(self.refused(path, &why));
            }
            if is_held(&folder.dir, name).map_err(|errno| self.failed(path, errno))? {
                return Err(self.refused(path, "the sandbox holds it in place: it is protected, or hidden"));
            }
            if kind.is_dir() {
                self.folder(folder.dir.as_fd(), name, path, depth + 1)?;
            }
            path.truncate(base);
        }
        Ok(())
    }

    fn refused(&self, path: &[u8], why: &str) -> BuiltinError {
        BuiltinError::Refused {
            doing: self.doing,
            path: escape(&quote(path)),
            why: format!("{why}; nothing was changed"),
        }
    }

    fn failed(&self, path: &[u8], errno: Errno) -> BuiltinError {
        BuiltinError::System { doing: self.doing, path: escape(&quote(path)), errno }
    }
}
