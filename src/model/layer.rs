//! Where a file comes from; an outer layer is never loosened by an inner one.

use std::fmt;

/// The layers, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Compiled into toolctl; host only where no outer or trusted layer has a host file.
    Builtin,
    /// `/etc/toolctl`.
    System,
    /// The user's own configuration.
    User,
    /// The project's `toolctl.yaml`, `tools.d` and `policies`.
    Project,
}

impl Layer {
    /// `builtin`, `system`, `user` or `project`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
