//! How a rule is written: expressions that say less or more than they look (L011), paths compared as text (L013), arguments
//! that may be missing (L014), reasons (L023).

use super::field::{Field, is_optional};
use super::scope::{Subjected, inner};
use crate::diag::{Code, Diagnostic};
use crate::policy::action::Action;
use crate::policy::condition::Atom;
use crate::policy::facts::ToolFacts;
use crate::policy::matchers::{Operand, Test};
use crate::policy::reason::Reason;
use crate::policy::shape::is_secret;
use crate::policy::subject::{ArgPath, Subject};
use crate::text::escape;

pub(super) fn lint(rule: &Subjected<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for atom in rule.atoms() {
        for test in inner(&atom.test) {
            if let Test::Regular(regular) = test {
                found.extend(loose_regex(regular.source(), atom));
            }
        }
    }
    for (atom, _) in rule.arguments() {
        found.extend(text_of_path(rule, atom));
    }
    optional(rule, &mut found);
    reasons(rule, &mut found);
    found
}

/// Top-level names that people mean when they write a host.
const DOMAINS: [&str; 12] =
    ["com", "org", "net", "io", "dev", "test", "local", "internal", "example", "edu", "gov", "app"];

fn loose_regex(source: &str, atom: &Atom) -> Option<Diagnostic> {
    let starts = source.starts_with('^') || source.starts_with("\\A");
    let ends = (source.ends_with('$') && !source.ends_with("\\$")) || source.ends_with("\\z");
    let shown = escape(source);
    let warn = |message: String, remark: &str, help: &str| {
        Some(Diagnostic::warning(Code::PolicyLooseRegex, message).at(atom.value, remark).help(help))
    };
    if starts != ends {
        return warn(
            format!("`{shown}` is anchored at one end, and has to match the whole text all the same"),
            "not a part of the text",
            "write `.*` where anything may follow, or use `prefix` or `suffix`",
        );
    }
    if let Some(host) = bare_host(source) {
        return warn(
            format!("each `.` in `{}` stands for any character", escape(&host)),
            "matches other hosts too",
            "write `\\.`, or use `eq`, `in` or `suffix`, which need no escapes",
        );
    }
    if let Some(class) = domain_class(source) {
        return warn(
            format!("`[{}]` is one character out of these", escape(class)),
            "a set of characters",
            "write the name without brackets, and `\\.` for its dots",
        );
    }
    (starts && ends).then(|| {
        Diagnostic::note_of(Code::PolicyLooseRegex, format!("the anchors of `{shown}` say nothing"))
            .at(atom.value, "always the whole text")
            .help("leave `^` and `$` out")
    })
}

/// A part of an expression that is a host name with plain dots.
fn bare_host(source: &str) -> Option<String> {
    let mut word = String::new();
    let mut before = ' ';
    for c in source.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || c == '-' || (c == '.' && before != '\\') {
            word.push(c);
        } else {
            if is_host(&word)
                && !(word.ends_with('.') || "*+?{".contains(c) && word.matches('.').count() == 1)
            {
                return Some(word);
            }
            word.clear();
        }
        before = c;
    }
    None
}

fn is_host(word: &str) -> bool {
    let Some((name, end)) = word.rsplit_once('.') else { return false };
    DOMAINS.contains(&end) && name.split('.').all(|label| label.len() > 1)
}

/// The inside of a class that looks like a name with dots.
fn domain_class(source: &str) -> Option<&str> {
    source.split('[').skip(1).find_map(|rest| {
        let (inside, _) = rest.split_once(']')?;
        is_host(&inside.replace("\\.", ".")).then_some(inside)
    })
}

fn text_of_path(rule: &Subjected<'_>, atom: &Atom) -> Option<Diagnostic> {
    let tool = rule.tools.iter().find(|tool| {
        let field = match &atom.test {
            Test::Quantifier(_) => Field::item_of(&atom.subject, tool),
            _ => Field::of(&atom.subject, tool),
        };
        field.path
    })?;
    let (operator, instead) = inner(&atom.test).into_iter().find_map(instead_of)?;
    let message = format!(
        "`{}` compares a path of the tool `{}` as text, with `{operator}`",
        escape(&rule.rule.id),
        escape(&tool.name)
    );
    Some(
        Diagnostic::error(Code::PolicyTextOfPath, message)
            .at(atom.value, "knows nothing of folders")
            .help(instead),
    )
}

/// The operator for text, and the one for paths that is meant.
fn instead_of(test: &Test) -> Option<(&'static str, &'static str)> {
    if let Test::Text(text) = test {
        return Some(match text.op.as_str() {
            "prefix" => ("prefix", "`under: [FOLDER]` is a folder and all below it"),
            "suffix" => ("suffix", "`ext: [EXT]` is an extension, `path: [\"**/NAME\"]` a name at any depth"),
            other => (other, "`path: [\"**/NAME/**\"]` is a folder of that name at any depth"),
        });
    }
    match test {
        Test::Glob(_) => Some(("glob", "`path` takes the same patterns")),
        Test::Regular(_) => Some(("regex", "use `under`, `path` or `ext`")),
        _ => None,
    }
}

fn optional(rule: &Subjected<'_>, found: &mut Vec<Diagnostic>) {
    let atoms = rule.atoms();
    let says_exists = |path: &ArgPath| {
        atoms.iter().any(|atom| match (&atom.subject, &atom.test) {
            (Subject::Args(known), Test::Exists(_)) => path.segments().starts_with(known.segments()),
            _ => false,
        })
    };
    for atom in &atoms {
        let mut paths: Vec<&ArgPath> = Vec::new();
        if let (Subject::Args(path), false) = (&atom.subject, matches!(atom.test, Test::Exists(_))) {
            paths.push(path);
        }
        for operand in crate::policy::check::operands(&atom.test) {
            if let Operand::Ref(Subject::Args(path)) = operand {
                paths.push(path);
            }
        }
        for path in paths.into_iter().filter(|path| !says_exists(path)) {
            let lacks =
                |tool: &&&ToolFacts| rule.names(tool) && is_optional(&tool.parameters, path.segments());
            let Some(tool) = rule.tools.iter().find(lacks) else { continue };
            found.push(missing(rule, tool, atom, path));
            return;
        }
    }
}

fn missing(rule: &Subjected<'_>, tool: &ToolFacts, atom: &Atom, path: &ArgPath) -> Diagnostic {
    let then = if rule.rule.kind.is_grant() { "does not match" } else { "matches" };
    let message = format!(
        "`{path}` of the tool `{}` is optional, and without it `{}` {then}",
        escape(&tool.name),
        escape(&rule.rule.id)
    );
    Diagnostic::error(Code::PolicyOptionalArgument, message).at(atom.key, "may be absent").help(
        "say what absence means: `exists: true` beside the operator is a no, an `any` with `exists: false` a yes",
    )
}

fn reasons(rule: &Subjected<'_>, found: &mut Vec<Diagnostic>) {
    let stops = rule.rule.kind.action() > Action::Allow;
    match (&rule.rule.reason, rule.rule.reason_span) {
        (None, _) if stops => {
            let message = format!("`{}` does not say why", escape(&rule.rule.id));
            found.push(
                Diagnostic::note_of(Code::PolicyMissingReason, message)
                    .at(rule.rule.action_span, "without a reason")
                    .help("add `reason:`; people and models see it"),
            );
        }
        (Some(reason), Some(span)) => {
            let secret = Reason::arguments(reason)
                .find(|path| rule.tools.iter().any(|tool| is_secret(&tool.parameters, path.segments())));
            if let Some(path) = secret {
                found.push(
                    Diagnostic::warning(
                        Code::PolicySecretReason,
                        format!("this reason would show `{path}`, a secret"),
                    )
                    .at(span, "shown as (secret)")
                    .help("leave it out"),
                );
            }
        }
        (Some(_) | None, _) => {}
    }
}
