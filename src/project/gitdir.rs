//! Where the repository of a workspace is.
//!
//! In a linked work tree and in a submodule `.git` is a file that names a folder elsewhere. A sandbox that shows what any
//! such file names would show whatever the file's author likes, so the repository has to name the workspace in return:
//! nobody can make another person's repository do that.

use crate::canon::canonical_path;
use crate::model::GIT_EXECUTED_LATER;
use crate::text::{Escaped, escape};
use crate::world::{FileKind, World};
use std::io;
use std::path::{Path, PathBuf};

/// A file of git's that names a path is not longer.
const MAX_POINTER: u64 = 8 << 10;
/// A repository's configuration that is read.
const MAX_CONFIG: u64 = 1 << 20;

/// The folders of a repository, canonical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitDirs {
    /// The work tree's own: its index and its `HEAD`.
    pub own: PathBuf,
    /// What all work trees share: objects, refs, configuration. The same as `own` but in a linked work tree.
    pub common: PathBuf,
}

/// Why the repository of a workspace cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum GitDirError {
    /// `.git` is neither a folder nor a file.
    #[error("`.git` is a symbolic link or a device, which is not followed")]
    Kind,
    /// A file of git's that cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// The file.
        path: Escaped,
        /// What the system said.
        error: io::Error,
    },
    /// A file of git's that names no path.
    #[error("{path} does not name a folder as git writes it")]
    Malformed {
        /// The file.
        path: Escaped,
    },
    /// The folder is no repository.
    #[error("{path} is not the folder of a repository: it has no `{missing}`")]
    NotARepository {
        /// The folder.
        path: Escaped,
        /// What it should have.
        missing: &'static str,
    },
    /// The repository does not know the workspace.
    #[error("the repository at {path} does not name this workspace in return")]
    Foreign {
        /// The folder.
        path: Escaped,
    },
}

impl GitDirs {
    /// The folders to show: one, or two in a linked work tree.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut all = vec![self.own.clone(), self.common.clone()];
        all.dedup();
        all
    }

    /// What git would execute or obey of a repository outside of the workspace: what is there goes to `present`, what may
    /// not come into being to `absent`.
    pub(super) fn obeyed(&self, world: &dyn World, present: &mut Vec<PathBuf>, absent: &mut Vec<PathBuf>) {
        let names = GIT_EXECUTED_LATER.iter().chain(&["modules"]);
        let obeyed = names.flat_map(|name| self.folders().into_iter().map(move |dir| dir.join(name)));
        for path in obeyed.chain([self.own.join("gitdir")]) {
            if world.lstat(&path).is_ok() { present.push(path) } else { absent.push(path) }
        }
        // The other work trees of the repository are not this one's business.
        let worktrees = self.common.join("worktrees");
        let others = world.list(&worktrees).unwrap_or_default();
        present.extend(others.iter().map(|name| worktrees.join(name)).filter(|path| *path != self.own));
    }
}

/// The repository that has its work tree in the workspace; `None` if there is no `.git`.
///
/// # Errors
/// `.git` leads to something that is not a repository of this workspace.
pub fn git_dirs(world: &dyn World, workspace: &Path) -> Result<Option<GitDirs>, GitDirError> {
    let link = workspace.join(".git");
    match world.lstat(&link).map(|stat| stat.kind) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(GitDirError::Unreadable { path: shown(&link), error }),
        Ok(FileKind::Dir) => return Ok(Some(GitDirs { own: link.clone(), common: link })),
        Ok(FileKind::Symlink | FileKind::Other) => return Err(GitDirError::Kind),
        Ok(FileKind::File) => {}
    }
    let own = pointer(world, &link, workspace, "gitdir:")?;
    let common = if world.lstat(&own.join("commondir")).is_ok() {
        linked(world, &link, &own)?
    } else {
        submodule(world, workspace, &own)?;
        own.clone()
    };
    for (dir, name, kind) in [
        (&own, "HEAD", FileKind::File),
        (&common, "objects", FileKind::Dir),
        (&common, "refs", FileKind::Dir),
    ] {
        if !world.lstat(&dir.join(name)).is_ok_and(|stat| stat.kind == kind) {
            return Err(GitDirError::NotARepository { path: shown(dir), missing: name });
        }
    }
    Ok(Some(GitDirs { own, common }))
}

/// A linked work tree: `COMMON/worktrees/NAME`, whose `gitdir` names the `.git` file. Returns the common folder.
fn linked(world: &dyn World, link: &Path, own: &Path) -> Result<PathBuf, GitDirError> {
    let common = pointer(world, &own.join("commondir"), own, "")?;
    let place = own.parent().filter(|dir| dir.file_name().is_some_and(|name| name == "worktrees"));
    let back = pointer(world, &own.join("gitdir"), own, "")?;
    if place.and_then(Path::parent) == Some(common.as_path()) && back == link {
        Ok(common)
    } else {
        Err(GitDirError::Foreign { path: shown(own) })
    }
}

/// A submodule: its configuration names the workspace as `core.worktree`.
fn submodule(world: &dyn World, workspace: &Path, own: &Path) -> Result<(), GitDirError> {
    let path = own.join("config");
    let bytes = world
        .read_canonical(&path, MAX_CONFIG)
        .map_err(|error| GitDirError::Unreadable { path: shown(&path), error })?;
    let text = String::from_utf8_lossy(&bytes);
    let named = work_tree(&text).map(|text| resolved(world, own, text));
    if named.flatten().as_deref() == Some(workspace) {
        Ok(())
    } else {
        Err(GitDirError::Foreign { path: shown(own) })
    }
}

/// `core.worktree` of a configuration as git itself writes it: one plain value, no quotes. `None` in any doubt.
fn work_tree(config: &str) -> Option<&str> {
    let (mut core, mut found) = (false, None);
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            core = line.eq_ignore_ascii_case("[core]");
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if core && key.trim().eq_ignore_ascii_case("worktree") {
            let value = value.trim();
            let plain = !value.is_empty() && !value.contains(['"', '\\', '#', ';']);
            if !plain || found.replace(value).is_some() {
                return None;
            }
        }
    }
    found
}

/// The folder or file that a file of git's names, canonical. Relative paths start at `base`.
fn pointer(world: &dyn World, file: &Path, base: &Path, prefix: &str) -> Result<PathBuf, GitDirError> {
    let bytes = world
        .read_canonical(file, MAX_POINTER)
        .map_err(|error| GitDirError::Unreadable { path: shown(file), error })?;
    let named = std::str::from_utf8(&bytes)
        .ok()
        .and_then(|text| text.strip_prefix(prefix))
        .map(str::trim)
        .filter(|text| !text.is_empty() && !text.contains('\n'));
    named
        .and_then(|text| resolved(world, base, text))
        .ok_or_else(|| GitDirError::Malformed { path: shown(file) })
}

fn resolved(world: &dyn World, base: &Path, text: &str) -> Option<PathBuf> {
    canonical_path(world, base, base, text, true).ok().map(|path| PathBuf::from(path.absolute()))
}

fn shown(path: &Path) -> Escaped {
    escape(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::{GitDirError, GitDirs, git_dirs, work_tree};
    use crate::world::MemoryWorld;
    use std::path::{Path, PathBuf};

    fn dirs(world: &MemoryWorld) -> Result<Option<GitDirs>, GitDirError> {
        git_dirs(world, Path::new("/ws"))
    }

    /// A repository at `/main/.git` with a linked work tree at `/ws`.
    fn linked(link: &str, common: &str, back: &str) -> MemoryWorld {
        MemoryWorld::new("/ws")
            .with_file("/ws/.git", link)
            .with_file("/main/.git/HEAD", "ref: refs/heads/main\n")
            .with_file("/main/.git/config", "[core]\n")
            .with_file("/main/.git/worktrees/ws/HEAD", "ref: refs/heads/x\n")
            .with_file("/main/.git/worktrees/ws/commondir", common)
            .with_file("/main/.git/worktrees/ws/gitdir", back)
            .with_file("/main/.git/worktrees/other/HEAD", "x")
            .with_dir("/main/.git/objects")
            .with_dir("/main/.git/refs")
    }

    const LINK: &str = "gitdir: /main/.git/worktrees/ws\n";

    #[test]
    fn finds_the_usual_places() {
        assert_eq!(dirs(&MemoryWorld::new("/ws")).unwrap(), None);
        let plain = dirs(&MemoryWorld::new("/ws").with_dir("/ws/.git")).unwrap().unwrap();
        assert_eq!(plain.folders(), [PathBuf::from("/ws/.git")]);
        for (link, back) in [
            (LINK, "/ws/.git\n"),
            ("gitdir: ../main/.git/worktrees/ws\n", "../../../../ws/.git\n"),
            ("gitdir: /main/.git/worktrees/ws", "/ws/.git"),
        ] {
            let found = dirs(&linked(link, "../..\n", back)).unwrap().unwrap();
            assert_eq!(
                found.folders(),
                [PathBuf::from("/main/.git/worktrees/ws"), PathBuf::from("/main/.git")],
                "{link}"
            );
        }
    }

    #[test]
    fn a_repository_that_does_not_point_back_is_refused() {
        for (what, world) in [
            ("another work tree", linked(LINK, "../..\n", "/other/.git\n")),
            ("a common folder elsewhere", linked(LINK, "/secret/.git\n", "/ws/.git\n")),
            ("no folder of work trees", linked("gitdir: /main/.git\n", "../..\n", "/ws/.git\n")),
            ("not git's text", linked("/main/.git/worktrees/ws\n", "../..\n", "/ws/.git\n")),
            ("two lines", linked("gitdir: /main/.git/worktrees/ws\nx\n", "../..\n", "/ws/.git\n")),
            ("a link", MemoryWorld::new("/ws").with_link("/ws/.git", "/main/.git").with_dir("/main/.git")),
            ("nothing there", MemoryWorld::new("/ws").with_file("/ws/.git", "gitdir: /none\n")),
            (
                "no repository",
                MemoryWorld::new("/ws")
                    .with_file("/ws/.git", "gitdir: /d\n")
                    .with_file("/d/config", "[core]\nworktree = /ws\n"),
            ),
        ] {
            assert!(dirs(&world).is_err(), "{what}");
        }
        // The link of an attacker's own making, with a common folder that it does not lie in.
        let world = linked("gitdir: ./evil\n", "../..\n", "/ws/.git\n")
            .with_file("/ws/evil/HEAD", "x")
            .with_file("/ws/evil/commondir", "/main/.git\n")
            .with_file("/ws/evil/gitdir", "/ws/.git\n");
        assert!(matches!(dirs(&world), Err(GitDirError::Foreign { .. })));
    }

    #[test]
    fn a_submodule_names_its_work_tree() {
        let world = |config: &str| {
            MemoryWorld::new("/ws")
                .with_file("/ws/.git", "gitdir: /super/.git/modules/ws\n")
                .with_file("/super/.git/modules/ws/HEAD", "x")
                .with_file("/super/.git/modules/ws/config", config)
                .with_dir("/super/.git/modules/ws/objects")
                .with_dir("/super/.git/modules/ws/refs")
        };
        let own = PathBuf::from("/super/.git/modules/ws");
        let found = dirs(&world("[core]\n\tbare = false\n\tworktree = ../../../../ws\n")).unwrap();
        assert_eq!(found, Some(GitDirs { own: own.clone(), common: own }));
        for config in ["", "[core]\n\tworktree = /other\n", "[corex]\n\tworktree = /ws\n"] {
            assert!(matches!(dirs(&world(config)), Err(GitDirError::Foreign { .. })), "{config}");
        }
    }

    #[test]
    fn doubt_about_a_configuration_is_no() {
        for config in [
            "[core]\nworktree = \"/ws\"\n",
            "[core]\nworktree = /ws\nworktree = /other\n",
            "[core]\nworktree = /ws # x\n",
            "[core \"sub\"]\nworktree = /ws\n",
            "[core]\nworktree\n",
        ] {
            assert_eq!(work_tree(config), None, "{config}");
        }
        assert_eq!(work_tree("[Core]\n\tWorkTree = /a b\n[x]\nworktree = /c\n"), Some("/a b"));
    }

    #[test]
    fn what_git_obeys_of_it_is_held() {
        let world = linked(LINK, "../..\n", "/ws/.git\n");
        let (mut present, mut absent) = (Vec::new(), Vec::new());
        dirs(&world).unwrap().unwrap().obeyed(&world, &mut present, &mut absent);
        let has = |list: &[PathBuf], path: &str| list.contains(&PathBuf::from(path));
        for path in ["config", "worktrees/ws/commondir", "worktrees/ws/gitdir", "worktrees/other"] {
            assert!(has(&present, &format!("/main/.git/{path}")), "{path}: {present:?}");
        }
        for path in ["hooks", "commondir", "config.worktree", "worktrees/ws/hooks", "modules"] {
            assert!(has(&absent, &format!("/main/.git/{path}")), "{path}: {absent:?}");
        }
        assert!(!has(&present, "/main/.git/worktrees/ws"));
    }
}
