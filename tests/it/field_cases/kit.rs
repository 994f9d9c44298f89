//! What the field cases share: projects in a few lines.

use crate::harness::{Project, Ran, Who};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// `parameters` of a tool without arguments.
pub(crate) const NO_ARGS: &str = "parameters: { type: object, additionalProperties: false }\n";
/// A sandbox in which the workspace can be written.
pub(crate) const WRITES: &str = "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n";

/// JSON text of a string, which YAML reads as that string.
pub(crate) fn quoted(text: impl AsRef<str>) -> String {
    serde_json::to_string(text.as_ref()).unwrap()
}

/// A manifest without arguments that runs a fixed shell script.
pub(crate) fn sh(script: &str, rest: &str) -> String {
    format!("{NO_ARGS}command: [/bin/sh, -c, {}]\n{rest}", quoted(script))
}

/// A host policy named `main` with a deny default; `effects` and `rules` are flow-style YAML lines.
pub(crate) fn host(effects: &str, rules: &[&str]) -> String {
    let mut text = String::from("policy: main\nformat: 1\nrole: host\ndefault: deny\n");
    if !effects.is_empty() {
        text.push_str("effects:\n  ");
        text.push_str(effects);
        text.push('\n');
    }
    if !rules.is_empty() {
        text.push_str("rules:\n");
    }
    for rule in rules {
        text.push_str("  - ");
        text.push_str(rule);
        text.push('\n');
    }
    text
}

/// A host policy that gives one tool an effect and lets it run.
pub(crate) fn allow(tool: &str, effect: &str) -> String {
    host(
        &format!("{tool}: [{{ effect: [{effect}] }}]"),
        &[&format!("{{ id: all, tool: {tool}, always: true, action: allow }}")],
    )
}

/// Writes manifests, a policy and settings, and trusts nothing.
pub(crate) fn untrusted(who: &Who, tools: &[(&str, &str)], policy: &str) -> Project {
    let project = Project::of(who);
    project.file("toolctl.yaml", "agentName: test\n");
    for (name, manifest) in tools {
        tool(&project, name, manifest);
    }
    if !policy.is_empty() {
        project.file("policies/main.yaml", policy);
    }
    project
}

/// The same, trusted by its author.
pub(crate) fn project(who: &Who, tools: &[(&str, &str)], policy: &str) -> Project {
    let project = untrusted(who, tools, policy);
    project.trusted();
    project
}

/// Writes one manifest.
pub(crate) fn tool(project: &Project, name: &str, manifest: &str) {
    project.file(
        &format!("tools.d/{name}.yaml"),
        format!("name: {name}\ndescription: A tool of the tests.\n{manifest}"),
    );
}

/// Runs a tool without arguments and takes the one document.
#[track_caller]
pub(crate) fn result(project: &Project, tool: &str, code: i32) -> Value {
    project.run(["run", tool, "--format", "json"]).expect(code).json()
}

/// Runs a tool with `--args` and takes the one document.
#[track_caller]
pub(crate) fn call(project: &Project, tool: &str, args: &str, code: i32) -> Value {
    project.run(["run", tool, "--format", "json", "--args", args]).expect(code).json()
}

/// The human form of a run with `--args`.
#[track_caller]
pub(crate) fn human(project: &Project, tool: &str, args: &str) -> Ran {
    project.run(["run", tool, "--args", args])
}

/// Waits for something that happens soon.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !there() {
        assert!(Instant::now() < end, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether any file below a folder holds a text; links are not followed.
pub(crate) fn holds(dir: &Path, text: &str) -> bool {
    std::fs::read_dir(dir).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            return holds(&path, text);
        }
        meta.is_file() && String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(text)
    })
}

/// The process that works in a folder and whose command line ends with some words.
pub(crate) fn process_in(dir: &Path, words: &str) -> String {
    let line = |pid: &str| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|pid| pid.parse::<u32>().is_ok() && line(pid).ends_with(words))
        .find(|pid| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == dir))
        .expect("the process")
}

/// Everything below a folder: paths, kinds, modes, times of change and contents.
pub(crate) fn snapshot(dir: &Path) -> Vec<(std::path::PathBuf, u32, i64, i64, Vec<u8>)> {
    use std::os::unix::fs::MetadataExt as _;
    let mut out = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(path) = todo.pop() {
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        if meta.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        out.push((path, meta.mode(), meta.mtime(), meta.mtime_nsec(), content));
    }
    out.sort();
    out
}
