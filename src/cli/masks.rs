//! The files that `mask: true` guards hide from a sandbox: a bounded walk of the folders that it binds.

use crate::policy::Mask;
use crate::world::{FileKind, World};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::{Path, PathBuf};

/// Entries that the walk looks at before it gives up. What lies beyond is not hidden, and the guards themselves still
/// deny it to every call that names it.
const MAX_ENTRIES: usize = 20_000;

/// Files below the bound folders that a mask names and does not spare.
pub(crate) fn find(
    world: &dyn World,
    masks: &[Mask],
    workspace: &Path,
    read_only: &[PathBuf],
    read_write: &[PathBuf],
) -> Vec<PathBuf> {
    let rules: Vec<Rule> = masks.iter().filter_map(Rule::new).collect();
    let mut found = Vec::new();
    if rules.is_empty() {
        return found;
    }
    let mut left = MAX_ENTRIES;
    for root in read_only.iter().chain(read_write) {
        walk(world, &rules, workspace, root, &mut left, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

struct Rule {
    hides: GlobSet,
    spares: GlobSet,
    fold: bool,
}

impl Rule {
    fn new(mask: &Mask) -> Option<Self> {
        Some(Self { hides: set(&mask.globs)?, spares: set(&mask.except)?, fold: mask.fold })
    }

    fn hides(&self, path: &Path, workspace: &Path) -> bool {
        let text = |path: &Path| {
            let text = path.to_string_lossy();
            if self.fold { text.to_lowercase() } else { text.into_owned() }
        };
        let absolute = text(path);
        let relative = path.strip_prefix(workspace).map(text).ok();
        let hit = |globs: &GlobSet| {
            globs.is_match(&absolute) || relative.as_ref().is_some_and(|relative| globs.is_match(relative))
        };
        hit(&self.hides) && !hit(&self.spares)
    }
}

fn set(globs: &[String]) -> Option<GlobSet> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(GlobBuilder::new(glob).literal_separator(true).build().ok()?);
    }
    builder.build().ok()
}

fn walk(
    world: &dyn World,
    rules: &[Rule],
    workspace: &Path,
    dir: &Path,
    left: &mut usize,
    found: &mut Vec<PathBuf>,
) {
    for name in world.list(dir).unwrap_or_default() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = dir.join(name);
        let Ok(stat) = world.lstat(&path) else { continue };
        if stat.kind == FileKind::Dir {
            walk(world, rules, workspace, &path, left, found);
        } else if rules.iter().any(|rule| rule.hides(&path, workspace)) {
            found.push(path);
        }
    }
}
