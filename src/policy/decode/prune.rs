//! Leaves out of a policy file what cannot matter for the called tools.
//!
//! Nothing is believed unseen: a rule is left out only if [`super::plain`] knows it to be without fault. All others are
//! decoded, so a faulty rule stops every call, whichever tool it speaks of.

use super::plain;
use crate::policy::model::Skipped;
use crate::source::{Entry, Node, NodeKind, Part};

/// The tree of the file without those rules and effects, and what the rules are called. `None` if the file has to be
/// decoded whole: it is not a mapping, or has an id twice.
pub(super) fn prune(root: Part<'_>, tools: &[&str]) -> Option<(Node, Skipped)> {
    let file = Facts::of(root)?;
    let mut skipped = Skipped::default();
    let mut entries = Vec::new();
    for (key, value) in root.entries()? {
        let node = match key.string()? {
            "rules" => rules(value, &file, tools, &mut skipped)?,
            "effects" => effects(value, tools),
            _ => value.node(),
        };
        entries.push(key.entry_with(node));
    }
    Some((Node { span: root.span(), kind: NodeKind::Map(entries) }, skipped))
}

/// What a rule's being without fault depends on.
struct Facts<'a> {
    policy: &'a str,
    /// A `role: guard` file, and one that is only evaluated, may hold no grants.
    grants: bool,
}

impl<'a> Facts<'a> {
    fn of(root: Part<'a>) -> Option<Self> {
        let (mut policy, mut role, mut mode) = (None, None, false);
        for (key, value) in root.entries()? {
            match key.string()? {
                "policy" => policy = value.string(),
                "role" => role = value.string(),
                "mode" => mode = true,
                _ => {}
            }
        }
        Some(Self { policy: policy?, grants: !mode && matches!(role, Some("host" | "delegate")) })
    }
}

fn rules(list: Part<'_>, file: &Facts<'_>, tools: &[&str], skipped: &mut Skipped) -> Option<Node> {
    let Some(items) = list.items() else { return Some(list.node()) };
    let (mut kept, mut ids) = (Vec::new(), Vec::new());
    for item in items {
        let id = item.get("id");
        let text = id.and_then(|id| id.string());
        ids.extend(text);
        match (id, text) {
            (Some(id), Some(text)) if plain::is_rule_of_others(item, file.grants, tools) => {
                skipped.push(file.policy, text, id.span());
            }
            _ => kept.push(item.node()),
        }
    }
    ids.sort_unstable();
    let twice = ids.iter().zip(ids.iter().skip(1)).any(|(a, b)| a == b);
    (!twice).then(|| Node { span: list.span(), kind: NodeKind::Seq(kept) })
}

fn effects(map: Part<'_>, tools: &[&str]) -> Node {
    let Some(entries) = map.entries() else { return map.node() };
    let kept: Vec<Entry> = entries
        .filter(|(key, value)| !plain::are_effects_of_others(*key, *value, tools))
        .map(|(key, value)| key.entry_with(value.node()))
        .collect();
    Node { span: map.span(), kind: NodeKind::Map(kept) }
}
