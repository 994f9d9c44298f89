//! Paths in one spelling: every symlink resolved, in the order in which the kernel would resolve it.
//!
//! Component by component, a symlink is replaced by its target before a following `..` is applied: `link/..` is the parent
//! of the target, not of the link. What does not exist yet is kept as written, and `..` then removes a name. `~`, `$HOME`
//! and glob characters are ordinary characters. The answer can be out of date as soon as it is given; the sandbox, not this
//! module, holds a process to it.

use crate::text::{Escaped, escape};
use crate::world::{FileKind, World};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// As many symlinks as Linux follows in one lookup.
const MAX_LINKS: usize = 40;
/// Linux's `PATH_MAX`, in bytes.
const MAX_BYTES: usize = 4096;

/// A path in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CanonicalPath {
    absolute: String,
    relative: Option<String>,
    link: Option<String>,
    link_relative: Option<String>,
    exists: bool,
    via_symlink: bool,
}

impl CanonicalPath {
    /// The absolute path, every symlink resolved, without `.`, `..`, doubled or trailing slashes.
    pub fn absolute(&self) -> &str {
        &self.absolute
    }

    /// The path relative to the workspace, if it is inside; `.` for the workspace itself.
    pub fn relative(&self) -> Option<&str> {
        self.relative.as_deref()
    }

    /// If the last symlink was not to be followed and there is one: the absolute path of the link itself.
    /// [`Self::absolute`] is then what the link leads to. Rules judge both.
    pub fn link(&self) -> Option<&str> {
        self.link.as_deref()
    }

    /// [`Self::link`] relative to the workspace, if the link is inside.
    pub fn link_relative(&self) -> Option<&str> {
        self.link_relative.as_deref()
    }

    /// Whether something is there, symlinks followed.
    pub const fn exists(&self) -> bool {
        self.exists
    }

    /// Whether a symlink was on the way, the last component included.
    pub const fn via_symlink(&self) -> bool {
        self.via_symlink
    }

    /// The spelling that the tool receives: the link itself if it was not to be followed, else the resolved path;
    /// relative to the workspace when inside and the tool's working folder is the workspace, else absolute.
    pub fn as_arg(&self, cwd_is_workspace: bool) -> &str {
        let (absolute, relative) = match &self.link {
            Some(link) => (link, &self.link_relative),
            None => (&self.absolute, &self.relative),
        };
        match relative {
            Some(relative) if cwd_is_workspace => relative,
            Some(_) | None => absolute,
        }
    }
}

/// Why a path has no canonical form.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The text is empty.
    #[error("it is empty; the current folder is \".\"")]
    Empty,
    /// The text has a NUL.
    #[error("it holds a NUL character")]
    Nul,
    /// The text is too long for a path.
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The folder to start from is not an absolute path.
    #[error("the folder that it is relative to is not an absolute path")]
    RelativeBase,
    /// More symlinks than the kernel would follow.
    #[error("it passes more than {MAX_LINKS} symbolic links; some of them probably form a loop")]
    Loop,
    /// A component that is not a folder has something below it.
    #[error("\"{0}\" is not a folder, so nothing can be below it")]
    NotAFolder(Escaped),
    /// A symlink of the process file system means something else in every process.
    #[error("\"{0}\" is a link that leads every process somewhere else")]
    ProcessLink(Escaped),
    /// A symlink leads to a name that is not UTF-8.
    #[error("it leads to a name that is not UTF-8")]
    NotUtf8,
    /// A component cannot be looked at, so what it leads to is unknown.
    #[error("\"{path}\" cannot be looked at: {error}")]
    Unreadable {
        /// The component.
        path: Escaped,
        /// What the system said.
        error: io::Error,
    },
}

/// The canonical form of a path that a call gave.
///
/// `base` is the absolute folder that a relative path starts from, `workspace` the absolute workspace; both may contain
/// symlinks. With `follow_last` false a symlink in the last place is kept apart, see [`CanonicalPath::link`]; a trailing
/// slash does not change that.
///
/// # Errors
/// The text cannot be a path, or a component on the way cannot be resolved for certain.
pub fn canonical_path(
    world: &dyn World,
    base: &Path,
    workspace: &Path,
    text: &str,
    follow_last: bool,
) -> Result<CanonicalPath, PathError> {
    if text.is_empty() {
        return Err(PathError::Empty);
    }
    if text.contains('\0') {
        return Err(PathError::Nul);
    }
    if text.len() > MAX_BYTES {
        return Err(PathError::TooLong);
    }
    if !base.is_absolute() || !workspace.is_absolute() {
        return Err(PathError::RelativeBase);
    }
    let workspace = Walk::to(world, workspace)?.text()?;
    let full = base.join(text);
    let link = if follow_last { None } else { last_link(world, &full)? };
    let walk = Walk::to(world, &full)?;
    let (exists, via_symlink) = (walk.exists(), walk.links > 0);
    let absolute = walk.text()?;
    Ok(CanonicalPath {
        relative: relative_to(&absolute, &workspace),
        link_relative: link.as_deref().and_then(|link| relative_to(link, &workspace)),
        absolute,
        link,
        exists,
        via_symlink,
    })
}

/// Whether `path` is `root` or below it, by components: `/w2` is not under `/w`, and everything is under `/`.
///
/// Both must be canonical.
pub fn is_under(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn relative_to(path: &str, workspace: &str) -> Option<String> {
    if !is_under(path, workspace) {
        return None;
    }
    let rest = path.strip_prefix(workspace.trim_end_matches('/'))?.trim_start_matches('/');
    Some(if rest.is_empty() { ".".to_owned() } else { rest.to_owned() })
}

/// The canonical path of the link that `path` names in its last place, if it is one.
fn last_link(world: &dyn World, path: &Path) -> Result<Option<String>, PathError> {
    let mut parts = parts_of(path.as_os_str());
    let Some(last) = parts.pop().filter(|last| last != "..") else {
        return Ok(None);
    };
    let mut walk = Walk::new(world);
    walk.run(parts)?;
    walk.enter_folder()?;
    if walk.missing.is_some() {
        return Ok(None);
    }
    walk.done.push(&last);
    match walk.kind()? {
        Some(FileKind::Symlink) => walk.text().map(Some),
        Some(FileKind::File | FileKind::Dir | FileKind::Other) | None => Ok(None),
    }
}

/// The components of a path, without empty ones and `.`; `..` stays.
fn parts_of(path: &OsStr) -> Vec<std::ffi::OsString> {
    path.as_bytes()
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
        .map(|part| OsStr::from_bytes(part).to_os_string())
        .collect()
}

/// A lookup under way.
struct Walk<'a> {
    world: &'a dyn World,
    /// Absolute, without symlinks as far as it exists.
    done: PathBuf,
    /// The number of components of `done` that exist, once one was found missing.
    missing: Option<usize>,
    /// What `done` is; folders until the contrary is seen.
    last: FileKind,
    links: usize,
}

impl<'a> Walk<'a> {
    fn new(world: &'a dyn World) -> Self {
        Self { world, done: PathBuf::from("/"), missing: None, last: FileKind::Dir, links: 0 }
    }

    fn to(world: &'a dyn World, path: &Path) -> Result<Self, PathError> {
        let mut walk = Self::new(world);
        walk.run(parts_of(path.as_os_str()))?;
        Ok(walk)
    }

    fn run(&mut self, parts: Vec<std::ffi::OsString>) -> Result<(), PathError> {
        let mut todo = parts;
        todo.reverse();
        while let Some(part) = todo.pop() {
            self.enter_folder()?;
            if part == ".." {
                self.up();
                continue;
            }
            self.done.push(&part);
            if self.missing.is_some() {
                continue;
            }
            match self.kind()? {
                None => self.missing = Some(self.depth() - 1),
                Some(FileKind::Symlink) => {
                    let target = self.follow()?;
                    todo.extend(parts_of(target.as_os_str()).into_iter().rev());
                }
                Some(kind @ (FileKind::File | FileKind::Dir | FileKind::Other)) => self.last = kind,
            }
        }
        Ok(())
    }

    fn depth(&self) -> usize {
        self.done.components().count()
    }

    fn up(&mut self) {
        self.done.pop();
        // Everything above an existing component is a folder, and so is what `..` of a missing one arrives at.
        self.last = FileKind::Dir;
        if self.missing.is_some_and(|existing| self.depth() <= existing) {
            self.missing = None;
        }
    }

    /// What the next component would be below must be a folder, or missing.
    fn enter_folder(&self) -> Result<(), PathError> {
        match self.last {
            FileKind::File | FileKind::Other => Err(PathError::NotAFolder(shown(&self.done))),
            FileKind::Dir | FileKind::Symlink => Ok(()),
        }
    }

    fn kind(&self) -> Result<Option<FileKind>, PathError> {
        match self.world.lstat(&self.done) {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(PathError::Unreadable { path: shown(&self.done), error }),
        }
    }

    /// The target of the link at `done`, which is then the folder that the target starts from.
    fn follow(&mut self) -> Result<PathBuf, PathError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(PathError::Loop);
        }
        if self.done.starts_with("/proc") {
            return Err(PathError::ProcessLink(shown(&self.done)));
        }
        let target = self
            .world
            .read_link(&self.done)
            .map_err(|error| PathError::Unreadable { path: shown(&self.done), error })?;
        self.done.pop();
        if target.is_absolute() {
            self.done = PathBuf::from("/");
        }
        Ok(target)
    }

    const fn exists(&self) -> bool {
        self.missing.is_none()
    }

    fn text(self) -> Result<String, PathError> {
        let text = self.done.into_os_string().into_string().map_err(|_| PathError::NotUtf8)?;
        if text.len() > MAX_BYTES { Err(PathError::TooLong) } else { Ok(text) }
    }
}

fn shown(path: &Path) -> Escaped {
    escape(&path.to_string_lossy())
}

#[cfg(test)]
mod tests;
