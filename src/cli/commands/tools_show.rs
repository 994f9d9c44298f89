//! `toolctl tools show`: all that a manifest says of a tool, and what the layers make of it.

use super::tools::{Standing, hints, policies};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::find_tool;
use crate::cli::session::Session;
use crate::manifest::{ArgvElement, Exec, OutputKind, RequiresApproval, StdinSource, Tool};
use crate::model::{EnvRequest, SandboxConfig};
use crate::policy::sandbox_value;
use crate::project::{CatalogTool, Project};
use crate::sandbox::resolve;
use crate::schema::Schema;
use crate::term::{Format, Table, Text};
use crate::text::escape;
use serde_json::{Map, Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, name: &str) -> Result<Exit, Failure> {
    let project = session.project()?;
    let found = find_tool(session, &project, name)?;
    let (policies, faults) = policies(session, &project)?;
    let standing = Standing::of(&project, policies.as_ref(), &found);
    if session.ui.format() == Format::Human {
        for line in head(&project, &found, &standing) {
            session.ui.line(&line)?;
        }
        session.ui.table(&arguments(&found.schema, &found.tool))?;
        for example in &found.tool.input_examples {
            session.ui.line(&Text::new().dim("example    ").escaped(&escape(&example.to_string())))?;
        }
    } else {
        session.ui.document(&document(&project, &found, &standing))?;
    }
    session.ui.diagnostics(&session.files, &faults)?;
    Ok(if faults.is_empty() { Exit::Ok } else { Exit::Config })
}

fn head(project: &Project, found: &CatalogTool, standing: &Standing) -> Vec<Text> {
    let tool = &found.tool;
    let title = Text::new()
        .strong_escaped(&escape(&tool.name))
        .plain("  (")
        .escaped(&escape(found.layer.as_str()))
        .plain(if standing.needs_trust { "; needs trust: toolctl trust)" } else { ")" });
    let mut lines = vec![title, Text::new().escaped(&escape(&tool.description))];
    let mut add = |label: &'static str, text: String| {
        if !text.is_empty() {
            lines.push(Text::new().dim(label).escaped(&escape(&text)));
        }
    };
    add(
        "file       ",
        tool.file.as_ref().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default(),
    );
    add("effects    ", effects(standing));
    add("hints      ", hints(found).join(", "));
    add("approval   ", approval(tool));
    add("runs       ", runs(tool));
    if let Exec::Command(_) = &tool.exec {
        add("stdin      ", stdin(tool));
        add("cwd        ", tool.cwd.as_ref().map(ToString::to_string).unwrap_or_default());
    }
    add("output     ", output(tool).to_owned());
    let sandbox = resolve(tool.sandbox.as_ref(), project.settings.sandbox.as_ref());
    add("sandbox    ", sandbox_words(sandbox.as_ref()));
    add("digest     ", tool.digest.clone());
    lines
}

/// `read, from toolctl`: the effects and who says so.
fn effects(standing: &Standing) -> String {
    let from = standing.effects.as_ref().map_or_else(Vec::new, |found| {
        let names = found.from.iter().map(|name| match name.as_str() {
            "toolctl" => "toolctl itself".to_owned(),
            "hint" => "the manifest's hint, which the host trusts".to_owned(),
            "nobody" => "nobody: no policy classifies it".to_owned(),
            policy => format!("the policy `{policy}`"),
        });
        names.collect()
    });
    match from.as_slice() {
        [] => "unknown: the policies cannot be read".to_owned(),
        from => format!("{}; says {}", standing.words(), from.join(" and ")),
    }
}

fn approval(tool: &Tool) -> String {
    match &tool.requires_approval {
        None => String::new(),
        Some(RequiresApproval::Always(true)) => "always needed".to_owned(),
        Some(RequiresApproval::Always(false)) => "not asked for by the manifest".to_owned(),
        Some(RequiresApproval::When(when)) => format!("needed when {}", when.to_value()),
    }
}

/// The argv of a manifest, as it is written there.
fn argv(tool: &Tool) -> Vec<Value> {
    fn one(element: &ArgvElement) -> Value {
        match element {
            ArgvElement::One(template) => json!(template.to_string()),
            ArgvElement::Splice { arg, .. } => json!(format!("{{args.{arg}}}")),
            ArgvElement::Group { when, argv } => {
                json!({"when": format!("args.{when}"), "argv": argv.iter().map(one).collect::<Vec<_>>()})
            }
        }
    }
    match &tool.exec {
        Exec::Builtin(_) => Vec::new(),
        Exec::Command(elements) => elements.iter().map(one).collect(),
    }
}

fn runs(tool: &Tool) -> String {
    match &tool.exec {
        Exec::Builtin(name) => format!("the built-in {name}"),
        Exec::Command(_) => Value::Array(argv(tool)).to_string(),
    }
}

fn stdin(tool: &Tool) -> String {
    match &tool.stdin {
        StdinSource::Args => "the arguments as JSON".to_owned(),
        StdinSource::None => "nothing".to_owned(),
        StdinSource::Arg(name) => format!("the argument {name}"),
    }
}

const fn output(tool: &Tool) -> &'static str {
    match tool.output {
        OutputKind::Text => "text",
        OutputKind::Json => "json",
    }
}

/// `network no; files read {workspace}; 30 s; 256 MiB; …`, or that there is none.
fn sandbox_words(config: Option<&SandboxConfig>) -> String {
    let Some(config) = config.filter(|config| config.enabled != Some(false)) else {
        return "none: it runs as you, with all that you can reach".to_owned();
    };
    let all = sandbox_value(Some(config));
    let all = |key: &str| all.get(key).unwrap_or(&Value::Null);
    let switch = |value: &Value| match value {
        Value::Bool(true) => "everything".to_owned(),
        Value::Bool(false) => "none".to_owned(),
        Value::Array(items) => texts(items),
        Value::String(text) => text.clone(),
        Value::Null | Value::Number(_) | Value::Object(_) => value.to_string(),
    };
    let mut parts = vec![format!("network {}", switch(all("allowNetwork")))];
    match all("allowFS").as_object() {
        None => parts.push(format!("files {}", switch(all("allowFS")))),
        Some(files) => {
            let lists = [("readOnly", "reads"), ("readWrite", "writes")];
            let bound = lists.into_iter().filter_map(|(key, verb)| {
                let items = files.get(key).and_then(Value::as_array).filter(|items| !items.is_empty())?;
                Some(format!("{verb} {}", texts(items)))
            });
            parts.extend(bound);
        }
    }
    if let Some(EnvRequest { set, forward }) = &config.env {
        let names: Vec<&str> = set.keys().chain(forward).map(String::as_str).collect();
        parts.push(format!("environment {}", names.join(" ")));
    }
    let number = |key: &str| all(key).as_u64().unwrap_or_default();
    parts.push(format!("{} ms", number("timeout")));
    parts.push(format!("{} MiB", number("maxMemoryMB")));
    parts.push(format!("{} processes", number("maxProcesses")));
    parts.push(format!("{} bytes of output", number("maxOutputBytes")));
    parts.join("; ")
}

fn texts(items: &[Value]) -> String {
    items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
}

/// A row an argument: what may be given, whether it has to be, what it means.
fn arguments(schema: &Schema, tool: &Tool) -> Table {
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let needed =
        |name: &str| required.is_some_and(|all| all.iter().any(|known| known.as_str() == Some(name)));
    let mut table = Table::new(&["argument", "needed", "value", "meaning"]);
    for (name, schema) in schema.shape() {
        let mut rest = schema.clone();
        let meaning = rest.as_object_mut().and_then(|map| map.remove("description"));
        let default = rest.as_object_mut().and_then(|map| map.remove("default"));
        let needed = match (needed(name), default) {
            (true, _) => "yes".to_owned(),
            (false, Some(default)) => format!("default {default}"),
            (false, None) => "no".to_owned(),
        };
        table.row([
            escape(name),
            escape(&needed),
            escape(&rest.to_string()),
            escape(meaning.as_ref().and_then(Value::as_str).unwrap_or_default()),
        ]);
    }
    table
}

fn document(project: &Project, found: &CatalogTool, standing: &Standing) -> Value {
    let tool = &found.tool;
    let shape = found.schema.shape().into_iter().map(|(name, schema)| (name.to_owned(), schema.clone()));
    let approval = match &tool.requires_approval {
        None => Value::Null,
        Some(RequiresApproval::Always(always)) => json!(always),
        Some(RequiresApproval::When(when)) => json!({"when": when.to_value()}),
    };
    let command = match &tool.exec {
        Exec::Builtin(_) => Value::Null,
        Exec::Command(_) => Value::Array(argv(tool)),
    };
    let sandbox = resolve(tool.sandbox.as_ref(), project.settings.sandbox.as_ref());
    json!({
        "schema": "toolctl.tool/v1", "name": tool.name, "layer": found.layer.as_str(),
        "description": tool.description, "parameters": tool.parameters, "shape": shape.collect::<Map<_, _>>(),
        "readOnly": tool.read_only, "destructive": tool.destructive, "idempotent": tool.idempotent,
        "builtin": matches!(tool.exec, Exec::Builtin(_)), "strict": tool.strict,
        "inputExamples": tool.input_examples, "file": tool.file.as_ref().map(|file| file.to_string_lossy()),
        "digest": tool.digest, "effects": standing.effects_document(), "needsTrust": standing.needs_trust,
        "requiresApproval": approval, "command": command, "output": output(tool),
        "sandbox": sandbox_value(sandbox.as_ref()),
    })
}
