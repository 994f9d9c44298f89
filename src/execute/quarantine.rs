//! Protected names that did not exist before a call and exist after it are moved out of the way, so that nothing reads
//! them before a person has looked.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, renameat};
use rustix::io::Errno;
use std::fs;
use std::path::{Path, PathBuf};

/// Moves each path into `folder` (a folder of toolctl's own state), or beside itself under an inert name where that is
/// another file system. Returns where each went; `None` means that it is still where it was.
pub(super) fn quarantine(created: &[PathBuf], folder: &Path, id: &str) -> Vec<(PathBuf, Option<PathBuf>)> {
    created
        .iter()
        .enumerate()
        .map(|(index, path)| (path.clone(), move_away(path, folder, &format!("{id}-{index}"))))
        .collect()
}

/// No symlink is followed on the way: a folder that the tool swapped for a link would lead to files of somebody else,
/// which are none of its making. Then the link is what was created, and is moved.
fn move_away(path: &Path, folder: &Path, id: &str) -> Option<PathBuf> {
    let (dir, path) = real_parent(path)?;
    let name = path.file_name()?;
    let inert = name.to_string_lossy().trim_start_matches('.').to_owned();
    let kept = folder.join(format!("{id}-{}", name.to_string_lossy()));
    let state = fs::create_dir_all(folder).ok().and_then(|()| open_dir(CWD, folder, OFlags::empty()).ok());
    let moved = |state: &OwnedFd| renameat(&dir, name, state, kept.file_name().unwrap_or_default());
    if state.is_some_and(|state| moved(&state).is_ok()) {
        return Some(kept);
    }
    let beside = format!(".quarantine-{id}-{inert}");
    renameat(&dir, name, &dir, &beside).ok().map(|()| path.with_file_name(beside))
}

/// The folder of a path, and the path; if a part of the path is a symlink, those of that part.
fn real_parent(path: &Path) -> Option<(OwnedFd, PathBuf)> {
    let mut dir = open_dir(CWD, Path::new("/"), OFlags::empty()).ok()?;
    let mut done = PathBuf::from("/");
    let mut names = path.components().skip(1).peekable();
    while let Some(name) = names.next() {
        done.push(name);
        if names.peek().is_none() {
            break;
        }
        match open_dir(&dir, Path::new(name.as_os_str()), OFlags::NOFOLLOW) {
            Ok(next) => dir = next,
            Err(Errno::NOTDIR | Errno::LOOP) => break,
            Err(_) => return None,
        }
    }
    Some((dir, done))
}

fn open_dir(base: impl AsFd, path: &Path, more: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | more;
    rustix::fs::openat(base, path, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::quarantine;
    use std::fs;

    #[test]
    fn moves_files_and_folders() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("ws/.git/hooks")).unwrap();
        fs::write(dir.path().join("ws/.git/hooks/pre-commit"), "x").unwrap();
        let created = [dir.path().join("ws/.git/hooks"), dir.path().join("ws/missing")];
        let moved = quarantine(&created, &dir.path().join("state/quarantine"), "call1");
        assert!(!created[0].exists());
        assert!(moved[0].1.as_ref().unwrap().join("pre-commit").exists());
        assert_eq!(moved[1].1, None);
    }

    #[test]
    fn moves_the_link_and_nothing_behind_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("ws")).unwrap();
        fs::create_dir_all(root.join("other/hooks")).unwrap();
        fs::write(root.join("other/config"), "x").unwrap();
        std::os::unix::fs::symlink("../other", root.join("ws/.git")).unwrap();
        let created = [root.join("ws/.git/config"), root.join("ws/.git/hooks")];
        let moved = quarantine(&created, &root.join("state"), "call1");
        assert!(moved[0].1.is_some());
        assert!(root.join("ws/.git").symlink_metadata().is_err());
        assert!(root.join("other/config").exists() && root.join("other/hooks").exists());
    }
}
