//! `edit_file`: replaces exact pieces of a file and leaves every other byte as it is.
//!
//! All edits are made in memory, each on the result of those before it, and the file is replaced once at the end: either
//! all of them are in it or none. What is replaced has to be there as often as the caller believes; anything else is
//! refused with the number and the lines, since the caller's idea of the file is then wrong.

use super::error::BuiltinError;
use super::find::{MAX_FOUND, occurrences};
use super::io::Io;
use super::place::Place;
use super::root::Root;
use crate::text::escape;
use rustix::fs::{FlockOperation, OFlags, Stat};
use rustix::io::Errno;
use serde::Deserialize;
use std::fs::File;
use std::io::Read as _;

/// The tool's name.
pub(super) const NAME: &str = "edit_file";

/// The largest file that is edited, and the largest that may come of it.
pub(super) const MAX_FILE: usize = 16 << 20;
/// Line numbers that a message names.
const MAX_LINES: usize = 10;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    edits: Vec<Edit>,
}

/// One replacement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
    count: Option<u64>,
}

/// Edits the file and says on the output what was done.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    if args.edits.is_empty() {
        return Err(BuiltinError::Arguments(escape("edits is empty")));
    }
    let target = root.target(&args.path)?;
    let place = Place::of(&target, "edit", false)?;
    let locked = Locked::read(&place)?;
    place.check_writable()?;
    let (before, stat) = (&locked.bytes, &locked.stat);
    let mut bytes = before.clone();
    let mut said = String::new();
    for (index, edit) in args.edits.iter().enumerate() {
        let (after, line) = apply(&bytes, edit).map_err(|why| {
            let which = if args.edits.len() > 1 { format!("edit {}: ", index + 1) } else { String::new() };
            let order = if index > 0 { " (each edit sees the result of those before it)" } else { "" };
            place.refused(format!("{which}{why}{order}; nothing was changed"))
        })?;
        bytes = after;
        said.push_str(&line);
    }
    if bytes == *before {
        return Err(place.refused("the edits together leave it as it is; nothing was changed"));
    }
    if !place.stat()?.is_some_and(|now| same(&now, stat)) {
        return Err(place.refused(
            "it was changed by somebody else meanwhile; nothing was changed by this call: read it again",
        ));
    }
    let done = if place.replace(&bytes, stat)? { "edited" } else { "edited in place" };
    let path = escape(&args.path);
    io.put(format!("{done} {path} ({} -> {} bytes)\n{said}", before.len(), bytes.len()).as_bytes())
}

/// A file that no other call edits as long as this lives.
struct Locked {
    _file: File,
    bytes: Vec<u8>,
    stat: Stat,
}

impl Locked {
    /// Waits for calls that edit the file at the same time, then reads it.
    fn read(place: &Place<'_>) -> Result<Self, BuiltinError> {
        loop {
            let mut file = place.open_existing(OFlags::RDONLY)?;
            match rustix::fs::flock(&file, FlockOperation::LockExclusive) {
                // Some file systems have no locks, or none for readers; the look before the end has to do there.
                Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::BADF) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(place.error("lock", errno)),
            }
            let stat = rustix::fs::fstat(&file).map_err(|errno| place.error("read", errno))?;
            // Whoever held the lock may have put another file in its place.
            let named =
                place.stat()?.is_some_and(|now| (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino));
            if !named {
                continue;
            }
            let mut bytes = Vec::new();
            (&mut file)
                .take(MAX_FILE as u64 + 1)
                .read_to_end(&mut bytes)
                .map_err(|e| place.io("read", &e))?;
            if bytes.len() > MAX_FILE {
                return Err(place.refused(format!("it is larger than {} MiB", MAX_FILE >> 20)));
            }
            return Ok(Self { _file: file, bytes, stat });
        }
    }
}

/// Whether it is the same file with, as far as can be seen, the same content.
fn same(now: &Stat, then: &Stat) -> bool {
    let look = |stat: &Stat| {
        (
            (stat.st_dev, stat.st_ino, stat.st_size),
            (stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec),
        )
    };
    look(now) == look(then)
}

/// The bytes after an edit, and a line that says what it did; or why it does not fit.
fn apply(bytes: &[u8], edit: &Edit) -> Result<(Vec<u8>, String), String> {
    let (old, new) = (edit.old.as_bytes(), edit.new.as_bytes());
    if old.is_empty() {
        return Err("`old` is empty; to add text, replace what stands beside it".to_owned());
    }
    if old == new {
        return Err("`old` and `new` are the same".to_owned());
    }
    let all = occurrences(bytes, old);
    if all.len() > MAX_FOUND {
        return Err(format!("`old` is in it more than {MAX_FOUND} times"));
    }
    let found = apart(&all, old.len());
    let count = found.len() as u64;
    let expected = match (edit.count, edit.replace_all) {
        (Some(count), _) => Some(count),
        (None, true) => None,
        (None, false) => Some(1),
    };
    if count == 0 {
        return Err(format!("`old` is not in it{}", near(bytes, &edit.old)));
    }
    if let Some(expected) = expected.filter(|expected| *expected != count) {
        let lines = lines_of(bytes, &found);
        let out = if expected == 1 {
            format!("put more of the text around it into `old`, or set replace_all or count: {count}")
        } else {
            format!("set count: {count} if all of them are meant")
        };
        return Err(format!("`old` is in it {count} times ({lines}), not {expected}; {out}"));
    }
    if expected == Some(1) && all.len() > 1 {
        let lines = lines_of(bytes, &all);
        return Err(format!(
            "`old` overlaps itself ({lines}), so which part is meant is not certain; put more of the text around it into `old`"
        ));
    }
    let length = bytes.len() - found.len() * old.len() + found.len().saturating_mul(new.len());
    if length > MAX_FILE {
        return Err(format!("it would become larger than {} MiB", MAX_FILE >> 20));
    }
    let mut out = Vec::with_capacity(length);
    let mut from = 0;
    for start in &found {
        out.extend_from_slice(bytes.get(from..*start).unwrap_or_default());
        out.extend_from_slice(new);
        from = start + old.len();
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    Ok((out, format!("replaced {times} ({})\n", lines_of(bytes, &found))))
}

/// The occurrences from the first on, without those that begin inside the one before.
fn apart(all: &[usize], length: usize) -> Vec<usize> {
    let mut free = 0;
    all.iter()
        .copied()
        .filter(|start| {
            let fits = *start >= free;
            if fits {
                free = start + length;
            }
            fits
        })
        .collect()
}

/// `line 3` or `lines 3, 7 and 12`, counted from 1.
fn lines_of(bytes: &[u8], found: &[usize]) -> String {
    let mut numbers = Vec::new();
    let (mut line, mut from) = (1, 0);
    for start in found.iter().take(MAX_LINES) {
        let passed = bytes.get(from..*start).unwrap_or_default();
        line += passed.iter().fold(0, |count, byte| count + usize::from(*byte == b'\n'));
        from = *start;
        numbers.push(line.to_string());
    }
    let more = if found.len() > MAX_LINES { ", …" } else { "" };
    let word = if numbers.len() == 1 { "line" } else { "lines" };
    format!("{word} {}{more}", numbers.join(", "))
}

/// What is there in place of the text, if that can be told.
fn near(bytes: &[u8], old: &str) -> String {
    let with_returns = old.replace("\r\n", "\n").replace('\n', "\r\n");
    if with_returns != old && !occurrences(bytes, with_returns.as_bytes()).is_empty() {
        return ", but it is with CRLF line ends: write \\r\\n for each line end".to_owned();
    }
    let without = old.replace("\r\n", "\n");
    if without != old && !occurrences(bytes, without.as_bytes()).is_empty() {
        return ", but it is with LF line ends: write \\n for each line end".to_owned();
    }
    let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    let similar = bytes
        .split(|byte| *byte == b'\n')
        .position(|line| line.trim_ascii() == first.as_bytes())
        .map(|index| index + 1);
    match similar {
        Some(number) => {
            format!("; line {number} is like its first line, so look at the white space and at what follows")
        }
        None => "; read the part again and copy it exactly".to_owned(),
    }
}
