//! `list_dir`: what is in a folder, sorted, one entry a line.
//!
//! A line is `kind`, size in bytes (`-` where it means nothing) and path relative to the listed folder, with tabs
//! between. Lines that start with `# ` are notes, on the result itself, since whoever reads it must know that
//! something is left out. However large the folder, only the entries that are shown are kept in memory.

use super::error::BuiltinError;
use super::io::Io;
use super::names::quote;
use super::paging::{Place, Start, go_on};
use super::read_file::MAX_BYTES;
use super::root::Root;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The tool's name.
pub(super) const NAME: &str = "list_dir";

const MAX_DEPTH: u32 = 20;
const MAX_ENTRIES: u64 = 10_000;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    #[serde(default = "default_path")]
    path: String,
    #[serde(default)]
    all: bool,
    #[serde(default = "default_depth")]
    depth: u32,
    #[serde(default = "default_limit")]
    limit: u64,
    after: Option<String>,
}

fn default_path() -> String {
    ".".to_owned()
}

const fn default_depth() -> u32 {
    1
}

const fn default_limit() -> u64 {
    1000
}

/// Lists the folder.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let dir = root.target(&args.path)?.open("list", OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut listing = Listing {
        all: args.all,
        left: args.limit.clamp(1, MAX_ENTRIES),
        cut: false,
        bytes_left: MAX_BYTES,
        shown: 0,
        seen: 0,
        hidden: 0,
        unreadable: 0,
        quoted: 0,
        after: args.after.as_deref().map(Start::new),
        last: Vec::new(),
    };
    listing
        .folder(&dir, &mut Vec::new(), args.depth.clamp(1, MAX_DEPTH), io)?
        .map_err(|errno| BuiltinError::system("list", &args.path, errno))?;
    listing.notes(io)
}

struct Listing {
    all: bool,
    left: u64,
    cut: bool,
    bytes_left: u64,
    shown: u64,
    seen: u64,
    hidden: u64,
    unreadable: u64,
    quoted: u64,
    after: Option<Start>,
    /// The path that was shown last.
    last: Vec<u8>,
}

impl Listing {
    /// Lists one folder and those below it. The inner error is the folder's own.
    fn folder(
        &mut self,
        dir: &OwnedFd,
        prefix: &mut Vec<u8>,
        depth: u32,
        io: &mut Io<'_>,
    ) -> Result<Result<(), Errno>, BuiltinError> {
        let entries = match self.first_entries(dir, prefix) {
            Ok(entries) => entries,
            Err(errno) => return Ok(Err(errno)),
        };
        let base = prefix.len();
        for (name, (kind, shown)) in entries {
            if self.left == 0 {
                break;
            }
            prefix.extend_from_slice(&name);
            let kind =
                if shown { self.entry(dir, &name, kind, prefix, io)? } else { kind_of(dir, &name, kind) };
            if kind == FileType::Directory && depth > 1 {
                if self.left == 0 {
                    self.cut = true;
                    break;
                }
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                prefix.push(b'/');
                let inner = match rustix::fs::openat(dir, name.as_slice(), flags, Mode::empty()) {
                    Ok(sub) => self.folder(&sub, prefix, depth - 1, io)?,
                    Err(errno) => Err(errno),
                };
                self.unreadable += u64::from(inner.is_err());
            }
            prefix.truncate(base);
        }
        Ok(Ok(()))
    }

    /// The first names of a folder in byte order, as many as can still be shown.
    ///
    /// With them comes the folder in which the list goes on behind `after`; it is not to be shown again.
    fn first_entries(
        &mut self,
        dir: &OwnedFd,
        prefix: &[u8],
    ) -> Result<BTreeMap<Vec<u8>, (FileType, bool)>, Errno> {
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).saturating_add(1);
        let mut first = BTreeMap::new();
        for entry in Dir::read_from(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if !self.all && name.starts_with(b".") {
                self.hidden += 1;
                continue;
            }
            let place =
                self.after.as_ref().map_or(Place::Behind, |after| after.place(&[prefix, name].concat()));
            match place {
                Place::Before => continue,
                Place::OnTheWay => {}
                Place::Behind => self.seen += 1,
            }
            first.insert(name.to_vec(), (entry.file_type(), place == Place::Behind));
            if first.len() > room {
                first.pop_last();
            }
        }
        Ok(first)
    }

    /// Writes one line and returns the entry's kind.
    fn entry(
        &mut self,
        dir: &OwnedFd,
        name: &[u8],
        kind: FileType,
        path: &[u8],
        io: &mut Io<'_>,
    ) -> Result<FileType, BuiltinError> {
        let stat = rustix::fs::statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let kind = stat.map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode));
        let size = match (kind, stat) {
            (FileType::RegularFile, Some(stat)) => stat.st_size.to_string(),
            _ => "-".to_owned(),
        };
        let shown = quote(path);
        self.quoted += u64::from(shown.starts_with('"'));
        let mut line = format!("{}\t{size}\t{shown}", word(kind));
        if kind == FileType::Symlink
            && let Ok(target) = rustix::fs::readlinkat(dir, name, Vec::new())
        {
            line.push_str(" -> ");
            line.push_str(&quote(target.as_bytes()));
        }
        line.push('\n');
        let length = line.len() as u64;
        if length > self.bytes_left {
            self.left = 0;
            return Ok(kind);
        }
        self.bytes_left -= length;
        self.left -= 1;
        self.shown += 1;
        path.clone_into(&mut self.last);
        io.put(line.as_bytes())?;
        Ok(kind)
    }

    fn notes(&self, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        let mut notes = Vec::new();
        if self.cut || self.seen > self.shown {
            notes.push(format!(
                "cut off: {} entries shown of at least {}; {}raise limit (at most {MAX_ENTRIES}) or list a folder below",
                self.shown,
                self.seen,
                go_on(&self.last)
            ));
        }
        if self.hidden > 0 {
            notes.push(format!("{} names that start with a dot are left out; all shows them", self.hidden));
        }
        if self.unreadable > 0 {
            notes.push(format!("{} folders could not be read", self.unreadable));
        }
        if self.quoted > 0 {
            notes.push(format!(
                "{} paths are in quotes, with \\n, \\u{{…}} and \\x… for characters that do not show and bytes that are not UTF-8",
                self.quoted
            ));
        }
        notes.into_iter().try_for_each(|note| io.put(format!("# {note}\n").as_bytes()))
    }
}

/// What a name is, if the folder did not tell.
fn kind_of(dir: &OwnedFd, name: &[u8], kind: FileType) -> FileType {
    if kind != FileType::Unknown {
        return kind;
    }
    rustix::fs::statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(kind, |stat| FileType::from_raw_mode(stat.st_mode))
}

const fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "file",
        FileType::Directory => "dir",
        FileType::Symlink => "link",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Unknown => "unknown",
    }
}
