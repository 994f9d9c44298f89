//! Whether the program could start, said in words before anything is made.
//!
//! The kernel's own answer for a script whose interpreter is missing, or for a program whose loader is not visible, is
//! `ENOENT` on the program that plainly exists.

use super::Plan;
use crate::sandbox::SandboxError;
use crate::sandbox::error::shown;
use crate::sandbox::linux::job::Access;
use crate::world::{FileKind, World};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The interpreter line, or the table of an ELF file and what it points at, lie well within this.
const HEAD: u64 = 64 << 10;

/// Checks that the program, the interpreter of its `#!` line and the loader it names are there and visible in the plan.
///
/// # Errors
/// [`SandboxError::ProgramMissing`] names what is missing and what to add.
pub fn preflight(world: &dyn World, program: &Path, plan: &Plan) -> Result<(), SandboxError> {
    check(world, program, plan)
}

pub(super) fn check(world: &dyn World, program: &Path, plan: &Plan) -> Result<(), SandboxError> {
    let mut path = program.to_path_buf();
    // The kernel follows at most a few interpreters that are scripts themselves.
    for _ in 0..4 {
        let stat = world.stat(&path).map_err(|error| missing(&path, &describe(&error, program)))?;
        if stat.kind != FileKind::File {
            return Err(missing(&path, "is not a file"));
        }
        if stat.mode & 0o111 == 0 {
            return Err(missing(&path, "is not executable"));
        }
        check_visible(world, &path, program, plan)?;
        // What cannot be read may still be executed; then there is nothing to look at.
        let Ok(bytes) = world.head(&path, HEAD) else { return Ok(()) };
        match interpreter(&bytes) {
            Some(next) => path = next,
            None => return Ok(()),
        }
    }
    Err(missing(program, "is a script of a script of a script, which the kernel refuses"))
}

fn describe(error: &std::io::Error, program: &Path) -> String {
    format!("cannot be found (needed by {}): {error}", shown(program))
}

/// The interpreters that the `#!` lines of a program lead to, canonical, nearest first.
pub(super) fn interpreters(world: &dyn World, program: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut path = program.to_path_buf();
    while found.len() < 4 {
        let Ok(head) = world.head(&path, HEAD) else { break };
        if !head.starts_with(b"#!") {
            break;
        }
        let Some(real) = interpreter(&head).and_then(|next| super::tree::canonical(world, &next).ok()) else {
            break;
        };
        path.clone_from(&real);
        found.push(real);
    }
    found
}

/// The interpreter of a `#!` line, or the loader that a dynamic program names.
fn interpreter(bytes: &[u8]) -> Option<PathBuf> {
    if let Some(line) = bytes.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let name = line.trim_ascii().split(|byte| *byte == b' ' || *byte == b'\t').next().unwrap_or_default();
        return (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name)));
    }
    elf_loader(bytes)
}

fn number(bytes: &[u8], at: usize, len: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(len)?)?;
    field.iter().rev().try_fold(0_usize, |sum, byte| sum.checked_mul(256)?.checked_add(usize::from(*byte)))
}

/// `PT_INTERP` of a 64-bit little-endian ELF file.
fn elf_loader(bytes: &[u8]) -> Option<PathBuf> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = number(bytes, 32, 8)?;
    let size = number(bytes, 54, 2)?;
    let count = number(bytes, 56, 2)?;
    (0..count).find_map(|index| {
        let at = table.checked_add(index.checked_mul(size)?)?;
        if number(bytes, at, 4)? != 3 {
            return None;
        }
        let start = number(bytes, at.checked_add(8)?, 8)?;
        let len = number(bytes, at.checked_add(32)?, 8)?;
        let text = bytes.get(start..start.checked_add(len)?)?;
        let text = text.strip_suffix(b"\0").unwrap_or(text);
        Some(PathBuf::from(OsStr::from_bytes(text)))
    })
}

fn check_visible(world: &dyn World, path: &Path, program: &Path, plan: &Plan) -> Result<(), SandboxError> {
    if !plan.sandboxed {
        return Ok(());
    }
    let real = super::tree::canonical(world, path).map_err(|e| missing(path, &describe(&e, program)))?;
    let cover = real.ancestors().find_map(|dir| plan.entries.iter().find(|entry| entry.target == dir));
    let runs = cover.is_some_and(|entry| matches!(entry.access, Access::ReadExec | Access::WriteExec));
    if runs {
        return Ok(());
    }
    let prefix = prefix_of(&real);
    Err(SandboxError::ProgramMissing {
        path: shown(program),
        problem: format!("needs {}, which no program root of the sandbox shows", shown(&real)),
        ways_out: vec![
            format!("add `runtime: [{}]` to the settings", shown(&prefix)),
            "use the system's own program in /usr/bin".to_owned(),
        ],
    })
}

/// The installation that a program belongs to: the folder above its `bin`, else its folder.
fn prefix_of(path: &Path) -> PathBuf {
    let dir = path.parent().unwrap_or(path);
    let is_bin = dir.file_name().is_some_and(|name| name == "bin" || name == "shims");
    if is_bin { dir.parent().unwrap_or(dir) } else { dir }.to_path_buf()
}

pub(super) fn missing(path: &Path, problem: &str) -> SandboxError {
    SandboxError::ProgramMissing { path: shown(path), problem: problem.to_owned(), ways_out: Vec::new() }
}
