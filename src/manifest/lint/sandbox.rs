//! Sandboxes that are off, or permit far more than a tool needs.

use super::{config, place};
use crate::diag::{Code, Diagnostic};
use crate::manifest::tool::{ArgvElement, Exec, Tool};
use crate::model::{AllowFs, AllowNetwork, SandboxConfig, SandboxSetting};
use crate::text::{Span, escape};
use std::path::Path;
use std::time::Duration;

/// Above these a limit limits nothing.
const MANY: Many =
    Many { timeout: Duration::from_secs(3600), memory_mb: 16 << 10, output: 64 << 20, processes: 4096 };

struct Many {
    timeout: Duration,
    memory_mb: u64,
    output: u64,
    processes: u64,
}

/// Programs that only turn input into output.
const LOCAL: [&str; 18] = [
    "jq", "cat", "ls", "grep", "sed", "awk", "head", "tail", "sort", "uniq", "wc", "find", "rg", "sqlite3",
    "tr", "cut", "diff", "file",
];
/// Folders of the system: what is there is nobody's to write but the administrator's.
const SYSTEM: [&str; 10] =
    ["/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/var", "/opt", "/srv"];

pub(super) fn lint(tool: &Tool, found: &mut Vec<Diagnostic>) {
    let disabled = config(tool).is_some_and(|config| config.enabled == Some(false));
    if disabled || tool.sandbox == Some(SandboxSetting::Off) {
        let warning = Diagnostic::warning(
            Code::ManifestNoSandbox,
            "the tool runs without a sandbox: with all that you may do",
        );
        found.push(
            place(warning, tool, "sandbox", "off")
                .help("allow what the tool needs with `allowFS` and `allowNetwork` instead"),
        );
        return;
    }
    if let Some(config) = config(tool) {
        files(tool, config, found);
        network(tool, config, found);
        limits(tool, config, found);
        forwarded(tool, config, found);
    }
}

/// The key that a path of names leads to inside `sandbox`, or what is nearest to it.
fn at(tool: &Tool, pointer: &str, key: bool) -> Option<Span> {
    let node = tool.sandbox_node.as_ref()?;
    Some(if key { node.pointer_key_span(pointer) } else { node.pointer_span(pointer) })
}

fn wide(tool: &Tool, at: Option<Span>, message: impl Into<String>, remark: &str, help: &str) -> Diagnostic {
    let warning = Diagnostic::warning(Code::ManifestWideSandbox, message).help(help);
    match at {
        Some(span) => warning.at(span, remark),
        None => place(warning, tool, "sandbox", remark),
    }
}

fn files(tool: &Tool, config: &SandboxConfig, found: &mut Vec<Diagnostic>) {
    match &config.allow_fs {
        None | Some(AllowFs::No) => {}
        Some(AllowFs::All) => found.push(wide(
            tool,
            at(tool, "/allowFS", true),
            "the tool sees all files of this machine that you see",
            "the whole machine",
            "list the folders that it needs: `allowFS: { readOnly: [\"{workspace}\"] }`",
        )),
        Some(AllowFs::Paths { read_only, read_write }) => {
            for (key, paths, write) in [("readOnly", read_only, false), ("readWrite", read_write, true)] {
                for (index, path) in paths.iter().enumerate().filter(|(_, path)| is_wide(path, write)) {
                    let place = at(tool, &format!("/allowFS/{key}/{index}"), false);
                    let what = if write { "can change" } else { "sees" };
                    let message = format!("the tool {what} all of `{}`", escape(path));
                    let help = "bind the folder below it that the tool needs, or `{workspace}`";
                    found.push(wide(tool, place, message, "a wide bind", help));
                }
            }
        }
    }
}

/// Whether a bind is a home folder, the folder of all of them, or one of the system's that the tool could write.
fn is_wide(path: &str, write: bool) -> bool {
    let path = path.trim_end_matches('/');
    let home = path == "/root" || path == "/home" || Path::new(path).parent() == Some(Path::new("/home"));
    home || (write && SYSTEM.contains(&path))
}

fn network(tool: &Tool, config: &SandboxConfig, found: &mut Vec<Diagnostic>) {
    let Exec::Command(argv) = &tool.exec else { return };
    let program = match argv.first() {
        Some(ArgvElement::One(template)) => template.literal().and_then(|text| text.rsplit('/').next()),
        Some(ArgvElement::Splice { .. } | ArgvElement::Group { .. }) | None => None,
    };
    let local = program.filter(|name| LOCAL.contains(name));
    if let (Some(AllowNetwork::Yes), Some(name)) = (&config.allow_network, local) {
        found.push(wide(
            tool,
            at(tool, "/allowNetwork", true),
            format!("`{name}` has no use for a network"),
            "not needed",
            "remove `allowNetwork`",
        ));
    }
}

fn limits(tool: &Tool, config: &SandboxConfig, found: &mut Vec<Diagnostic>) {
    let above = |value: Option<u64>, most: u64| value.is_some_and(|value| value > most);
    let table = [
        (config.timeout.is_some_and(|time| time > MANY.timeout), "timeout", "more than an hour"),
        (above(config.max_memory_mb, MANY.memory_mb), "maxMemoryMB", "more than 16 GiB"),
        (above(config.max_output_bytes, MANY.output), "maxOutputBytes", "more than 64 MiB"),
        (above(config.max_processes, MANY.processes), "maxProcesses", "more than 4096"),
    ];
    for (_, key, remark) in table.into_iter().filter(|(over, ..)| *over) {
        found.push(wide(
            tool,
            at(tool, &format!("/{key}"), true),
            format!("`{key}` is so high that it limits nothing"),
            remark,
            "set what the tool needs on a bad day; leave it out for the default",
        ));
    }
}

/// A secret that is forwarded is meant to be, and worth knowing.
fn forwarded(tool: &Tool, config: &SandboxConfig, found: &mut Vec<Diagnostic>) {
    let names = config.env.iter().flat_map(|env| env.forward.iter().enumerate());
    for (index, name) in names.filter(|(_, name)| super::secrets::is_secret_name(name)) {
        let message = format!("the tool, and whatever it starts, can read your `{}`", escape(name));
        let note = Diagnostic::note_of(Code::ManifestWideSandbox, message);
        found.push(match at(tool, &format!("/env/forward/{index}"), false) {
            Some(span) => note.at(span, "looks like a secret"),
            None => note,
        });
    }
}
