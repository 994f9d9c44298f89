//! `search_text`: a regular expression over the text files of a folder, on ripgrep's engine.
//!
//! Files are visited in the byte order of their names, so the result depends on the tree alone. Hidden files and those
//! that `.gitignore` and `.ignore` name are left out unless `all` is set; binary files always are. Symbolic links are
//! not followed. Each file is opened by [`Root`], not by the path that the walk found.

use super::error::BuiltinError;
use super::io::Io;
use super::names::quote;
use super::root::{Root, kind_words, stat_of};
use super::search_sink::{FileHits, Hit, Show};
use super::walk::{glob, walk};
use crate::text::escape;
use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use rustix::fs::{FileType, OFlags};
use serde::Deserialize;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The tool's name.
pub(super) const NAME: &str = "search_text";

const MAX_RESULTS: u64 = 5000;
const MAX_CONTEXT: u64 = 10;
/// A line longer than this makes its file one that is not text.
const MAX_LINE_IN_MEMORY: usize = 16 << 20;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    pattern: String,
    #[serde(default = "default_path")]
    path: String,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    fixed: bool,
    #[serde(default)]
    all: bool,
    #[serde(default = "default_results")]
    max_results: u64,
    #[serde(default)]
    context: u64,
}

fn default_path() -> String {
    ".".to_owned()
}

const fn default_results() -> u64 {
    200
}

/// Searches and writes `path:line:text` for each line that matches, `path-line-text` for its context.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let mut search = Search::new(args, root)?;
    let fd = root.target(&args.path)?.open("search", OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let stat = stat_of(&fd).map_err(|errno| BuiltinError::system("search", &args.path, errno))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            search.file(&File::from(fd), Path::new(&args.path), io)?;
        }
        FileType::Directory => search.folder(&args.path, io)?,
        kind @ (FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown) => {
            return Err(BuiltinError::Kind {
                path: escape(&args.path),
                kind: kind_words(kind),
                wanted: "a regular file or a folder",
                hint: "",
            });
        }
    }
    search.notes(io)
}

struct Search<'r> {
    root: &'r Root,
    matcher: RegexMatcher,
    searcher: Searcher,
    glob: Option<GlobMatcher>,
    all: bool,
    show: Show,
    left: u64,
    searched: u64,
    matches: u64,
    binary: u64,
    unreadable: u64,
    special: u64,
    full: bool,
}

impl<'r> Search<'r> {
    fn new(args: &Args, root: &'r Root) -> Result<Self, BuiltinError> {
        let context = usize::try_from(args.context.min(MAX_CONTEXT)).unwrap_or(0);
        let left = args.max_results.clamp(1, MAX_RESULTS);
        Ok(Self {
            root,
            matcher: matcher(args)?,
            searcher: SearcherBuilder::new()
                .binary_detection(BinaryDetection::quit(0))
                .line_number(true)
                .before_context(context)
                .after_context(context)
                .heap_limit(Some(MAX_LINE_IN_MEMORY))
                .build(),
            glob: args.glob.as_deref().map(|text| glob(text, false)).transpose()?,
            all: args.all,
            show: Show::new(&args.pattern, args.fixed, args.ignore_case, context > 0),
            left,
            searched: 0,
            matches: 0,
            binary: 0,
            unreadable: 0,
            special: 0,
            full: false,
        })
    }

    fn folder(&mut self, path: &str, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        // A path inside the workspace is walked from there, so that nothing depends on the process's working folder.
        let start = self.root.path().join(path);
        for entry in walk(&start, self.all).build() {
            if self.full {
                break;
            }
            let Ok(entry) = entry else {
                self.unreadable += 1;
                continue;
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let below = entry.path().strip_prefix(&start).unwrap_or(entry.path());
            if self.glob.as_ref().is_some_and(|glob| !glob.is_match(below)) {
                continue;
            }
            let shown = if path == "." { below.to_path_buf() } else { Path::new(path).join(below) };
            match self.open(&shown) {
                Some(file) => self.file(&file, &shown, io)?,
                None => self.unreadable += 1,
            }
        }
        Ok(())
    }

    /// Opens a file of the walk; `None` if it cannot be read, or is no longer what the walk saw.
    fn open(&self, path: &Path) -> Option<File> {
        // A name that is not UTF-8 cannot be an argument, but can be found here.
        let fd = self.root.target_os(path.as_os_str()).ok()?;
        fd.open_regular().ok().map(|(fd, _)| File::from(fd))
    }

    fn file(&mut self, file: &File, path: &Path, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        self.searched += 1;
        let mut hits = FileHits::new(self.left);
        if self.searcher.search_file(&self.matcher, file, &mut hits).is_err() {
            self.special += 1;
            return Ok(());
        }
        if hits.is_binary() {
            self.binary += 1;
            return Ok(());
        }
        self.left -= hits.matches();
        self.matches += hits.matches();
        let shown = quote(path.as_os_str().as_bytes());
        for hit in hits.into_lines() {
            if !self.put(&shown, &hit, io)? {
                self.full = true;
                return Ok(());
            }
        }
        self.full = self.left == 0;
        Ok(())
    }

    fn put(&mut self, path: &str, hit: &Hit, io: &mut Io<'_>) -> Result<bool, BuiltinError> {
        match self.show.line(path, hit) {
            Some(line) => io.put(&line).map(|()| true),
            None => Ok(false),
        }
    }

    fn notes(&self, io: &mut Io<'_>) -> Result<(), BuiltinError> {
        if self.full {
            io.put(
                format!(
                    "# stopped after {} matching lines; there may be more: narrow path, glob or pattern, or raise max_results (at most {MAX_RESULTS})\n",
                    self.matches
                )
                .as_bytes(),
            )?;
        } else if self.matches == 0 {
            io.put(format!("# no match in {} files\n", self.searched).as_bytes())?;
        }
        for (count, what) in [
            (self.binary, "binary files were skipped"),
            (self.special, "files were skipped because reading failed or a line is longer than 16 MiB"),
            (
                self.unreadable,
                "files or folders could not be read and were skipped (permissions, or hidden by the sandbox)",
            ),
        ] {
            if count > 0 {
                io.note(&format!("{count} {what}"))?;
            }
        }
        Ok(())
    }
}

fn matcher(args: &Args) -> Result<RegexMatcher, BuiltinError> {
    RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.fixed)
        .line_terminator(Some(b'\n'))
        .build(&args.pattern)
        .map_err(|e| BuiltinError::Pattern { what: "pattern", detail: escape(&e.to_string()) })
}
