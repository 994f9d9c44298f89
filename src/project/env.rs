//! The variables of toolctl's own: a closed list, so that a misspelt one is an error and not silently without effect.

use crate::diag::{Code, Diagnostic};
use crate::text::{escape, nearest};
use crate::world::World;

/// A variable that toolctl knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: &'static str,
    /// One line on what it does.
    pub meaning: &'static str,
}

/// Every variable that begins with `TOOLCTL_`, for `toolctl help environment`.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: "TOOLCTL_HOME",
        meaning: "absolute folder that holds your `config` and `state` instead of ~/.config/toolctl and ~/.local/state/toolctl",
    },
    Variable { name: "TOOLCTL_NO_PROMPT", meaning: "1: never ask on the terminal, as --no-prompt" },
    Variable {
        name: "TOOLCTL_COMPLETE",
        meaning: "set by the script of `toolctl completions` while a shell completes a line; commands do not read it",
    },
    Variable { name: "TOOLCTL_CALL_ID", meaning: "set for tools: the id of the call; not read" },
    Variable { name: "TOOLCTL_RUN_ID", meaning: "set for tools: the id of the run; not read" },
    Variable {
        name: "TOOLCTL_IDEMPOTENCY_KEY",
        meaning: "set for tools whose call may be repeated: the same for each repetition; not read",
    },
];

/// One `config/environment` error for each variable that begins with `TOOLCTL_` and is not known.
pub fn check_environment(world: &dyn World) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for name in world.env_names() {
        let name = name.to_string_lossy();
        if !name.starts_with("TOOLCTL_") || VARIABLES.iter().any(|known| known.name == name) {
            continue;
        }
        let diagnostic = Diagnostic::error(
            Code::ConfigEnvironment,
            format!("the environment variable `{}` is not known", escape(&name)),
        );
        found.push(match nearest(&name, VARIABLES.iter().map(|known| known.name)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help("unset it; `toolctl help environment` lists those that are known"),
        });
    }
    found
}

/// Whether `TOOLCTL_NO_PROMPT` forbids to ask. Any value but the empty one and `0` does.
pub fn no_prompt(world: &dyn World) -> bool {
    world.env("TOOLCTL_NO_PROMPT").is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(test)]
mod tests {
    use super::{check_environment, no_prompt};
    use crate::world::MemoryWorld;

    #[test]
    fn an_unknown_variable_is_an_error_with_a_proposal() {
        let world = MemoryWorld::new("/ws").with_env("TOOLCTL_HOME", "/x").with_env("PATH", "/bin");
        assert_eq!(check_environment(&world), []);
        let world = world.with_env("TOOLCTL_HOEM", "/x").with_env("TOOLCTL_ALLOW_EVERYTHING", "1");
        let found = check_environment(&world);
        assert_eq!(found.len(), 2);
        assert!(found[1].help[0].contains("TOOLCTL_HOME"), "{found:#?}");
        assert!(found[0].help[0].starts_with("unset it"), "{found:#?}");
    }

    #[test]
    fn no_prompt_is_on_for_any_value_but_zero() {
        let with = |value: &str| MemoryWorld::new("/ws").with_env("TOOLCTL_NO_PROMPT", value);
        assert!(no_prompt(&with("1")) && no_prompt(&with("false")));
        assert!(!no_prompt(&with("0")) && !no_prompt(&with("")) && !no_prompt(&MemoryWorld::default()));
    }
}
