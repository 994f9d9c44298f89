//! Decodes `effects:`: for each tool an ordered list, of which the first entry that holds counts.

use super::condition::{Scope, condition};
use super::matcher;
use crate::policy::model::EffectEntry;
use crate::policy::vars::Vars;
use crate::source::{Decoder, MapReader, Node, NodeKind};
use crate::text::{Span, escape};
use std::collections::BTreeMap;

/// Decodes the mapping from tool names to entries.
pub(super) fn decode(
    decoder: &mut Decoder,
    node: &Node,
    policy: &str,
    vars: &Vars,
) -> BTreeMap<String, Vec<EffectEntry>> {
    let mut all = BTreeMap::new();
    let Some(map) = MapReader::new(decoder, node, "`effects`") else { return all };
    for entry in map.rest() {
        let valid = entry.key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if !valid || entry.key.is_empty() {
            decoder.bad_value(entry.key_span, "effects are given for one tool each", "not a tool's name");
            continue;
        }
        let one = std::slice::from_ref(&entry.value);
        let items = if let NodeKind::Seq(items) = &entry.value.kind { items.as_slice() } else { one };
        if items.is_empty() {
            decoder.bad_value(entry.value.span, format!("`{}` has no entry", escape(&entry.key)), "empty");
        }
        let mut entries = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let id = format!("{policy}/effects/{}/{}", entry.key, at + 1);
            entries.extend(one_entry(decoder, item, id, vars, entry.key_span));
        }
        all.insert(entry.key.clone(), entries);
    }
    all
}

fn one_entry(
    decoder: &mut Decoder,
    node: &Node,
    id: String,
    vars: &Vars,
    tool_span: Span,
) -> Option<EffectEntry> {
    let mut map = MapReader::new(decoder, node, "an effect entry")?;
    let effects = map.required(decoder, "effect").and_then(|n| matcher::effects(decoder, n));
    let when = map.optional("when").map(|node| {
        vars.read(decoder, node, |decoder, node| {
            if matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty()) {
                decoder.bad_value(node.span, "`when` has no condition", "leave `when` out");
            }
            condition(decoder, node, Scope::Effects)
        })
    });
    let from_project = from_project(decoder, &mut map);
    map.finish(decoder);
    // An entry whose condition could not be read may not become one without a condition.
    let when = match when {
        Some(condition) => Some(condition?),
        None => None,
    };
    Some(EffectEntry { id, when, effects: effects?, from_project, span: node.span, tool_span })
}

/// `from: project`: the entry speaks of tools of inner layers too.
pub(super) fn from_project(decoder: &mut Decoder, map: &mut MapReader<'_>) -> bool {
    map.optional("from")
        .and_then(|node| decoder.choice(node, "`from`", &[("project", true)]))
        .unwrap_or(false)
}
