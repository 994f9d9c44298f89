//! `toolctl tools list` and `show`.

use crate::cli::args::ToolsCommand;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::find_tool;
use crate::cli::session::Session;
use crate::manifest::Exec;
use crate::project::CatalogTool;
use crate::term::{Format, Table, Text};
use crate::text::escape;
use serde_json::{Map, Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, command: &ToolsCommand) -> Result<Exit, Failure> {
    match command {
        ToolsCommand::List => list(session),
        ToolsCommand::Show { tool } => show(session, tool),
    }
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let project = session.project()?;
    let (tools, faults) = project.catalog().all(session.world, &mut session.files);
    if session.ui.format() == Format::Human {
        let mut table = Table::new(&["tool", "layer", "hints", "description"]);
        for found in &tools {
            let tool = &found.tool;
            table.row([
                escape(&tool.name),
                escape(found.layer.as_str()),
                escape(&hints(found).join(", ")),
                escape(first_sentence(&tool.description)),
            ]);
        }
        session.ui.table(&table)?;
    } else {
        let tools: Vec<Value> = tools
            .iter()
            .map(|found| {
                json!({
                    "name": found.tool.name, "layer": found.layer.as_str(), "description": found.tool.description,
                    "readOnly": found.tool.read_only, "destructive": found.tool.destructive,
                    "idempotent": found.tool.idempotent,
                })
            })
            .collect();
        session.ui.document(&json!({"schema": "toolctl.tools/v1", "tools": tools}))?;
    }
    session.ui.diagnostics(&session.files, &faults)?;
    Ok(if faults.is_empty() { Exit::Ok } else { Exit::Config })
}

fn hints(found: &CatalogTool) -> Vec<&'static str> {
    [
        (found.tool.read_only, "read-only"),
        (found.tool.destructive, "destructive"),
        (found.tool.idempotent, "idempotent"),
    ]
    .into_iter()
    .filter_map(|(set, name)| set.then_some(name))
    .collect()
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or(text).lines().next().unwrap_or("")
}

fn show(session: &mut Session<'_>, name: &str) -> Result<Exit, Failure> {
    let project = session.project()?;
    let found = find_tool(session, &project, name)?;
    let tool = &found.tool;
    if session.ui.format() != Format::Human {
        let shape: Map<String, Value> = found
            .schema
            .shape()
            .into_iter()
            .map(|(name, schema)| (name.to_owned(), schema.clone()))
            .collect();
        session.ui.document(&json!({
            "schema": "toolctl.tool/v1", "name": tool.name, "layer": found.layer.as_str(),
            "description": tool.description, "parameters": tool.parameters, "shape": shape,
            "readOnly": tool.read_only, "destructive": tool.destructive, "idempotent": tool.idempotent,
            "builtin": matches!(tool.exec, Exec::Builtin(_)), "strict": tool.strict,
            "inputExamples": tool.input_examples, "file": tool.file.as_ref().map(|file| file.to_string_lossy()),
            "digest": tool.digest,
        }))?;
        return Ok(Exit::Ok);
    }
    let mut lines = vec![
        Text::new()
            .strong_escaped(&escape(&tool.name))
            .plain("  (")
            .escaped(&escape(found.layer.as_str()))
            .plain(")"),
        Text::new().escaped(&escape(&tool.description)),
    ];
    if let Some(file) = &tool.file {
        lines.push(Text::new().dim("file       ").escaped(&escape(&file.to_string_lossy())));
    }
    lines.push(Text::new().dim("hints      ").escaped(&escape(&hints(&found).join(", "))));
    lines.push(Text::new().dim("digest     ").escaped(&escape(&tool.digest)));
    lines.push(Text::new().dim("arguments"));
    for (name, schema) in found.schema.shape() {
        lines.push(
            Text::new()
                .plain("  ")
                .strong_escaped(&escape(name))
                .plain("  ")
                .escaped(&escape(&schema.to_string())),
        );
    }
    for example in &tool.input_examples {
        lines.push(Text::new().dim("example    ").escaped(&escape(&example.to_string())));
    }
    for line in &lines {
        session.ui.line(line)?;
    }
    Ok(Exit::Ok)
}
