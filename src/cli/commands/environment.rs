//! `toolctl environment`: the variables that toolctl knows. `toolctl help environment` shows the same list.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::Session;
use crate::project::VARIABLES;
use crate::term::{Format, Table};
use crate::text::escape;
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>) -> Result<Exit, Failure> {
    if session.ui.format() == Format::Human {
        let mut table = Table::new(&["variable", "meaning"]);
        for variable in VARIABLES {
            table.row([escape(variable.name), escape(variable.meaning)]);
        }
        session.ui.table(&table)?;
    } else {
        let variables: Vec<Value> = VARIABLES
            .iter()
            .map(|variable| json!({"name": variable.name, "meaning": variable.meaning}))
            .collect();
        session.ui.document(&json!({"schema": "toolctl.environment/v1", "variables": variables}))?;
    }
    Ok(Exit::Ok)
}
