//! Files that hold whatever is bound above them.
//!
//! A read-only bind alone is not enough: the folder above it could be renamed away and made anew. So every folder between
//! a writable bind and something that is not writable becomes a mount point itself, which the kernel refuses to rename.

use super::input::Protected;
use super::roots::access_for;
use super::tree::{Tree, canonical, entry};
use crate::sandbox::SandboxError;
use crate::sandbox::error::shown;
use crate::sandbox::linux::job::{Access, Entry};
use crate::world::{FileKind, World};
use std::path::{Path, PathBuf};

/// File systems through which the kernel is controlled; a bind of the host's tree must not bring them in.
const KERNEL_FILE_SYSTEMS: [&str; 17] = [
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "devtmpfs",
    "devpts",
    "debugfs",
    "tracefs",
    "securityfs",
    "efivarfs",
    "bpf",
    "configfs",
    "fusectl",
    "pstore",
    "mqueue",
    "binfmt_misc",
    "rpc_pipefs",
];

/// Applies the protected paths to the tree. Returns the names to look for after the run.
pub(super) fn protect(
    world: &dyn World,
    tree: &mut Tree,
    protected: &Protected,
    masks: &[PathBuf],
) -> Result<Vec<PathBuf>, SandboxError> {
    let there = |path: &PathBuf| world.lstat(path).is_ok();
    let (present, mut absent): (Vec<_>, Vec<_>) = protected.absent.iter().cloned().partition(there);
    // What must not change and does not exist must not come into being either.
    absent.extend(protected.read_only.iter().chain(&protected.hidden).filter(|path| !there(path)).cloned());
    absent.sort();
    absent.dedup();
    check_binds(tree, protected)?;
    for path in protected.read_only.iter().chain(&present) {
        hold_read_only(world, tree, path)?;
    }
    for path in &protected.hidden {
        hide(world, tree, path, true)?;
    }
    for path in masks {
        hide(world, tree, path, false)?;
    }
    let absent = absent
        .into_iter()
        .filter(|path| tree.covering(path).is_some_and(|cover| cover.access.writes()))
        .collect();
    Ok(absent)
}

/// A bind of something protected is refused (hidden) or made read-only.
fn check_binds(tree: &mut Tree, protected: &Protected) -> Result<(), SandboxError> {
    for entry in tree.iter_mut() {
        if protected.hidden.iter().any(|hidden| entry.target.starts_with(hidden)) {
            return Err(SandboxError::BadRequest(format!(
                "{} belongs to toolctl and is shown to no tool",
                shown(&entry.target)
            )));
        }
        if protected.read_only.iter().any(|path| entry.target.starts_with(path)) {
            entry.access = without_write(entry.access);
        }
    }
    Ok(())
}

const fn without_write(access: Access) -> Access {
    match access {
        Access::Write => Access::Read,
        Access::WriteExec => Access::ReadExec,
        Access::Read | Access::ReadExec | Access::Device | Access::Hidden => access,
    }
}

fn hold_read_only(world: &dyn World, tree: &mut Tree, path: &Path) -> Result<(), SandboxError> {
    let Some(cover) = tree.covering(path) else { return Ok(()) };
    if !cover.access.writes() {
        return Ok(());
    }
    let access = without_write(cover.access);
    let Ok(stat) = world.lstat(path) else { return Ok(()) };
    if stat.kind == FileKind::Symlink {
        return Err(SandboxError::BadRequest(format!(
            "{} is a symbolic link in a writable folder, which cannot be held; make it a file or folder",
            shown(path)
        )));
    }
    tree.put(entry(path, stat, access));
    Ok(())
}

fn hide(world: &dyn World, tree: &mut Tree, path: &Path, strict: bool) -> Result<(), SandboxError> {
    let Ok(named) = world.lstat(path) else { return Ok(()) };
    if named.kind == FileKind::Symlink && strict && tree.covering(path).is_some_and(|c| c.access.writes()) {
        return Err(SandboxError::BadRequest(format!(
            "{} is a symbolic link in a writable folder, which cannot be held; make it a file or folder",
            shown(path)
        )));
    }
    // What a link leads to is hidden as well as what is there.
    let Ok(real) = canonical(world, path) else { return Ok(()) };
    let Ok(stat) = world.stat(&real) else { return Ok(()) };
    if tree.covering(&real).is_some() {
        tree.remove_below(&real);
        tree.put(Entry {
            target: real,
            access: Access::Hidden,
            dir: stat.kind == FileKind::Dir,
            identity: None,
            copy: None,
        });
    }
    Ok(())
}

/// Hides the kernel's file systems that are mounted below a bind.
pub(super) fn hide_kernel_mounts(world: &dyn World, tree: &mut Tree) -> Result<(), SandboxError> {
    let table = match world.read(Path::new("/proc/self/mountinfo"), 16 << 20) {
        Ok(table) => table,
        // A world without the table has no mounts either.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(SandboxError::host("reading the mount table", error)),
    };
    for line in String::from_utf8_lossy(&table).lines() {
        let Some((mount, kind)) = mount_and_kind(line) else { continue };
        if !KERNEL_FILE_SYSTEMS.contains(&kind) {
            continue;
        }
        let path = PathBuf::from(unescape(mount));
        let shown =
            tree.covering(&path).is_some() && tree.get(&path).is_none_or(|e| e.access != Access::Hidden);
        // What cannot be reached from here is covered by another mount, and cannot be reached from a bind either.
        if shown && world.lstat(&path).is_ok() {
            let dir = world.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Dir);
            tree.put(Entry { target: path, access: Access::Hidden, dir, identity: None, copy: None });
        }
    }
    Ok(())
}

fn mount_and_kind(line: &str) -> Option<(&str, &str)> {
    let (before, after) = line.split_once(" - ")?;
    Some((before.split(' ').nth(4)?, after.split(' ').next()?))
}

/// The mount table writes blanks and backslashes as octal.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// Makes every folder between a writable bind and something narrower a mount point.
pub(super) fn pin_ancestors(world: &dyn World, tree: &mut Tree) {
    let narrow: Vec<PathBuf> = tree.iter().filter(|e| !e.access.writes()).map(|e| e.target.clone()).collect();
    for path in narrow {
        for dir in path.ancestors().skip(1) {
            if tree.get(dir).is_some() {
                continue;
            }
            let Some(cover) = tree.covering(dir).filter(|cover| cover.access.writes()) else { break };
            let access = access_for(true, cover.access == Access::WriteExec);
            if let Ok(stat) = world.lstat(dir) {
                tree.put_new(entry(dir, stat, access));
            }
        }
    }
}
