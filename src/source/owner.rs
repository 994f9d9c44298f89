//! Whether somebody else could have written a file that we are about to believe.
//!
//! A manifest or policy says what may run, so whoever can change it, or swap one of the folders on the way to it, can
//! run what they like as the user. Each step of the path is looked at, symlinks and their targets included.

use crate::diag::{Code, Diagnostic};
use crate::text::escape;
use crate::world::{FileKind, Stat, World};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many symlinks on one path as the kernel follows.
const MAX_LINKS: usize = 40;
const STICKY: u32 = 0o1000;
const GROUP_WRITE: u32 = 0o020;
const OTHER_WRITE: u32 = 0o002;

/// Checks that a file, every folder above it and every symlink on the way belong to root or to one of `allowed`, and
/// that nobody else may write them.
///
/// `path` is absolute. Folders above `boundary` are not looked at; `/` as the boundary leaves out none. A folder
/// that others may write passes if it is sticky, as `/tmp` is. A group may write if it is the private group of the
/// owner. Errors name the path, what is wrong and the command that repairs it.
pub fn check_owner(
    world: &dyn World,
    path: &Path,
    allowed: &[u32],
    boundary: &Path,
) -> Result<(), Diagnostic> {
    if !path.is_absolute() {
        return Err(unreadable(path, "its place is not known"));
    }
    let check = Check { world, allowed, boundary };
    let mut done = PathBuf::from("/");
    let mut todo: Vec<OsString> = parts(path);
    let mut links = 0;
    check.step(&done, true)?;
    while let Some(part) = todo.pop() {
        if part == ".." {
            done.pop();
            continue;
        }
        let next = done.join(&part);
        let stat = check.step(&next, !todo.is_empty())?;
        if stat.kind != FileKind::Symlink {
            done = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Err(unreadable(path, "there are too many symlinks on the way to it"));
        }
        let target = world.read_link(&next).map_err(|error| failed(&next, &error))?;
        if target.is_absolute() {
            done = PathBuf::from("/");
        }
        todo.extend(parts(&target));
    }
    Ok(())
}

/// The names of a path, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

struct Check<'w> {
    world: &'w dyn World,
    allowed: &'w [u32],
    boundary: &'w Path,
}

impl Check<'_> {
    fn step(&self, path: &Path, folder: bool) -> Result<Stat, Diagnostic> {
        let stat = self.world.lstat(path).map_err(|error| failed(path, &error))?;
        let above = folder && path != self.boundary && self.boundary.starts_with(path);
        if !above {
            self.owner(path, stat)?;
            // The mode of a symlink means nothing; who may replace it is said by its folder.
            if stat.kind != FileKind::Symlink {
                self.mode(path, stat)?;
            }
        }
        Ok(stat)
    }

    fn owner(&self, path: &Path, stat: Stat) -> Result<(), Diagnostic> {
        if stat.uid == 0 || self.allowed.contains(&stat.uid) {
            return Ok(());
        }
        let owner = match self.world.account(stat.uid) {
            Some(account) => format!("`{}`", escape(&account.name)),
            None => format!("user {}", stat.uid),
        };
        let us = self.allowed.first().copied().unwrap_or(0);
        let option = if stat.kind == FileKind::Symlink { "-h " } else { "" };
        Err(unsafe_owner(path, &format!("belongs to {owner}"))
            .help(format!("if you trust what is in it: chown {option}{us} {}", shown(path))))
    }

    fn mode(&self, path: &Path, stat: Stat) -> Result<(), Diagnostic> {
        let sticky = stat.kind == FileKind::Dir && stat.mode & STICKY != 0;
        if stat.mode & OTHER_WRITE != 0 && !sticky {
            return Err(unsafe_owner(path, "may be written by everybody").help(chmod("o-w", path)));
        }
        if stat.mode & GROUP_WRITE != 0 && !sticky && !self.private_group(stat) {
            let what = format!("may be written by the group {}", stat.gid);
            return Err(unsafe_owner(path, &what).help(chmod("g-w", path)));
        }
        Ok(())
    }

    /// Whether the group is the one that many systems make for each user and nobody else is in.
    fn private_group(&self, stat: Stat) -> bool {
        stat.gid == stat.uid && self.world.account(stat.uid).is_some_and(|account| account.gid == stat.gid)
    }
}

fn chmod(change: &str, path: &Path) -> String {
    format!("if you trust what is in it: chmod {change} {}", shown(path))
}

fn unsafe_owner(path: &Path, what: &str) -> Diagnostic {
    Diagnostic::error(Code::SourceUnsafeOwner, format!("`{}` {what}", shown(path)))
}

fn unreadable(path: &Path, what: &str) -> Diagnostic {
    Diagnostic::error(Code::SourceUnreadable, format!("`{}` cannot be read: {what}", shown(path)))
}

fn failed(path: &Path, error: &io::Error) -> Diagnostic {
    match error.kind() {
        io::ErrorKind::NotFound => {
            Diagnostic::error(Code::SourceUnreadable, format!("`{}` does not exist", shown(path)))
        }
        _ => unreadable(path, escape(&error.to_string()).as_str()),
    }
}

fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy()).into()
}

#[cfg(test)]
mod tests {
    use super::check_owner;
    use crate::diag::Code;
    use crate::world::MemoryWorld;
    use std::path::Path;

    const FILE: &str = "/home/user/p/tools.d/a.yaml";

    fn world() -> MemoryWorld {
        let world = MemoryWorld::new("/home/user/p").with_file(FILE, "a: 1");
        ["/", "/home"].iter().fold(world, |world, dir| world.with_owner(dir, 0, 0))
    }

    fn check(world: &MemoryWorld, boundary: &str) -> Result<(), (Code, String, Vec<String>)> {
        check_owner(world, Path::new(FILE), &[1000], Path::new(boundary))
            .map_err(|diagnostic| (diagnostic.code, diagnostic.message, diagnostic.help))
    }

    #[test]
    fn own_and_roots_files_pass() {
        assert_eq!(check(&world(), "/"), Ok(()));
        assert_eq!(check(&world().with_owner(FILE, 0, 0), "/"), Ok(()));
        // The private group of the owner, and root's own.
        assert_eq!(check(&world().with_mode(FILE, 0o664), "/"), Ok(()));
        assert_eq!(check(&world().with_mode("/home", 0o775), "/"), Ok(()));
        // A sticky folder that everybody may write.
        assert_eq!(check(&world().with_mode("/home", 0o1777), "/"), Ok(()));
    }

    #[test]
    fn whoever_else_could_write_is_named() {
        let cases = [
            (world().with_owner(FILE, 1001, 1001), FILE, "belongs to user 1001", "chown 1000 "),
            (world().with_owner("/home", 1001, 1001), "/home", "belongs to user 1001", "chown 1000 "),
            (world().with_mode(FILE, 0o646), FILE, "may be written by everybody", "chmod o-w "),
            (world().with_mode(FILE, 0o1646), FILE, "may be written by everybody", "chmod o-w "),
            (
                world().with_mode("/home/user/p", 0o777),
                "/home/user/p",
                "may be written by everybody",
                "chmod o-w ",
            ),
            (
                world().with_mode(FILE, 0o664).with_owner(FILE, 1000, 50),
                FILE,
                "may be written by the group 50",
                "chmod g-w ",
            ),
            // The group has the owner's number, but the owner's account is not known to use it.
            (
                world().with_mode(FILE, 0o664).with_owner(FILE, 0, 7),
                FILE,
                "may be written by the group 7",
                "chmod g-w ",
            ),
        ];
        for (world, path, what, command) in cases {
            let help = format!("if you trust what is in it: {command}{path}");
            let expected = (Code::SourceUnsafeOwner, format!("`{path}` {what}"), vec![help]);
            assert_eq!(check(&world, "/"), Err(expected));
        }
    }

    #[test]
    fn folders_above_the_boundary_are_left_out() {
        let world = world().with_mode("/home", 0o777);
        assert!(check(&world, "/").is_err());
        assert!(check(&world, "/home").is_err());
        assert_eq!(check(&world, "/home/user"), Ok(()));
    }

    #[test]
    fn targets_of_symlinks_are_checked() {
        let plain = || {
            world().with_file("/opt/shared/a.yaml", "a: 1").with_link(FILE, "../../../../opt/shared/a.yaml")
        };
        assert_eq!(check(&plain(), "/"), Ok(()));
        assert!(check(&plain().with_mode("/opt/shared", 0o777), "/home/user").is_err());
        assert!(check(&plain().with_mode("/opt/shared/a.yaml", 0o666), "/home/user").is_err());
        assert!(check(&plain().with_owner(FILE, 1001, 1001), "/").is_err());
        let (code, message, _) =
            check(&world().with_link(FILE, "b").with_link("/home/user/p/tools.d/b", FILE), "/").unwrap_err();
        assert_eq!(code, Code::SourceUnreadable);
        assert!(message.contains("too many symlinks"), "{message}");
    }

    #[test]
    fn a_missing_file_is_unreadable() {
        let world = MemoryWorld::new("/home/user/p");
        assert_eq!(check(&world, "/").unwrap_err().0, Code::SourceUnreadable);
        let relative = check_owner(&self::world(), Path::new("tools.d/a.yaml"), &[1000], Path::new("/"));
        assert_eq!(relative.unwrap_err().code, Code::SourceUnreadable);
    }
}
