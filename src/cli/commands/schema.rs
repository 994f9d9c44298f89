//! `toolctl schema KIND`: the JSON Schema of a file or of an output, for editors and for programs that read us.

use crate::cli::args::SchemaArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::kinds::{ALL, Kind};
use crate::cli::session::Session;
use crate::diag::{Code, Diagnostic};
use crate::term::{Format, Table, Text};
use crate::text::{escape, nearest};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &SchemaArgs) -> Result<Exit, Failure> {
    let Some(name) = &args.kind else { return list(session) };
    let Some(kind) = ALL.iter().find(|kind| kind.name == name) else { return Err(unknown(name)) };
    if session.ui.format() == Format::Human {
        for line in kind.text.lines() {
            session.ui.line(&Text::new().plain(line))?;
        }
    } else {
        let definition: Value =
            serde_json::from_str(kind.text).map_err(|error| Failure::Internal(error.into()))?;
        let document = json!({"schema": "toolctl.schema/v1", "kind": kind.name, "definition": definition});
        session.ui.document(&document)?;
    }
    Ok(Exit::Ok)
}

fn unknown(name: &str) -> Failure {
    let fault = Diagnostic::error(Code::UsageError, format!("there is no kind `{}`", escape(name)));
    let fault = match nearest(name, ALL.iter().map(|kind| kind.name)) {
        Some(near) => fault.help(format!("did you mean `{near}`? toolctl schema {near}")),
        None => fault,
    };
    Failure::Usage(fault.help("list all kinds: toolctl schema"))
}

const fn what(kind: Kind) -> &'static str {
    if kind.written { "file" } else { "output" }
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    if session.ui.format() == Format::Human {
        let mut table = Table::new(&["kind", "of", "meaning"]);
        for kind in ALL {
            table.row([escape(kind.name), escape(what(*kind)), escape(kind.title())]);
        }
        session.ui.table(&table)?;
    } else {
        let kinds: Vec<Value> = ALL
            .iter()
            .map(|kind| json!({"kind": kind.name, "of": what(*kind), "title": kind.title()}))
            .collect();
        session.ui.document(&json!({"schema": "toolctl.schema/v1", "kinds": kinds}))?;
    }
    Ok(Exit::Ok)
}
