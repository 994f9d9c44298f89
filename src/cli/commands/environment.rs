//! `toolctl help environment`: the variables that toolctl knows. Any other `TOOLCTL_` variable is a usage error.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::Session;
use crate::project::VARIABLES;
use crate::term::Table;
use crate::text::escape;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let mut table = Table::new(&["variable", "meaning"]);
    for variable in VARIABLES {
        table.row([escape(variable.name), escape(variable.meaning)]);
    }
    session.ui.table(&table)?;
    Ok(Exit::Ok)
}
