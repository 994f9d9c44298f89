//! The lines of a trust record: what each file of the control set was.

use crate::canon::sha256;
use crate::world::{FileKind, Stat, World};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Largest file of a control set, in bytes.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// What a line speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Dir,
    File,
    /// A file with permission to execute.
    Program,
    /// A symlink; the digest covers its text and the file it leads to.
    Link,
}

impl Kind {
    const ALL: [(Self, &'static str); 4] =
        [(Self::Dir, "d"), (Self::File, "f"), (Self::Program, "x"), (Self::Link, "l")];

    fn letter(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("?", |(_, letter)| letter)
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    /// Inode, size and time of change; the last is 0 where it cannot be relied on.
    pub(super) ino: u64,
    pub(super) len: u64,
    pub(super) ctime_ns: i64,
    /// Empty for a folder.
    pub(super) digest: String,
}

/// All lines, by path relative to the project's root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) entries: BTreeMap<String, Entry>,
}

/// What became of a file since the project was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is another.
    Modified,
}

impl ChangeKind {
    /// `added`, `removed` or `modified`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Modified => "modified",
        }
    }
}

/// A file of the control set that is not as it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The path, relative to the project's root. Not escaped.
    pub path: PathBuf,
    /// What became of it.
    pub kind: ChangeKind,
}

impl Change {
    pub(super) fn new(path: &str, kind: ChangeKind) -> Self {
        Self { path: PathBuf::from(path), kind }
    }
}

impl Entry {
    /// Looks at a path. `None` for what cannot be part of a control set: sockets, links to folders, files too large.
    pub(super) fn read(world: &dyn World, path: &Path) -> Option<Self> {
        let stat = world.lstat(path).ok()?;
        let (kind, digest) = match stat.kind {
            FileKind::Dir => (Kind::Dir, String::new()),
            FileKind::File => (file_kind(stat), sha256(&world.read(path, MAX_BYTES).ok()?)),
            FileKind::Symlink => {
                let mut bytes = world.read_link(path).ok()?.into_os_string().into_encoded_bytes();
                bytes.push(0);
                bytes.extend(world.read(path, MAX_BYTES).ok()?);
                (Kind::Link, sha256(&bytes))
            }
            FileKind::Other => return None,
        };
        Some(Self { kind, ino: stat.ino, len: stat.len, ctime_ns: stat.ctime_ns, digest })
    }

    /// Whether the path is as this line says, by its times if they can be relied on, else by its bytes.
    pub(super) fn holds(&self, world: &dyn World, path: &Path) -> Result<(), ChangeKind> {
        let Ok(stat) = world.lstat(path) else { return Err(ChangeKind::Removed) };
        if self.unchanged(stat) && self.kind != Kind::Link {
            return Ok(());
        }
        match Self::read(world, path) {
            Some(now) if now.kind == self.kind && now.digest == self.digest => Ok(()),
            Some(_) | None => Err(ChangeKind::Modified),
        }
    }

    /// Whether nothing was written here since the record, told by the times alone. What a link leads to can change
    /// without it, so links are never told so.
    pub(super) fn unchanged(&self, stat: Stat) -> bool {
        let kind = match stat.kind {
            FileKind::Dir => Kind::Dir,
            FileKind::File => file_kind(stat),
            FileKind::Symlink => Kind::Link,
            FileKind::Other => return false,
        };
        kind == self.kind
            && self.ctime_ns != 0
            && stat.ctime_ns == self.ctime_ns
            && stat.ino == self.ino
            && (kind == Kind::Dir || stat.len == self.len)
    }
}

const fn file_kind(stat: Stat) -> Kind {
    if stat.mode & 0o111 == 0 { Kind::File } else { Kind::Program }
}

impl Index {
    /// The digest of the control set: of kinds, paths and contents, not of times.
    pub(super) fn digest(&self) -> String {
        let mut text = String::new();
        for (path, entry) in self.entries.iter().filter(|(_, entry)| entry.kind != Kind::Dir) {
            text.push_str(entry.kind.letter());
            text.push('\0');
            text.push_str(path);
            text.push('\0');
            text.push_str(&entry.digest);
            text.push('\n');
        }
        sha256(text.as_bytes())
    }

    /// Forgets the times that are too near to `now_ns`: something written in the same instant would have the same.
    pub(super) fn settle(&mut self, now_ns: i64) {
        const MARGIN_NS: i64 = 2_000_000_000;
        for entry in self.entries.values_mut() {
            if entry.ctime_ns >= now_ns.saturating_sub(MARGIN_NS) {
                entry.ctime_ns = 0;
            }
        }
    }

    pub(super) fn write(&self, out: &mut String) {
        use std::fmt::Write as _;
        for (path, entry) in &self.entries {
            let Entry { kind, ino, len, ctime_ns, digest } = entry;
            let _ = writeln!(out, "{path}\t{}\t{ino}\t{len}\t{ctime_ns}\t{digest}", kind.letter());
        }
    }

    /// Reads the lines whose path `wanted` selects. `None` if a line is not one.
    pub(super) fn parse(text: &str, wanted: impl Fn(&str) -> bool) -> Option<Self> {
        let mut entries = BTreeMap::new();
        for line in text.lines() {
            let (path, rest) = line.split_once('\t')?;
            if wanted(path) {
                entries.insert(path.to_owned(), parse_entry(rest)?);
            }
        }
        Some(Self { entries })
    }

    /// What differs in the set of paths.
    pub(super) fn compare_names(&self, now: &BTreeSet<String>) -> Vec<Change> {
        let removed = self.entries.keys().filter(|path| !now.contains(*path));
        let added = now.iter().filter(|path| !self.entries.contains_key(*path));
        removed
            .map(|path| Change::new(path, ChangeKind::Removed))
            .chain(added.map(|path| Change::new(path, ChangeKind::Added)))
            .collect()
    }
}

fn parse_entry(rest: &str) -> Option<Entry> {
    let mut fields = rest.split('\t');
    let letter = fields.next()?;
    let kind = Kind::ALL.iter().find(|(_, known)| *known == letter)?.0;
    let entry = Entry {
        kind,
        ino: fields.next()?.parse().ok()?,
        len: fields.next()?.parse().ok()?,
        ctime_ns: fields.next()?.parse().ok()?,
        digest: fields.next()?.to_owned(),
    };
    fields.next().is_none().then_some(entry)
}
