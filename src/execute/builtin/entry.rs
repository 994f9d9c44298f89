//! Where a built-in tool starts: its name and arguments in, an exit code out.

use super::error::BuiltinError;
use super::io::{BuiltinExit, Io};
use super::root::Root;
use super::{
    delete_file, edit_file, file_info, find_files, list_dir, move_file, read_file, run_command, search_text,
    write_file,
};
use crate::text::escape;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::ExitCode;

/// The most bytes of arguments: what a call may have.
const MAX_ARGS: u64 = 16 << 20;

/// Runs the built-in tool `name` with the working folder as its workspace and the arguments from stdin.
///
/// Nothing else of toolctl runs in this process. `run_command` replaces the process by the command, so that signals
/// and exit codes are the command's own.
pub fn main(name: &str) -> ExitCode {
    let mut out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let mut err = io::stderr().lock();
    let exit = match read_args() {
        Ok(args) if name == run_command::NAME => {
            match prepare_command(&args, Path::new(".")).and_then(run_command::Prepared::exec) {
                Err(error) => report(name, &error, &mut err),
            }
        }
        Ok(args) => {
            if [write_file::NAME, edit_file::NAME, move_file::NAME].contains(&name) {
                // The files' permissions are computed, and must come out as computed.
                rustix::process::umask(rustix::fs::Mode::empty());
            }
            run(name, &args, Path::new("."), &mut out, &mut err)
        }
        Err(error) => report(name, &error, &mut err),
    };
    match out.flush() {
        Ok(()) => exit.into(),
        Err(source) => {
            report(name, &BuiltinError::Stream { doing: "write the result", source }, &mut err).into()
        }
    }
}

/// Runs a built-in tool in this process: the result goes to `out`, messages to `err`. `root` is the workspace.
///
/// A command of `run_command` is started as a child here, and its output is copied when it has ended.
pub fn run(
    name: &str,
    args: &Map<String, Value>,
    root: &Path,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> BuiltinExit {
    let mut io = Io { out, err, name };
    match dispatch(name, args, root, &mut io) {
        Ok(exit) => exit,
        Err(error) => report(name, &error, err),
    }
}

fn dispatch(
    name: &str,
    args: &Map<String, Value>,
    root: &Path,
    io: &mut Io<'_>,
) -> Result<BuiltinExit, BuiltinError> {
    let open = || Root::open(root);
    match name {
        read_file::NAME => read_file::run(&typed(args)?, &open()?, io)?,
        list_dir::NAME => list_dir::run(&typed(args)?, &open()?, io)?,
        search_text::NAME => search_text::run(&typed(args)?, &open()?, io)?,
        find_files::NAME => find_files::run(&typed(args)?, &open()?, io)?,
        file_info::NAME => file_info::run(&typed(args)?, &open()?, io)?,
        edit_file::NAME => edit_file::run(&typed(args)?, &open()?, io)?,
        move_file::NAME => move_file::run(&typed(args)?, &open()?, io)?,
        delete_file::NAME => delete_file::run(&typed(args)?, &open()?, io)?,
        write_file::NAME => write_file::run(&typed(args)?, &open()?, io)?,
        run_command::NAME => return prepare_command(args, root)?.output(io),
        _ => return Err(BuiltinError::UnknownTool(escape(name))),
    }
    Ok(BuiltinExit::Done)
}

fn prepare_command(args: &Map<String, Value>, root: &Path) -> Result<run_command::Prepared, BuiltinError> {
    run_command::prepare(&typed(args)?, &Root::open(root)?)
}

/// The arguments as a tool's own type: the schema was checked before, and is not relied upon.
fn typed<T: DeserializeOwned>(args: &Map<String, Value>) -> Result<T, BuiltinError> {
    T::deserialize(Value::Object(args.clone())).map_err(|e| BuiltinError::Arguments(escape(&e.to_string())))
}

fn read_args() -> Result<Map<String, Value>, BuiltinError> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(MAX_ARGS + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| BuiltinError::Stream { doing: "read the arguments", source })?;
    if bytes.len() as u64 > MAX_ARGS {
        return Err(BuiltinError::Arguments(escape("they are larger than 16 MiB")));
    }
    serde_json::from_slice(&bytes).map_err(|e| BuiltinError::Arguments(escape(&e.to_string())))
}

fn report(name: &str, error: &BuiltinError, err: &mut dyn Write) -> BuiltinExit {
    // If even stderr is gone, the exit code still tells.
    let _ = writeln!(err, "{}: {error}", escape(name));
    match error.exit_code() {
        Some(code) => BuiltinExit::Code(code),
        None if error.is_retryable() => BuiltinExit::Retry,
        None => BuiltinExit::Failed,
    }
}
