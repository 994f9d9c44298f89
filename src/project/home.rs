//! Where the outer layers and the state are.
//!
//! The home is that of the password database, not `$HOME`, and the XDG variables are not read: a checkout's own
//! environment file could set either and so bring its own trust and policies. `TOOLCTL_HOME` moves configuration and state
//! together, so that moving them can only lose trust.

use crate::diag::{Code, Diagnostic};
use crate::text::escape;
use crate::world::World;
use std::path::{Path, PathBuf};

/// The folder of the system layer.
pub const SYSTEM_DIR: &str = "/etc/toolctl";

/// The folders outside any project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Homes {
    /// The system layer's folder.
    pub system: PathBuf,
    /// The user layer's folder; `None` without a password entry: then there is no user layer.
    pub config: Option<PathBuf>,
    /// The folder of trust and state; `None` without a password entry: then nothing is ever trusted.
    pub state: Option<PathBuf>,
    /// The home folder of the password entry.
    pub home: Option<PathBuf>,
}

impl Homes {
    /// Finds the folders of the running user. Nothing has to exist yet.
    ///
    /// # Errors
    /// `TOOLCTL_HOME` is not an absolute path without `..`.
    pub fn find(world: &dyn World) -> Result<Self, Diagnostic> {
        let home = world.account(world.euid()).map(|account| account.home);
        let system = PathBuf::from(SYSTEM_DIR);
        if let Some(moved) = world.env("TOOLCTL_HOME") {
            let moved = PathBuf::from(moved);
            check_moved(&moved)?;
            return Ok(Self {
                system,
                config: Some(moved.join("config")),
                state: Some(moved.join("state")),
                home,
            });
        }
        Ok(Self {
            system,
            config: home.as_ref().map(|home| home.join(".config/toolctl")),
            state: home.as_ref().map(|home| home.join(".local/state/toolctl")),
            home,
        })
    }

    /// The folders that no tool may see: they say what tools may do.
    pub fn hidden(&self) -> Vec<PathBuf> {
        [Some(self.system.clone()), self.config.clone(), self.state.clone()].into_iter().flatten().collect()
    }
}

fn check_moved(path: &Path) -> Result<(), Diagnostic> {
    let plain = path.is_absolute()
        && path != Path::new("/")
        && !path.components().any(|part| part == std::path::Component::ParentDir);
    if plain {
        return Ok(());
    }
    Err(Diagnostic::error(
        Code::ConfigEnvironment,
        format!(
            "TOOLCTL_HOME must be an absolute path without `..`, not `{}`",
            escape(&path.to_string_lossy())
        ),
    )
    .help(
        "write an absolute path or unset it: a relative one would change its meaning with the working folder",
    ))
}

#[cfg(test)]
mod tests {
    use super::Homes;
    use crate::world::MemoryWorld;
    use std::path::PathBuf;

    #[test]
    fn the_password_entry_counts_and_no_variable_of_others() {
        let world = MemoryWorld::new("/ws")
            .with_env("HOME", "/evil")
            .with_env("XDG_CONFIG_HOME", "/evil")
            .with_env("XDG_STATE_HOME", "/evil");
        let homes = Homes::find(&world).unwrap();
        assert_eq!(homes.config, Some(PathBuf::from("/home/user/.config/toolctl")));
        assert_eq!(homes.state, Some(PathBuf::from("/home/user/.local/state/toolctl")));
        assert_eq!(homes.hidden().len(), 3);
    }

    #[test]
    fn toolctl_home_moves_both() {
        let world = MemoryWorld::new("/ws").with_env("TOOLCTL_HOME", "/moved");
        let homes = Homes::find(&world).unwrap();
        assert_eq!(homes.config, Some(PathBuf::from("/moved/config")));
        assert_eq!(homes.state, Some(PathBuf::from("/moved/state")));
        for bad in ["", "rel", ".", "/a/../b", "/"] {
            assert!(Homes::find(&MemoryWorld::new("/ws").with_env("TOOLCTL_HOME", bad)).is_err(), "{bad}");
        }
    }
}
