//! Which files below a folder a search looks at.

use super::error::BuiltinError;
use crate::text::escape;
use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use std::ffi::OsStr;
use std::path::Path;

/// A walk in the byte order of names that follows no link. Hidden files and those that `.gitignore` and `.ignore` name
/// are left out unless `all` is set.
pub(super) fn walk(start: &Path, all: bool) -> WalkBuilder {
    let mut walk = WalkBuilder::new(start);
    walk.hidden(!all)
        .ignore(!all)
        .git_ignore(!all)
        .git_exclude(!all)
        .git_global(false)
        .require_git(false)
        .parents(!all)
        .follow_links(false)
        .sort_by_file_name(OsStr::cmp);
    walk
}

/// A glob without a slash is for names at any depth, one with a slash for paths below the searched folder.
pub(super) fn glob(text: &str, ignore_case: bool) -> Result<GlobMatcher, BuiltinError> {
    if text.starts_with('!') {
        return Err(BuiltinError::Pattern {
            what: "glob",
            detail: escape("it starts with `!`, but a glob here only says which files are searched"),
        });
    }
    let whole =
        if text.contains('/') { text.trim_start_matches('/').to_owned() } else { format!("**/{text}") };
    GlobBuilder::new(&whole)
        .literal_separator(true)
        .case_insensitive(ignore_case)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|e| BuiltinError::Pattern { what: "glob", detail: escape(&e.to_string()) })
}
