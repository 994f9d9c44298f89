//! `toolctl completions SHELL`: what a shell has to be told so that it asks toolctl for candidates.

use crate::cli::args::{CompletionsArgs, Shell};
use crate::cli::complete::registration;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::Session;
use crate::term::{Format, Text};
use crate::text::escape;
use serde_json::json;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &CompletionsArgs) -> Result<Exit, Failure> {
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Elvish => "elvish",
        Shell::Fish => "fish",
        Shell::Powershell => "powershell",
        Shell::Zsh => "zsh",
    };
    let program = std::env::args_os().next().unwrap_or_default();
    let script = registration(name, &program)
        .ok_or_else(|| Failure::Internal(anyhow::anyhow!("there is no script for {name}")))?;
    if session.ui.format() == Format::Human {
        for line in script.lines() {
            session.ui.line(&Text::new().escaped(&escape(line)))?;
        }
    } else {
        session.ui.document(&json!({"schema": "toolctl.completions/v1", "shell": name, "script": script}))?;
    }
    Ok(Exit::Ok)
}
