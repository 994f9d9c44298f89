//! Finds the project that a command is meant for, by walking up from where it starts.
//!
//! A folder is a project's root if it has a `toolctl.yaml` (`.yml`, `.json`) or a `tools.d`. The walk ends at the
//! boundary of a file system and below the home folder: neither somebody else's mount nor a stray file in `~` can make a
//! project of everything below it. A symlink of such a name counts, so that it is refused later and not passed over.

use crate::canon::canonical_path;
use crate::diag::{Code, Diagnostic};
use crate::text::escape;
use crate::world::{FileKind, World};
use std::path::{Path, PathBuf};

/// The names that a settings file can have.
pub const SETTINGS_NAMES: [&str; 3] = ["toolctl.yaml", "toolctl.yml", "toolctl.json"];

/// Where a command starts, and the project there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// The real path of the folder that the command starts in.
    pub start: PathBuf,
    /// The root of the project, if there is one.
    pub root: Option<PathBuf>,
}

/// Walks up from `start`, the working folder or what `-C` names.
pub fn discover(world: &dyn World, start: &Path, home: Option<&Path>) -> Result<Discovery, Diagnostic> {
    let start = real_dir(world, start)?;
    let home = home.map(|home| real_path(world, home).unwrap_or_else(|_| home.to_path_buf()));
    let device = |dir: &Path| world.stat(dir).map(|stat| stat.dev).ok();
    let first = device(&start);
    let root = start
        .ancestors()
        .take_while(|dir| home.as_deref() != Some(*dir) && device(dir) == first)
        .find(|dir| is_root(world, dir))
        .map(Path::to_path_buf);
    Ok(Discovery { start, root })
}

fn is_root(world: &dyn World, dir: &Path) -> bool {
    SETTINGS_NAMES.iter().chain(&["tools.d"]).any(|name| {
        world.lstat(&dir.join(name)).is_ok_and(|stat| *name != "tools.d" || stat.kind != FileKind::File)
    })
}

/// The path with every symlink resolved; it has to be UTF-8.
pub(super) fn real_path(world: &dyn World, path: &Path) -> Result<PathBuf, String> {
    let text = path.to_str().ok_or_else(|| "it is not UTF-8".to_owned())?;
    let base = if path.is_absolute() {
        PathBuf::from("/")
    } else {
        world.current_dir().map_err(|error| format!("the working folder is gone: {error}"))?
    };
    canonical_path(world, &base, &base, text, true)
        .map(|path| PathBuf::from(path.absolute()))
        .map_err(|error| error.to_string())
}

fn real_dir(world: &dyn World, path: &Path) -> Result<PathBuf, Diagnostic> {
    let shown = escape(&path.to_string_lossy());
    let refuse = |why: &str| {
        Diagnostic::error(Code::UsageError, format!("cannot start in `{shown}`: {}", escape(why)))
    };
    let real = real_path(world, path).map_err(|why| refuse(&why))?;
    match world.stat(&real) {
        Ok(stat) if stat.kind == FileKind::Dir => Ok(real),
        Ok(_) => Err(refuse("it is not a folder")),
        Err(error) => Err(refuse(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::discover;
    use crate::world::MemoryWorld;
    use std::path::{Path, PathBuf};

    fn root(world: &MemoryWorld, start: &str) -> Option<PathBuf> {
        discover(world, Path::new(start), Some(Path::new("/home/user"))).unwrap().root
    }

    #[test]
    fn the_nearest_folder_with_a_marker_is_the_root() {
        let world = MemoryWorld::new("/ws/a/b")
            .with_file("/ws/toolctl.yaml", "")
            .with_dir("/ws/a/tools.d")
            .with_dir("/ws/json/x")
            .with_file("/ws/json/toolctl.json", "{}")
            .with_file("/ws/a/b/tools.d", "a file of that name is none")
            .with_dir("/other/policies");
        assert_eq!(root(&world, "/ws/a/b"), Some("/ws/a".into()));
        assert_eq!(root(&world, "."), Some("/ws/a".into()));
        assert_eq!(root(&world, "/ws/a/.."), Some("/ws".into()));
        assert_eq!(root(&world, "/ws/json/x"), Some("/ws/json".into()));
        assert_eq!(root(&world, "/other"), None);
    }

    #[test]
    fn links_are_resolved_and_link_markers_count() {
        let world = MemoryWorld::new("/ws")
            .with_dir("/real/sub")
            .with_link("/real/toolctl.yaml", "/nowhere")
            .with_link("/ws/in", "/real/sub");
        let found = discover(&world, Path::new("/ws/in"), None).unwrap();
        assert_eq!((found.start, found.root), ("/real/sub".into(), Some("/real".into())));
    }

    #[test]
    fn the_home_folder_is_no_project() {
        let world = MemoryWorld::new("/home/user/x/y")
            .with_file("/home/user/toolctl.yaml", "")
            .with_file("/home/toolctl.yaml", "");
        assert_eq!(root(&world, "/home/user/x/y"), None);
        assert_eq!(root(&world, "/home/user"), None);
        assert_eq!(root(&world, "/home"), Some("/home".into()));
    }

    #[test]
    fn a_start_that_is_no_folder_is_an_error() {
        let world = MemoryWorld::new("/ws").with_file("/ws/f", "");
        assert!(discover(&world, Path::new("/ws/f"), None).is_err());
        assert!(discover(&world, Path::new("/ws/none"), None).is_err());
        assert!(discover(&world, Path::new("/ws"), None).is_ok());
    }
}
