//! `move_file`: gives a file, a folder or a link another name.
//!
//! It is one step of the file system: the name is there under the old path or the new one. Where something protected
//! stands between the two, the sandbox makes them different file systems; then a file or link is copied and the original
//! removed, and the result says so. No link is followed at either end, and nothing is replaced unless asked for.

use super::error::BuiltinError;
use super::io::Io;
use super::place::{Place, is_held};
use super::root::{Root, Target, kind_words};
use super::tree::Survey;
use crate::text::escape;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use serde::Deserialize;
use std::ffi::OsStr;

/// The tool's name.
pub(super) const NAME: &str = "move_file";

/// The most entries of a folder that is moved.
const MAX_ENTRIES: usize = 200_000;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    to: String,
    #[serde(default)]
    overwrite: bool,
    #[serde(default)]
    create_dirs: bool,
}

/// Moves, and says on the output what was done.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let (from_target, to_target) = (root.target(&args.path)?, root.target(&args.to)?);
    check_paths(args, &from_target, &to_target)?;
    let from = Place::of(&from_target, "move", false)?;
    let stat = from.stat()?.ok_or_else(|| from.error("move", Errno::NOENT))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    check_source(args, &from, &stat, kind)?;
    let to = Place::of(&to_target, "move to", args.create_dirs)?;
    let replaced = check_destination(args, &to, &stat, kind)?;
    let copied = match rename(&from, &to, kind, replaced) {
        Ok(()) => false,
        Err(Errno::XDEV) => {
            copy(&from, &to, &stat, kind, replaced)?;
            true
        }
        Err(Errno::EXIST | Errno::NOTEMPTY) => return Err(exists(&to)),
        Err(errno) => return Err(from.error("move", errno)),
    };
    let how = match (copied, replaced) {
        (false, false) => "",
        (false, true) => ", replacing what was there",
        (true, false) => ", as a copy whose original was removed",
        (true, true) => ", as a copy whose original was removed, replacing what was there",
    };
    io.put(format!("moved {} to {}{how}\n", escape(&args.path), escape(&args.to)).as_bytes())
}

fn check_paths(args: &Args, from: &Target<'_>, to: &Target<'_>) -> Result<(), BuiltinError> {
    let refuse = |path: &str, why: &str| {
        Err(BuiltinError::Refused {
            doing: "move",
            path: escape(path),
            why: format!("{why}; nothing was changed"),
        })
    };
    if from.is_base() {
        return refuse(&args.path, "it is the workspace itself; name what is in it");
    }
    if to.is_base() {
        return refuse(
            &args.path,
            "`to` is the workspace itself; give the whole new path, with the new name",
        );
    }
    match (to.is_under(from), from.is_under(to)) {
        (true, true) => refuse(&args.path, "`to` is the same path"),
        (true, false) => refuse(&args.path, "`to` lies below it"),
        (false, true) => refuse(&args.path, "it lies below `to`; give the whole new path, with the new name"),
        (false, false) => Ok(()),
    }
}

fn check_source(args: &Args, from: &Place<'_>, stat: &Stat, kind: FileType) -> Result<(), BuiltinError> {
    if kind.is_dir() {
        // Before the folder itself, so that what is named is what holds it.
        let path = OsStr::new(args.path.trim_end_matches('/'));
        Survey::new("move", MAX_ENTRIES).look(&from.dir, &from.leaf, path, stat.st_dev)?;
    }
    if is_held(&from.dir, &from.leaf).map_err(|errno| from.error("move", errno))? {
        return Err(from.refused("the sandbox holds it in place: it is protected, or hidden"));
    }
    match kind {
        FileType::RegularFile | FileType::Symlink | FileType::Directory => Ok(()),
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Err(BuiltinError::Kind {
            path: escape(&args.path),
            kind: kind_words(kind),
            wanted: "a file, a folder or a link",
            hint: "",
        }),
    }
}

/// Whether something is there that is to be replaced; anything that may not be replaced is refused.
fn check_destination(args: &Args, to: &Place<'_>, from: &Stat, kind: FileType) -> Result<bool, BuiltinError> {
    let Some(there) = to.stat()? else { return Ok(false) };
    // Where case does not count, a new spelling of the name is there already.
    let same = (there.st_dev, there.st_ino) == (from.st_dev, from.st_ino);
    if same && (kind.is_dir() || there.st_nlink == 1) {
        return Ok(true);
    }
    if same {
        return Err(
            to.refused("it is another name of the same file; delete_file removes one of the two names")
        );
    }
    let kind_there = FileType::from_raw_mode(there.st_mode);
    if kind_there.is_dir() {
        return Err(to.refused(format!(
            "it is a folder, which is never replaced; to move into it, give the whole new path: {}/NAME",
            escape(args.to.trim_end_matches('/'))
        )));
    }
    if !args.overwrite {
        return Err(exists(to));
    }
    if kind.is_dir() {
        return Err(to.refused(format!("it is {}, and a folder replaces nothing", kind_words(kind_there))));
    }
    match kind_there {
        FileType::RegularFile => to.check_writable().map(|()| true),
        FileType::Symlink => Ok(true),
        FileType::Directory
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => {
            Err(to.refused(format!("it is {}, and only a file or link is replaced", kind_words(kind_there))))
        }
    }
}

fn exists(to: &Place<'_>) -> BuiltinError {
    to.refused("it is there already; nothing was moved (overwrite replaces a file or link)")
}

fn rename(from: &Place<'_>, to: &Place<'_>, kind: FileType, replace: bool) -> Result<(), Errno> {
    if replace {
        return rustix::fs::renameat(&from.dir, &from.leaf, &to.dir, &to.leaf);
    }
    let flags = RenameFlags::NOREPLACE;
    match rustix::fs::renameat_with(&from.dir, &from.leaf, &to.dir, &to.leaf, flags) {
        // The file system cannot rename without replacing. A hard link does not replace either, and of folders only
        // an empty one is replaced, which is made here.
        Err(Errno::INVAL | Errno::NOSYS) if kind.is_dir() => {
            rustix::fs::mkdirat(&to.dir, &to.leaf, Mode::from_raw_mode(0o700))?;
            rustix::fs::renameat(&from.dir, &from.leaf, &to.dir, &to.leaf).inspect_err(|_| {
                // The rename's own error is the one that matters.
                let _ = rustix::fs::unlinkat(&to.dir, &to.leaf, AtFlags::REMOVEDIR);
            })
        }
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(&from.dir, &from.leaf, &to.dir, &to.leaf, AtFlags::empty())?;
            rustix::fs::unlinkat(&from.dir, &from.leaf, AtFlags::empty()).inspect_err(|_| to.remove(&to.leaf))
        }
        other => other,
    }
}

/// Makes a copy under the new name and removes the original; if that fails, the copy goes again.
fn copy(
    from: &Place<'_>,
    to: &Place<'_>,
    stat: &Stat,
    kind: FileType,
    replace: bool,
) -> Result<(), BuiltinError> {
    let temp = match kind {
        FileType::RegularFile => {
            let mut file = from.open_existing(OFlags::RDONLY)?;
            let now = rustix::fs::fstat(&file).map_err(|errno| from.error("move", errno))?;
            if (now.st_dev, now.st_ino) != (stat.st_dev, stat.st_ino) {
                return Err(from.error("move", Errno::AGAIN));
            }
            to.temporary_from(&mut file, Mode::from_raw_mode(stat.st_mode & 0o777))
                .map_err(|e| to.io("move to", &e))?
        }
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(&from.dir, &from.leaf, Vec::new())
                .map_err(|errno| from.error("move", errno))?;
            to.temporary_link(&target).map_err(|errno| to.error("move to", errno))?
        }
        FileType::Directory
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => {
            return Err(from.refused(
                "something protected stands between it and `to`, so only files and links can be moved there, one by one; \
                 nothing was moved",
            ));
        }
    };
    let named = if replace {
        rustix::fs::renameat(&to.dir, &temp, &to.dir, &to.leaf)
    } else {
        rustix::fs::renameat_with(&to.dir, &temp, &to.dir, &to.leaf, RenameFlags::NOREPLACE)
    };
    if let Err(errno) = named {
        to.remove(&temp);
        return Err(if errno == Errno::EXIST { exists(to) } else { to.error("move to", errno) });
    }
    rustix::fs::unlinkat(&from.dir, &from.leaf, AtFlags::empty()).map_err(|errno| {
        let error = from.error("remove", errno);
        if replace {
            let done = "a copy of it replaced what was at `to`".to_owned();
            return BuiltinError::Partial { source: Box::new(error), done };
        }
        to.remove(&to.leaf);
        error
    })
}
