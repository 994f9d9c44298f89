//! All records of trust: what is trusted, also where the folder has gone since.

use super::record::{Record, read_record, revoke};
use crate::diag::{Code, Diagnostic};
use crate::project::discover::{discover, real_path};
use crate::project::home::Homes;
use crate::text::escape;
use crate::world::{FileKind, World};
use std::path::{Path, PathBuf};

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustEntry {
    /// The project's folder, or the record itself if it is damaged. Not escaped.
    pub path: PathBuf,
    /// Whether its author's edits are followed.
    pub author: bool,
    /// When it was made, in seconds since the epoch; 0 if it is damaged.
    pub at: u64,
    /// What became of it.
    pub state: TrustEntryState,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustEntryState {
    /// Its folder is there.
    Kept,
    /// A call created a file that would control the project: it does not count until it is renewed.
    Suspended,
    /// Its folder is not there any more.
    Gone,
    /// It cannot be read, and counts for nothing.
    Damaged,
}

impl TrustEntryState {
    /// `kept`, `suspended`, `gone` or `damaged`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Suspended => "suspended",
            Self::Gone => "gone",
            Self::Damaged => "damaged",
        }
    }
}

/// All records of the running user, by folder.
///
/// # Errors
/// There is no folder for state, or it cannot be read.
pub fn list_trust(world: &dyn World) -> Result<Vec<TrustEntry>, Diagnostic> {
    let homes = Homes::find(world)?;
    let dir = homes.state_dir()?.join("trust");
    let names = match world.list(&dir) {
        Ok(names) => names,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let message = format!("the folder `{}` cannot be read: {error}", escape(&dir.to_string_lossy()));
            return Err(Diagnostic::error(Code::SourceUnreadable, message));
        }
    };
    let is_record = |name: &&std::ffi::OsString| !name.as_encoded_bytes().starts_with(b".");
    let mut entries: Vec<_> =
        names.iter().filter(is_record).map(|name| entry(world, dir.join(name))).collect();
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(entries)
}

fn entry(world: &dyn World, file: PathBuf) -> TrustEntry {
    let Some(Record { path, author, at, suspended }) = read_record(world, &file) else {
        return TrustEntry { path: file, author: false, at: 0, state: TrustEntryState::Damaged };
    };
    let there = world.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Dir);
    let state = match (there, suspended) {
        (false, _) => TrustEntryState::Gone,
        (true, true) => TrustEntryState::Suspended,
        (true, false) => TrustEntryState::Kept,
    };
    TrustEntry { path, author, at, state }
}

/// Forgets that the project around `dir` was trusted: the folder's name, and whether there was a record. Nothing of the
/// project is read, so it works for one whose files are broken, and for a folder that has gone.
///
/// # Errors
/// There is no folder for state, or the record cannot be removed.
pub fn revoke_trust(world: &dyn World, dir: &Path) -> Result<(PathBuf, bool), Diagnostic> {
    let homes = Homes::find(world)?;
    let state = homes.state_dir()?;
    let given = real_path(world, dir).unwrap_or_else(|_| dir.to_path_buf());
    let root = discover(world, &given, homes.home.as_deref()).ok().and_then(|found| found.root);
    if let Some(root) = root
        && revoke(world, state, &root)?
    {
        return Ok((root, true));
    }
    // What made it a project may have gone, or the folder itself.
    let was = revoke(world, state, &given)?;
    Ok((given, was))
}
