//! Whether to use colours: `--color`, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR, then what the stream is.

use crate::world::World;

/// The value of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// Colours on a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Colours everywhere.
    Always,
    /// No colours.
    Never,
}

impl ColorChoice {
    /// Whether a stream gets colours.
    pub(super) fn resolve(self, world: &dyn World, terminal: bool) -> bool {
        let is_set = |name: &str| world.env(name).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if is_set("NO_COLOR").is_some() => false,
            Self::Auto if is_set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Self::Auto if is_set("CLICOLOR").is_some_and(|value| value == "0") => false,
            Self::Auto => terminal && is_set("TERM").is_some_and(|value| value != "dumb"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ColorChoice::{self, Always, Auto, Never};
    use crate::world::MemoryWorld;

    /// The flag, the environment, whether it is a terminal, and whether there are colours.
    type Case = (ColorChoice, &'static [(&'static str, &'static str)], bool, bool);

    #[test]
    fn the_first_that_speaks_decides() {
        let table: &[Case] = &[
            (Auto, &[], true, true),
            (Auto, &[], false, false),
            (Auto, &[("TERM", "dumb")], true, false),
            (Auto, &[("TERM", "")], true, false),
            (Auto, &[("NO_COLOR", "1")], true, false),
            (Auto, &[("NO_COLOR", "")], true, true),
            (Auto, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true, false),
            (Auto, &[("CLICOLOR_FORCE", "1")], false, true),
            (Auto, &[("CLICOLOR_FORCE", "0")], false, false),
            (Auto, &[("CLICOLOR_FORCE", "1"), ("CLICOLOR", "0")], false, true),
            (Auto, &[("CLICOLOR", "0")], true, false),
            (Auto, &[("CLICOLOR", "1")], false, false),
            (Always, &[("NO_COLOR", "1"), ("TERM", "dumb")], false, true),
            (Never, &[("CLICOLOR_FORCE", "1")], true, false),
        ];
        for (choice, env, terminal, expected) in table {
            let world = MemoryWorld::new("/ws").with_env("TERM", "xterm");
            let world = env.iter().fold(world, |world, (name, value)| world.with_env(name, value));
            assert_eq!(choice.resolve(&world, *terminal), *expected, "{choice:?} {env:?} {terminal}");
        }
    }
}
