//! What a sandbox has to hold back inside the folders that it shows: the files that `mask: true` guards hide, and what git
//! would execute of the repositories in there. One walk finds both.

use crate::policy::Mask;
use crate::project::repository;
use crate::sandbox::SandboxError;
use crate::text::escape;
use crate::world::{FileKind, World};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Entries that the walk looks at. With more in the folders the call is refused: what lies beyond would be shown, and a
/// tool that writes could put a secret there by making files before it.
const MAX_ENTRIES: usize = 500_000;

/// How to walk.
pub(crate) struct Walk<'w> {
    /// The disk.
    pub(crate) world: &'w dyn World,
    /// The workspace, which relative globs speak of.
    pub(crate) workspace: &'w Path,
    /// Whether to look for repositories below the workspace: the call may write.
    pub(crate) repositories: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Files that guards hide.
    pub(crate) masked: Vec<PathBuf>,
    /// What git executes or obeys of repositories below the workspace.
    pub(crate) exec_later: Vec<PathBuf>,
    /// The same, not there yet.
    pub(crate) absent: Vec<PathBuf>,
}

struct Rule {
    hides: GlobSet,
    spares: GlobSet,
    fold: bool,
}

impl Rule {
    fn new(mask: &Mask) -> Result<Self, SandboxError> {
        let faulty = |error: globset::Error| {
            SandboxError::BadRequest(format!(
                "what {} hides cannot be found: {}",
                escape(&mask.rule),
                escape(&error.to_string())
            ))
        };
        Ok(Self {
            hides: set(&mask.globs).map_err(faulty)?,
            spares: set(&mask.except).map_err(faulty)?,
            fold: mask.fold,
        })
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

fn set(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(GlobBuilder::new(glob).literal_separator(true).build()?);
    }
    builder.build()
}

impl Walk<'_> {
    /// Looks through `roots`, which are files or folders.
    pub(crate) fn find(&self, masks: &[Mask], roots: &[PathBuf]) -> Result<Found, SandboxError> {
        let rules = masks.iter().map(Rule::new).collect::<Result<Vec<_>, _>>()?;
        let mut found = Found::default();
        if rules.is_empty() && !self.repositories {
            return Ok(found);
        }
        let mut left = MAX_ENTRIES;
        for root in roots {
            // A root can be a link to what is shown.
            match self.world.stat(root).map(|stat| stat.kind) {
                Ok(FileKind::Dir) => self.look(&rules, root, &mut left, &mut found)?,
                Ok(FileKind::File | FileKind::Symlink | FileKind::Other) => {
                    let real = self.real(root);
                    if rules
                        .iter()
                        .any(|rule| rule.hides(root, self.workspace) || rule.hides(&real, self.workspace))
                    {
                        found.masked.push(real);
                    }
                }
                // What is not there cannot be shown; the plan says so.
                Err(_) => {}
            }
        }
        for list in [&mut found.masked, &mut found.exec_later, &mut found.absent] {
            list.sort();
            list.dedup();
        }
        Ok(found)
    }

    fn real(&self, path: &Path) -> PathBuf {
        let text = path.to_string_lossy();
        crate::canon::canonical_path(self.world, Path::new("/"), Path::new("/"), &text, true)
            .map_or_else(|_| path.to_path_buf(), |path| PathBuf::from(path.absolute()))
    }

    fn look(
        &self,
        rules: &[Rule],
        root: &Path,
        left: &mut usize,
        found: &mut Found,
    ) -> Result<(), SandboxError> {
        let mut todo = vec![self.real(root)];
        while let Some(dir) = todo.pop() {
            // What cannot be listed here cannot be listed by the tool, which has no more rights.
            for (name, kind) in self.world.list_kinds(&dir).unwrap_or_default() {
                *left = left.checked_sub(1).ok_or_else(|| too_much(root))?;
                if self.repositories && name == OsStr::new(".git") && dir.as_path() != self.workspace {
                    repository(self.world, &dir, &mut found.exec_later, &mut found.absent);
                }
                let path = dir.join(name);
                if kind == FileKind::Dir {
                    todo.push(path);
                } else if rules.iter().any(|rule| rule.hides(&path, self.workspace)) {
                    found.masked.push(path);
                }
            }
        }
        Ok(())
    }
}

fn too_much(root: &Path) -> SandboxError {
    SandboxError::BadRequest(format!(
        "{} has more than {MAX_ENTRIES} files in it, which is too much to find those that must be held back; let `allowFS` \
         name the folders that the tool needs",
        escape(&root.to_string_lossy())
    ))
}
