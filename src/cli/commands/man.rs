//! `toolctl man`: the manual page of the program or of one command, made from the same definitions as `--help`.

use crate::cli::args::{Cli, ManArgs};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::Session;
use crate::diag::{Code, Diagnostic};
use crate::term::{Format, Text};
use crate::text::{escape, nearest};
use clap::CommandFactory as _;
use serde_json::json;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &ManArgs) -> Result<Exit, Failure> {
    let mut root = Cli::command();
    root.build();
    let mut command = &root;
    for word in &args.command {
        command = command.find_subcommand(word).ok_or_else(|| unknown(command, word))?;
    }
    // `toolctl policy explain` is found as `man toolctl-policy-explain`.
    let name = std::iter::once("toolctl").chain(args.command.iter().map(String::as_str));
    let name = name.collect::<Vec<_>>().join("-");
    let page = clap_mangen::Man::new(command.clone())
        .title(name.clone())
        .source(format!("toolctl {}", env!("CARGO_PKG_VERSION")));
    let mut bytes = Vec::new();
    page.render(&mut bytes).map_err(|error| Failure::Internal(error.into()))?;
    let page = String::from_utf8(bytes).map_err(|error| Failure::Internal(error.into()))?;
    if session.ui.format() == Format::Human {
        for line in page.lines() {
            session.ui.line(&Text::new().escaped(&escape(line)))?;
        }
    } else {
        session.ui.document(&json!({"schema": "toolctl.man/v1", "name": name, "page": page}))?;
    }
    Ok(Exit::Ok)
}

fn unknown(command: &clap::Command, word: &str) -> Failure {
    let fault = Diagnostic::error(Code::UsageError, format!("there is no command `{}`", escape(word)));
    Failure::Usage(match nearest(word, command.get_subcommands().map(clap::Command::get_name)) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("list all commands: toolctl --help"),
    })
}
