//! The control set of a project as it is on disk now.

use super::index::{Change, ChangeKind, Entry, Index, Kind};
use crate::diag::{Code, Diagnostic};
use crate::project::discover::SETTINGS_NAMES;
use crate::project::layer::LayerFiles;
use crate::text::{escape, has_hidden};
use crate::world::{FileKind, World};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files and folders of a control set at most.
const MAX_ENTRIES: usize = 50_000;
/// Folders below one another at most.
const MAX_DEPTH: usize = 32;

/// Where the control set of a project lies.
#[derive(Debug, Clone)]
pub struct ControlSet<'a> {
    pub(super) root: &'a Path,
    tools: Vec<String>,
    policies: Vec<String>,
}

impl<'a> ControlSet<'a> {
    /// The control set of a project's layer.
    pub fn of(layer: &'a LayerFiles) -> Self {
        let below = |dirs: &[PathBuf]| {
            dirs.iter()
                .filter_map(|dir| Some(dir.strip_prefix(&layer.root).ok()?.to_str()?.to_owned()))
                .collect()
        };
        Self { root: &layer.root, tools: below(&layer.tools), policies: below(&layer.policies) }
    }

    pub(super) fn dirs(&self) -> impl Iterator<Item = &String> {
        self.tools.iter().chain(&self.policies)
    }

    /// Whether a line is one of a tool's manifest.
    pub(super) fn is_manifest(&self, path: &str) -> bool {
        let dir = path.rsplit_once('/').map(|(dir, _)| dir);
        // A folder that is one of policies too is read at every call.
        manifest_stem(path).is_some()
            && self.tools.iter().any(|tools| dir == Some(tools))
            && !self.policies.iter().any(|policies| dir == Some(policies))
    }

    /// Whether a line is one of a program outside the folders.
    pub(super) fn is_program(&self, path: &str) -> bool {
        let below = |dir: &String| path.strip_prefix(dir.as_str()).is_some_and(is_below);
        !SETTINGS_NAMES.contains(&path) && !self.dirs().any(below)
    }

    /// The settings files and the folders of tools and policies that are there.
    pub(super) fn tops(&self, world: &dyn World) -> Vec<String> {
        let names = SETTINGS_NAMES.into_iter().chain(self.dirs().map(String::as_str));
        names.filter(|name| world.lstat(&self.root.join(name)).is_ok()).map(str::to_owned).collect()
    }

    /// Whether a path is that of a program outside the folders, which has a line of its own.
    pub(in crate::project) fn holds_program(&self, path: &Path) -> bool {
        self.name_of(path).is_none_or(|path| self.is_program(&path))
    }

    /// What a path is called in the record: relative to the root, or whole if it lies elsewhere in the workspace. `None`
    /// if it is not UTF-8.
    pub(in crate::project) fn name_of(&self, path: &Path) -> Option<String> {
        path.strip_prefix(self.root).unwrap_or(path).to_str().map(str::to_owned)
    }

    /// The names on disk, folders included. `extra` are the named programs outside the folders.
    fn names(&self, world: &dyn World, extra: &BTreeSet<String>) -> Result<BTreeSet<String>, Diagnostic> {
        let mut names = BTreeSet::new();
        for name in SETTINGS_NAMES {
            if world.lstat(&self.root.join(name)).is_ok() {
                names.insert(name.to_owned());
            }
        }
        for dir in self.dirs() {
            if world.lstat(&self.root.join(dir)).is_ok() {
                self.walk(world, dir, 0, &mut names)?;
            }
        }
        names.extend(extra.iter().filter(|path| world.lstat(&self.root.join(path)).is_ok()).cloned());
        Ok(names)
    }

    fn walk(
        &self,
        world: &dyn World,
        path: &str,
        depth: usize,
        names: &mut BTreeSet<String>,
    ) -> Result<(), Diagnostic> {
        let full = self.root.join(path);
        let shown = escape(path);
        if depth > MAX_DEPTH || names.len() >= MAX_ENTRIES {
            return Err(refuse(&format!(
                "`{shown}` has more than {MAX_ENTRIES} files or {MAX_DEPTH} levels in it"
            )));
        }
        names.insert(path.to_owned());
        let unreadable = |error: std::io::Error| refuse(&format!("`{shown}` cannot be read: {error}"));
        if world.lstat(&full).map_err(unreadable)?.kind != FileKind::Dir {
            return Ok(());
        }
        for name in world.list(&full).map_err(unreadable)? {
            let Some(name) = name.to_str().filter(|name| !has_hidden(name)) else {
                return Err(refuse(&format!(
                    "a file in `{shown}` has a name with hidden characters: {}",
                    escape(&name.to_string_lossy())
                )));
            };
            self.walk(world, &format!("{path}/{name}"), depth + 1, names)?;
        }
        Ok(())
    }

    /// Reads and hashes everything. `extra` are absolute paths of named programs.
    pub(super) fn index(&self, world: &dyn World, extra: &[PathBuf]) -> Result<Index, Diagnostic> {
        let extra: BTreeSet<String> = extra.iter().filter_map(|path| self.name_of(path)).collect();
        // A line feed in a name would end its line of the record, and what follows would be read as another line.
        if let Some(name) = extra.iter().find(|name| has_hidden(name)) {
            return Err(refuse(&format!("a program's name has hidden characters: {}", escape(name))));
        }
        let mut index = Index::default();
        for name in self.names(world, &extra)? {
            let entry = Entry::read(world, &self.root.join(&name)).ok_or_else(|| {
                refuse(&format!(
                    "`{}` is not a plain file or folder, or too large, or a symlink to no file",
                    escape(&name)
                ))
            })?;
            index.entries.insert(name, entry);
        }
        Ok(index)
    }

    /// Everything that is not as recorded.
    pub(super) fn changes(&self, world: &dyn World, index: &Index) -> Vec<Change> {
        let extra = index.entries.keys().filter(|path| self.is_program(path)).cloned().collect();
        let Ok(now) = self.names(world, &extra) else {
            return vec![Change::new(".", ChangeKind::Modified)];
        };
        let mut changes = index.compare_names(&now);
        for (path, entry) in index.entries.iter().filter(|(path, _)| now.contains(*path)) {
            if let Err(kind) = entry.holds(world, &self.root.join(path)) {
                changes.push(Change::new(path, kind));
            }
        }
        changes.sort();
        changes
    }

    /// What is not as recorded among the files that a call of one tool depends on; `index` has only those. `None` if that
    /// cannot be told without looking at all of them.
    pub(super) fn changes_for(&self, world: &dyn World, index: &Index, called: &str) -> Option<Vec<Change>> {
        let exists = |path: &str| world.lstat(&self.root.join(path)).is_ok();
        let same_tops = SETTINGS_NAMES
            .iter()
            .copied()
            .chain(self.dirs().map(String::as_str))
            .all(|path| exists(path) == index.entries.contains_key(path));
        if !same_tops {
            return None;
        }
        let mut changes = Vec::new();
        for (path, entry) in &index.entries {
            let full = self.root.join(path);
            if entry.kind == Kind::Dir {
                if !world.lstat(&full).is_ok_and(|stat| entry.unchanged(stat)) {
                    return None;
                }
            } else if let Err(kind) = entry.holds(world, &full) {
                changes.push(Change::new(path, kind));
            }
        }
        // A manifest that is not in the record would have changed its folder; this holds in any case.
        let known = self
            .tools
            .iter()
            .flat_map(|dir| ["yaml", "yml", "json"].map(|ext| format!("{dir}/{called}.{ext}")))
            .filter(|path| !index.entries.contains_key(path));
        changes.extend(known.filter(|path| exists(path)).map(|path| Change::new(&path, ChangeKind::Added)));
        Some(changes)
    }
}

/// The tool that a manifest of this path would be of.
pub(super) fn manifest_stem(path: &str) -> Option<&str> {
    let (_, name) = path.rsplit_once('/')?;
    let (stem, extension) = name.rsplit_once('.')?;
    ["yaml", "yml", "json"].contains(&extension).then_some(stem)
}

fn is_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

fn refuse(why: &str) -> Diagnostic {
    Diagnostic::error(Code::ConfigNeedsTrust, format!("the project cannot be trusted: {why}"))
        .help("keep only plain files in the folders of tools and policies")
}
