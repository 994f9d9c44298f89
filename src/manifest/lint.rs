//! Findings on a manifest that is valid: what is probably not meant, and what this version does not carry out.

mod sandbox;
mod secrets;

use super::properties::Properties;
use super::tool::{ArgvElement, Exec, StdinSource, Tool};
use crate::diag::{Code, Diagnostic};
use crate::model::{AllowFs, AllowNetwork, SandboxConfig, SandboxSetting};
use crate::text::{Span, escape};

/// Warnings on a manifest, for `check`.
pub fn lint(tool: &Tool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    open_arguments(tool, &mut found);
    sandbox::lint(tool, &mut found);
    secrets::lint(tool, &mut found);
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

fn warn(code: Code, tool: &Tool, key: &str, message: &str, remark: &str, help: &str) -> Diagnostic {
    place(Diagnostic::warning(code, message), tool, key, remark).help(help)
}

fn open_arguments(tool: &Tool, found: &mut Vec<Diagnostic>) {
    let said = ["additionalProperties", "unevaluatedProperties"];
    if said.iter().all(|key| tool.parameters.get(*key).is_none()) {
        found.push(warn(
            Code::ManifestOpenArguments,
            tool,
            "parameters",
            "the schema accepts arguments that it does not know",
            "no `additionalProperties: false`",
            "add `additionalProperties: false`: a misspelt argument is then an error, not ignored",
        ));
    }
}

/// Whether the call supplies the program of an interpreter.
fn code_from_argument(tool: &Tool) -> bool {
    let (Exec::Command(argv), StdinSource::Arg(_)) = (&tool.exec, &tool.stdin) else { return false };
    // `sh -s` and `python3 -` read it too.
    let reads_stdin = |rest: &[ArgvElement]| {
        rest.iter().all(|element| match element {
            ArgvElement::One(template) => template.literal().is_some_and(|text| text.starts_with('-')),
            ArgvElement::Splice { .. } | ArgvElement::Group { .. } => false,
        })
    };
    let Some((ArgvElement::One(program), rest)) = argv.split_first() else { return false };
    program.literal().is_some_and(super::interpreter::is_interpreter) && reads_stdin(rest)
}

fn contradictions(tool: &Tool, found: &mut Vec<Diagnostic>) {
    let mut contradicts = |key: &str, message: &str, remark: &str, help: &str| {
        found.push(warn(Code::ManifestContradiction, tool, key, message, remark, help));
    };
    let (writes, network) = config(tool).map_or((false, false), |config| {
        let writes = match &config.allow_fs {
            Some(AllowFs::All) => true,
            Some(AllowFs::Paths { read_write, .. }) => !read_write.is_empty(),
            Some(AllowFs::No) | None => false,
        };
        (writes, matches!(config.allow_network, Some(AllowNetwork::Yes | AllowNetwork::Hosts(_))))
    });
    if tool.read_only && tool.destructive {
        contradicts(
            "destructive",
            "a tool that only reads cannot be destructive",
            "contradicts `readOnly: true`",
            "remove one of the two",
        );
    }
    if tool.read_only && writes {
        contradicts(
            "readOnly",
            "the tool says that it only reads and asks for a sandbox that can write",
            "contradicts `sandbox.allowFS`",
            "list the paths under `allowFS.readOnly`, or remove `readOnly`",
        );
    }
    if tool.read_only && network {
        contradicts(
            "readOnly",
            "the tool says that it only reads and asks for a network, which no read gets",
            "contradicts `sandbox.allowNetwork`",
            "remove `readOnly`: what reaches out is `external`, not `read`",
        );
    }
    if tool.destructive && tool.cache_ttl.is_some() {
        contradicts(
            "cache",
            "only calls that read are cached",
            "contradicts `destructive: true`",
            "remove one of the two",
        );
    }
    let code = code_from_argument(tool);
    if code && tool.idempotent {
        contradicts(
            "idempotent",
            "what the call's own code does twice is not known",
            "contradicts the code on `stdin`",
            "remove `idempotent`",
        );
    }
    // Who calls such a tool destructive has seen it.
    if code && !tool.destructive {
        found.push(warn(
            Code::ManifestCodeFromArgument,
            tool,
            "stdin",
            "the call supplies the whole program that an interpreter runs",
            "code comes from an argument",
            "write the code into a file beside the manifest, or say `destructive: true` if free code is meant",
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
        let warning = Diagnostic::warning(Code::ManifestOptionalPlaceholder, message).help(format!(
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
