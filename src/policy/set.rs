//! All policies of one run, arranged: who is host, who can only tighten, what counts at all, and an index by tool.

use super::action::{Action, Role};
use super::builtin;
use super::model::{EffectEntry, PolicyFile, Rule};
use crate::canon::sha256;
use crate::diag::{Code, Diagnostic};
use crate::model::Layer;
use crate::text::{Span, escape};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// A policy file and where it comes from.
#[derive(Debug)]
pub struct PolicySource {
    /// The decoded file.
    pub file: PolicyFile,
    /// Its layer.
    pub layer: Layer,
    /// Whether it was trusted. Of a file of an untrusted project only the guards count.
    pub trusted: bool,
    /// Its path, for people.
    pub path: PathBuf,
    /// SHA-256 of its text, as `sha256:…`.
    pub text_digest: String,
}

impl PolicySource {
    /// A place in the file; the built-in policy is in no file that a person could open.
    pub(super) fn place(&self, span: Span) -> Option<Span> {
        (self.layer != Layer::Builtin).then_some(span)
    }
}

/// Files whose rules are weighed together.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) kind: UnitKind,
    pub(super) layer: Layer,
    /// Indices of its sources.
    pub(super) sources: Vec<usize>,
}

/// What a unit may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitKind {
    /// Decides.
    Host,
    /// Is joined to the decision: can only tighten.
    Delegate,
    /// Only its guards count.
    Guards,
}

/// A rule by its place in the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleAt {
    pub(super) unit: usize,
    pub(super) source: usize,
    pub(super) rule: usize,
}

/// All policies of one run. The order in which they were given has no meaning.
#[derive(Debug)]
pub struct PolicySet {
    pub(super) sources: Vec<PolicySource>,
    pub(super) units: Vec<Unit>,
    by_tool: HashMap<String, Vec<RuleAt>>,
    for_any: Vec<RuleAt>,
    ignored: Vec<Diagnostic>,
    digest: String,
}

impl PolicySet {
    /// Arranges the policies. The built-in one is added when no outer or trusted file is a host.
    ///
    /// The diagnostics are errors that forbid any decision (two rules with one id) and warnings (two defaults).
    pub fn new(mut sources: Vec<PolicySource>) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        if !sources.iter().any(|source| source.trusted && source.file.role == Role::Host) {
            match builtin::source() {
                Ok(source) => sources.push(source),
                // Without a host everything is denied, see `decide`.
                Err(faults) => diagnostics.extend(faults),
            }
        }
        sources.sort_by(|a, b| (a.layer, &a.path, &a.text_digest).cmp(&(b.layer, &b.path, &b.text_digest)));
        let units = arrange(&sources);
        check_ids(&sources, &mut diagnostics);
        check_defaults(&sources, &units, &mut diagnostics);
        let ignored = list_ignored(&sources);
        let digest = digest(&sources);
        let (by_tool, for_any) = index(&sources, &units);
        (Self { sources, units, by_tool, for_any, ignored, digest }, diagnostics)
    }

    /// SHA-256 over all policies, their layers and whether they were trusted, as `sha256:…`.
    pub fn digest(&self) -> String {
        self.digest.clone()
    }

    /// What does not count because the project is not trusted, one finding each.
    pub fn ignored(&self) -> &[Diagnostic] {
        &self.ignored
    }

    /// The full ids of all rules, ignored ones included.
    pub fn rule_ids(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().flat_map(|source| source.file.rule_ids())
    }

    /// The policies, outermost layer first.
    pub fn sources(&self) -> &[PolicySource] {
        &self.sources
    }

    /// The rule at a place of the index.
    pub(super) fn rule(&self, at: RuleAt) -> Option<(&PolicySource, &Rule)> {
        let source = self.sources.get(at.source)?;
        Some((source, source.file.rules.get(at.rule)?))
    }

    /// The rules that can select a tool, in a fixed order.
    pub(super) fn candidates(&self, tool: &str) -> Vec<RuleAt> {
        let named = self.by_tool.get(tool).into_iter().flatten().copied();
        let others = self.for_any.iter().copied().filter(|at| {
            let selector = self.rule(*at).and_then(|(_, rule)| rule.tools.as_ref());
            selector.is_none_or(|names| names.selects(tool))
        });
        let mut all: Vec<RuleAt> = named.chain(others).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The effect entries that classify a tool: those of the outermost layer that has any for it.
    pub(super) fn effect_entries(
        &self,
        tool: &str,
        tool_layer: Layer,
    ) -> Vec<(&PolicySource, &[EffectEntry])> {
        let mut found: Vec<(&PolicySource, &[EffectEntry])> = Vec::new();
        for source in self.sources.iter().filter(|source| source.trusted && source.file.role == Role::Host) {
            let Some(entries) = source.file.effects.get(tool) else { continue };
            let speaks = tool_layer <= source.layer || entries.iter().any(|entry| entry.from_project);
            let outermost = found.first().is_none_or(|(first, _)| first.layer == source.layer);
            if speaks && outermost {
                found.push((source, entries));
            }
        }
        found
    }

    /// Whether the host trusts the hints of a tool.
    pub(super) fn trusts_hints(&self, tool: &str) -> bool {
        let hosts = self.units.iter().filter(|unit| unit.kind == UnitKind::Host);
        hosts.flat_map(|unit| unit.sources.iter()).any(|at| {
            self.sources
                .get(*at)
                .is_some_and(|source| source.file.trust_hints.iter().any(|name| name == tool))
        })
    }
}

fn arrange(sources: &[PolicySource]) -> Vec<Unit> {
    let hosts = |layer: Layer| {
        let found = sources.iter().enumerate().filter(move |(_, source)| {
            source.trusted && source.file.role == Role::Host && source.layer == layer
        });
        found.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let mut units = Vec::new();
    for layer in [Layer::Builtin, Layer::System, Layer::User, Layer::Project] {
        let found = hosts(layer);
        if !found.is_empty() {
            let kind = if units.is_empty() { UnitKind::Host } else { UnitKind::Delegate };
            units.push(Unit { kind, layer, sources: found });
        }
    }
    for (at, source) in sources.iter().enumerate() {
        let kind = match (source.trusted, source.file.role) {
            (true, Role::Host) => continue,
            (true, Role::Delegate) => UnitKind::Delegate,
            (true, Role::Guard) | (false, _) => UnitKind::Guards,
        };
        units.push(Unit { kind, layer: source.layer, sources: vec![at] });
    }
    units
}

type Index = (HashMap<String, Vec<RuleAt>>, Vec<RuleAt>);

fn index(sources: &[PolicySource], units: &[Unit]) -> Index {
    let mut by_tool: HashMap<String, Vec<RuleAt>> = HashMap::new();
    let mut for_any = Vec::new();
    for (unit_at, unit) in units.iter().enumerate() {
        for source_at in &unit.sources {
            let rules = sources.get(*source_at).map(|source| source.file.rules.as_slice());
            for (rule_at, rule) in rules.unwrap_or_default().iter().enumerate() {
                let at = RuleAt { unit: unit_at, source: *source_at, rule: rule_at };
                match &rule.tools {
                    Some(tools) if !tools.negated && !tools.names.iter().any(|name| name.contains('*')) => {
                        for name in &tools.names {
                            by_tool.entry(name.clone()).or_default().push(at);
                        }
                    }
                    Some(_) | None => for_any.push(at),
                }
            }
        }
    }
    (by_tool, for_any)
}

fn check_ids(sources: &[PolicySource], diagnostics: &mut Vec<Diagnostic>) {
    let names: HashSet<&str> = sources.iter().map(|source| source.file.name()).collect();
    if names.len() == sources.len() {
        // An id begins with the name of its policy.
        return;
    }
    let mut seen: HashMap<&str, (&PolicySource, Span)> = HashMap::new();
    for source in sources {
        for (id, span) in source.file.ids() {
            // Inside one file the decoder has reported it.
            if let Some((other, first)) = seen.insert(id, (source, span))
                && !std::ptr::eq(other, source)
            {
                let message = format!("two policies have a rule with the id `{}`", escape(id));
                let mut diagnostic = Diagnostic::error(Code::PolicyDuplicateRule, message)
                    .help("give one of the policies another name, or the rule another id");
                if let Some(span) = source.place(span) {
                    diagnostic = diagnostic.at(span, "used again here");
                }
                if let Some(span) = other.place(first) {
                    diagnostic = diagnostic.see(span, "first used here");
                }
                diagnostics.push(diagnostic);
            }
        }
    }
}

fn check_defaults(sources: &[PolicySource], units: &[Unit], diagnostics: &mut Vec<Diagnostic>) {
    for unit in units {
        let all: Vec<_> = unit.sources.iter().filter_map(|at| sources.get(*at)).collect();
        let Some(first) = all.first() else { continue };
        for other in all.iter().filter(|other| other.file.default.action != first.file.default.action) {
            let mut diagnostic = Diagnostic::warning(
                Code::PolicyBadRole,
                format!(
                    "two host policies of one layer, `{}` and `{}`, have different defaults",
                    escape(&first.file.name),
                    escape(&other.file.name)
                ),
            )
            .note("the stricter one holds")
            .help("say the same in both");
            if let Some(span) = other.file.default.span.and_then(|span| other.place(span)) {
                diagnostic = diagnostic.at(span, "differs");
            }
            diagnostics.push(diagnostic);
        }
    }
}

fn list_ignored(sources: &[PolicySource]) -> Vec<Diagnostic> {
    let mut ignored = Vec::new();
    for source in sources.iter().filter(|source| !source.trusted) {
        let mut add = |span: Span, what: String| {
            ignored.push(
                Diagnostic::note_of(Code::ConfigNeedsTrust, format!("{what} is ignored: needs trust"))
                    .at(span, "does not count")
                    .help("run `toolctl trust` in the project if you know where it comes from"),
            );
        };
        let granting = source.file.rules.iter().filter(|rule| rule.kind.is_grant());
        for rule in granting {
            add(rule.span, format!("the grant `{}`", escape(&rule.id)));
        }
        for entry in source.file.effects.values().flatten() {
            add(entry.span, format!("the effect `{}`", escape(&entry.id)));
        }
        if let Some(span) = source.file.default.span {
            add(span, format!("the default of `{}`", escape(&source.file.name)));
        }
    }
    ignored
}

fn digest(sources: &[PolicySource]) -> String {
    let mut lines: Vec<String> = sources
        .iter()
        .map(|source| format!("{} {} {}\n", source.layer, source.trusted, source.text_digest))
        .collect();
    lines.sort();
    sha256(lines.concat().as_bytes())
}

/// The strictest default of a unit's files, with the file that says it.
pub(super) fn default_of<'s>(sources: &'s [PolicySource], unit: &Unit) -> Option<(Action, &'s PolicySource)> {
    unit.sources
        .iter()
        .filter_map(|at| sources.get(*at))
        .filter_map(|source| source.file.default.action.map(|action| (action, source)))
        // Of two equal defaults the one of the first name is shown, so that the order of files has no meaning.
        .min_by(|a, b| (b.0, &a.1.file.name).cmp(&(a.0, &b.1.file.name)))
}
