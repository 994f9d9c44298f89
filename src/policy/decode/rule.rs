//! Decodes one rule.

use super::condition::{Scope, condition};
use super::effects::from_project;
use super::matcher;
use crate::diag::{Code, Diagnostic};
use crate::model::SandboxConfig;
use crate::policy::action::{Action, Remember, Strength};
use crate::policy::condition::{Atom, Clause, Condition};
use crate::policy::matchers::Test;
use crate::policy::model::{Example, Mask, Rule, RuleKind};
use crate::policy::reason::Reason;
use crate::policy::subject::Subject;
use crate::policy::vars::Vars;
use crate::source::{Decoder, MapReader, Node, NodeKind};
use crate::text::escape;
use serde_json::Value;

/// Words of other policy languages, and what they are here.
const OTHER_WORDS: [(&str, &str); 12] = [
    ("then", "action"),
    ("decision", "action"),
    ("verdict", "action"),
    ("result", "action"),
    ("if", "when"),
    ("condition", "when"),
    ("where", "when"),
    ("except", "unless"),
    ("name", "id"),
    ("message", "reason"),
    ("description", "reason"),
    ("tools", "tool"),
];

/// What a rule needs to know of its file.
pub(super) struct FileFacts<'f> {
    pub(super) policy: &'f str,
    pub(super) vars: &'f Vars,
    pub(super) guards_only: bool,
    pub(super) evaluate: bool,
}

/// Decodes a rule. Its errors are reported; the rule is left out if it cannot be used.
pub(super) fn decode(decoder: &mut Decoder, node: &Node, file: &FileFacts<'_>) -> Option<Rule> {
    let before = decoder.count();
    let mut map = MapReader::new(decoder, node, "a rule")?;
    let id = map.required(decoder, "id").and_then(|n| rule_id(decoder, n));
    let span = map.optional("id").map_or(node.span, |n| n.span);
    let action_node = map.required(decoder, "action");
    let kind = action_node.and_then(|n| action(decoder, n));
    let tools = map.optional("tool").and_then(|n| file.vars.read(decoder, n, matcher::tool_selector));
    let effect = map.optional("effect").and_then(|n| effect(decoder, n));
    let when = map.optional("when").and_then(|n| optional_condition(decoder, n, file));
    let unless = map.optional("unless").and_then(|n| {
        let found = optional_condition(decoder, n, file);
        if found.is_none() && matches!(&n.kind, NodeKind::Map(entries) if entries.is_empty()) {
            decoder.bad_value(n.span, "`unless` has no condition", "empty");
        }
        found
    });
    let always = map.optional("always").and_then(|n| decoder.bool(n, "`always`")).unwrap_or(false);
    let reason_node = map.optional("reason");
    let reason = reason_node.and_then(|n| reason(decoder, n, file.vars));
    let mask = map.optional("mask").and_then(|n| decoder.bool(n, "`mask`")).unwrap_or(false);
    let mut examples = Vec::new();
    for (key, matches) in [("match", true), ("notMatch", false)] {
        if let Some(rows) = map.optional(key) {
            read_examples(decoder, rows, key, matches, &mut examples);
        }
    }
    let evaluate = file.evaluate || mode(decoder, &mut map);
    let limits = map.optional("limits").and_then(|n| SandboxConfig::decode(decoder, n));
    let from_project = from_project(decoder, &mut map);
    let remember = map.optional("remember").and_then(|n| remember(decoder, n));
    let strength = map.optional("strength").and_then(|n| decoder.choice(n, "`strength`", &Strength::CHOICES));
    map.finish_with(decoder, &OTHER_WORDS);
    let (id, kind) = (id?, kind?);
    let id = format!("{}/{id}", file.policy);
    if kind.is_grant() && when.is_none() && !always && node.get("when").is_none_or(is_empty) {
        decoder.report(
            Diagnostic::error(Code::PolicyEmptyWhen, format!("`{id}` grants without a condition"))
                .at(span, "no `when`")
                .help("add a `when`, or `always: true` if every call of the tool is meant"),
        );
    }
    let mask = if mask { build_mask(decoder, node, &id, kind, when.as_ref(), unless.as_ref()) } else { None };
    let rule = Rule {
        id,
        span,
        tools,
        effect,
        when,
        unless,
        kind,
        reason,
        reason_span: reason_node.map(|node| node.span),
        action_span: action_node.map_or(span, |node| node.span),
        mask,
        examples,
        evaluate,
        limits,
        from_project,
        remember,
        strength,
    };
    check_keys(decoder, node, &rule, file);
    // A rule of which a part could not be read is never used: its file does not load.
    (decoder.count() == before).then_some(rule)
}

fn is_empty(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty())
}

fn optional_condition(decoder: &mut Decoder, node: &Node, file: &FileFacts<'_>) -> Option<Condition> {
    if is_empty(node) {
        return None;
    }
    file.vars.read(decoder, node, |decoder, node| condition(decoder, node, Scope::Rule))
}

fn rule_id(decoder: &mut Decoder, node: &Node) -> Option<String> {
    let text = decoder.string(node, "`id`")?;
    if is_name(text) {
        return Some(text.to_owned());
    }
    decoder.bad_value(node.span, "an id has letters, digits, `_`, `-` and `.`, at most 64", "not an id");
    None
}

/// Whether a text can name a policy or a rule.
pub(super) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

fn action(decoder: &mut Decoder, node: &Node) -> Option<RuleKind> {
    if matches!(node.kind, NodeKind::Map(_)) {
        let mut map = MapReader::new(decoder, node, "`action`")?;
        let floor = map
            .required(decoder, "atLeast")
            .and_then(|n| decoder.choice(n, "`atLeast`", &[("ask", Action::Ask), ("deny", Action::Deny)]));
        map.finish(decoder);
        return floor.map(RuleKind::Guard);
    }
    decoder.choice(node, "`action`", &Action::CHOICES).map(|action| match action {
        Action::Allow | Action::Ask => RuleKind::Grant(action),
        Action::Deny => RuleKind::Guard(action),
    })
}

fn effect(decoder: &mut Decoder, node: &Node) -> Option<Condition> {
    matcher::decode(decoder, &Subject::Effect, node.span, node).map(Condition)
}

/// Parses a reason.
pub(super) fn reason(decoder: &mut Decoder, node: &Node, vars: &Vars) -> Option<Reason> {
    let text = decoder.string(node, "a reason")?;
    match Reason::parse(text, |name| vars.get(name).map(Node::to_value)) {
        Ok(reason) => Some(reason),
        Err(why) => {
            decoder.report(
                Diagnostic::error(Code::PolicyBadReason, why).at(node.span, "in this reason").help(
                    "a reason shows {args.NAME}, {bytes(args.NAME)}, {ctx.NAME}, {vars.NAME} and {tool}",
                ),
            );
            None
        }
    }
}

fn read_examples(decoder: &mut Decoder, rows: &Node, key: &str, matches: bool, examples: &mut Vec<Example>) {
    for row in decoder.seq(rows, &format!("`{key}`")).unwrap_or_default() {
        match row.to_value() {
            Value::Object(args) => examples.push(Example { args, matches, span: row.span }),
            _ => decoder.wrong_type(row, "an example", "a mapping of arguments"),
        }
    }
}

/// `mode: evaluate` of a rule or a file.
pub(super) fn mode(decoder: &mut Decoder, map: &mut MapReader<'_>) -> bool {
    map.optional("mode")
        .and_then(|n| decoder.choice(n, "`mode`", &[("enforce", false), ("evaluate", true)]))
        .unwrap_or(false)
}

fn remember(decoder: &mut Decoder, node: &Node) -> Option<Remember> {
    match node.kind {
        NodeKind::Bool(true) => Some(Remember::Yes),
        NodeKind::Bool(false) => Some(Remember::No),
        _ => decoder.duration(node, "`remember`").map(Remember::For),
    }
}

/// Keys that do not go with the kind of the rule or the role of the file.
fn check_keys(decoder: &mut Decoder, node: &Node, rule: &Rule, file: &FileFacts<'_>) {
    let grant = rule.kind.is_grant();
    let asks = rule.kind.action() == Action::Ask;
    let mut refuse = |key: &str, bad: bool, message: &str| {
        if let Some(entry) = node.entry(key).filter(|_| bad) {
            decoder.report(
                Diagnostic::error(Code::PolicyBadRole, format!("`{}`: {message}", escape(&rule.id)))
                    .at(entry.key_span, "does not go with this rule"),
            );
        }
    };
    refuse("action", grant && file.guards_only, "a `role: guard` file holds guards only");
    refuse("limits", !grant, "only a grant has limits; a guard decides and does not run anything");
    refuse("from", !grant, "a guard speaks of the tools of every layer anyway");
    refuse("always", !grant, "a guard without `when` always matches; leave `always` out");
    refuse("remember", !asks, "only an ask can be remembered");
    refuse("strength", !asks, "only an ask is answered by somebody");
    refuse("mode", grant && rule.evaluate, "only guards can be evaluated without effect");
    if grant && file.evaluate {
        refuse("action", true, "the file says `mode: evaluate`, which is for guards only");
    }
}

/// What a mask hides: `when` and `unless` may only speak of paths, since a mask knows no call.
fn build_mask(
    decoder: &mut Decoder,
    node: &Node,
    id: &str,
    kind: RuleKind,
    when: Option<&Condition>,
    unless: Option<&Condition>,
) -> Option<Mask> {
    let at = node.entry("mask").map_or(node.span, |entry| entry.key_span);
    if kind != RuleKind::Guard(Action::Deny) {
        decoder.bad_value(at, "only a rule with `action: deny` can mask files", "not a deny");
        return None;
    }
    let mut fold = None;
    let globs = when.and_then(|condition| path_globs(&condition.0, &mut fold));
    let except = unless.map_or(Some(Vec::new()), |condition| path_globs(&condition.0, &mut fold));
    if let (Some(globs), Some(except)) = (globs, except)
        && !globs.is_empty()
    {
        return Some(Mask { rule: id.to_owned(), globs, except, fold: fold.unwrap_or(false) });
    }
    decoder.report(
        Diagnostic::error(
            Code::SourceBadValue,
            "a mask hides files whatever the call is, so its conditions can only be `path` matchers",
        )
        .at(at, "needs more than a path")
        .help("use one `path` matcher in `when` and at most one in `unless`, or leave `mask` out"),
    );
    None
}

/// The globs, if the condition is made of `path` matchers joined by `any`, all with the same `case`.
fn path_globs(clause: &Clause, fold: &mut Option<bool>) -> Option<Vec<String>> {
    match clause {
        Clause::Any(parts) => {
            let all: Option<Vec<_>> = parts.iter().map(|part| path_globs(part, fold)).collect();
            all.map(|all| all.concat())
        }
        Clause::Atom(atom) => {
            let Atom { subject: Subject::Args(_), test: Test::Path(globs), .. } = atom.as_ref() else {
                return None;
            };
            if *fold.get_or_insert(globs.fold) != globs.fold {
                return None;
            }
            let all = globs.relative.iter().chain(&globs.absolute);
            Some(all.map(|pattern| pattern.text().to_owned()).collect())
        }
        // `exists: true` beside a glob: a path that is there.
        Clause::All(parts) => {
            let (present, others): (Vec<&Clause>, Vec<&Clause>) =
                parts.iter().partition(|part| asks_presence(part));
            match others.as_slice() {
                [one] if !present.is_empty() => path_globs(one, fold),
                _ => None,
            }
        }
        Clause::Not(_) => None,
    }
}

fn asks_presence(clause: &Clause) -> bool {
    matches!(clause, Clause::Atom(atom) if matches!(atom.test, Test::Exists(true)))
}
