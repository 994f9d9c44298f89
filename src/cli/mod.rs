//! The command line: arguments, exit codes and one file a command.

mod again;
mod args;
mod commands;
mod complete;
mod confine;
mod document;
mod exit;
mod failure;
mod filling;
mod foreign;
mod hints;
mod interrupt;
mod judging;
mod kinds;
mod lines;
mod machine;
mod masks;
mod narrow;
mod prepare;
mod reach;
mod report;
mod session;
mod stdin;
mod tips;
mod validation;
mod validator;
mod verdict;
mod withheld;

pub use exit::Exit;

use crate::diag::{Code, Diagnostic};
use crate::sandbox::Early;
use crate::term;
use crate::text::escape;
use crate::world::{HostWorld, MemoWorld};
use args::{Command, Global};
use commands::run::End;
use failure::Failure;
use session::Session;
use std::process::ExitCode;

/// Runs the program: what the shell typed in, the exit code out.
pub fn main() -> ExitCode {
    // The two programs inside the program come first: they run in the sandbox, where nothing else of toolctl may.
    let world = HostWorld;
    let mut words = std::env::args_os().skip(1);
    let first = words.next();
    // Only the words of the protocol are looked at: whatever else is typed while the variable is set is a command.
    if first.as_ref().is_none_or(|first| first == "--")
        && let Some(shell) = std::env::var_os(complete::VARIABLE).filter(|shell| !shell.is_empty())
    {
        let answer = complete::answer(&shell.to_string_lossy(), std::env::args_os().collect());
        return if term::print_candidates(&answer).is_ok() { Exit::Ok.into() } else { Exit::Output.into() };
    }
    if let Some(first) = first {
        if first == crate::sandbox::INIT_ARGUMENT {
            return crate::sandbox::init_main(words);
        }
        if first == "__builtin" {
            let name = words.next().unwrap_or_default();
            return crate::execute::builtin::main(&name.to_string_lossy());
        }
        if (first == "--version" || first == "-V") && words.len() == 0 {
            // The commonest question of scripts, answered before the command line is put together.
            return if term::print_version().is_ok() { Exit::Ok.into() } else { Exit::Output.into() };
        }
        if first == "help" && words.next().is_some_and(|topic| topic == "environment") {
            let mut session = Session::new(&world, Global::default());
            let outcome = commands::environment::run(&mut session);
            return finish(End::Own(outcome.unwrap_or_else(|failure| fail(&mut session, &failure))));
        }
    }
    // Making the sandbox's empty namespaces takes about as long as deciding, so both are done at once.
    let early = if args::looks_like_run(std::env::args_os().skip(1)) { Early::start() } else { None };
    let words: Vec<_> = std::env::args_os().collect();
    let cli = match args::parse(&words) {
        Ok(cli) => cli,
        Err(error) => return unread(&tips::with_tip(foreign::explained(error), &words)),
    };
    let world = MemoWorld::new(&world);
    let mut session = Session::new(&world, cli.global);
    finish(dispatch(&mut session, &cli.command, early))
}

/// Help and version are answers, everything else is a usage error; clap knows which stream is whose. Who asked for JSON
/// gets a document, as far as the command line can still be read.
fn unread(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return if error.print().is_ok() { Exit::Ok.into() } else { Exit::Output.into() };
    }
    // If stderr is gone there is nobody left to tell.
    let _ = error.print();
    let Some(format) = args::wanted_format(std::env::args_os().skip(1)) else { return Exit::Usage.into() };
    let message = error.render().to_string();
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let failure = Failure::Usage(
        Diagnostic::error(Code::UsageError, escape(first).to_string())
            .help("see the options: toolctl --help, or toolctl COMMAND --help"),
    );
    let world = HostWorld;
    let mut session = Session::new(&world, Global { format, ..Global::default() });
    let document = failure_document(&session, &failure);
    if session.ui.document(&document).is_ok() { Exit::Usage.into() } else { Exit::Output.into() }
}

fn failure_document(session: &Session<'_>, failure: &Failure) -> serde_json::Value {
    let diagnostics = crate::term::render::to_json(&session.files, &session.diagnosed(failure));
    serde_json::json!({
        "schema": "toolctl.failure/v1", "exit": failure.exit().code(), "diagnostics": diagnostics,
    })
}

fn dispatch(session: &mut Session<'_>, command: &Command, early: Option<Early>) -> End {
    let outcome: Result<Exit, Failure> = match command {
        Command::Run(args) => match commands::run::run(session, args, early) {
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
        Command::Environment => commands::environment::run(session),
        Command::Schema(args) => commands::schema::run(session, args),
        Command::Completions(args) => commands::completions::run(session, args),
        Command::Man(args) => commands::man::run(session, args),
    };
    End::Own(match outcome {
        Ok(exit) => exit,
        Err(failure) => fail(session, &failure),
    })
}

/// Reports a failure of a command. With a JSON format stdout still gets its one document.
fn fail(session: &mut Session<'_>, failure: &Failure) -> Exit {
    if session.ui.format() != crate::term::Format::Human && !session.ui.has_written() {
        let document = failure_document(session, failure);
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
