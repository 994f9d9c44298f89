//! Guards that hold less than they look: patterns that miss their files (L012), other ways to the same files (L015).

use super::rules::PER_PAIR;
use super::scope::{Scope, Subjected, inner};
use crate::diag::{Code, Diagnostic};
use crate::model::{AllowFs, SandboxConfig};
use crate::policy::action::Action;
use crate::policy::condition::Atom;
use crate::policy::facts::ToolFacts;
use crate::policy::matchers::{Globs, Test};
use crate::policy::model::RuleKind;
use crate::text::escape;
use serde_json::Value;

/// Names that people protect; on some disks any mixture of cases is the same file.
const PROTECTED: [&str; 13] = [
    ".env",
    ".git",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".envrc",
    "id_rsa",
    "id_ed25519",
];

pub(super) fn lint(rule: &Subjected<'_>, all: &[Subjected<'_>], scope: &Scope<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if rule.rule.kind != RuleKind::Guard(Action::Deny) {
        return found;
    }
    // What `unless` lets through may be written as narrowly as one likes.
    let atoms = rule.rule.when.iter().flat_map(crate::policy::Condition::atoms);
    for atom in atoms {
        for test in inner(&atom.test) {
            let Test::Path(globs) = test else { continue };
            if let Some(finding) = loose(globs, atom) {
                found.push(finding);
            }
            if rule.rule.mask.is_none()
                && let Some(finding) = other_door(rule, globs, atom, all, scope)
            {
                found.push(finding);
                return found;
            }
        }
    }
    found
}

/// The pattern without the parts that only say where the workspace is.
fn plain(written: &str) -> &str {
    let rest = written.strip_prefix("${workspace}/").unwrap_or(written);
    rest.strip_prefix("./").unwrap_or(rest)
}

fn loose(globs: &Globs, atom: &Atom) -> Option<Diagnostic> {
    let written: Vec<&str> = globs.written.iter().map(|text| plain(text)).collect();
    let warn = |message: String, help: String| {
        Some(
            Diagnostic::warning(Code::PolicyLooseGlob, message)
                .at(atom.value, "misses some of the files")
                .help(help),
        )
    };
    if let Some(pattern) = written.iter().find(|pattern| pattern.starts_with("*/")) {
        let rest = pattern.trim_start_matches("*/");
        let deep = format!("**/{rest}");
        if !written.contains(&deep.as_str()) {
            return warn(
                format!("`{}` matches at one depth only", escape(pattern)),
                format!("`*` stops at `/`; write `{}` for every depth", escape(&deep)),
            );
        }
    }
    let env = written.iter().find(|pattern| pattern.rsplit('/').next() == Some(".env"));
    let kin = written.iter().any(|pattern| {
        let last = pattern.rsplit('/').next().unwrap_or("");
        last.starts_with(".env") && last.contains('*')
    });
    if let (Some(pattern), false) = (env, kin) {
        return warn(
            format!("`{}` leaves out `.env.local` and its kin", escape(pattern)),
            format!("add `{}.*`, and except `.env.example` with `unless`", escape(pattern)),
        );
    }
    let protected = written.iter().find(|pattern| {
        pattern.split('/').any(|name| {
            PROTECTED.iter().any(|known| name == *known || matches!(name.rsplit_once('.'), Some((_, "pem"))))
        })
    });
    match protected {
        Some(pattern) if !globs.fold => warn(
            format!("`{}` is compared with case, and some disks know none", escape(pattern)),
            "add `case: fold` beside `path`".to_owned(),
        ),
        Some(_) | None => None,
    }
}

/// A tool that some grant lets run, that can reach files, and that no guard with one of these patterns names.
fn other_door(
    rule: &Subjected<'_>,
    globs: &Globs,
    atom: &Atom,
    all: &[Subjected<'_>],
    scope: &Scope<'_>,
) -> Option<Diagnostic> {
    let selects = |rule: &Subjected<'_>, tool: &ToolFacts| rule.tools.iter().any(|one| one.name == tool.name);
    let same_files = |other: &Subjected<'_>| {
        scope.work.spend(PER_PAIR)
            && other.atoms().iter().flat_map(|atom| inner(&atom.test)).any(|test| {
                let Test::Path(known) = test else { return false };
                scope.work.spend(known.written.len() * globs.written.len())
                    && known.written.iter().any(|text| globs.written.contains(text))
            })
    };
    let denies = |other: &&Subjected<'_>| other.rule.kind == RuleKind::Guard(Action::Deny);
    if all.iter().filter(denies).any(|other| other.rule.mask.is_some() && same_files(other)) {
        return None;
    }
    let guarded = |tool: &ToolFacts| {
        // A guard without conditions, or with one of the same patterns, closes the door.
        let closes = |other: &Subjected<'_>| other.atoms().is_empty() || same_files(other);
        all.iter().filter(denies).any(|other| selects(other, tool) && closes(other))
    };
    let door = scope.tools.iter().find(|tool| {
        scope.work.spend(all.len())
            && reaches_files(tool)
            && !selects(rule, tool)
            && all.iter().any(|grant| grant.rule.kind.is_grant() && grant.names(tool))
            && !guarded(tool)
            && !scope.work.is_spent()
    })?;
    let message = format!(
        "`{}` denies files that the tool `{}` can still reach",
        escape(&rule.rule.id),
        escape(&door.name)
    );
    Some(
        Diagnostic::warning(Code::PolicyOtherDoor, message)
            .at(atom.value, "for the tools of this rule only")
            .help("add `mask: true`, which hides the files from every tool, or name the tool as well"),
    )
}

/// Whether a tool takes a path or is shown files of the user.
fn reaches_files(tool: &ToolFacts) -> bool {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let takes_path = properties.is_some_and(|all| {
        all.values().any(|schema| schema.get("format").and_then(Value::as_str) == Some("path"))
    });
    takes_path || tool.sandbox.as_ref().is_none_or(shows_files)
}

fn shows_files(config: &SandboxConfig) -> bool {
    config.enabled == Some(false)
        || match &config.allow_fs {
            None | Some(AllowFs::No) => false,
            Some(AllowFs::All) => true,
            Some(AllowFs::Paths { read_only, read_write }) => {
                read_only.iter().chain(read_write).any(|path| path.contains("{workspace}"))
            }
        }
}
