//! Opens exactly the path that was decided, and nothing that a symbolic link could lead to.
//!
//! Arguments arrive in canonical form: every link on the way was resolved before policy judged the path. So any link
//! met here appeared afterwards, and is refused rather than followed, inside the workspace as well as outside. A path
//! outside the workspace is opened from `/` under the same rule; whether it is there at all is the sandbox's affair,
//! which mounts what the decision allowed.

use super::error::BuiltinError;
use crate::text::escape;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// The workspace.
#[derive(Debug)]
pub(super) struct Root {
    dir: OwnedFd,
    path: PathBuf,
    /// Cleared when a kernel or a filter does not let `openat2` through; opening name by name is as strict.
    openat2: Cell<bool>,
}

/// A path split into the folder it starts from and its names; no `.` and no `..` is left in it.
#[derive(Debug)]
pub(super) struct Target<'r> {
    base: Base<'r>,
    names: Vec<OsString>,
    shown: String,
    openat2: &'r Cell<bool>,
}

#[derive(Debug)]
enum Base<'r> {
    Workspace(BorrowedFd<'r>),
    Slash(OwnedFd),
}

impl AsFd for Base<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Workspace(fd) => *fd,
            Self::Slash(fd) => fd.as_fd(),
        }
    }
}

const DIR: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

impl Root {
    /// The workspace at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, BuiltinError> {
        let dir = rustix::fs::openat(CWD, path, DIR | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| BuiltinError::system("open the workspace", &path.to_string_lossy(), errno))?;
        Ok(Self { dir, path: path.to_path_buf(), openat2: Cell::new(true) })
    }

    /// The same where `openat2` is not to be had.
    #[cfg(test)]
    pub(super) fn by_name(path: &Path) -> Result<Self, BuiltinError> {
        Self::open(path).inspect(|root| root.openat2.set(false))
    }

    /// The workspace's own path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Splits a path argument. Refused are `..` (never canonical), NUL and the empty path.
    pub(super) fn target(&self, text: &str) -> Result<Target<'_>, BuiltinError> {
        self.target_os(OsStr::new(text))
    }

    /// The same for a path that was found on disk and need not be UTF-8.
    pub(super) fn target_os(&self, text: &OsStr) -> Result<Target<'_>, BuiltinError> {
        let refuse = |why| Err(BuiltinError::Path { path: escape(&text.to_string_lossy()), why });
        if text.is_empty() {
            return refuse("it is empty; the workspace itself is `.`");
        }
        if text.as_bytes().contains(&0) {
            return refuse("it holds a NUL character");
        }
        let path = Path::new(text);
        let inside = path.strip_prefix(&self.path).ok().or_else(|| path.is_relative().then_some(path));
        let mut names = Vec::new();
        for component in inside.unwrap_or(path).components() {
            match component {
                Component::Normal(name) => names.push(name.to_owned()),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
                Component::ParentDir => return refuse("it holds `..`; give the path without it"),
            }
        }
        let base = match inside {
            Some(_) => Base::Workspace(self.dir.as_fd()),
            None => Base::Slash(
                rustix::fs::openat(CWD, "/", DIR | OFlags::CLOEXEC, Mode::empty())
                    .map_err(|errno| BuiltinError::system("open", "/", errno))?,
            ),
        };
        Ok(Target { base, names, shown: text.to_string_lossy().into_owned(), openat2: &self.openat2 })
    }
}

impl Target<'_> {
    /// The path as the caller wrote it, for messages.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether it is the workspace itself, or the root of all.
    pub(super) const fn is_base(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether it lies in the workspace, or is it.
    pub(super) const fn is_inside(&self) -> bool {
        matches!(self.base, Base::Workspace(_))
    }

    /// Whether it is the other path or below it.
    pub(super) fn is_under(&self, other: &Target<'_>) -> bool {
        let bases = matches!(
            (&self.base, &other.base),
            (Base::Workspace(_), Base::Workspace(_)) | (Base::Slash(_), Base::Slash(_))
        );
        bases && self.names.starts_with(&other.names)
    }

    /// Opens the path. `doing` is the verb for the message.
    pub(super) fn open(&self, doing: &'static str, flags: OFlags) -> Result<OwnedFd, BuiltinError> {
        open_names(self.base.as_fd(), &self.names, flags, self.openat2)
            .map_err(|errno| BuiltinError::system(doing, &self.shown, errno))
    }

    /// Opens a regular file for reading. Never blocks: a pipe or device is opened without waiting and refused.
    pub(super) fn open_regular(&self) -> Result<(OwnedFd, Stat), BuiltinError> {
        let fd = self.open("read", OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = stat_of(&fd).map_err(|errno| BuiltinError::system("read", &self.shown, errno))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind.is_file() {
            return Ok((fd, stat));
        }
        let hint = match kind {
            FileType::Directory => "; list_dir shows what is in it",
            FileType::CharacterDevice => "; the sandbox may be hiding a protected file there",
            FileType::RegularFile
            | FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::BlockDevice
            | FileType::Unknown => "",
        };
        Err(BuiltinError::Kind {
            path: escape(&self.shown),
            kind: kind_words(kind),
            wanted: "a regular file",
            hint,
        })
    }

    /// The folder that holds the path's last name, and that name. With `create`, missing folders are made.
    pub(super) fn parent(&self, create: bool) -> Result<(OwnedFd, OsString), BuiltinError> {
        let Some((leaf, parents)) = self.names.split_last() else {
            return Err(BuiltinError::Kind {
                path: escape(&self.shown),
                kind: "a folder",
                wanted: "a regular file",
                hint: "; name a file in it",
            });
        };
        let opened = match open_names(self.base.as_fd(), parents, DIR, self.openat2) {
            Err(Errno::NOENT) if create => create_names(self.base.as_fd(), parents),
            other => other,
        };
        let dir = opened.map_err(|errno| BuiltinError::system("open the folder of", &self.shown, errno))?;
        Ok((dir, leaf.clone()))
    }
}

/// What a file descriptor names.
pub(super) fn stat_of(fd: &OwnedFd) -> Result<Stat, Errno> {
    rustix::fs::fstat(fd)
}

/// A kind of file with its article, for messages.
pub(super) const fn kind_words(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a folder",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice => "a character device",
        FileType::BlockDevice => "a block device",
        FileType::Unknown => "of an unknown kind",
    }
}

/// Opens the names below `base`; with no names, `base` itself.
pub(super) fn open_names(
    base: BorrowedFd<'_>,
    names: &[OsString],
    flags: OFlags,
    openat2: &Cell<bool>,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    if openat2.get() {
        let path: PathBuf = if names.is_empty() { PathBuf::from(".") } else { names.iter().collect() };
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(base, path, flags, Mode::empty(), how) {
            // Old container filters answer EPERM for calls that they do not know.
            Err(Errno::NOSYS | Errno::PERM) => openat2.set(false),
            // Opening by name tells a link from a file where a folder was wanted.
            Err(Errno::NOTDIR) => {}
            other => return other,
        }
    }
    let Some((leaf, parents)) = names.split_last() else {
        return rustix::fs::openat(base, ".", flags, Mode::empty());
    };
    let mut dir: Option<OwnedFd> = None;
    for name in parents {
        let next = open_one(at(dir.as_ref(), base), name, DIR)?;
        dir = Some(next);
    }
    open_one(at(dir.as_ref(), base), leaf, flags)
}

/// Opens one name, and says `LOOP` for a symbolic link whatever the kernel says.
fn open_one(dir: BorrowedFd<'_>, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = rustix::fs::openat(dir, name, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty());
    if matches!(opened, Err(Errno::NOTDIR))
        && let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
        && FileType::from_raw_mode(stat.st_mode).is_symlink()
    {
        return Err(Errno::LOOP);
    }
    opened
}

/// Opens the folders below `base` and makes the missing ones, each no more open than its own parent.
fn create_names(base: BorrowedFd<'_>, names: &[OsString]) -> Result<OwnedFd, Errno> {
    let mut dir: Option<OwnedFd> = None;
    for name in names {
        let parent = at(dir.as_ref(), base);
        let next = match open_one(parent, name, DIR) {
            Err(Errno::NOENT) => {
                let open = rustix::fs::fstat(parent)?.st_mode & 0o755;
                match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(open | 0o700)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
                open_one(parent, name, DIR)?
            }
            other => other?,
        };
        dir = Some(next);
    }
    match dir {
        Some(dir) => Ok(dir),
        None => rustix::fs::openat(base, ".", DIR | OFlags::CLOEXEC, Mode::empty()),
    }
}

fn at<'a>(dir: Option<&'a OwnedFd>, base: BorrowedFd<'a>) -> BorrowedFd<'a> {
    dir.map_or(base, AsFd::as_fd)
}
