//! Guards that judge a command line as text: what a pattern leaves out (L012), and flags that can be spelt otherwise (L024).

use super::field::Field;
use super::scope::{Subjected, inner};
use crate::diag::{Code, Diagnostic};
use crate::policy::condition::{Atom, Condition};
use crate::policy::matchers::{Operand, Pattern, Test};
use crate::policy::model::RuleKind;
use crate::policy::subject::Subject;
use crate::text::escape;
use serde_json::Value;

pub(super) fn lint(rule: &Subjected<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !matches!(rule.rule.kind, RuleKind::Guard(_)) {
        return found;
    }
    // What `unless` lets through may be written as narrowly as one likes.
    for atom in rule.rule.when.iter().flat_map(Condition::atoms) {
        if !is_free_text(rule, atom) {
            continue;
        }
        let tests = inner(&atom.test);
        let flags = tests.iter().flat_map(|test| texts(test)).find_map(|text| dodge(&text));
        found.extend(match flags {
            Some((text, other)) => Some(text_of_command(atom, &text, &other)),
            None => tests.iter().find_map(|test| stops_at_slash(test, atom)),
        });
    }
    found
}

/// Whether the argument is text that may be anything, in some tool of the rule.
fn is_free_text(rule: &Subjected<'_>, atom: &Atom) -> bool {
    let Subject::Args(_) = &atom.subject else { return false };
    rule.tools.iter().any(|tool| {
        let field = match &atom.test {
            Test::Quantifier(_) => Field::item_of(&atom.subject, tool),
            _ => Field::of(&atom.subject, tool),
        };
        !field.path && field.choices.is_none()
    })
}

/// The texts that a test looks for, without the signs of patterns.
fn texts(sought: &Test) -> Vec<String> {
    let literals = |operands: &[Operand]| -> Vec<String> {
        let literal = |operand: &Operand| match operand {
            Operand::Literal(Value::String(written)) => Some(written.clone()),
            Operand::Literal(_) | Operand::Ref(_) => None,
        };
        operands.iter().filter_map(literal).collect()
    };
    match sought {
        Test::Text(found) => literals(&found.parts),
        Test::Equal(equal) => literals(std::slice::from_ref(&equal.operand)),
        Test::OneOf(one) if !one.negated => literals(&one.operands),
        Test::Glob(glob) => glob.patterns.iter().map(|pattern| pattern.text().replace('*', "")).collect(),
        Test::Regular(regular) => vec![regular.source().replace(".*", "")],
        Test::OneOf(_)
        | Test::Compare(_)
        | Test::Exists(_)
        | Test::Size(_)
        | Test::Quantifier(_)
        | Test::Under(_)
        | Test::Path(_)
        | Test::Ext(_)
        | Test::Tool(_)
        | Test::Effect { .. } => Vec::new(),
    }
}

/// The part of a text that is a program with flags, and another spelling of the same.
fn dodge(text: &str) -> Option<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().skip(1).position(|word| is_flag(word))? + 1;
    let (program, flag) = (words.get(at - 1)?, words.get(at)?);
    let short = flag.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.len() > 1);
    let other: String = match short {
        Some(letters) => letters.chars().flat_map(|letter| [' ', '-', letter]).collect(),
        None => format!("  {flag}"),
    };
    Some((format!("{program} {flag}"), format!("{program}{other}")))
}

fn is_flag(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or("");
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn text_of_command(atom: &Atom, text: &str, other: &str) -> Diagnostic {
    let (text, other) = (escape(text), escape(other));
    Diagnostic::warning(
        Code::PolicyTextOfCommand,
        format!("`{text}` is looked for as text, and `{other}` means the same"),
    )
    .at(atom.value, "can be spelt otherwise")
    .help(
        "deny or ask for every command line, and write a tool of its own for what may run without a question",
    )
}

/// A pattern that is meant for running text, anywhere in it or with its spaces, and whose `*` does not cross a `/`.
fn stops_at_slash(test: &Test, atom: &Atom) -> Option<Diagnostic> {
    let Test::Glob(glob) = test else { return None };
    let pattern = glob
        .patterns
        .iter()
        .map(Pattern::text)
        .find(|text| *text != "**" && !text.contains('/') && is_running_text(text))?;
    Some(
        Diagnostic::warning(
            Code::PolicyLooseGlob,
            format!("`{}` misses every text with a `/` where a `*` stands", escape(pattern)),
        )
        .at(atom.value, "`*` stops at `/`")
        .help("use `prefix`, `suffix` or `contains`, to which a `/` is a character as any other"),
    )
}

fn is_running_text(pattern: &str) -> bool {
    (pattern.starts_with('*') && pattern.ends_with('*')) || (pattern.contains('*') && pattern.contains(' '))
}
