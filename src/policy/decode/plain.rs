//! Which rules and effects are without fault, told without building them.
//!
//! Yes means that decoding would report nothing; no means nothing at all. Only the common forms are known: whatever is
//! rare here (a variable, a regular expression, a mask) is decoded to find out. A property test holds the two together.

use super::rule::is_name;
use crate::model::Effect;
use crate::policy::matchers::is_plain;
use crate::policy::subject::is_plain_subject;
use crate::source::Part;

/// Whether a rule names the tools that it is for, none of `tools` among them, and is without fault. `grants`: the file
/// may hold grants.
pub(super) fn is_rule_of_others(rule: Part<'_>, grants: bool, tools: &[&str]) -> bool {
    let Some(entries) = rule.entries() else { return false };
    let mut seen = Seen::default();
    for (key, value) in entries {
        let fine = match key.string() {
            Some("id") => {
                seen.id = true;
                value.string().is_some_and(is_name)
            }
            Some("tool") => {
                seen.tool = true;
                each_text(value, |name| is_tool(name) && !name.contains('*') && !tools.contains(&name))
            }
            Some("action") => {
                seen.action = true;
                seen.grant = matches!(value.string(), Some("allow" | "ask"));
                seen.grant || is_guard(value)
            }
            Some("when") => {
                seen.when = value.has_entries();
                is_condition(value, true)
            }
            Some("unless") => value.has_entries() && is_condition(value, true),
            Some("effect") => is_effects(value),
            Some("always") => {
                seen.grant_keys = true;
                seen.always = value.boolean() == Some(true);
                value.boolean().is_some()
            }
            Some("from") => {
                seen.grant_keys = true;
                value.string() == Some("project")
            }
            // A brace begins something that is filled in.
            Some("reason") => value.string().is_some_and(|text| !text.contains(['{', '}'])),
            Some("match" | "notMatch") => {
                value.items().is_some_and(|mut rows| rows.all(|row| row.entries().is_some()))
            }
            Some(_) | None => false,
        };
        if !fine {
            return false;
        }
    }
    seen.is_whole(grants)
}

/// What a rule has of what it needs.
#[derive(Default)]
struct Seen {
    id: bool,
    tool: bool,
    action: bool,
    when: bool,
    always: bool,
    grant: bool,
    /// Keys that only a grant can have.
    grant_keys: bool,
}

impl Seen {
    const fn is_whole(&self, grants: bool) -> bool {
        let kind = if self.grant { grants && (self.when || self.always) } else { !self.grant_keys };
        self.id && self.tool && self.action && kind
    }
}

fn is_guard(action: Part<'_>) -> bool {
    if action.string() == Some("deny") {
        return true;
    }
    let Some(entries) = action.entries() else { return false };
    let all: Vec<_> = entries.map(|(key, value)| (key.string(), value.string())).collect();
    matches!(all.as_slice(), [(Some("atLeast"), Some("ask" | "deny"))])
}

/// Whether the effects of a tool that is none of `tools` are without fault.
pub(super) fn are_effects_of_others(key: Part<'_>, value: Part<'_>, tools: &[&str]) -> bool {
    let other = |name: &str| is_tool(name) && !name.contains('*') && !tools.contains(&name);
    key.string().is_some_and(other)
        && match value.items() {
            Some(items) => all_of_some(items, is_effect_entry),
            None => is_effect_entry(value),
        }
}

fn is_effect_entry(entry: Part<'_>) -> bool {
    let Some(entries) = entry.entries() else { return false };
    let mut effect = false;
    for (key, value) in entries {
        let fine = match key.string() {
            Some("effect") => {
                effect = true;
                is_effects(value)
            }
            Some("when") => value.has_entries() && is_condition(value, false),
            Some("from") => value.string() == Some("project"),
            Some(_) | None => false,
        };
        if !fine {
            return false;
        }
    }
    effect
}

fn is_effects(value: Part<'_>) -> bool {
    each_text(value, |name| Effect::parse(name).is_some())
}

fn is_tool(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'*'))
}

/// A condition that may be empty. `effect`: it may speak of the effect.
fn is_condition(condition: Part<'_>, effect: bool) -> bool {
    let Some(mut entries) = condition.entries() else { return false };
    entries.all(|(key, value)| match key.string() {
        Some("all" | "any") => value
            .items()
            .is_some_and(|items| all_of_some(items, |item| item.has_entries() && is_condition(item, effect))),
        Some("not") => value.has_entries() && is_condition(value, effect),
        Some("tool") => each_text(value, is_tool),
        Some("effect") => effect && is_effects(value),
        Some(subject) => is_plain_subject(subject) && is_matcher(value, subject.starts_with("args.")),
        None => false,
    })
}

/// `paths`: an argument is tested, which may be a path.
fn is_matcher(value: Part<'_>, paths: bool) -> bool {
    let Some(entries) = value.entries() else { return is_literal(value) };
    let mut any = false;
    for (key, value) in entries {
        let fine = match key.string() {
            Some("case") => matches!(value.string(), Some("fold" | "exact")),
            Some(operator) => {
                any = true;
                is_operator(operator, value, paths)
            }
            None => false,
        };
        if !fine {
            return false;
        }
    }
    any
}

fn is_operator(operator: &str, value: Part<'_>, paths: bool) -> bool {
    match operator {
        "eq" => is_literal(value),
        "in" | "not_in" => value.items().is_some_and(|items| all_of_some(items, is_literal)),
        "gt" | "ge" | "lt" | "le" => value.number().is_some_and(is_short_integer),
        "exists" => value.boolean().is_some(),
        "minBytes" | "maxBytes" | "minItems" | "maxItems" => {
            value.number().is_some_and(|text| text.parse::<u64>().is_ok())
        }
        "each" | "some" => is_matcher(value, paths),
        "prefix" | "suffix" | "contains" => each_text(value, |text| !text.is_empty() && !has_variable(text)),
        "glob" => each_text(value, |text| !text.is_empty() && !has_variable(text) && is_plain(text)),
        "under" => {
            let globs = |text: &str| text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'['));
            paths && each_text(value, |text| is_path(text) && !globs(text))
        }
        "path" => {
            let ends = |text: &str| text.starts_with("./") || text.ends_with('/');
            paths && each_text(value, |text| is_path(text) && !ends(text) && is_plain(text))
        }
        "ext" => {
            let plain = |text: &str| !text.is_empty() && !text.contains(['.', '/']) && !has_variable(text);
            paths && each_text(value, plain)
        }
        _ => false,
    }
}

/// A path without variables and without anything that could be `..`, `~` or `//`.
fn is_path(text: &str) -> bool {
    let mut last = b' ';
    !text.is_empty()
        && text.bytes().all(|byte| {
            let odd = matches!(byte, b'$' | b'~') || (byte == last && matches!(byte, b'/' | b'.'));
            last = byte;
            !odd
        })
}

fn is_literal(value: Part<'_>) -> bool {
    value.is_scalar() && !value.string().is_some_and(has_variable)
}

/// Whether a variable may be in the text.
fn has_variable(text: &str) -> bool {
    text.bytes().any(|byte| byte == b'$')
}

fn is_short_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (1..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// One text or a list of some, each of which passes.
fn each_text(value: Part<'_>, fine: impl Fn(&str) -> bool) -> bool {
    match value.items() {
        Some(items) => all_of_some(items, |item| item.string().is_some_and(&fine)),
        None => value.string().is_some_and(fine),
    }
}

/// Whether there are items, and all pass.
fn all_of_some<'a>(items: impl Iterator<Item = Part<'a>>, fine: impl Fn(Part<'a>) -> bool) -> bool {
    let mut any = false;
    for item in items {
        if !fine(item) {
            return false;
        }
        any = true;
    }
    any
}
