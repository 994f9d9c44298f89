//! The protocol between a shell and this program: `TOOLCTL_COMPLETE=SHELL toolctl -- WORDS…` prints candidates,
//! without words it prints what the shell has to be told.

use super::bash::WholeWords;
use super::candidates::{Finder, equip};
use super::line::Line;
use crate::cli::args::Cli;
use clap::CommandFactory as _;
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use std::ffi::OsString;
use std::path::{Component, Path};
use std::sync::mpsc;
use std::time::Duration;

/// The variable that a shell sets to its own name when it asks for candidates.
pub(in crate::cli) const VARIABLE: &str = "TOOLCTL_COMPLETE";
/// A person who presses a key does not wait longer; a folder that does not answer must not hang the shell.
const PATIENCE: Duration = Duration::from_secs(1);
const SHELLS: Shells<'static> = Shells(&[&WholeWords, &Elvish, &Fish, &Powershell, &Zsh]);

/// What a shell that set [`VARIABLE`] to `shell` is told: candidates for the words behind `--`, or its registration.
/// Empty if there is nothing to say, whatever the reason: a fault printed here would land in the line that is edited.
pub(in crate::cli) fn answer(shell: &str, mut words: Vec<OsString>) -> Vec<u8> {
    let shell = Path::new(shell).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    let program = if words.is_empty() { OsString::new() } else { words.remove(0) };
    if words.is_empty() {
        return registration(&shell, &program).unwrap_or_default().into_bytes();
    }
    words.remove(0);
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        // Whoever waited has gone if this fails.
        let _ = send.send(candidates(&shell, words));
    });
    receive.recv_timeout(PATIENCE).unwrap_or_default()
}

fn candidates(shell: &str, words: Vec<OsString>) -> Vec<u8> {
    let Some(completer) = SHELLS.completer(shell) else { return Vec::new() };
    let mut command = Cli::command();
    command.build();
    let line = Line::read(&words, &command);
    let described = !matches!(completer.name(), "bash" | "elvish");
    let mut command = equip(command, &Finder { line, described });
    let mut out = Vec::new();
    match completer.write_complete(&mut command, words, None, &mut out) {
        Ok(()) => out,
        Err(_) => Vec::new(),
    }
}

/// What a shell has to be told to ask for candidates; `None` for one that is not known. `program` is how this program
/// was started: by its name, it is looked up again each time.
pub(in crate::cli) fn registration(shell: &str, program: &OsString) -> Option<String> {
    let completer: &dyn EnvCompleter = SHELLS.completer(shell)?;
    let named = Path::new(program).components().filter(|part| matches!(part, Component::Normal(_))).count()
        <= 1
        && !Path::new(program).is_absolute();
    let place = if named { None } else { std::env::current_exe().ok() };
    let place = place.as_deref().and_then(Path::to_str).unwrap_or("toolctl");
    let mut out = Vec::new();
    completer.write_registration(VARIABLE, "toolctl", "toolctl", place, &mut out).ok()?;
    String::from_utf8(out).ok()
}
