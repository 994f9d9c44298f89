//! Whether a file of a layer may be believed: who could have written it, and that it lies where it seems to.

use super::discover::real_path;
use crate::diag::{Code, Diagnostic};
use crate::source::check_owner;
use crate::text::escape;
use crate::world::World;
use std::path::{Path, PathBuf};

/// The rules for the files of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Owners besides root.
    pub allowed: Vec<u32>,
    /// A folder, as a real path, that no file may lead out of.
    pub inside: Option<PathBuf>,
}

impl Access {
    /// Only root may have written the system's files.
    pub(super) const fn system() -> Self {
        Self { allowed: Vec::new(), inside: None }
    }

    /// The user's own files. Symlinks out of the folder are common there, and their targets are checked too.
    pub(super) fn user(world: &dyn World) -> Self {
        Self { allowed: vec![world.euid()], inside: None }
    }

    /// A project's files: the user's, and for root also those of the owner of the project's root. A symlink may not
    /// lead out of the project, since what is trusted is the project.
    pub(super) fn project(world: &dyn World, root: &Path) -> Self {
        let user = world.euid();
        let mut allowed = vec![user];
        if user == 0
            && let Ok(stat) = world.stat(root)
        {
            allowed.push(stat.uid);
        }
        Self { allowed, inside: Some(root.to_path_buf()) }
    }

    /// Checks a file or folder that exists.
    pub fn check(&self, world: &dyn World, path: &Path) -> Result<(), Diagnostic> {
        check_owner(world, path, &self.allowed, Path::new("/"))?;
        let Some(inside) = &self.inside else { return Ok(()) };
        let shown = escape(&path.to_string_lossy());
        let real = real_path(world, path).map_err(|why| {
            Diagnostic::error(
                Code::SourceUnreadable,
                format!("`{shown}` cannot be resolved: {}", escape(&why)),
            )
        })?;
        if real.starts_with(inside) {
            return Ok(());
        }
        Err(Diagnostic::error(
            Code::SourceUnsafeOwner,
            format!("`{shown}` leads out of the project, to `{}`", escape(&real.to_string_lossy())),
        )
        .help("put the file itself into the project: trust covers what is in it, and nothing else"))
    }
}
