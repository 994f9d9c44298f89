//! Path facts: what a string of the arguments means as a path, found out once a call.
//!
//! Strings declared `format: path` are canonical already, and what was validated is what is judged: the disk is not
//! asked again, save for the target of a `nofollow` link. Any other string is made canonical when a rule treats it
//! as a path.

use super::shape::DeclaredPath;
use crate::canon::{canonical_path, is_under};
use crate::text::escape;
use crate::world::{FileKind, World};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// One path in canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathFact {
    /// Absolute, without symlinks on the way.
    pub(super) absolute: String,
    /// Relative to the workspace, if inside; `.` for the workspace itself.
    pub(super) relative: Option<String>,
}

/// All that a string means as a path: one fact, or a link and its target. Never empty.
pub(super) type Meaning = Result<Vec<PathFact>, String>;

/// The path facts of one call.
pub(super) struct PathFacts<'w> {
    world: &'w dyn World,
    workspace: PathBuf,
    root: Result<String, String>,
    base: PathBuf,
    declared: Vec<DeclaredPath>,
    known: RefCell<HashMap<String, Rc<Meaning>>>,
}

impl std::fmt::Debug for PathFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PathFacts")
            .field("workspace", &self.workspace)
            .field("declared", &self.declared)
            .finish_non_exhaustive()
    }
}

impl<'w> PathFacts<'w> {
    /// Facts for a call whose undeclared relative paths start from `base`.
    pub(super) fn new(
        world: &'w dyn World,
        workspace: &Path,
        base: &Path,
        declared: Vec<DeclaredPath>,
    ) -> Self {
        let root = canonical_path(world, workspace, workspace, ".", true)
            .map(|path| path.absolute().to_owned())
            .map_err(|error| format!("the workspace has no canonical form: {error}"));
        Self {
            world,
            workspace: workspace.to_owned(),
            root,
            base: base.to_owned(),
            declared,
            known: RefCell::default(),
        }
    }

    /// The arguments that the schema declares as paths.
    pub(super) fn declared(&self) -> &[DeclaredPath] {
        &self.declared
    }

    /// The canonical workspace.
    pub(super) fn root(&self) -> Result<&str, &str> {
        self.root.as_deref().map_err(String::as_str)
    }

    /// What the string at this pointer means as a path.
    pub(super) fn of(&self, pointer: &str, text: &str) -> Rc<Meaning> {
        if let Some(known) = self.known.borrow().get(pointer) {
            return Rc::clone(known);
        }
        let declared = self.declared.iter().find(|path| path.pointer == pointer && path.text == text);
        let meaning = Rc::new(match declared {
            Some(path) => self.of_declared(path),
            None => self.look_up(&self.base, text),
        });
        self.known.borrow_mut().insert(pointer.to_owned(), Rc::clone(&meaning));
        meaning
    }

    fn of_declared(&self, path: &DeclaredPath) -> Meaning {
        let itself = self.as_given(&path.text)?;
        if path.follow_last {
            return Ok(vec![itself]);
        }
        let mut all = self.look_up(&self.workspace, &path.text)?;
        if !all.contains(&itself) {
            all.push(itself);
        }
        Ok(all)
    }

    /// A canonical text as a fact, without a look at the disk.
    fn as_given(&self, text: &str) -> Result<PathFact, String> {
        let root = self.root()?;
        let absolute = match text {
            "." => root.to_owned(),
            text if text.starts_with('/') => text.to_owned(),
            text => format!("{}/{text}", root.trim_end_matches('/')),
        };
        let plain = absolute.split('/').skip(1).all(|part| !matches!(part, "." | "..") && !part.is_empty());
        if absolute != "/" && !plain {
            return Err(format!("\"{}\" is not canonical", escape(text)));
        }
        let relative = relative_to(root, &absolute);
        Ok(PathFact { absolute, relative })
    }

    fn look_up(&self, base: &Path, text: &str) -> Meaning {
        let path = canonical_path(self.world, base, &self.workspace, text, true)
            .map_err(|error| format!("not a path that can be judged: {error}"))?;
        Ok(vec![PathFact {
            absolute: path.absolute().to_owned(),
            relative: path.relative().map(str::to_owned),
        }])
    }

    /// The first symlink on the way of what the caller wrote, if there is one; for display.
    pub(super) fn via(&self, text: &str) -> Option<String> {
        let path = canonical_path(self.world, &self.base, &self.workspace, text, true).ok()?;
        if !path.via_symlink() {
            return None;
        }
        let mut walked = PathBuf::new();
        for part in self.base.join(text).components() {
            walked.push(part);
            if self.world.lstat(&walked).is_ok_and(|stat| stat.kind == FileKind::Symlink) {
                return Some(walked.to_string_lossy().into_owned());
            }
        }
        None
    }
}

/// The part of `path` below `root`; `.` for the root itself.
pub(super) fn relative_to(root: &str, path: &str) -> Option<String> {
    if !is_under(path, root) {
        return None;
    }
    let rest = path.get(root.len()..)?.trim_start_matches('/');
    Some(if rest.is_empty() { ".".to_owned() } else { rest.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::{DeclaredPath, PathFacts, relative_to};
    use crate::world::MemoryWorld;
    use std::path::Path;

    fn declared(text: &str, follow_last: bool) -> Vec<DeclaredPath> {
        vec![DeclaredPath { pointer: "/p".to_owned(), text: text.to_owned(), follow_last }]
    }

    #[test]
    fn undeclared_strings_are_resolved_and_declared_ones_are_not_looked_up_again() {
        let world = MemoryWorld::new("/ws").with_link("/ws/out", "/etc");
        let ws = Path::new("/ws");
        let facts = PathFacts::new(&world, ws, ws, Vec::new());
        let meaning = facts.of("/p", "out/passwd");
        let found = meaning.as_ref().as_ref().unwrap();
        assert_eq!(found[0].absolute, "/etc/passwd");
        assert_eq!(found[0].relative, None);
        let facts = PathFacts::new(&world, ws, ws, declared("src/a", true));
        assert_eq!(facts.of("/p", "src/a").as_ref().as_ref().unwrap()[0].relative.as_deref(), Some("src/a"));
        let facts = PathFacts::new(&world, ws, ws, declared("../a", true));
        assert!(facts.of("/p", "../a").is_err());
    }

    #[test]
    fn a_link_that_is_not_followed_is_judged_with_its_target() {
        let world = MemoryWorld::new("/ws").with_link("/ws/out", "/etc");
        let ws = Path::new("/ws");
        let facts = PathFacts::new(&world, ws, ws, declared("out", false));
        let meaning = facts.of("/p", "out");
        let mut all: Vec<_> =
            meaning.as_ref().as_ref().unwrap().iter().map(|fact| fact.absolute.as_str()).collect();
        all.sort_unstable();
        assert_eq!(all, ["/etc", "/ws/out"]);
    }

    #[test]
    fn below_is_by_component() {
        for (root, path, expected) in [
            ("/ws", "/ws", Some(".")),
            ("/ws", "/ws/a", Some("a")),
            ("/ws", "/ws2", None),
            ("/", "/a", Some("a")),
            ("/", "/", Some(".")),
        ] {
            assert_eq!(relative_to(root, path).as_deref(), expected);
        }
    }
}
