//! `write_file`: creates, replaces or extends a file.
//!
//! A file is replaced in one step: the content goes to a temporary file beside it, which then takes its name, so a
//! reader sees the old content or the new. Where that would change more than the content (a file with other hard
//! links, or of another owner) or cannot be done (only the file itself is writable), it is rewritten in place, and the
//! result says so. The last name is never followed if it is a symbolic link.

use super::error::BuiltinError;
use super::io::Io;
use super::place::Place;
use super::root::Root;
use crate::text::escape;
use rustix::fs::OFlags;
use serde::Deserialize;
use std::io::Write as _;

/// The tool's name.
pub(super) const NAME: &str = "write_file";

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    content: String,
    #[serde(default)]
    mode: WriteMode,
    #[serde(default)]
    create_dirs: bool,
}

/// What to do with a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WriteMode {
    /// Refuse.
    Create,
    /// Replace its content.
    #[default]
    Overwrite,
    /// Add to its end.
    Append,
}

/// Writes the file and says on the output what was done.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let target = root.target(&args.path)?;
    let place = Place::of(&target, "write", args.create_dirs)?;
    let existing = place.existing()?;
    let bytes = args.content.as_bytes();
    let done = match (args.mode, existing) {
        (WriteMode::Create, Some(_)) => return Err(BuiltinError::Exists(escape(&args.path))),
        (WriteMode::Create | WriteMode::Overwrite, None) => {
            place.create(bytes)?;
            "created"
        }
        (WriteMode::Append, None) => {
            place.create(bytes)?;
            "created, since it was not there,"
        }
        (WriteMode::Append, Some(_)) => {
            place.check_writable()?;
            let mut file = place.open_existing(OFlags::WRONLY | OFlags::APPEND)?;
            file.write_all(bytes).map_err(|e| place.io("write", &e))?;
            "appended to"
        }
        (WriteMode::Overwrite, Some(stat)) => {
            place.check_writable()?;
            if place.replace(bytes, &stat)? { "replaced" } else { "rewrote in place" }
        }
    };
    let length = bytes.len();
    io.put(format!("{done} {} ({length} bytes)\n", escape(&args.path)).as_bytes())
}
