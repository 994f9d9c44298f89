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
    /// What passes most files over; `None`: nothing does.
    near: Option<Near>,
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
            near: Near::new(&mask.globs).map_err(faulty)?,
        })
    }

    /// Whether any file of this name in a folder that is not hot could be hidden: most are passed over without a look
    /// at their whole path.
    fn may_hide(&self, name: &OsStr) -> bool {
        let Some(near) = &self.near else { return true };
        match name.to_str() {
            Some(name) if self.fold => near.names.is_match(name.to_lowercase()),
            Some(name) => near.names.is_match(name),
            None => true,
        }
    }

    /// Whether files could be hidden for being somewhere below this folder, whatever their names.
    fn is_hot(&self, dir: &Path, workspace: &Path) -> bool {
        self.near.as_ref().is_none_or(|near| self.matches(&near.dirs, dir, workspace))
    }

    fn hides(&self, path: &Path, workspace: &Path) -> bool {
        self.matches(&self.hides, path, workspace) && !self.matches(&self.spares, path, workspace)
    }

    fn matches(&self, globs: &GlobSet, path: &Path, workspace: &Path) -> bool {
        if globs.is_empty() {
            return false;
        }
        let text = |path: &Path| {
            let text = path.to_string_lossy();
            if self.fold { text.to_lowercase() } else { text.into_owned() }
        };
        let absolute = text(path);
        let relative = path.strip_prefix(workspace).map(text).ok();
        globs.is_match(&absolute) || relative.as_ref().is_some_and(|relative| globs.is_match(relative))
    }
}

/// What passes most files over: what their names have to match, unless they lie below a folder that matches `dirs`.
struct Near {
    names: GlobSet,
    dirs: GlobSet,
}

impl Near {
    /// `None` if it cannot be told from the globs.
    fn new(globs: &[String]) -> Result<Option<Self>, globset::Error> {
        let (mut names, mut dirs) = (Vec::new(), Vec::new());
        for glob in globs {
            let (dir, name) = glob.rsplit_once('/').unwrap_or(("", glob));
            // A slash inside of braces or brackets would not end a part.
            if dir.contains(['{', '[', '\\']) || name.is_empty() || (dir.is_empty() && name == "**") {
                return Ok(None);
            }
            match name {
                "**" => dirs.push(dir.to_owned()),
                name if name.contains("**") => return Ok(None),
                name => names.push(name.to_owned()),
            }
        }
        Ok(Some(Self { names: set(&names)?, dirs: set(&dirs)? }))
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
        let start = self.real(root);
        let hot = |dir: &Path| rules.iter().any(|rule| rule.is_hot(dir, self.workspace));
        let start_is_hot = start.ancestors().any(hot);
        let mut todo = vec![(start, start_is_hot)];
        while let Some((dir, dir_is_hot)) = todo.pop() {
            // What cannot be listed here cannot be listed by the tool, which has no more rights.
            for (name, kind) in self.world.list_kinds(&dir).unwrap_or_default() {
                *left = left.checked_sub(1).ok_or_else(|| too_much(root))?;
                if self.repositories && name == OsStr::new(".git") && dir.as_path() != self.workspace {
                    repository(self.world, &dir, &mut found.exec_later, &mut found.absent);
                }
                if kind == FileKind::Dir {
                    let path = dir.join(name);
                    let path_is_hot = dir_is_hot || hot(&path);
                    todo.push((path, path_is_hot));
                } else if dir_is_hot || rules.iter().any(|rule| rule.may_hide(&name)) {
                    let path = dir.join(name);
                    if rules.iter().any(|rule| rule.hides(&path, self.workspace)) {
                        found.masked.push(path);
                    }
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

#[cfg(test)]
mod tests {
    use super::{Near, Rule};
    use crate::policy::Mask;
    use proptest::prelude::{prop, proptest};
    use std::path::Path;

    fn rule(globs: &[&str], fold: bool) -> Rule {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        Rule::new(&Mask { rule: "r".to_owned(), globs, except: Vec::new(), fold }).ok().unwrap()
    }

    #[test]
    fn most_files_are_passed_over_by_their_names() {
        let ws = Path::new("/ws");
        let shipped = rule(&["/**/.env", "/**/*.{pem,key}", "/**/.ssh/**", "/**/.config/gcloud"], true);
        for (name, may) in [(".ENV", true), ("a.pem", true), ("a.yaml", false), ("id", false)] {
            assert_eq!(shipped.may_hide(name.as_ref()), may, "{name}");
        }
        assert!(shipped.is_hot(Path::new("/ws/.ssh"), ws) && !shipped.is_hot(Path::new("/ws/src"), ws));
        for glob in ["**", "/**", "{a/b,c}", "a/{b/c,d}", "[/]x/y", "a/", "a**b"] {
            let told = Near::new(&[glob.to_owned()]).unwrap().is_some();
            assert!(!told, "{glob}");
        }
        assert!(rule(&["**"], false).is_hot(Path::new("/ws/src"), ws));
    }

    proptest! {
        /// What is hidden is never passed over.
        #[test]
        fn passing_over_changes_nothing(
            globs in prop::collection::vec(
                "(\\*\\*/|/\\*\\*/|a/|/ws/|\\{a/b,b\\}/){0,2}(\\.env|\\*\\.a|[ab]\\*|\\{a,b/a\\}|\\*\\*|\\[ab\\]|\\?)", 1..4
            ),
            path in "([abAB]/){0,3}(\\.env|[abAB]{1,3}(\\.a)?)",
            fold: bool,
        ) {
            let ws = Path::new("/ws");
            let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
            let rule = rule(&globs, fold);
            let path = ws.join(path);
            if rule.hides(&path, ws) {
                let hot = path.ancestors().skip(1).any(|dir| rule.is_hot(dir, ws));
                assert!(hot || rule.may_hide(path.file_name().unwrap()), "{globs:?} {path:?}");
            }
        }
    }
}
