//! What a project would reach if it were trusted, in words: its tools, what its policies grant, the settings that loosen.
//! Kept beside the record of trust, so that a later difference can say what changed and not only where.

use super::session::Session;
use super::verdict::place;
use crate::diag::Diagnostic;
use crate::manifest::{ArgvElement, Exec, Template};
use crate::model::{AllowFs, AllowNetwork, Layer, SandboxConfig};
use crate::policy::{Action, Role, Summary, decode};
use crate::project::{CatalogTool, PolicyNode, Project, TrustRecord};
use crate::sandbox::resolve;
use crate::source::{Decoder, Files};
use crate::term::quote_argv;
use crate::text::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What is said of one tool, policy or setting, by aspect. Not escaped.
pub(crate) type Aspects = BTreeMap<String, String>;

/// The aspects of a tool, in the order in which they are shown.
pub(crate) const TOOL_ASPECTS: [&str; 6] = ["runs", "scripts", "files", "network", "environment", "limits"];
/// Those of a policy.
pub(crate) const POLICY_ASPECTS: [&str; 7] =
    ["role", "default", "allows", "asks", "guards", "effects", "trustHints"];

/// What a project would reach.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reach {
    /// Its tools, by name.
    pub(crate) tools: BTreeMap<String, Aspects>,
    /// Its policies, by file.
    pub(crate) policies: BTreeMap<String, Aspects>,
    /// Its settings that loosen, by key; each with its line.
    pub(crate) settings: BTreeMap<String, Aspects>,
}

/// Something that became other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The tool, the policy's file or the setting. Not escaped.
    pub(crate) what: String,
    /// The aspect; `None` if all of it is new or gone.
    pub(crate) aspect: Option<String>,
    /// What it was, `None` for what is new.
    pub(crate) before: Option<String>,
    /// What it is, `None` for what has gone.
    pub(crate) now: Option<String>,
}

impl Reach {
    /// Collects what the project's files ask for. `project` is as it is once trusted; `record` has the digests of the
    /// scripts.
    pub(crate) fn of(
        session: &Session<'_>,
        project: &Project,
        tools: &[CatalogTool],
        policies: &[PolicyNode],
        record: &TrustRecord,
    ) -> Self {
        let own = |layer| layer == Layer::Project;
        let default = project.settings.sandbox.as_ref();
        let below =
            |path: &Path| path.strip_prefix(record.root()).unwrap_or(path).to_string_lossy().into_owned();
        Self {
            tools: tools
                .iter()
                .filter(|found| own(found.layer))
                .map(|found| {
                    let config = resolve(found.tool.sandbox.as_ref(), default);
                    (found.tool.name.clone(), tool(session, project, found, config.as_ref(), record))
                })
                .collect(),
            policies: policies
                .iter()
                .filter(|node| own(node.layer))
                .map(|node| (below(&node.path), policy(&session.files, node)))
                .collect(),
            settings: project
                .loosening()
                .into_iter()
                .map(|(key, span)| (key.to_owned(), setting(&session.files, key, span)))
                .collect(),
        }
    }

    /// What became other since `before`.
    pub(crate) fn since(&self, before: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        for (old, new) in [
            (&before.tools, &self.tools),
            (&before.policies, &self.policies),
            (&before.settings, &self.settings),
        ] {
            compare(old, new, &mut found);
        }
        found
    }
}

fn compare(old: &BTreeMap<String, Aspects>, new: &BTreeMap<String, Aspects>, found: &mut Vec<Difference>) {
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for what in names {
        let (before, now) = (old.get(what), new.get(what));
        let whole = |aspects: &Aspects| {
            aspects.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join("; ")
        };
        let (Some(before), Some(now)) = (before, now) else {
            found.push(Difference {
                what: what.clone(),
                aspect: None,
                before: before.map(whole),
                now: now.map(whole),
            });
            continue;
        };
        let aspects: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for aspect in aspects {
            let (one, other) = (before.get(aspect), now.get(aspect));
            if one != other {
                found.push(Difference {
                    what: what.clone(),
                    aspect: Some(aspect.clone()),
                    before: one.cloned(),
                    now: other.cloned(),
                });
            }
        }
    }
}

fn aspects<const N: usize>(pairs: [(&str, String); N]) -> Aspects {
    let said = pairs.into_iter().filter(|(_, text)| !text.is_empty());
    said.map(|(name, text)| (name.to_owned(), text)).collect()
}

fn tool(
    session: &Session<'_>,
    project: &Project,
    found: &CatalogTool,
    config: Option<&SandboxConfig>,
    record: &TrustRecord,
) -> Aspects {
    let scripts: Vec<String> =
        project.named_programs(session.world, &found.tool).iter().map(|path| script(path, record)).collect();
    aspects([
        ("runs", runs(found)),
        ("scripts", scripts.join(", ")),
        ("files", config.map_or_else(|| "everything of yours: no sandbox".to_owned(), files)),
        ("network", config.map_or_else(|| "yes".to_owned(), network)),
        ("environment", config.map_or_else(String::new, environment)),
        ("limits", config.map_or_else(String::new, limits)),
    ])
}

/// A script or program of the project, with the start of its digest.
fn script(path: &Path, record: &TrustRecord) -> String {
    const DIGITS: usize = 12;
    let name = path.strip_prefix(record.root()).unwrap_or(path).to_string_lossy();
    match record.digest_of(&name) {
        Some(digest) => {
            let short: String = digest.trim_start_matches("sha256:").chars().take(DIGITS).collect();
            format!("{name} (sha256:{short})")
        }
        None => name.into_owned(),
    }
}

/// The whole command line as a person would type it, placeholders as they stand in the manifest.
fn runs(found: &CatalogTool) -> String {
    let mut text = match &found.tool.exec {
        Exec::Builtin(name) => format!("built-in {name}"),
        Exec::Command(elements) => elements.iter().map(element).collect::<Vec<_>>().join(" "),
    };
    if let Some(argv) = &found.tool.to_model_output {
        text.push_str(" | ");
        text.push_str(quote_argv(argv).as_str());
    }
    text
}

fn element(element: &ArgvElement) -> String {
    match element {
        ArgvElement::One(template) => written(template),
        ArgvElement::Splice { arg, .. } => format!("{{args.{arg}}}..."),
        ArgvElement::Group { argv, .. } => {
            format!("[{}]", argv.iter().map(self::element).collect::<Vec<_>>().join(" "))
        }
    }
}

/// A template as it is written; quoted unless it is plain or has placeholders alone.
fn written(template: &Template) -> String {
    let text = template.to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-{}".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { quote_argv(&[text]).as_str().to_owned() }
}

fn files(config: &SandboxConfig) -> String {
    match &config.allow_fs {
        None | Some(AllowFs::No) => "none".to_owned(),
        Some(AllowFs::All) => "the whole machine".to_owned(),
        Some(AllowFs::Paths { read_only, read_write }) => {
            let mut parts = Vec::new();
            if !read_only.is_empty() {
                parts.push(format!("read {}", read_only.join(" ")));
            }
            if !read_write.is_empty() {
                parts.push(format!("write {}", read_write.join(" ")));
            }
            if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
        }
    }
}

fn network(config: &SandboxConfig) -> String {
    match &config.allow_network {
        None | Some(AllowNetwork::No) => "no".to_owned(),
        Some(AllowNetwork::Loopback) => "loopback".to_owned(),
        Some(AllowNetwork::Hosts(hosts)) => {
            let hosts: Vec<String> = hosts.iter().map(|at| format!("{}:{}", at.host, at.port)).collect();
            hosts.join(" ")
        }
        Some(AllowNetwork::Yes) => "yes".to_owned(),
    }
}

fn environment(config: &SandboxConfig) -> String {
    let Some(env) = &config.env else { return String::new() };
    let set = env.set.iter().map(|(name, value)| format!("{name}={value}"));
    set.chain(env.forward.iter().map(|name| format!("{name} (yours)"))).collect::<Vec<_>>().join(" ")
}

/// What is beyond the defaults.
fn limits(config: &SandboxConfig) -> String {
    let mut parts = Vec::new();
    if let Some(timeout) = config.timeout.filter(|timeout| *timeout > Duration::from_secs(30)) {
        parts.push(format!("{} s", timeout.as_secs()));
    }
    for (value, usual, unit) in [
        (config.max_memory_mb, 256, "MiB of memory"),
        (config.max_processes, 64, "processes"),
        (config.max_file_size_mb, 256, "MiB a file"),
        (config.max_output_bytes, 1 << 20, "bytes of output"),
    ] {
        if let Some(value) = value.filter(|value| *value > usual) {
            parts.push(format!("{value} {unit}"));
        }
    }
    if let Some(user) = config.run_as {
        parts.push(format!("as uid {} gid {}", user.uid, user.gid));
    }
    parts.join(", ")
}

fn policy(files: &Files, node: &PolicyNode) -> Aspects {
    let mut decoder = Decoder::new();
    let Some(file) = decode(&mut decoder, &node.read.tree(files)).filter(|_| !decoder.has_errors()) else {
        return aspects([("role", "cannot be read".to_owned())]);
    };
    let Summary { role, default, allows, asks, guards, effects, trust_hints } = file.summary();
    let default = match (role, default) {
        (Role::Guard, _) => String::new(),
        (Role::Host | Role::Delegate, default) => default.map_or("inherit", Action::as_str).to_owned(),
    };
    aspects([
        ("role", role.as_str().to_owned()),
        ("default", default),
        ("allows", allows.join(", ")),
        ("asks", asks.join(", ")),
        ("guards", guards.join(", ")),
        ("effects", effects.join(", ")),
        ("trustHints", trust_hints.join(", ")),
    ])
}

/// The line on which the setting stands.
fn setting(files: &Files, key: &str, span: Option<Span>) -> Aspects {
    let Some(span) = span else { return aspects([("says", key.to_owned())]) };
    let rest = files.text(span.file).get(span.start as usize..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default().trim_end();
    let line = line.strip_suffix('}').filter(|_| !line.contains('{')).unwrap_or(line).trim_end();
    let at = place(files, span);
    aspects([("says", line.to_owned()), ("at", format!("{}:{}:{}", at.file, at.line, at.column))])
}

/// The faults of the project's policies, which do not hinder trust but are shown.
pub(crate) fn policy_faults(files: &Files, policies: &[PolicyNode]) -> Vec<Diagnostic> {
    let mut decoder = Decoder::new();
    for node in policies.iter().filter(|node| node.layer == Layer::Project) {
        decode(&mut decoder, &node.read.tree(files));
    }
    decoder.into_diagnostics()
}

#[cfg(test)]
mod tests {
    use super::{Aspects, Difference, Reach};
    use std::collections::BTreeMap;

    fn reach(tools: &[(&str, &[(&str, &str)])]) -> Reach {
        let aspects = |pairs: &[(&str, &str)]| -> Aspects {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let tools = tools.iter().map(|(name, pairs)| ((*name).to_owned(), aspects(pairs))).collect();
        Reach { tools, policies: BTreeMap::new(), settings: BTreeMap::new() }
    }

    #[test]
    fn a_difference_names_what_became_other() {
        let before = reach(&[
            ("gone", &[("runs", "x")]),
            ("log", &[("network", "no"), ("runs", "git log")]),
            ("same", &[("runs", "y")]),
        ]);
        let now = reach(&[
            ("log", &[("network", "yes"), ("runs", "git log"), ("limits", "60 s")]),
            ("new", &[("runs", "z")]),
            ("same", &[("runs", "y")]),
        ]);
        let of = |what: &str, aspect: Option<&str>, before: Option<&str>, now: Option<&str>| Difference {
            what: what.to_owned(),
            aspect: aspect.map(str::to_owned),
            before: before.map(str::to_owned),
            now: now.map(str::to_owned),
        };
        assert_eq!(
            now.since(&before),
            [
                of("gone", None, Some("runs x"), None),
                of("log", Some("limits"), None, Some("60 s")),
                of("log", Some("network"), Some("no"), Some("yes")),
                of("new", None, None, Some("runs z")),
            ]
        );
        assert_eq!(now.since(&now), []);
    }
}
