//! `run_command`: executes an argv, without a shell, in the sandbox that the tool already runs in.
//!
//! The program is a bare name on a constant search path or, with a slash, a path relative to the command's folder. A
//! program that is missing ends in 127 and one that cannot be executed in 126, as with `env`.

use super::error::BuiltinError;
use super::io::{BuiltinExit, Io};
use super::root::Root;
use crate::text::escape;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use serde::Deserialize;
use std::convert::Infallible;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The tool's name.
pub(super) const NAME: &str = "run_command";

const SEARCH_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
const MISSING: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    argv: Vec<String>,
    #[serde(default = "default_cwd")]
    cwd: String,
    stdin: Option<String>,
}

fn default_cwd() -> String {
    ".".to_owned()
}

/// A command that is ready to be executed.
#[derive(Debug)]
pub(super) struct Prepared {
    command: Command,
    program: PathBuf,
    named: String,
}

/// Finds the program and the folder, and opens the input.
pub(super) fn prepare(args: &Args, root: &Root) -> Result<Prepared, BuiltinError> {
    let Some((named, rest)) = args.argv.split_first().filter(|(program, _)| !program.is_empty()) else {
        return Err(BuiltinError::Arguments(escape("argv needs a program as its first element")));
    };
    if args.argv.iter().any(|element| element.contains('\0')) {
        return Err(BuiltinError::Arguments(escape("an element of argv holds a NUL character")));
    }
    // Opened to refuse what is not a folder, or is behind a link that appeared; the command itself goes anywhere.
    root.target(&args.cwd)?.open("use as working folder", OFlags::RDONLY | OFlags::DIRECTORY)?;
    let folder = root.path().join(&args.cwd);
    let program = find(named, &folder)?;
    let mut command = Command::new(&program);
    command.arg0(named).args(rest).current_dir(&folder);
    command.stdin(match &args.stdin {
        Some(text) => Stdio::from(spooled(text.as_bytes())?),
        None => Stdio::null(),
    });
    Ok(Prepared { command, program, named: named.clone() })
}

impl Prepared {
    /// Replaces this process by the command; returns only if that fails.
    pub(super) fn exec(mut self) -> Result<Infallible, BuiltinError> {
        let error = self.command.exec();
        Err(self.cannot_start(&error))
    }

    /// Runs the command as a child and copies its output when it has ended.
    pub(super) fn output(mut self, io: &mut Io<'_>) -> Result<BuiltinExit, BuiltinError> {
        let output = self.command.output().map_err(|error| self.cannot_start(&error))?;
        io.put(&output.stdout)?;
        io.put_error(&output.stderr)?;
        let code = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
        Ok(match code.and_then(|code| u8::try_from(code).ok()) {
            Some(0) => BuiltinExit::Done,
            Some(code) => BuiltinExit::Code(code),
            None => BuiltinExit::Failed,
        })
    }

    fn cannot_start(&self, error: &std::io::Error) -> BuiltinError {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        let detail = match interpreter(&self.program) {
            Some(interpreter) if missing => {
                format!("its interpreter `{}` is not there", escape(&interpreter))
            }
            Some(_) | None if missing => "it is there, but the loader it was linked for is not".to_owned(),
            Some(_) | None => error.to_string(),
        };
        let code = if missing { MISSING } else { NOT_EXECUTABLE };
        BuiltinError::Program { program: escape(&self.named), detail, code }
    }
}

/// Where the program is. Searching comes before starting, so that the message can say what was searched.
fn find(named: &str, folder: &Path) -> Result<PathBuf, BuiltinError> {
    let candidates: Vec<PathBuf> = if named.contains('/') {
        vec![folder.join(named)]
    } else {
        SEARCH_PATH.iter().map(|dir| Path::new(dir).join(named)).collect()
    };
    let mut refused = false;
    for candidate in candidates {
        if !candidate.is_file() {
            continue;
        }
        if rustix::fs::accessat(CWD, &candidate, Access::EXEC_OK, AtFlags::empty()).is_ok() {
            // The command starts in another folder, against which a relative program would be looked up again.
            return Ok(std::path::absolute(&candidate).unwrap_or(candidate));
        }
        refused = true;
    }
    let (detail, code) = if refused {
        (
            "it is a file, but not one that may be executed; name its interpreter as the program".to_owned(),
            NOT_EXECUTABLE,
        )
    } else if named.contains('/') {
        ("there is no such file in the command's folder, or the sandbox hides it".to_owned(), MISSING)
    } else {
        let detail = format!(
            "it is not in {}; argv is one program and its arguments, not a shell line: for a shell use [\"sh\", \"-c\", \"…\"]",
            SEARCH_PATH.join(", ")
        );
        (detail, MISSING)
    };
    Err(BuiltinError::Program { program: escape(named), detail, code })
}

/// The interpreter that a script's first line names.
fn interpreter(program: &Path) -> Option<String> {
    let mut line = Vec::new();
    BufReader::new(File::open(program).ok()?).take(256).read_until(b'\n', &mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.trim_ascii();
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    Some(String::from_utf8_lossy(line.get(..end)?).into_owned())
}

/// The input as a file without a name: a pipe would need somebody to feed it after this process is gone.
fn spooled(bytes: &[u8]) -> Result<File, BuiltinError> {
    let dir = std::env::temp_dir();
    let failed = |source| BuiltinError::Stream { doing: "keep the command's input", source };
    let mut file = unnamed(&dir).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.rewind()).map_err(failed)?;
    Ok(file)
}

fn unnamed(dir: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o600);
    if let Ok(fd) = rustix::fs::open(dir, flags | OFlags::TMPFILE, mode) {
        return Ok(File::from(fd));
    }
    // Not every file system can make a file without a name: make one, and take the name away.
    let name = format!("toolctl-stdin-{}", std::process::id());
    let path = dir.join(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let fd = rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, mode)?;
    std::fs::remove_file(&path)?;
    Ok(File::from(fd))
}
