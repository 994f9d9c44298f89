//! `delete_file`: removes a name, and with `recursive` what is below it.
//!
//! Only names are removed: a symbolic link goes, what it leads to stays. A folder is looked through first, and if anything
//! in it is protected, hidden, unreadable or too much, nothing is removed at all. What was removed is the result.

use super::error::BuiltinError;
use super::io::Io;
use super::names::quote;
use super::place::{Place, is_held};
use super::root::{Root, kind_words};
use super::tree::{Survey, held_by_name, open_folder};
use crate::text::escape;
use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use serde::Deserialize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// The tool's name.
pub(super) const NAME: &str = "delete_file";

/// The most entries that one call removes.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// The most bytes of paths that the result lists.
const MAX_LISTED: usize = 200_000;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    #[serde(default)]
    recursive: bool,
}

/// Deletes, and writes what was removed.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let target = root.target(&args.path)?;
    if target.is_base() {
        return Err(BuiltinError::Refused {
            doing: "delete",
            path: escape(&args.path),
            why: "it is the workspace itself; name what is in it".to_owned(),
        });
    }
    let place = Place::of(&target, "delete", false)?;
    let stat = place.stat()?.ok_or_else(|| place.error("delete", Errno::NOENT))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    let mut removed = Removed::default();
    let mut path = args.path.trim_end_matches('/').as_bytes().to_vec();
    if kind.is_dir() && args.recursive {
        // Before the folder itself, so that what is named is what holds it.
        let mut survey = Survey::new("delete", MAX_ENTRIES);
        survey.look(&place.dir, &place.leaf, OsStr::from_bytes(&path), stat.st_dev)?;
    }
    if is_held(&place.dir, &place.leaf).map_err(|errno| place.error("delete", errno))? {
        return Err(place.refused("the sandbox holds it in place: it is protected, or hidden"));
    }
    let done = match kind {
        FileType::RegularFile | FileType::Symlink | FileType::Fifo | FileType::Socket => {
            removed.one(place.dir.as_fd(), &place.leaf, kind, &path)
        }
        FileType::Directory if args.recursive => removed.folder(place.dir.as_fd(), &place.leaf, &mut path),
        FileType::Directory => match removed.one(place.dir.as_fd(), &place.leaf, kind, &path) {
            Err(BuiltinError::System { errno: Errno::NOTEMPTY | Errno::EXIST, .. }) => {
                return Err(place.refused(
                    "it is a folder with something in it; recursive deletes that too, list_dir shows what it is",
                ));
            }
            other => other,
        },
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            return Err(BuiltinError::Kind {
                path: escape(&args.path),
                kind: kind_words(kind),
                wanted: "a file, a link or a folder",
                hint: "",
            });
        }
    };
    match done {
        Ok(()) => removed.report(io),
        Err(error) if removed.count == 0 => Err(error),
        Err(error) => {
            let done = format!("{} of the entries in it were removed", removed.count);
            removed.report(io)?;
            Err(BuiltinError::Partial { source: Box::new(error), done })
        }
    }
}

/// What was removed so far.
#[derive(Debug, Default)]
struct Removed {
    count: u64,
    list: String,
    unlisted: u64,
}

impl Removed {
    /// Removes one name.
    fn one(
        &mut self,
        dir: rustix::fd::BorrowedFd<'_>,
        name: &OsStr,
        kind: FileType,
        path: &[u8],
    ) -> Result<(), BuiltinError> {
        let flags = if kind.is_dir() { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(dir, name, flags).map_err(|errno| failed(path, errno))?;
        self.count += 1;
        if self.list.len() < MAX_LISTED {
            self.list.push_str("removed ");
            self.list.push_str(&quote(path));
            self.list.push_str(if kind.is_dir() { "/\n" } else { "\n" });
        } else {
            self.unlisted += 1;
        }
        Ok(())
    }

    /// Removes a folder after everything in it. What appeared in it after it was looked through goes as well, unless it is
    /// protected.
    fn folder(
        &mut self,
        parent: rustix::fd::BorrowedFd<'_>,
        name: &OsStr,
        path: &mut Vec<u8>,
    ) -> Result<(), BuiltinError> {
        let folder = open_folder(parent, name, MAX_ENTRIES).map_err(|errno| failed(path, errno))?;
        let base = path.len();
        for (name, kind) in &folder.entries {
            path.push(b'/');
            path.extend_from_slice(name.as_bytes());
            if let Some(why) = held_by_name(path) {
                return Err(BuiltinError::Refused { doing: "delete", path: escape(&quote(path)), why });
            }
            if kind.is_dir() {
                self.folder(folder.dir.as_fd(), name, path)?;
            } else {
                self.one(folder.dir.as_fd(), name, *kind, path)?;
            }
            path.truncate(base);
        }
        drop(folder);
        self.one(parent, name, FileType::Directory, path)
    }

    fn report(&self, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        io.put(self.list.as_bytes())?;
        if self.unlisted > 0 {
            io.put(format!("# and {} more\n", self.unlisted).as_bytes())?;
        }
        Ok(())
    }
}

fn failed(path: &[u8], errno: Errno) -> BuiltinError {
    BuiltinError::System { doing: "delete", path: escape(&quote(path)), errno }
}
