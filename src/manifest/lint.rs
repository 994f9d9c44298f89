//! Findings on a manifest that is valid: what is probably not meant, and what this version does not carry out.

use super::properties::Properties;
use super::tool::{ArgvElement, Exec, StdinSource, Tool};
use crate::diag::{Code, Diagnostic};
use crate::model::{AllowFs, AllowNetwork, SandboxConfig, SandboxSetting};
use crate::text::{Span, escape};
use serde_json::Value;

/// Warnings on a manifest, for `check`.
pub fn lint(tool: &Tool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    open_arguments(tool, &mut found);
    sandbox_off(tool, &mut found);
    contradictions(tool, &mut found);
    optional_placeholders(tool, &mut found);
    found
}

/// One `manifest/unsupported` error for each feature that the manifest asks for and this version does not carry out:
/// `run` refuses such a tool rather than leave the feature out.
pub fn unsupported(tool: &Tool) -> Vec<Diagnostic> {
    let hosts = config(tool).is_some_and(|c| matches!(c.allow_network, Some(AllowNetwork::Hosts(_))));
    let run_as = config(tool).is_some_and(|config| config.run_as.is_some());
    // Whether it is asked for, the key of the manifest, the setting, and what it would do.
    let features = [
        (tool.cache_ttl.is_some(), "cache", "cache", "caching of results"),
        (tool.retry.is_some(), "retry", "retry", "repeating of failed calls"),
        (tool.async_ttl.is_some(), "async", "async", "running in the background"),
        (tool.to_model_output.is_some(), "toModelOutput", "toModelOutput", "reshaping of results"),
        (tool.shared_process, "process", "process", "a process shared by several calls"),
        (
            tool.output_schema.is_some(),
            "outputSchema",
            "outputSchema",
            "checking of a JSON output against a schema",
        ),
        (hosts, "sandbox", "allowNetwork: [HOST:PORT]", "network access to listed hosts only"),
        (run_as, "sandbox", "runAs", "running as another user"),
    ];
    features
        .into_iter()
        .filter(|(asked, ..)| *asked)
        .map(|(_, key, setting, what)| {
            let message =
                format!("tool `{}` asks for {what} (`{setting}`), which is not there yet", tool.name);
            place(Diagnostic::error(Code::ManifestUnsupported, message), tool, key, "not carried out")
                .help(format!("remove `{setting}` to run the tool without it"))
        })
        .collect()
}

fn config(tool: &Tool) -> Option<&SandboxConfig> {
    match &tool.sandbox {
        Some(SandboxSetting::Config(config)) => Some(config),
        Some(SandboxSetting::Off | SandboxSetting::Defaults) | None => None,
    }
}

fn place(diagnostic: Diagnostic, tool: &Tool, key: &str, remark: &str) -> Diagnostic {
    match tool.key_spans.get(key) {
        Some(span) => diagnostic.at(*span, remark),
        None => diagnostic,
    }
}

fn warn(tool: &Tool, key: &str, message: &str, remark: &str, help: &str) -> Diagnostic {
    place(Diagnostic::warning(Code::ManifestOpenArguments, message), tool, key, remark).help(help)
}

fn open_arguments(tool: &Tool, found: &mut Vec<Diagnostic>) {
    let closed = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|key| tool.parameters.get(key) == Some(&Value::Bool(false)));
    if !closed {
        found.push(warn(
            tool,
            "parameters",
            "the schema accepts arguments that it does not know",
            "no `additionalProperties: false`",
            "add `additionalProperties: false`: a misspelt argument is then an error, not ignored",
        ));
    }
}

fn sandbox_off(tool: &Tool, found: &mut Vec<Diagnostic>) {
    let disabled = config(tool).is_some_and(|config| config.enabled == Some(false));
    if disabled || tool.sandbox == Some(SandboxSetting::Off) {
        found.push(warn(
            tool,
            "sandbox",
            "the tool runs without a sandbox: with all that you may do",
            "off",
            "allow what the tool needs with `allowFS` and `allowNetwork` instead",
        ));
    }
}

fn contradictions(tool: &Tool, found: &mut Vec<Diagnostic>) {
    if tool.read_only && tool.destructive {
        found.push(warn(
            tool,
            "destructive",
            "a tool that only reads cannot be destructive",
            "contradicts `readOnly: true`",
            "remove one of the two",
        ));
    }
    let writes = config(tool).is_some_and(|config| match &config.allow_fs {
        Some(AllowFs::All) => true,
        Some(AllowFs::Paths { read_write, .. }) => !read_write.is_empty(),
        Some(AllowFs::No) | None => false,
    });
    if tool.read_only && writes {
        found.push(warn(
            tool,
            "readOnly",
            "the tool says that it only reads and asks for a sandbox that can write",
            "contradicts `sandbox.allowFS`",
            "list the paths under `allowFS.readOnly`, or remove `readOnly`",
        ));
    }
    if let (Exec::Command(argv), StdinSource::Arg(_)) = (&tool.exec, &tool.stdin)
        && let [ArgvElement::One(program)] = argv.as_slice()
        && program.literal().is_some_and(super::interpreter::is_interpreter)
    {
        found.push(warn(
            tool,
            "stdin",
            "the call supplies the whole program that an interpreter runs",
            "code comes from an argument",
            "write the code into the manifest, or treat the tool as one that can do anything its sandbox allows",
        ));
    }
}

/// Placeholders that some valid call cannot fill.
fn optional_placeholders(tool: &Tool, found: &mut Vec<Diagnostic>) {
    let Exec::Command(argv) = &tool.exec else { return };
    let properties = Properties::new(&tool.parameters);
    let mut names: Vec<(&str, Option<Span>)> = Vec::new();
    collect(argv, &mut Vec::new(), &mut names);
    if let StdinSource::Arg(name) = &tool.stdin {
        names.push((name, tool.key_spans.get("stdin").copied()));
    }
    for (name, span) in names {
        if properties.always_there(name) {
            continue;
        }
        let message = format!("a call without the optional argument `{}` cannot be run", escape(name));
        let warning = Diagnostic::warning(Code::ManifestOpenArguments, message).help(format!(
            "require it, give it a default, or write `{{ when: args.{}, argv: [...] }}`",
            escape(name)
        ));
        found.push(match span {
            Some(span) => warning.at(span, "needed for every call"),
            None => warning,
        });
    }
}

/// The arguments shown outside a group that depends on them.
fn collect<'a>(argv: &'a [ArgvElement], inside: &mut Vec<&'a str>, names: &mut Vec<(&'a str, Option<Span>)>) {
    for element in argv {
        match element {
            ArgvElement::One(template) => {
                names.extend(template.args().filter(|a| !inside.contains(a)).map(|a| (a, template.span)));
            }
            ArgvElement::Splice { arg, span } => {
                if !inside.contains(&arg.as_str()) {
                    names.push((arg, *span));
                }
            }
            ArgvElement::Group { when, argv } => {
                inside.push(when);
                collect(argv, inside, names);
                inside.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests;
