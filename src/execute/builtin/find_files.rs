//! `find_files`: paths below a folder, by name.
//!
//! What is left out is the same as in `search_text`: hidden files and those that `.gitignore` and `.ignore` name, unless
//! `all` is set. The order is that of the names' bytes, folder by folder, so the result depends on the tree alone. Each
//! path that is shown was opened by [`Root`]: a walk that was led astray by a link shows nothing.

use super::error::BuiltinError;
use super::io::Io;
use super::names::quote;
use super::paging::{Place, Start, go_on};
use super::read_file::MAX_BYTES;
use super::root::{Root, stat_of};
use super::walk::{glob, walk};
use globset::GlobMatcher;
use rustix::fs::{FileType, OFlags};
use serde::Deserialize;
use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The tool's name.
pub(super) const NAME: &str = "find_files";

const MAX_RESULTS: u64 = 10_000;
const MAX_DEPTH: usize = 1000;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    glob: Option<String>,
    #[serde(default = "default_path")]
    path: String,
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    all: bool,
    max_depth: Option<usize>,
    #[serde(default = "default_limit")]
    limit: u64,
    after: Option<String>,
}

fn default_path() -> String {
    ".".to_owned()
}

const fn default_limit() -> u64 {
    1000
}

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Regular files.
    #[default]
    File,
    /// Folders.
    Dir,
    /// Symbolic links.
    Link,
    /// Whatever there is, pipes and devices included.
    Any,
}

impl Kind {
    fn wants(self, kind: FileType) -> bool {
        match self {
            Self::File => kind.is_file(),
            Self::Dir => kind.is_dir(),
            Self::Link => kind.is_symlink(),
            Self::Any => true,
        }
    }
}

/// Writes the paths that match, one a line.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    root.target(&args.path)?.open("search", OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut search = Search {
        root,
        glob: args.glob.as_deref().map(|text| glob(text, args.ignore_case)).transpose()?,
        kind: args.kind,
        left: args.limit.clamp(1, MAX_RESULTS),
        bytes_left: MAX_BYTES,
        found: 0,
        unreadable: 0,
        quoted: 0,
        cut: false,
        after: args.after.as_deref().map(Start::new),
        last: Vec::new(),
    };
    search.folder(args, io)?;
    search.notes(io)
}

struct Search<'r> {
    root: &'r Root,
    glob: Option<GlobMatcher>,
    kind: Kind,
    left: u64,
    bytes_left: u64,
    found: u64,
    unreadable: u64,
    quoted: u64,
    cut: bool,
    after: Option<Start>,
    /// The path that was shown last.
    last: Vec<u8>,
}

impl Search<'_> {
    fn folder(&mut self, args: &Args, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        let start = self.root.path().join(&args.path);
        let mut walk = walk(&start, args.all);
        walk.max_depth(args.max_depth.map(|depth| depth.clamp(1, MAX_DEPTH)));
        for entry in walk.build() {
            let Ok(entry) = entry else {
                self.unreadable += 1;
                continue;
            };
            let below = entry.path().strip_prefix(&start).unwrap_or(entry.path());
            let wanted = entry.depth() > 0
                && self.glob.as_ref().is_none_or(|glob| glob.is_match(below))
                && (self.kind == Kind::Any
                    || entry.file_type().is_some_and(|kind| self.kind.wants(raw(kind))));
            if !wanted {
                continue;
            }
            let path = if args.path == "." { below.to_path_buf() } else { Path::new(&args.path).join(below) };
            if self.is_before(&path) {
                continue;
            }
            match self.line(&path) {
                Some(line) if self.left == 0 || line.len() as u64 > self.bytes_left => {
                    self.cut = true;
                    break;
                }
                Some(line) => {
                    self.left -= 1;
                    self.bytes_left -= line.len() as u64;
                    self.found += 1;
                    self.quoted += u64::from(line.starts_with('"'));
                    path.as_os_str().as_bytes().clone_into(&mut self.last);
                    io.put(line.as_bytes())?;
                }
                None => self.unreadable += 1,
            }
        }
        Ok(())
    }

    /// Whether the path was in a former part.
    fn is_before(&self, path: &Path) -> bool {
        self.after.as_ref().is_some_and(|after| after.place(path.as_os_str().as_bytes()) != Place::Behind)
    }

    /// The line of a path; `None` if it is no longer what the walk saw.
    fn line(&self, path: &Path) -> Option<String> {
        let fd = self.root.target_os(path.as_os_str()).ok()?.open("look at", OFlags::PATH).ok()?;
        let kind = FileType::from_raw_mode(stat_of(&fd).ok()?.st_mode);
        if !self.kind.wants(kind) {
            return None;
        }
        let mut line = quote(path.as_os_str().as_bytes()).into_owned();
        if kind.is_dir() {
            line.push('/');
        } else if kind.is_symlink() {
            let target = rustix::fs::readlinkat(&fd, "", Vec::new()).ok()?;
            line.push_str(" -> ");
            let shown: Cow<'_, str> = quote(target.as_bytes());
            line.push_str(&shown);
        }
        line.push('\n');
        Some(line)
    }

    fn notes(&self, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        let mut notes = Vec::new();
        if self.cut {
            notes.push(format!(
                "stopped after {} paths; there are more: {}narrow path or glob, or raise limit (at most {MAX_RESULTS})",
                self.found,
                go_on(&self.last)
            ));
        } else if self.found == 0 {
            notes.push("no match; all also finds hidden and ignored files".to_owned());
        }
        if self.quoted > 0 {
            notes.push(format!(
                "{} paths are in quotes, with \\n, \\u{{…}} and \\x… for characters that do not show and bytes that are not UTF-8",
                self.quoted
            ));
        }
        if self.unreadable > 0 {
            notes.push(format!(
                "{} files or folders could not be read (permissions, or hidden by the sandbox)",
                self.unreadable
            ));
        }
        notes.into_iter().try_for_each(|note| io.put(format!("# {note}\n").as_bytes()))
    }
}

fn raw(kind: std::fs::FileType) -> FileType {
    if kind.is_file() {
        FileType::RegularFile
    } else if kind.is_dir() {
        FileType::Directory
    } else if kind.is_symlink() {
        FileType::Symlink
    } else {
        FileType::Unknown
    }
}
