//! The command line: arguments, exit codes and one file a command.

mod args;
mod commands;
mod confine;
mod document;
mod exit;
mod failure;
mod interrupt;
mod masks;
mod prepare;
mod session;
mod stdin;
mod verdict;

pub use exit::Exit;

use crate::world::HostWorld;
use args::{Cli, Command, Global};
use clap::Parser as _;
use commands::run::End;
use failure::Failure;
use session::Session;
use std::process::ExitCode;

/// Runs the program: what the shell typed in, the exit code out.
pub fn main() -> ExitCode {
    // The two programs inside the program come first: they run in the sandbox, where nothing else of toolctl may.
    let world = HostWorld;
    let mut words = std::env::args_os().skip(1);
    if let Some(first) = words.next() {
        if first == crate::sandbox::INIT_ARGUMENT {
            return crate::sandbox::init_main(words);
        }
        if first == "__builtin" {
            let name = words.next().unwrap_or_default();
            return crate::execute::builtin::main(&name.to_string_lossy());
        }
        if first == "help" && words.next().is_some_and(|topic| topic == "environment") {
            let mut session = Session::new(&world, Global::default());
            let outcome = commands::environment::run(&mut session);
            return finish(End::Own(outcome.unwrap_or_else(|failure| fail(&mut session, &failure))));
        }
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, everything else is a usage error; clap knows which stream is whose.
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            return if error.print().is_ok() { code.into() } else { Exit::Output.into() };
        }
    };
    let mut session = Session::new(&world, cli.global);
    finish(dispatch(&mut session, &cli.command))
}

fn dispatch(session: &mut Session<'_>, command: &Command) -> End {
    let outcome: Result<Exit, Failure> = match command {
        Command::Run(args) => match commands::run::run(session, args) {
            Ok(end) => return end,
            Err(failure) => Err(failure),
        },
        Command::Plan(args) => commands::plan::run(session, args),
        Command::Validate(args) => commands::validate::run(session, args),
        Command::Check(args) => commands::check::run(session, args),
        Command::Tools(command) => commands::tools::run(session, command),
        Command::Policy(command) => commands::policy::run(session, command),
        Command::Trust(args) => commands::trust::run(session, args),
        Command::Doctor => commands::doctor::run(session),
        Command::Explain(args) => commands::explain::run(session, args),
    };
    End::Own(match outcome {
        Ok(exit) => exit,
        Err(failure) => fail(session, &failure),
    })
}

/// Reports a failure of a command. With a JSON format stdout still gets its one document.
fn fail(session: &mut Session<'_>, failure: &Failure) -> Exit {
    if session.ui.format() != crate::term::Format::Human && !session.ui.has_written() {
        let diagnostics = crate::term::render::to_json(&session.files, &failure.diagnostics());
        let document = serde_json::json!({
            "schema": "toolctl.failure/v1", "exit": failure.exit().code(), "diagnostics": diagnostics,
        });
        let _ = session.ui.document(&document);
    }
    session.fail(failure)
}

fn finish(end: End) -> ExitCode {
    match end {
        End::Own(exit) => exit.into(),
        End::Tool(code) => ExitCode::from(code),
        End::Signal(signal) => {
            interrupt::raise(signal);
            Exit::Interrupted.into()
        }
    }
}
