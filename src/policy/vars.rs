//! `vars:` and their use. A variable is put into the node tree before conditions are read, so that its value is
//! typed: `"${vars.limit}"` is the number and not its text.

use crate::diag::{Code, Diagnostic};
use crate::source::{Decoder, Entry, MapReader, Node, NodeKind};
use crate::text::{escape, nearest};
use std::collections::BTreeMap;

/// The variables of one file.
#[derive(Debug, Default)]
pub(super) struct Vars(BTreeMap<String, Node>);

impl Vars {
    /// Reads `vars:`: scalars and lists of scalars.
    pub(super) fn decode(decoder: &mut Decoder, node: &Node) -> Self {
        let mut vars = BTreeMap::new();
        let Some(map) = MapReader::new(decoder, node, "`vars`") else { return Self::default() };
        for entry in map.rest() {
            if check_value(decoder, &entry.value) {
                vars.insert(entry.key.clone(), entry.value.clone());
            }
        }
        Self(vars)
    }

    /// The value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.0.get(name)
    }

    /// Reads a node with its variables filled in. What stands for a variable that is not there is not reported twice.
    pub(super) fn read<T>(
        &self,
        decoder: &mut Decoder,
        node: &Node,
        read: impl FnOnce(&mut Decoder, &Node) -> Option<T>,
    ) -> Option<T> {
        let mut expanding = Decoder::new();
        let expanded = self.expand(&mut expanding, node);
        let faults = expanding.into_diagnostics();
        if faults.is_empty() {
            return read(decoder, &expanded);
        }
        let places: Vec<_> = faults.iter().filter_map(|fault| Some(fault.primary.as_ref()?.span)).collect();
        let mut reading = Decoder::new();
        // What was read without the variable is not what was meant.
        let _ = read(&mut reading, &expanded);
        let more = reading
            .into_diagnostics()
            .into_iter()
            .filter(|fault| fault.primary.as_ref().is_none_or(|label| !places.contains(&label.span)));
        faults.into_iter().chain(more).for_each(|fault| decoder.report(fault));
        None
    }

    /// The node with every `${vars.x}` replaced. `${workspace}` stays: only `under` and `path` know what to do with it.
    fn expand(&self, decoder: &mut Decoder, node: &Node) -> Node {
        let kind = match &node.kind {
            NodeKind::String(text) if text.contains("${") => return self.expand_text(decoder, node, text),
            NodeKind::Seq(items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    let expanded = self.expand(decoder, item);
                    match (&item.kind, expanded.kind) {
                        // A list in the place of an item stands for its items.
                        (NodeKind::String(_), NodeKind::Seq(inner)) => all.extend(inner),
                        (_, kind) => all.push(Node { span: expanded.span, kind }),
                    }
                }
                NodeKind::Seq(all)
            }
            NodeKind::Map(entries) => NodeKind::Map(
                entries
                    .iter()
                    .map(|entry| Entry {
                        key: entry.key.clone(),
                        key_span: entry.key_span,
                        value: self.expand(decoder, &entry.value),
                    })
                    .collect(),
            ),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => {
                node.kind.clone()
            }
        };
        Node { span: node.span, kind }
    }

    fn expand_text(&self, decoder: &mut Decoder, node: &Node, text: &str) -> Node {
        let whole = text.strip_prefix("${vars.").and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) = whole.filter(|name| !name.contains(['$', '{', '}'])) {
            return match self.get(name) {
                Some(value) => Node { span: node.span, kind: at_span(value, node).kind },
                None => self.unknown(decoder, node, &format!("vars.{name}")),
            };
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                return self.unknown(decoder, node, after);
            };
            rest = after;
            if name == "workspace" {
                out.push_str("${workspace}");
                continue;
            }
            match name.strip_prefix("vars.").and_then(|name| self.get(name)).map(|value| &value.kind) {
                Some(NodeKind::String(text) | NodeKind::Number(text)) => out.push_str(text),
                Some(NodeKind::Bool(value)) => out.push_str(if *value { "true" } else { "false" }),
                Some(NodeKind::Null | NodeKind::Seq(_) | NodeKind::Map(_)) => {
                    decoder.bad_value(node.span, "a list cannot stand inside a text", "give the list alone");
                }
                None => return self.unknown(decoder, node, name),
            }
        }
        out.push_str(rest);
        Node { span: node.span, kind: NodeKind::String(out) }
    }

    fn unknown(&self, decoder: &mut Decoder, node: &Node, name: &str) -> Node {
        let mut diagnostic =
            Diagnostic::error(Code::PolicyUnknownVariable, format!("`${{{}}}` names nothing", escape(name)))
                .at(node.span, "no such variable");
        let known = self.0.keys().map(|name| format!("vars.{name}")).chain(["workspace".to_owned()]);
        let known: Vec<String> = known.collect();
        diagnostic = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => diagnostic.help(format!("did you mean `${{{}}}`?", escape(near))),
            None => diagnostic.help("variables are defined under `vars:` in the same file"),
        };
        decoder.report(diagnostic);
        Node { span: node.span, kind: NodeKind::Null }
    }
}

/// The value of a variable with the places of its use, so that errors point there.
fn at_span(value: &Node, user: &Node) -> Node {
    let kind = match &value.kind {
        NodeKind::Seq(items) => NodeKind::Seq(items.iter().map(|item| at_span(item, user)).collect()),
        other => other.clone(),
    };
    Node { span: user.span, kind }
}

fn check_value(decoder: &mut Decoder, node: &Node) -> bool {
    match &node.kind {
        NodeKind::String(text) if text.contains("${") => {
            decoder.bad_value(node.span, "a variable cannot use another one", "write the value itself");
            false
        }
        NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => true,
        NodeKind::Seq(items) => {
            let flat = items.iter().all(|item| !matches!(item.kind, NodeKind::Seq(_)));
            if !flat {
                decoder.bad_value(
                    node.span,
                    "a variable is a scalar or a list of scalars",
                    "a list in a list",
                );
            }
            flat && items.iter().all(|item| check_value(decoder, item))
        }
        NodeKind::Null | NodeKind::Map(_) => {
            decoder.wrong_type(node, "a variable", "a scalar or a list of scalars");
            false
        }
    }
}
