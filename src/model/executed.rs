//! Files that other programs execute or obey later: hooks and settings of git, of shells and of editors.

/// Paths below any folder. Git reads its settings and hooks from where `commondir` says, and each submodule and each
/// linked work tree has a set of its own.
pub const EXECUTED_LATER: [&str; 8] = [
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/commondir",
    ".git/modules",
    ".git/worktrees",
    ".envrc",
    ".vscode",
];

/// The names in a repository's own folder that do so.
pub const GIT_EXECUTED_LATER: [&str; 4] = ["config", "config.worktree", "hooks", "commondir"];
