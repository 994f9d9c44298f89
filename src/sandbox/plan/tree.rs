//! The private root as a map from paths to what stands there.

use crate::sandbox::SandboxError;
use crate::sandbox::error::shown;
use crate::sandbox::linux::job::{Access, Entry};
use crate::world::{FileKind, Stat, World};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Paths and what stands there; parents come before children.
#[derive(Debug, Default)]
pub(super) struct Tree(BTreeMap<PathBuf, Entry>);

impl Tree {
    /// Puts an entry, in place of the one at the same path.
    pub(super) fn put(&mut self, entry: Entry) {
        self.0.insert(entry.target.clone(), entry);
    }

    /// Puts an entry unless there is one at the path.
    pub(super) fn put_new(&mut self, entry: Entry) {
        self.0.entry(entry.target.clone()).or_insert(entry);
    }

    /// The entry that decides about a path: the nearest at or above it.
    pub(super) fn covering(&self, path: &Path) -> Option<&Entry> {
        path.ancestors().find_map(|dir| self.0.get(dir))
    }

    /// The entry at exactly this path.
    pub(super) fn get(&self, path: &Path) -> Option<&Entry> {
        self.0.get(path)
    }

    /// Takes out everything at and below a path.
    pub(super) fn remove_below(&mut self, path: &Path) {
        self.0.retain(|target, _| !target.starts_with(path));
    }

    /// All entries, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.0.values_mut()
    }

    /// All entries, parents first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }

    /// The entries as a list, parents first.
    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.0.into_values().collect()
    }
}

/// An entry for something on disk, with its identity.
pub(super) fn entry(target: &Path, stat: Stat, access: Access) -> Entry {
    Entry {
        target: target.to_path_buf(),
        access,
        dir: stat.kind == FileKind::Dir,
        identity: Some((stat.dev, stat.ino)),
        copy: None,
    }
}

/// The path with every symlink resolved.
pub(super) fn canonical(world: &dyn World, path: &Path) -> io::Result<PathBuf> {
    let mut todo: Vec<PathBuf> = path.components().rev().map(|c| PathBuf::from(c.as_os_str())).collect();
    let mut done = PathBuf::new();
    let mut links = 0;
    while let Some(part) = todo.pop() {
        match part.components().next() {
            Some(Component::ParentDir) => {
                done.pop();
                continue;
            }
            Some(Component::RootDir) => {
                done = PathBuf::from("/");
                continue;
            }
            Some(Component::CurDir) | None => continue,
            Some(Component::Normal(_) | Component::Prefix(_)) => {}
        }
        let next = done.join(&part);
        if world.lstat(&next)?.kind == FileKind::Symlink {
            links += 1;
            if links > 40 {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            let text = world.read_link(&next)?;
            todo.extend(text.components().rev().map(|c| PathBuf::from(c.as_os_str())));
        } else {
            done = next;
        }
    }
    Ok(done)
}

/// Whether a sandbox could show a path of this machine.
///
/// # Errors
/// [`SandboxError::BadRequest`] with the reason why it could not.
pub fn check_bind(world: &dyn World, path: &Path) -> Result<(), SandboxError> {
    bindable(world, path).map(|_| ())
}

/// An absolute path made canonical, or the reason why it cannot be bound.
pub(super) fn bindable(world: &dyn World, path: &Path) -> Result<(PathBuf, Stat), SandboxError> {
    if !path.is_absolute() {
        return Err(SandboxError::BadRequest(format!("{} is not an absolute path", shown(path))));
    }
    let real = canonical(world, path)
        .map_err(|e| SandboxError::BadRequest(format!("{} cannot be bound: {e}", shown(path))))?;
    let special = ["/proc", "/sys", "/dev"].iter().find(|root| real.starts_with(root));
    if let Some(root) = special {
        return Err(SandboxError::BadRequest(format!(
            "{} lies in {root}, which no sandbox shows",
            shown(path)
        )));
    }
    if real == Path::new("/") {
        return Err(SandboxError::BadRequest(
            "the root folder cannot be bound; write `allowFS: true` for the whole tree".to_owned(),
        ));
    }
    let stat = world
        .stat(&real)
        .map_err(|e| SandboxError::BadRequest(format!("{} cannot be bound: {e}", shown(path))))?;
    Ok((real, stat))
}
