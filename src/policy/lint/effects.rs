//! Effects that are missing, unreachable (L016) or hardly true (L021).

use super::logic::{Goal, all, of};
use super::refute::none;
use super::scope::{Scope, Subjected};
use super::work::Work;
use crate::diag::{Code, Diagnostic};
use crate::model::EffectSet;
use crate::policy::facts::ToolFacts;
use crate::policy::model::EffectEntry;
use crate::policy::set::PolicySource;
use crate::text::escape;
use serde_json::Value;

/// First words of the names of tools that change something.
const WRITERS: [&str; 24] = [
    "write",
    "delete",
    "remove",
    "rm",
    "update",
    "create",
    "insert",
    "set",
    "put",
    "post",
    "push",
    "send",
    "drop",
    "kill",
    "move",
    "mv",
    "edit",
    "install",
    "uninstall",
    "deploy",
    "commit",
    "rename",
    "truncate",
    "upload",
];
/// First words of those that only look, whatever they look at.
const READERS: [&str; 12] =
    ["get", "list", "show", "read", "search", "find", "query", "fetch", "describe", "count", "check", "diff"];
/// Arguments that name what a tool writes.
const OUTPUTS: [&str; 7] =
    ["output_file", "outfile", "out_file", "output_path", "outputFile", "outputPath", "dest"];

pub(super) fn lint(scope: &Scope<'_>, rules: &[Subjected<'_>]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for source in scope.hosts() {
        for (name, entries) in &source.file.effects {
            let Some(tool) = scope.tools.iter().find(|tool| tool.name == *name) else { continue };
            found.extend(unreachable(&scope.work, tool, entries));
            found.extend(open_end(&scope.work, tool, entries));
            found.extend(entries.iter().find_map(|entry| read_that_writes(tool, entry)));
        }
        found.extend(unclassified(scope, source, rules));
    }
    found
}

fn unreachable(work: &Work, tool: &ToolFacts, entries: &[EffectEntry]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let earlier = entries.iter().take(at).find(|earlier| {
            let Some(when) = &earlier.when else { return true };
            // An entry in doubt is passed, so only a certain yes hides what comes later.
            let here = entry.when.as_ref().map(|here| of(here, Goal::NotFalse, &tool.name));
            none(work, all(here.into_iter().chain([of(when, Goal::NotTrue, &tool.name)])).as_ref(), tool)
        });
        let Some(earlier) = earlier else { continue };
        let message = format!("`{}` is never reached", escape(&entry.id));
        found.push(
            Diagnostic::error(Code::PolicyUnreachableEffect, message)
                .at(entry.span, "never used")
                .see(earlier.span, "holds whenever it does")
                .help("the first entry that holds counts: put the special cases first"),
        );
    }
    found
}

fn open_end(work: &Work, tool: &ToolFacts, entries: &[EffectEntry]) -> Option<Diagnostic> {
    let last = entries.last()?;
    if entries.iter().any(|entry| entry.when.is_none()) || tool.builtin_effects.is_some() {
        return None;
    }
    let misses = entries.iter().filter_map(|entry| entry.when.as_ref());
    let gap = all(misses.map(|when| of(when, Goal::NotTrue, &tool.name)));
    if none(work, gap.as_ref(), tool) || work.is_spent() {
        return None;
    }
    let message =
        format!("some calls of `{}` have no effect: every entry has a condition", escape(&tool.name));
    Some(
        Diagnostic::warning(Code::PolicyMissingEffects, message)
            .at(last.span, "the last one")
            .help("end the list with an entry without `when`, such as `{ effect: write }`"),
    )
}

/// Tools that a host grants and that nobody classifies.
fn unclassified(scope: &Scope<'_>, source: &PolicySource, rules: &[Subjected<'_>]) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for rule in rules.iter().filter(|rule| rule.rule.kind.is_grant() && std::ptr::eq(rule.source, source)) {
        for tool in rule.tools.iter().filter(|tool| rule.names(tool) && rule.counts_for(tool)) {
            let hinted = tool.read_only && !tool.destructive && scope.trusts_hints(tool);
            if !scope.effects(tool).is_empty() || hinted || named.contains(&tool.name.as_str()) {
                continue;
            }
            named.push(&tool.name);
            let message = format!("nobody says what effect `{}` has, so it is unknown", escape(&tool.name));
            found.push(
                Diagnostic::warning(Code::PolicyMissingEffects, message)
                    .at(rule.rule.span, "granted here")
                    .help(format!("add `{}: [ {{ effect: ... }} ]` under `effects`", escape(&tool.name))),
            );
        }
    }
    found
}

fn read_that_writes(tool: &ToolFacts, entry: &EffectEntry) -> Option<Diagnostic> {
    // An entry with a condition speaks of the calls that only read.
    if !entry.effects.is_only_read() || entry.when.is_some() {
        return None;
    }
    let engine = tool.builtin_effects.unwrap_or(EffectSet::EMPTY);
    let first = tool.name.split(['_', '-']).find(|part| !part.is_empty()).unwrap_or("");
    let words: Vec<&str> = tool.name.split(['_', '-']).collect();
    let second = words.get(1).filter(|_| !READERS.contains(&first));
    let writer = WRITERS.iter().find(|word| first == **word || second == Some(word));
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let output = OUTPUTS.iter().find(|name| properties.is_some_and(|all| all.contains_key(**name)));
    let why = match (tool.destructive, writer, output) {
        _ if !engine.is_empty() => return None,
        (true, _, _) => "its manifest says `destructive: true`".to_owned(),
        (false, Some(word), _) => format!("its name says `{word}`"),
        (false, None, Some(name)) => format!("it has an argument `{name}`"),
        (false, None, None) => return None,
    };
    let message = format!("`{}` is classified as reading, and {why}", escape(&tool.name));
    Some(
        Diagnostic::warning(Code::PolicyReadThatWrites, message)
            .at(entry.span, "runs in plan mode")
            .help("correct the effect, or say with `when` which calls only read"),
    )
}
