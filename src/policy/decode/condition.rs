//! Decodes `when`, `unless`, `for` and `requiresApproval.when`.

use super::matcher;
use crate::diag::{Code, Diagnostic};
use crate::policy::condition::{Clause, Condition};
use crate::policy::subject::Subject;
use crate::source::{Decoder, Entry, MapReader, Node, NodeKind};
use crate::text::escape;

/// Where a condition stands, and so what it may speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::policy) enum Scope {
    /// A rule: everything.
    Rule,
    /// An effect entry: not the effect, which it decides.
    Effects,
    /// `for` of a delegate: the context.
    For,
    /// `requiresApproval.when` of a manifest: everything; there are no variables.
    Approval,
}

impl Scope {
    fn admits(self, subject: &Subject) -> bool {
        match (self, subject) {
            (Self::Rule | Self::Approval, _) | (Self::For, Subject::Ctx(_)) => true,
            (Self::Effects, subject) => *subject != Subject::Effect,
            (Self::For, _) => false,
        }
    }

    const fn remark(self) -> &'static str {
        match self {
            Self::Rule | Self::Approval => "not possible here",
            Self::Effects => "the effect is what this entry decides",
            Self::For => "`for` selects by `ctx` values only",
        }
    }
}

/// Decodes a condition whose variables were filled in. An empty one is `None` without a report.
pub(in crate::policy) fn condition(decoder: &mut Decoder, node: &Node, scope: Scope) -> Option<Condition> {
    clause(decoder, node, scope).map(Condition)
}

/// Decodes a `requiresApproval.when`.
pub(in crate::policy) fn approval_condition(decoder: &mut Decoder, node: &Node) -> Option<Condition> {
    if matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty()) {
        decoder.bad_value(node.span, "`when` has no condition", "empty");
        return None;
    }
    condition(decoder, node, Scope::Approval)
}

fn clause(decoder: &mut Decoder, node: &Node, scope: Scope) -> Option<Clause> {
    let map = MapReader::new(decoder, node, "a condition")?;
    let parts: Vec<Option<Clause>> = map.rest().map(|entry| one(decoder, entry, scope)).collect::<Vec<_>>();
    let mut parts: Vec<Clause> = parts.into_iter().collect::<Option<_>>()?;
    if parts.len() == 1 { parts.pop() } else { Some(Clause::All(parts)) }
}

fn one(decoder: &mut Decoder, entry: &Entry, scope: Scope) -> Option<Clause> {
    match entry.key.as_str() {
        "all" => several(decoder, entry, scope).map(Clause::All),
        "any" => several(decoder, entry, scope).map(Clause::Any),
        "not" => {
            not_empty(decoder, &entry.value)?;
            clause(decoder, &entry.value, scope).map(|part| Clause::Not(Box::new(part)))
        }
        _ => atom(decoder, entry, scope),
    }
}

fn several(decoder: &mut Decoder, entry: &Entry, scope: Scope) -> Option<Vec<Clause>> {
    let items = decoder.seq(&entry.value, &format!("`{}`", escape(&entry.key)))?;
    if items.is_empty() {
        decoder.bad_value(entry.value.span, "a list of conditions has at least one", "empty");
        return None;
    }
    let parts: Vec<Option<Clause>> = items
        .iter()
        .map(|item| {
            not_empty(decoder, item)?;
            clause(decoder, item, scope)
        })
        .collect();
    parts.into_iter().collect()
}

fn not_empty(decoder: &mut Decoder, node: &Node) -> Option<()> {
    if matches!(&node.kind, NodeKind::Map(entries) if entries.is_empty()) {
        decoder.bad_value(node.span, "this condition says nothing", "empty");
        return None;
    }
    Some(())
}

fn atom(decoder: &mut Decoder, entry: &Entry, scope: Scope) -> Option<Clause> {
    let subject = match Subject::parse(&entry.key) {
        Ok(subject) => subject,
        Err(fault) => {
            let mut diagnostic = Diagnostic::error(
                Code::SourceUnknownKey,
                format!("unknown key `{}` in a condition: {}", escape(&entry.key), fault.message),
            )
            .at(entry.key_span, "not known here");
            diagnostic = match fault.near {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic
                    .help("a condition speaks of args.NAME, ctx.NAME, tool, effect or tool.sandbox.NAME"),
            };
            decoder.report(diagnostic);
            return None;
        }
    };
    if !scope.admits(&subject) {
        decoder.bad_value(entry.key_span, format!("`{subject}` cannot be used here"), scope.remark());
        return None;
    }
    matcher::decode(decoder, &subject, entry.key_span, &entry.value)
}
