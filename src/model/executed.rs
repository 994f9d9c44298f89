//! Files that other programs execute or obey later: hooks and settings of git, of shells and of editors.

/// Paths below any folder. Git reads its settings and hooks from where `commondir` says, and each submodule and each
/// linked work tree has a set of its own. Without `HEAD`, `objects` or `refs` a `.git` is no repository, and git obeys the
/// folder around it instead, if that looks like one.
pub const EXECUTED_LATER: [&str; 11] = [
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/commondir",
    ".git/modules",
    ".git/worktrees",
    ".git/HEAD",
    ".git/objects",
    ".git/refs",
    ".envrc",
    ".vscode",
];

/// The names in a repository's own folder that do so.
pub const GIT_EXECUTED_LATER: [&str; 4] = ["config", "config.worktree", "hooks", "commondir"];

/// The name of a file that other programs execute later, if the path is one, is below one or holds one.
pub fn executed_later(path: &str) -> Option<&'static str> {
    let folded = path.to_lowercase();
    let parts: Vec<&str> = folded.split('/').collect();
    EXECUTED_LATER.into_iter().find(|name| {
        let (first, second) = name.split_once('/').map_or((*name, None), |(a, b)| (a, Some(b)));
        parts.iter().enumerate().any(|(at, part)| {
            *part == first
                && second.is_none_or(|second| {
                    // The folder itself: replacing it replaces what is in it.
                    parts.get(at + 1).is_none_or(|next| next.eq_ignore_ascii_case(second))
                })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::executed_later;

    #[test]
    fn knows_files_that_are_executed_later() {
        for (path, expected) in [
            ("/ws/.git/config", Some(".git/config")),
            ("/ws/.git/hooks/pre-commit", Some(".git/hooks")),
            ("/ws/sub/.GIT/Hooks", Some(".git/hooks")),
            ("/ws/.git", Some(".git/config")),
            ("/ws/.git/commondir", Some(".git/commondir")),
            ("/ws/.git/config.worktree", Some(".git/config.worktree")),
            ("/ws/.git/modules/lib/hooks/post-checkout", Some(".git/modules")),
            ("/ws/.git/worktrees/x/commondir", Some(".git/worktrees")),
            ("/ws/.git/HEAD", Some(".git/HEAD")),
            ("/ws/.git/refs/heads/main", Some(".git/refs")),
            ("/ws/.git/index", None),
            ("/ws/.envrc", Some(".envrc")),
            ("/ws/.vscode/tasks.json", Some(".vscode")),
            ("/ws/a.envrc", None),
            ("/ws/git/config", None),
        ] {
            assert_eq!(executed_later(path), expected, "{path}");
        }
    }
}
