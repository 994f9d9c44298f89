//! Decodes a policy file.

use super::condition::{Scope, condition};
use super::{effects, rule};
use crate::diag::{Code, Diagnostic};
use crate::policy::action::{Action, Role};
use crate::policy::model::{Default, PolicyFile};
use crate::policy::vars::Vars;
use crate::source::{Decoder, MapReader, Node, NodeKind};
use crate::text::{Span, escape};
use std::collections::HashMap;

/// Names that the engine uses for rules of its own.
const RESERVED: [&str; 2] = ["engine", "default"];

/// Decodes a policy file, reporting every error in it. `None` if anything was reported as an error: there is no
/// half-loaded policy.
pub fn decode(decoder: &mut Decoder, node: &Node) -> Option<PolicyFile> {
    let before = decoder.count();
    let mut map = MapReader::new(decoder, node, "a policy")?;
    let name = map.required(decoder, "policy").and_then(|n| policy_name(decoder, n));
    if let Some(node) = map.required(decoder, "format") {
        decoder.integer(node, "`format`", 1..=1);
    }
    let role = map.required(decoder, "role").and_then(|n| decoder.choice(n, "`role`", &Role::CHOICES));
    let default = default(decoder, &mut map, role);
    let vars = map.optional("vars").map(|n| Vars::decode(decoder, n)).unwrap_or_default();
    let reason_default = map.optional("reasonDefault").and_then(|n| rule::reason(decoder, n, &vars));
    let applies_for = map.optional("for").and_then(|n| {
        vars.read(decoder, n, |decoder, n| {
            if matches!(&n.kind, NodeKind::Map(entries) if entries.is_empty()) {
                decoder.bad_value(n.span, "`for` has no condition", "leave `for` out");
            }
            condition(decoder, n, Scope::For)
        })
    });
    let shown = name.clone().unwrap_or_default();
    let effects = map.optional("effects").map(|n| effects::decode(decoder, n, &shown, &vars));
    let hints = map.optional("trustHints");
    let trust_hints = hints.and_then(|n| decoder.strings(n, "`trustHints`"));
    let evaluate = rule::mode(decoder, &mut map);
    let facts =
        rule::FileFacts { policy: &shown, vars: &vars, guards_only: role == Some(Role::Guard), evaluate };
    let rules = match map.optional("rules") {
        Some(node) => {
            let items = decoder.seq(node, "`rules`").unwrap_or_default();
            items.iter().filter_map(|item| rule::decode(decoder, item, &facts)).collect()
        }
        None => Vec::new(),
    };
    refuse_later(decoder, &mut map);
    map.finish(decoder);
    if let Some(role) = role {
        check_role(decoder, node, role);
    }
    let file = PolicyFile {
        name: name?,
        role: role?,
        default,
        reason_default,
        effects: effects.unwrap_or_default(),
        trust_hints: trust_hints.unwrap_or_default(),
        hint_spans: hints.map(spans).unwrap_or_default(),
        applies_for,
        rules,
    };
    check_ids(decoder, &file);
    (decoder.count() == before).then_some(file)
}

/// The places of a list's items, or of the one that stands for a list.
fn spans(node: &Node) -> Vec<Span> {
    match &node.kind {
        NodeKind::Seq(items) => items.iter().map(|item| item.span).collect(),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) | NodeKind::Map(_) => {
            vec![node.span]
        }
    }
}

fn policy_name(decoder: &mut Decoder, node: &Node) -> Option<String> {
    let text = decoder.string(node, "`policy`")?;
    if !rule::is_name(text) {
        decoder.bad_value(
            node.span,
            "a policy's name has letters, digits, `_`, `-` and `.`, at most 64",
            "not a name",
        );
        return None;
    }
    if RESERVED.contains(&text) {
        decoder.bad_value(node.span, format!("`{text}` is the name of rules of toolctl itself"), "taken");
        return None;
    }
    Some(text.to_owned())
}

fn default(decoder: &mut Decoder, map: &mut MapReader<'_>, role: Option<Role>) -> Default {
    const CHOICES: [(&str, Option<Action>); 4] = [
        ("allow", Some(Action::Allow)),
        ("ask", Some(Action::Ask)),
        ("deny", Some(Action::Deny)),
        ("inherit", None),
    ];
    let Some(node) = map.optional("default") else {
        // Not said is deny, save for guards, which have no default at all.
        let action = if role == Some(Role::Guard) { None } else { Some(Action::Deny) };
        return Default { action, span: None };
    };
    let action = decoder.choice(node, "`default`", &CHOICES).unwrap_or(Some(Action::Deny));
    if action.is_none() && role == Some(Role::Host) {
        decoder.report(
            Diagnostic::error(Code::PolicyBadRole, "a host has nobody to inherit a default from")
                .at(node.span, "only a delegate can say this")
                .help("write deny, ask or allow, or make the file a `role: delegate`"),
        );
    }
    Default { action, span: Some(node.span) }
}

/// Keys that the language has and this version does not carry out: refused, never ignored.
fn refuse_later(decoder: &mut Decoder, map: &mut MapReader<'_>) {
    for key in ["decide", "prove"] {
        if let Some(entry) = map.entry(key) {
            decoder.report(
                Diagnostic::error(
                    Code::PolicyUnsupported,
                    format!("`{key}` is not carried out by this version"),
                )
                .at(entry.key_span, "not supported yet")
                .help("a policy that is carried out in part could allow too much, so the file is refused"),
            );
        }
    }
}

/// Keys that do not go with a role.
fn check_role(decoder: &mut Decoder, node: &Node, role: Role) {
    let refused: &[(&str, &str)] = match role {
        Role::Host => &[("for", "only a delegate is for some agents")],
        Role::Delegate => &[
            ("effects", "a delegate can only tighten, and effects are the host's word"),
            ("trustHints", "a delegate can only tighten"),
        ],
        Role::Guard => &[
            ("default", "a guard file has no default"),
            ("reasonDefault", "a guard file has no default"),
            ("effects", "a guard file holds guards only"),
            ("trustHints", "a guard file holds guards only"),
            ("for", "only a delegate is for some agents"),
        ],
    };
    for (key, message) in refused {
        if let Some(entry) = node.entry(key) {
            decoder.report(
                Diagnostic::error(Code::PolicyBadRole, *message)
                    .at(entry.key_span, format!("not a key of a `role: {}` file", role.as_str())),
            );
        }
    }
}

fn check_ids(decoder: &mut Decoder, file: &PolicyFile) {
    let mut seen = HashMap::new();
    for rule in &file.rules {
        if let Some(first) = seen.insert(rule.id.as_str(), rule.span) {
            let message = format!("two rules have the id `{}`", escape(&rule.id));
            decoder.report(
                Diagnostic::error(Code::PolicyDuplicateRule, message)
                    .at(rule.span, "used again here")
                    .see(first, "first used here"),
            );
        }
    }
}
