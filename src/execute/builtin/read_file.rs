//! `read_file`: the exact bytes of a file, or of a part of it.
//!
//! Offsets and limits count bytes, since a file need not have lines; where it has, a part can be asked for by lines. A file that does not fit into one result is
//! refused unless the caller asked for a part: a result that was cut without the caller knowing would be taken for
//! the whole.

use super::error::BuiltinError;
use super::io::Io;
use super::read_lines::Lines;
use super::root::Root;
use crate::text::escape;
use serde::Deserialize;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// The tool's name.
pub(super) const NAME: &str = "read_file";

/// The most bytes of one result: below the 1 MiB at which the sandbox ends a tool for its output.
pub(super) const MAX_BYTES: u64 = 1_000_000;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
    line: Option<u64>,
    line_count: Option<u64>,
}

/// Copies the asked part of the file to the output.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let by_lines = args.line.is_some() || args.line_count.is_some();
    if by_lines && (args.offset > 0 || args.limit.is_some()) {
        return Err(BuiltinError::Arguments(escape(
            "a part is given by line and line_count or by offset and limit, not both",
        )));
    }
    let (fd, stat) = root.target(&args.path)?.open_regular()?;
    if by_lines {
        let lines = Lines { path: &args.path, first: args.line.unwrap_or(1).max(1), count: args.line_count };
        return lines.copy(File::from(fd), io);
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if args.offset > size {
        return Err(BuiltinError::BeyondEnd { path: escape(&args.path), offset: args.offset, size });
    }
    let rest = size - args.offset;
    if args.limit.is_none() && rest > MAX_BYTES {
        return Err(too_large(args, rest));
    }
    let mut file = File::from(fd);
    file.seek(SeekFrom::Start(args.offset)).map_err(|e| BuiltinError::io("read", &args.path, &e))?;
    let bound = args.limit.unwrap_or(MAX_BYTES).min(MAX_BYTES);
    let end = args.offset + copy(&mut file, bound, args, io)?;
    let more = file.read(&mut [0]).map_err(|e| BuiltinError::io("read", &args.path, &e))? > 0;
    match (more, args.limit) {
        // The file grew, or is one whose size the system does not tell.
        (true, None) => Err(too_large(args, size.max(end + 1) - args.offset)),
        (true, Some(_)) => io.note(&format!(
            "bytes {} to {end} of {}; the next part starts at offset {end}",
            args.offset,
            size.max(end + 1)
        )),
        (false, Some(_)) => io.note(&format!("bytes {} to {end}, the end of the file", args.offset)),
        (false, None) => Ok(()),
    }
}

fn too_large(args: &Args, size: u64) -> BuiltinError {
    BuiltinError::TooLarge { path: escape(&args.path), size, offset: args.offset, bound: MAX_BYTES }
}

/// Copies at most `bound` bytes and returns how many there were.
fn copy(file: &mut File, bound: u64, args: &Args, io: &mut Io<'_>) -> Result<u64, BuiltinError> {
    let mut buffer = vec![0; 64 * 1024];
    let mut part = file.take(bound);
    let mut copied = 0;
    loop {
        let count = match part.read(&mut buffer) {
            Ok(0) => return Ok(copied),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(BuiltinError::io("read", &args.path, &error)),
        };
        io.put(buffer.get(..count).unwrap_or_default())?;
        copied += count as u64;
    }
}
