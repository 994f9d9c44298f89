//! `under`, `path`, `ext`: tests of canonical paths. Relative patterns start at the workspace, absolute ones at `/`.
//!
//! A link that is not followed is a link and a target: if the two differ the answer is unknown, so that a grant needs
//! both and a guard is content with one.

use super::{At, Operand, Pattern, show_all};
use crate::canon::is_under;
use crate::policy::environ::Env;
use crate::policy::paths::PathFact;
use crate::policy::truth::Truth;

const DOUBT: &str = "the link and what it leads to differ";

/// Applies a test to all that a string means as a path.
fn of_path(at: At<'_>, env: &Env<'_>, operator: &str, mut judge: impl FnMut(&PathFact) -> Truth) -> Truth {
    let text = match at.string(operator) {
        Ok(text) => text,
        Err(doubt) => return doubt,
    };
    match env.paths.of(at.pointer, text).as_ref() {
        Err(why) => Truth::Error(format!("{}: {why}", at.name)),
        Ok(facts) => {
            let mut sides = Vec::with_capacity(facts.len());
            for fact in facts {
                match judge(fact) {
                    Truth::True => sides.push(true),
                    Truth::False => sides.push(false),
                    doubt @ (Truth::Unknown(_) | Truth::Error(_)) => return doubt,
                }
            }
            Truth::agree(sides, DOUBT)
        }
    }
}

fn folded(text: &str, fold: bool) -> String {
    if fold { text.to_lowercase() } else { text.to_owned() }
}

/// A folder that paths lie below, or a glob for them.
#[derive(Debug)]
pub(in crate::policy) struct PathPattern {
    /// As written in the policy.
    pub(in crate::policy) written: String,
    /// Without `${workspace}/`, `./` and a trailing slash; `.` for the workspace itself.
    pub(in crate::policy) text: String,
    /// Starts at `/` rather than at the workspace.
    pub(in crate::policy) absolute: bool,
}

impl PathPattern {
    /// Reads a pattern. Refused are `..`, which a canonical path never has, and the empty text.
    pub(in crate::policy) fn parse(written: &str) -> Result<Self, String> {
        let (absolute, rest) = match written.strip_prefix("${workspace}") {
            Some("") => (false, "."),
            Some(rest) if rest.starts_with('/') => (false, rest.trim_start_matches('/')),
            Some(_) => return Err("a `/` has to follow `${workspace}`".to_owned()),
            None => (written.starts_with('/'), written.strip_prefix("./").unwrap_or(written)),
        };
        if rest.contains("${") {
            return Err("`${workspace}` can only stand at the start".to_owned());
        }
        let text = if rest == "/" { rest } else { rest.trim_end_matches('/') };
        let text = if text.is_empty() && !written.is_empty() { "." } else { text };
        if text.is_empty() {
            return Err("it is empty; the workspace is `${workspace}`".to_owned());
        }
        if text.split('/').any(|part| part == ".." || part == "~") || text.contains("//") {
            return Err("canonical paths have no `..`, `~` or `//`, so this never matches".to_owned());
        }
        Ok(Self { written: written.to_owned(), text: text.to_owned(), absolute })
    }
}

/// `under`: the path is one of these folders or below one.
#[derive(Debug)]
pub(in crate::policy) struct Under {
    pub(in crate::policy) folders: Vec<PathPattern>,
    /// `{ref: …}` folders.
    pub(in crate::policy) refs: Vec<Operand>,
    pub(in crate::policy) fold: bool,
}

impl Under {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        of_path(at, env, "under", |fact| {
            let fixed = Truth::from(self.folders.iter().any(|folder| self.is_below(fact, folder)));
            self.refs.iter().fold(fixed, |seen, folder| seen.or(self.below_ref(fact, folder, env)))
        })
    }

    fn is_below(&self, fact: &PathFact, folder: &PathPattern) -> bool {
        let root = folded(&folder.text, self.fold);
        if folder.absolute {
            return is_under(&folded(&fact.absolute, self.fold), &root);
        }
        fact.relative.as_ref().is_some_and(|path| {
            root == "." || {
                let path = folded(path, self.fold);
                path.strip_prefix(&root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
        })
    }

    fn below_ref(&self, fact: &PathFact, folder: &Operand, env: &Env<'_>) -> Truth {
        let text = match folder.string(env, "under") {
            Ok(text) => text,
            Err(doubt) => return doubt,
        };
        let pointer = match folder {
            Operand::Ref(crate::policy::subject::Subject::Args(path)) => path.pointer(),
            Operand::Ref(_) | Operand::Literal(_) => String::new(),
        };
        match env.paths.of(&pointer, &text).as_ref() {
            Err(why) => Truth::Error(why.clone()),
            Ok(roots) => Truth::agree(
                roots.iter().map(|root| {
                    is_under(&folded(&fact.absolute, self.fold), &folded(&root.absolute, self.fold))
                }),
                DOUBT,
            ),
        }
    }

    pub(super) fn text(&self) -> String {
        let fixed = self.folders.iter().map(|folder| format!("{:?}", folder.written));
        let all: Vec<_> = fixed.chain(self.refs.iter().map(Operand::text)).collect();
        format!("under [{}]", all.join(", "))
    }
}

/// `path`: globs for canonical paths.
#[derive(Debug)]
pub(in crate::policy) struct Globs {
    /// Matched against the path relative to the workspace, if it is inside.
    pub(in crate::policy) relative: Vec<Pattern>,
    /// Matched against the absolute path.
    pub(in crate::policy) absolute: Vec<Pattern>,
    /// As written.
    pub(in crate::policy) written: Vec<String>,
    pub(in crate::policy) fold: bool,
}

impl Globs {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        of_path(at, env, "path", |fact| {
            let inside = fact
                .relative
                .as_ref()
                .map_or(Truth::False, |relative| Pattern::any(&self.relative, &folded(relative, self.fold)));
            inside.or(Pattern::any(&self.absolute, &folded(&fact.absolute, self.fold)))
        })
    }

    pub(super) fn text(&self) -> String {
        let fold = if self.fold { " case fold" } else { "" };
        format!("path {}{fold}", show_all(self.written.iter().map(String::as_str)))
    }
}

/// `ext`: the extension of the last name, without its dot.
#[derive(Debug)]
pub(in crate::policy) struct Ext {
    pub(in crate::policy) extensions: Vec<String>,
    pub(in crate::policy) fold: bool,
}

impl Ext {
    pub(super) fn eval(&self, at: At<'_>, env: &Env<'_>) -> Truth {
        of_path(at, env, "ext", |fact| {
            let name = fact.absolute.rsplit('/').next().unwrap_or("");
            let found = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ext)| ext);
            Truth::from(found.is_some_and(|found| {
                let found = folded(found, self.fold);
                self.extensions.iter().any(|ext| folded(ext, self.fold) == found)
            }))
        })
    }

    pub(super) fn text(&self) -> String {
        format!("ext {}", show_all(self.extensions.iter().map(String::as_str)))
    }
}
