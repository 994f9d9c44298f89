//! Finds the program that a command names, without the caller's `PATH` and without the working folder.

use crate::diag::{Code, Diagnostic};
use crate::text::{Escaped, escape};
use crate::world::{FileKind, World};
use std::path::{Component, Path, PathBuf};

/// Where bare names are looked for unless the outer settings say otherwise. Constant, so that nothing in the caller's
/// environment or in a checkout can put another program under a known name.
pub const DEFAULT_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Programs that tools often run, and the packages of Debian and its kin that have them.
const PACKAGES: [(&str, &str); 8] = [
    ("curl", "curl"),
    ("fd", "fd-find"),
    ("git", "git"),
    ("jq", "jq"),
    ("node", "nodejs"),
    ("python3", "python3"),
    ("rg", "ripgrep"),
    ("sqlite3", "sqlite3"),
];

/// Why a program cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// A bare name that no folder of the search path has.
    #[error("program `{program}` is not in {searched}")]
    NotOnPath {
        /// The name.
        program: Escaped,
        /// The folders, as they were searched.
        searched: Escaped,
    },
    /// A path at which there is no file.
    #[error("there is no program at {path}")]
    Missing {
        /// The absolute path.
        path: Escaped,
    },
    /// There is something, and it cannot be executed.
    #[error("{path} is {what}, not a program")]
    NotExecutable {
        /// The absolute path.
        path: Escaped,
        /// `a folder`, `a file without execute permission`, …
        what: &'static str,
    },
    /// A relative path in a tool that has no folder of its own.
    #[error("`{program}` is relative to the tool's folder, and this tool has none")]
    NoToolDir {
        /// The path as written.
        program: Escaped,
    },
    /// A name that can name no program.
    #[error("`{program}` cannot name a program")]
    BadName {
        /// The name as written.
        program: Escaped,
    },
}

impl ProgramError {
    /// The finding `run/program-missing`.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(Code::RunProgramMissing, self.to_string());
        match self {
            Self::NotOnPath { program, .. } => {
                let package = PACKAGES.iter().find(|(name, _)| *name == program.as_str());
                let install = package.map_or_else(String::new, |(_, package)| {
                    format!(" (on Debian, for instance: apt-get install {package})")
                });
                diagnostic.note("neither the working folder nor the caller's PATH is searched").help(format!(
                    "install it{install}, name it by its absolute path, or extend `path` in your own settings"
                ))
            }
            Self::Missing { .. } => diagnostic
                .help("correct the path in `command`; relative paths start at the manifest's folder"),
            Self::NotExecutable { .. } => diagnostic.help("make it executable: chmod +x"),
            Self::NoToolDir { .. } | Self::BadName { .. } => {
                diagnostic.help("write an absolute path or the name of an installed program")
            }
        }
    }
}

/// The absolute path of a program: `argv0` itself if it is absolute, against `tool_dir` if it has a slash, else the first
/// executable file of that name in `path`. Entries of `path` that are not absolute are passed over.
///
/// The result is as named: symlinks are not resolved, since programs such as busybox look at the name they run under.
pub fn resolve_program(
    world: &dyn World,
    argv0: &str,
    tool_dir: Option<&Path>,
    path: &[PathBuf],
) -> Result<PathBuf, ProgramError> {
    if argv0.is_empty() || argv0.contains('\0') || argv0 == "." || argv0 == ".." {
        return Err(ProgramError::BadName { program: escape(argv0) });
    }
    if argv0.contains('/') {
        let named = match tool_dir {
            _ if argv0.starts_with('/') => PathBuf::from(argv0),
            Some(dir) => dir.join(without_dots(argv0)),
            None => return Err(ProgramError::NoToolDir { program: escape(argv0) }),
        };
        return check(world, &named).map(|()| named);
    }
    let mut unusable = None;
    for dir in path.iter().filter(|dir| dir.is_absolute()) {
        let candidate = dir.join(argv0);
        match check(world, &candidate) {
            Ok(()) => return Ok(candidate),
            Err(ProgramError::Missing { .. }) => {}
            // A folder or a data file of that name does not hide a program further on.
            Err(error) => unusable = unusable.or(Some(error)),
        }
    }
    Err(unusable.unwrap_or_else(|| ProgramError::NotOnPath {
        program: escape(argv0),
        searched: escape(&shown(path)),
    }))
}

/// The path without `.` parts. `..` stays: what it means depends on symlinks, which only the kernel resolves.
fn without_dots(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

fn shown(path: &[PathBuf]) -> String {
    let dirs: Vec<_> = path.iter().filter(|d| d.is_absolute()).map(|d| d.to_string_lossy()).collect();
    if dirs.is_empty() { "the search path, which is empty".to_owned() } else { dirs.join(":") }
}

fn check(world: &dyn World, path: &Path) -> Result<(), ProgramError> {
    let shown = || escape(&path.to_string_lossy());
    let what = match world.stat(path) {
        Err(_) => return Err(ProgramError::Missing { path: shown() }),
        Ok(stat) => match stat.kind {
            FileKind::File if stat.mode & 0o111 != 0 => return Ok(()),
            FileKind::File => "a file without execute permission",
            FileKind::Dir => "a folder",
            FileKind::Symlink | FileKind::Other => "neither a file nor a folder",
        },
    };
    Err(ProgramError::NotExecutable { path: shown(), what })
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_PATH, ProgramError, resolve_program};
    use crate::world::MemoryWorld;
    use std::path::{Path, PathBuf};

    fn path() -> Vec<PathBuf> {
        DEFAULT_PATH.iter().map(PathBuf::from).collect()
    }

    /// F133: a program of an allowed name in the working folder or in a changed PATH is never taken.
    #[test]
    fn never_looks_in_the_working_folder_or_at_the_callers_path() {
        let world = MemoryWorld::new("/ws")
            .with_file("/ws/git", "#!evil")
            .with_mode("/ws/git", 0o755)
            .with_file("/evil/git", "#!evil")
            .with_mode("/evil/git", 0o755)
            .with_env("PATH", ".::rel:/evil");
        let error = resolve_program(&world, "git", Some(Path::new("/ws/tools.d")), &path()).unwrap_err();
        assert_eq!(error.to_string(), "program `git` is not in /usr/local/bin:/usr/bin:/bin");

        let world = world.with_file("/usr/bin/git", "ELF").with_mode("/usr/bin/git", 0o755);
        assert_eq!(resolve_program(&world, "git", None, &path()), Ok(PathBuf::from("/usr/bin/git")));
        let relative = [PathBuf::from("."), PathBuf::from(""), PathBuf::from("rel"), PathBuf::from("/bin")];
        let error = resolve_program(&world, "git", None, &relative).unwrap_err();
        assert_eq!(error.to_string(), "program `git` is not in /bin");
    }

    #[test]
    fn relative_paths_start_at_the_tool() {
        let world = MemoryWorld::new("/ws")
            .with_file("/ws/run.sh", "x")
            .with_mode("/ws/run.sh", 0o755)
            .with_file("/ws/tools.d/run.sh", "x")
            .with_mode("/ws/tools.d/run.sh", 0o755)
            .with_file("/ws/tools.d/data", "x");
        let dir = Path::new("/ws/tools.d");
        let find = |name: &str| resolve_program(&world, name, Some(dir), &path());
        assert_eq!(find("./run.sh"), Ok(PathBuf::from("/ws/tools.d/run.sh")));
        assert_eq!(find("../run.sh"), Ok(PathBuf::from("/ws/tools.d/../run.sh")));
        assert_eq!(find("/ws/run.sh"), Ok(PathBuf::from("/ws/run.sh")));
        assert!(matches!(find("./none"), Err(ProgramError::Missing { .. })));
        assert!(matches!(find("./data"), Err(ProgramError::NotExecutable { .. })));
        assert!(matches!(find("/ws/tools.d"), Err(ProgramError::NotExecutable { .. })));
        for bad in ["", ".", "..", "a\0b"] {
            assert!(matches!(find(bad), Err(ProgramError::BadName { .. })), "{bad:?}");
        }
        assert!(matches!(
            resolve_program(&world, "./run.sh", None, &path()),
            Err(ProgramError::NoToolDir { .. })
        ));
    }

    #[test]
    fn a_folder_does_not_hide_a_program_further_on() {
        let world = MemoryWorld::new("/ws")
            .with_dir("/usr/local/bin/jq")
            .with_file("/bin/jq", "ELF")
            .with_mode("/bin/jq", 0o755);
        assert_eq!(resolve_program(&world, "jq", None, &path()), Ok(PathBuf::from("/bin/jq")));
    }
}
