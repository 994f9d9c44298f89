//! What a sandbox has to hold back inside the folders that it shows: the files that `mask: true` guards hide, and what git
//! would execute of the repositories in there. One walk finds both.

use crate::policy::Mask;
use crate::project::{itself, repository};
use crate::sandbox::SandboxError;
use crate::text::escape;
use crate::world::{FileKind, World};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
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
    /// Folders that every sandbox binds read-only.
    pub(crate) held: &'w [PathBuf],
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

/// A guard that hides files. Its globs are compiled when a file could be one of them, which most calls never see.
struct Rule<'m> {
    mask: &'m Mask,
    /// What passes most files over; `None`: nothing does.
    near: Option<Near>,
    compiled: OnceCell<Globs>,
}

struct Globs {
    hides: GlobSet,
    spares: GlobSet,
}

impl<'m> Rule<'m> {
    fn new(mask: &'m Mask) -> Self {
        Self { mask, near: Near::new(&mask.globs), compiled: OnceCell::new() }
    }

    fn globs(&self) -> Result<&Globs, SandboxError> {
        if let Some(globs) = self.compiled.get() {
            return Ok(globs);
        }
        let faulty = |error: globset::Error| {
            SandboxError::BadRequest(format!(
                "what {} hides cannot be found: {}",
                escape(&self.mask.rule),
                escape(&error.to_string())
            ))
        };
        let globs = Globs {
            hides: set(&self.mask.globs).map_err(faulty)?,
            spares: set(&self.mask.except).map_err(faulty)?,
        };
        Ok(self.compiled.get_or_init(|| globs))
    }

    /// Whether any file of this name in a folder that is not hot could be hidden: most are passed over without a look
    /// at their whole path.
    fn may_hide(&self, name: &OsStr) -> bool {
        self.near.as_ref().is_none_or(|near| near.could_be(name.as_bytes()))
    }

    /// Whether files could be hidden for being somewhere below a folder of this name, whatever their own names.
    fn is_hot(&self, dir: &OsStr) -> bool {
        self.near.as_ref().is_none_or(|near| {
            !dir.is_ascii() || near.dirs.iter().any(|name| dir.eq_ignore_ascii_case(name.as_str()))
        })
    }

    fn hides(&self, path: &Path, workspace: &Path) -> Result<bool, SandboxError> {
        let text = |path: &Path| {
            let text = path.to_string_lossy();
            if self.mask.fold { text.to_lowercase() } else { text.into_owned() }
        };
        let absolute = text(path);
        let relative = path.strip_prefix(workspace).map(text).ok();
        let hit = |globs: &GlobSet| {
            globs.is_match(&absolute) || relative.as_ref().is_some_and(|relative| globs.is_match(relative))
        };
        let globs = self.globs()?;
        Ok(hit(&globs.hides) && !hit(&globs.spares))
    }
}

/// What passes most files over: with which bytes, of either case, the names of hidden files begin or end, and the names of
/// the folders below which everything is hidden.
struct Near {
    first: [bool; 256],
    last: [bool; 256],
    dirs: Vec<String>,
}

impl Near {
    /// `None` if it cannot be told from the globs.
    fn new(globs: &[String]) -> Option<Self> {
        let mut near = Self { first: [false; 256], last: [false; 256], dirs: Vec::new() };
        for glob in globs {
            let (dir, name) = glob.rsplit_once('/').unwrap_or(("", glob));
            // Braces and brackets could hold a slash, or be a fault that has to be found.
            if glob.contains(['{', '[', '\\']) {
                return None;
            }
            if name == "**" {
                let dir = dir.rsplit('/').next().unwrap_or(dir);
                if dir.is_empty() || !dir.bytes().all(is_plain) {
                    return None;
                }
                near.dirs.push(dir.to_owned());
                continue;
            }
            let (first, last) = (name.bytes().next()?, name.bytes().last()?);
            let table = match (is_plain(first), is_plain(last)) {
                _ if name.contains("**") => return None,
                (true, _) => near.first.get_mut(usize::from(first.to_ascii_lowercase()))?,
                (false, true) => near.last.get_mut(usize::from(last.to_ascii_lowercase()))?,
                (false, false) => return None,
            };
            *table = true;
        }
        Some(near)
    }

    fn could_be(&self, name: &[u8]) -> bool {
        // What is no ASCII can have an ASCII letter as its lower case.
        let may = |table: &[bool; 256], byte: Option<&u8>| {
            byte.is_none_or(|byte| {
                !byte.is_ascii() || table.get(usize::from(byte.to_ascii_lowercase())) == Some(&true)
            })
        };
        may(&self.first, name.first()) || may(&self.last, name.last())
    }
}

/// Whether a byte of a glob stands for itself.
const fn is_plain(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'*' | b'?')
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
        let rules: Vec<Rule<'_>> = masks.iter().map(Rule::new).collect();
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
                    if self.is_hidden(&rules, root)? || self.is_hidden(&rules, &real)? {
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

    fn is_hidden(&self, rules: &[Rule<'_>], path: &Path) -> Result<bool, SandboxError> {
        for rule in rules {
            if rule.hides(path, self.workspace)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn real(&self, path: &Path) -> PathBuf {
        let text = path.to_string_lossy();
        crate::canon::canonical_path(self.world, Path::new("/"), Path::new("/"), &text, true)
            .map_or_else(|_| path.to_path_buf(), |path| PathBuf::from(path.absolute()))
    }

    fn look(
        &self,
        rules: &[Rule<'_>],
        root: &Path,
        left: &mut usize,
        found: &mut Found,
    ) -> Result<(), SandboxError> {
        let start = self.real(root);
        let hot = |name: &OsStr| rules.iter().any(|rule| rule.is_hot(name));
        let start_is_hot = start.iter().any(hot);
        let mut todo = vec![(start, start_is_hot)];
        while let Some((dir, dir_is_hot)) = todo.pop() {
            // What cannot be listed here cannot be listed by the tool, which has no more rights.
            for (name, kind) in self.world.list_kinds(&dir).unwrap_or_default() {
                *left = left.checked_sub(1).ok_or_else(|| too_much(root))?;
                if self.repositories && name == OsStr::new(".git") && dir.as_path() != self.workspace {
                    repository(self.world, &dir, &mut found.exec_later, &mut found.absent);
                }
                if self.repositories && name == OsStr::new("HEAD") && dir.as_path() != self.workspace {
                    self.bare(&dir, found);
                }
                if kind == FileKind::Dir {
                    let path_is_hot = dir_is_hot || hot(&name);
                    let path = dir.join(name);
                    // What is read-only as a whole needs no look for repositories that could be written to.
                    if !rules.is_empty() || !self.held.contains(&path) {
                        todo.push((path, path_is_hot));
                    }
                } else if dir_is_hot || rules.iter().any(|rule| rule.may_hide(&name)) {
                    let path = dir.join(name);
                    if self.is_hidden(rules, &path)? {
                        found.masked.push(path);
                    }
                }
            }
        }
        Ok(())
    }

    /// A bare repository, or the folder of one.
    fn bare(&self, dir: &Path, found: &mut Found) {
        let (mut present, mut absent) = (Vec::new(), Vec::new());
        // One that is none yet may become one, as may any new folder.
        if itself(self.world, dir, &mut present, &mut absent) {
            found.exec_later.append(&mut present);
            found.absent.append(&mut absent);
        }
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

    fn mask(globs: &[&str], fold: bool) -> Mask {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        Mask { rule: "r".to_owned(), globs, except: Vec::new(), fold }
    }

    #[test]
    fn most_files_are_passed_over_by_their_names() {
        let shipped = mask(&["/**/.env", "/**/*.pem", "/**/.ssh/**", "/**/.config/gcloud", "id_*"], true);
        let rule = Rule::new(&shipped);
        for (name, may) in
            [(".ENV", true), ("a.peM", true), ("a.yaml", false), ("ID_x", true), ("\u{212a}", true)]
        {
            assert_eq!(rule.may_hide(name.as_ref()), may, "{name}");
        }
        assert!(rule.is_hot(".SSH".as_ref()) && !rule.is_hot("src".as_ref()));
        for glob in ["**", "/**", "{a/b,c}", "a/{b/c,d}", "[/]x/y", "a/", "a**b", "*", "a*/**", "*.{pem,key}"]
        {
            assert!(Near::new(&[glob.to_owned()]).is_none(), "{glob}");
        }
    }

    proptest! {
        /// What is hidden is never passed over.
        #[test]
        fn passing_over_changes_nothing(
            globs in prop::collection::vec(
                "(\\*\\*/|/\\*\\*/|a/|/ws/|\\{a/b,b\\}/){0,2}(\\.env|\\*\\.a|[abk]\\*|\\{a,b/a\\}|\\*\\*|\\[ab\\]|\\?|\\?b)", 1..4
            ),
            path in "([abAB]/){0,3}(\\.env|[abABkK\u{212a}]{1,3}(\\.a)?)",
            fold: bool,
        ) {
            let ws = Path::new("/ws");
            let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
            let mask = mask(&globs, fold);
            let rule = Rule::new(&mask);
            let path = ws.join(path);
            if rule.hides(&path, ws).is_ok_and(|hidden| hidden) {
                let hot = path.parent().unwrap().iter().any(|dir| rule.is_hot(dir));
                assert!(hot || rule.may_hide(path.file_name().unwrap()), "{globs:?} {path:?}");
            }
        }
    }
}
