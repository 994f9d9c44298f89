//! Candidates that depend on the project: tools, their arguments and the values that a schema lists.
//!
//! A shell puts a candidate into the line that is about to be executed, unquoted. Names and values come from files that
//! nobody has trusted yet, so only those that no shell gives a meaning to are proposed.

use super::line::Line;
use crate::diag::Code;
use crate::project::{CatalogTool, Project};
use crate::source::Files;
use crate::text::escape;
use crate::world::{HostWorld, World as _};
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter as _};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long descriptions are read for; tools beyond it are listed without.
const DESCRIBING: Duration = Duration::from_millis(200);
/// Characters of a description that are shown.
const SHOWN: usize = 80;

/// Finds candidates for one command line.
#[derive(Debug, Clone)]
pub(super) struct Finder {
    /// What is on the line already.
    pub(super) line: Line,
    /// Whether the shell shows descriptions: reading them opens manifests.
    pub(super) described: bool,
}

impl Finder {
    fn project(&self) -> Option<Project> {
        let start = self.start()?;
        let tool = self.line.tool.as_deref().unwrap_or_default();
        Project::open_for(&HostWorld, &mut Files::new(), &start, Some(tool)).ok()
    }

    fn start(&self) -> Option<PathBuf> {
        let cwd = HostWorld.current_dir().ok()?;
        Some(self.line.directory.as_ref().map_or_else(|| cwd.clone(), |directory| cwd.join(directory)))
    }

    /// The tools whose name begins as typed.
    pub(super) fn tools(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let (Some(typed), Some(project)) = (typed.to_str(), self.project()) else { return Vec::new() };
        let catalog = project.catalog();
        let names = catalog.names(&HostWorld).unwrap_or_default();
        let end = Instant::now() + DESCRIBING;
        let describe = |name: &str| {
            let found = catalog.find(&HostWorld, &mut Files::new(), name).ok()?;
            Some(one_line(&found.tool.description))
        };
        names
            .keys()
            .filter(|name| name.starts_with(typed) && is_plain(name))
            .map(|name| {
                let wanted = self.described && Instant::now() < end;
                let help = wanted.then(|| describe(name)).flatten();
                CompletionCandidate::new(name).help(help.map(Into::into))
            })
            .collect()
    }

    /// For `-a`: names of the tool's arguments, and behind `NAME=` the values that its schema lists.
    pub(super) fn arguments(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let (Some(typed), Some(project)) = (typed.to_str(), self.project()) else { return Vec::new() };
        let Some(name) = &self.line.tool else { return Vec::new() };
        let Ok(tool) = project.catalog().find(&HostWorld, &mut Files::new(), name) else { return Vec::new() };
        match typed.split_once('=') {
            None => self.argument_names(&tool, typed),
            Some((name, value)) => values(&project, &tool, name, value),
        }
    }

    fn argument_names(&self, tool: &CatalogTool, typed: &str) -> Vec<CompletionCandidate> {
        let wanted = |name: &str| {
            name.starts_with(typed) && is_plain(name) && !name.contains(['=', ':']) && !self.has(name)
        };
        let shape = tool.schema.shape();
        shape
            .into_iter()
            .filter(|(name, _)| wanted(name))
            .map(|(name, schema)| {
                let help = schema.get("description").and_then(Value::as_str).map(one_line);
                // A value that is no text is JSON, which `:=` says.
                let sign = if is_text(schema) { "=" } else { ":=" };
                CompletionCandidate::new(format!("{name}{sign}")).help(help.map(Into::into))
            })
            .collect()
    }

    fn has(&self, name: &str) -> bool {
        self.line.given.iter().any(|given| given == name)
    }

    /// For `--args`: `@FILE` beneath the workspace.
    pub(super) fn args(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        let (Some(typed), Some(project)) = (typed.to_str(), self.project()) else { return Vec::new() };
        typed.strip_prefix('@').map_or_else(Vec::new, |file| files(&project, file, "@"))
    }

    /// Files and folders from the working folder.
    pub(super) fn paths(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        self.start()
            .map_or_else(Vec::new, |start| plain_paths(&PathCompleter::any().current_dir(start), typed))
    }

    /// Folders from the working folder.
    pub(super) fn folders(&self, typed: &OsStr) -> Vec<CompletionCandidate> {
        self.start()
            .map_or_else(Vec::new, |start| plain_paths(&PathCompleter::dir().current_dir(start), typed))
    }
}

/// The codes that begin as typed.
pub(super) fn codes(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_str().unwrap_or("-");
    let all = Code::ALL.iter().filter(|code| code.as_str().starts_with(typed));
    all.map(|code| CompletionCandidate::new(code.as_str()).help(Some(code.summary().into()))).collect()
}

/// The values of one argument, each with `NAME=` in front, since that is what the shell completes.
fn values(project: &Project, tool: &CatalogTool, name: &str, typed: &str) -> Vec<CompletionCandidate> {
    let shape = tool.schema.shape();
    let bare = name.strip_suffix(':').unwrap_or(name);
    let Some((_, schema)) = shape.into_iter().find(|(known, _)| *known == bare) else { return Vec::new() };
    if let Some(file) = typed.strip_prefix('@') {
        return files(project, file, &format!("{name}=@"));
    }
    if schema.get("format").and_then(Value::as_str) == Some("path") {
        return files(project, typed, &format!("{name}="));
    }
    listed(schema)
        .into_iter()
        .filter(|value| value.starts_with(typed) && is_plain(value))
        .map(|value| CompletionCandidate::new(format!("{name}={value}")))
        .collect()
}

/// The values that a schema names: its enum, its const, true and false, its default.
fn listed(schema: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    };
    let several = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let one = schema.get("const").into_iter().chain(schema.get("default"));
    let mut all: Vec<String> = several.chain(one).filter_map(text).collect();
    if schema.get("type").and_then(Value::as_str) == Some("boolean") {
        all.extend(["true".to_owned(), "false".to_owned()]);
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|value| seen.insert(value.clone()));
    all
}

/// Whether `NAME=TEXT` can give the argument its value: it is a text or one primitive type.
fn is_text(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => !matches!(name.as_str(), "array" | "object"),
        Some(_) => false,
        None => ["enum", "const"].iter().any(|key| schema.get(key).is_some()),
    }
}

fn files(project: &Project, typed: &str, prefix: &str) -> Vec<CompletionCandidate> {
    let completer = PathCompleter::any().current_dir(&project.workspace);
    plain_paths(&completer, OsStr::new(typed)).into_iter().map(|found| found.add_prefix(prefix)).collect()
}

fn plain_paths(completer: &PathCompleter, typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = completer.complete(typed);
    found.retain(|candidate| candidate.get_value().to_str().is_some_and(is_plain));
    found
}

/// Whether no shell gives the text a meaning of its own, wherever in a word it stands, and no terminal hides a part.
fn is_plain(text: &str) -> bool {
    !text.starts_with('-')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '+' | ','))
}

/// The beginning of an untrusted text, on one line.
fn one_line(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let shown: String = first.chars().take(SHOWN).collect();
    let cut = if first.chars().count() > SHOWN { "…" } else { "" };
    format!("{}{cut}", escape(&shown))
}

/// Gives every argument of the command line, known by its name, the completer that it needs.
pub(super) fn equip(command: clap::Command, finder: &Finder) -> clap::Command {
    use clap_complete::engine::ArgValueCompleter as Completer;
    type Find = fn(&Finder, &OsStr) -> Vec<CompletionCandidate>;
    let command = command.mut_args(|arg| {
        let find: Find = match arg.get_id().as_str() {
            "tool" => Finder::tools,
            "arg" => Finder::arguments,
            "args" => Finder::args,
            "code" => |_, typed| codes(typed),
            "kind" => |_, typed| kinds(typed),
            "paths" => Finder::paths,
            "directory" | "dir" => Finder::folders,
            _ => return arg,
        };
        let finder = finder.clone();
        arg.add(Completer::new(move |typed: &OsStr| find(&finder, typed)))
    });
    command.mut_subcommands(|sub| equip(sub, finder))
}

/// The kinds of `toolctl schema` that begin as typed.
fn kinds(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed: OsString = typed.to_owned();
    let typed = typed.to_str().unwrap_or("-");
    let all = crate::cli::kinds::ALL.iter().filter(|kind| kind.name.starts_with(typed));
    all.map(|kind| CompletionCandidate::new(kind.name).help(Some(kind.title().into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_plain, listed, one_line};
    use serde_json::json;

    #[test]
    fn nothing_that_a_shell_would_act_on_is_proposed() {
        for text in ["read_file", "src/größe.txt", "a=b", "k:=1", "v1.2-x+y,z", ""] {
            assert!(is_plain(text), "{text}");
        }
        for text in [
            "$(id)",
            "`id`",
            "a;b",
            "a b",
            "a\tb",
            "~",
            "a&b",
            "a|b",
            "a>b",
            "*",
            "a\nb",
            "'",
            "\"",
            "\\",
            "!x",
            "#x",
            "-rf",
            "a\u{202e}b",
            "a\u{1b}[m",
            "%x",
            "{a,b}",
            "^x",
        ] {
            assert!(!is_plain(text), "{text:?}");
        }
    }

    #[test]
    fn a_schema_lists_its_values() {
        for (schema, expected) in [
            (json!({"enum": ["a", "b", 1, null], "default": "a"}), &["a", "b", "1", "null"][..]),
            (json!({"type": "boolean"}), &["true", "false"]),
            (json!({"type": "boolean", "default": false}), &["false", "true"]),
            (json!({"const": "x"}), &["x"]),
            (json!({"type": "string"}), &[]),
            (json!(true), &[]),
            (json!({"enum": {"a": 1}, "type": 3}), &[]),
        ] {
            assert_eq!(listed(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_description_is_one_short_harmless_line() {
        assert_eq!(one_line("first\nsecond"), "first");
        assert_eq!(one_line("a\u{1b}[31m\tb"), "a\\u{1b}[31m\\tb");
        assert_eq!(one_line(&"x".repeat(200)).chars().count(), 81);
    }
}
