//! Trust as it is kept: one file a project in the user's state.
//!
//! The file's first line is a JSON object, the rest are the lines of the index. The state folder must be out of the
//! project's reach: a record inside the project would be the project's own word.

use super::index::{Change, ChangeKind, Entry, Index, Kind};
use super::times;
use super::walk::{ControlSet, manifest_stem};
use crate::canon::sha256;
use crate::diag::{Code, Diagnostic};
use crate::project::discover::{SETTINGS_NAMES, real_path};
use crate::source::check_owner;
use crate::text::escape;
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Largest record, in bytes.
const MAX_RECORD: u64 = 32 << 20;
/// Bytes that hold the first line of nearly all records.
const HEADER_BYTES: u64 = 8 << 10;
const FORMAT: u32 = 1;
/// The extension of records that follow their author's edits.
const AUTHOR: &str = "author";

/// Whether a project's files may act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustState {
    /// There is no project, so there is nothing to trust.
    NoProject,
    /// A person said so.
    Trusted {
        /// Edits are followed: the person is the project's author.
        author: bool,
    },
    /// A person said so of other files.
    Changed(Vec<Change>),
    /// Nobody said so.
    Untrusted,
}

impl TrustState {
    /// Whether the project's grants, effects and settings count.
    pub const fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted { .. })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    path: PathBuf,
    digest: String,
    author: bool,
    /// Why the author's trust does not count until it is renewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    suspended: Option<String>,
    /// Seconds since the epoch.
    at: u64,
    /// The folders of tools and policies, relative to the path.
    dirs: Vec<String>,
    /// The settings files and those folders that were there. An author's edits of these are followed, since no tool can
    /// make them. One that was not there is another matter: until its call ends, a tool could have made it.
    #[serde(default)]
    there: Vec<String>,
    /// For an author's trust: which folder it was, as inode and time of birth. Another folder at the same place is not
    /// the author's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<(u64, i64)>,
}

/// What a person is asked about, and what is kept of it.
#[derive(Debug, Clone)]
pub struct TrustRecord {
    header: Header,
    index: Index,
    /// What is kept of the index: an author's edits are followed, so only the programs matter, which are protected.
    kept: Index,
    times: Option<String>,
}

impl TrustRecord {
    /// Reads the control set as it is now. Nothing is kept before [`Self::keep`], and what is kept then is what was read
    /// here, so a file that changes in between is found later.
    ///
    /// `programs` are the absolute paths of programs and scripts that manifests name.
    pub fn prepare(
        world: &dyn World,
        set: &ControlSet<'_>,
        programs: &[PathBuf],
        author: bool,
    ) -> Result<Self, Diagnostic> {
        let now = world.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut index = set.index(world, programs)?;
        index.settle(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        let header = Header {
            format: FORMAT,
            path: set.root.to_path_buf(),
            digest: index.digest(),
            author,
            suspended: None,
            at: now.as_secs(),
            dirs: set.dirs().cloned().collect(),
            there: set.tops(world),
            folder: if author { folder_of(world, set.root) } else { None },
        };
        let mut kept = index.clone();
        kept.entries.retain(|path, _| !author || set.is_program(path));
        let times = times::text(&header.digest, &index, set);
        Ok(Self { header, index, kept, times })
    }

    /// The digest of the control set.
    pub fn digest(&self) -> &str {
        &self.header.digest
    }

    /// The files of the control set, relative to the project's root.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.index.entries.iter().filter(|(_, entry)| !entry.digest.is_empty()).map(|(path, _)| path.as_str())
    }

    /// Keeps the record.
    pub fn keep(&self, world: &dyn World, state: &Path, reach: &str) -> Result<(), Diagnostic> {
        check_apart(world, state, &self.header.path)?;
        let mut text = to_json(&self.header)?;
        text.push('\n');
        self.kept.write(&mut text);
        let (usual, author) = record_paths(state, &self.header.path);
        let (here, other) = if self.header.author { (author, usual) } else { (usual, author) };
        write(world, &here, &text)?;
        // Without it the next difference names files alone.
        let shown = format!("{}\n{reach}\n", self.header.digest);
        let _ = world.write_private(&reach_path(state, &self.header.path), shown.as_bytes());
        let times = times_path(state, &self.header.path);
        match &self.times {
            // Without it the next call is slower.
            Some(text) if !self.header.author => drop(world.write_private(&times, text.as_bytes())),
            Some(_) | None => remove(world, &times)?,
        }
        remove(world, &other)
    }

    /// What was shown when the record was made.
    pub(crate) fn reach(world: &dyn World, state: &Path, root: &Path) -> Option<String> {
        let header = read_header(world, state, root).ok()??;
        let path = reach_path(state, root);
        check_owner(world, &path, &[world.euid()], Path::new("/")).ok()?;
        let text = String::from_utf8(world.read(&path, MAX_RECORD).ok()?).ok()?;
        let (digest, reach) = text.split_once('\n')?;
        (digest == header.digest).then(|| reach.trim_end().to_owned())
    }

    /// `sha256:…` of a file of the control set, given relative to the project's root.
    pub fn digest_of(&self, path: &str) -> Option<&str> {
        let entry = self.index.entries.get(path).filter(|entry| entry.kind != Kind::Link)?;
        Some(entry.digest.as_str()).filter(|digest| !digest.is_empty())
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.header.path
    }

    /// What the record says of a project now. With `called`, only the files that a call of that tool depends on are
    /// looked at, unless a folder changed. Also whether that could not be told by times and took reading everything:
    /// then [`Self::renew_times`] spares the next call.
    pub(crate) fn state(
        world: &dyn World,
        state: &Path,
        set: &ControlSet<'_>,
        called: Option<&str>,
    ) -> Result<(TrustState, bool), Diagnostic> {
        let Some(header) = read_header(world, state, set.root)? else {
            return Ok((TrustState::Untrusted, false));
        };
        if let Some(why) = header.suspended {
            return Ok((TrustState::Changed(vec![Change::new(&why, ChangeKind::Added)]), false));
        }
        if header.author {
            // A damaged record is found here rather than in the middle of a call.
            part(world, state, set, &header, &[])?;
            return Ok((author_state(world, set, &header), false));
        }
        if let Some(called) = called {
            let part = part(world, state, set, &header, &[called])?;
            if let Some(changes) = set.changes_for(world, &part, called) {
                return Ok((from_changes(changes), false));
            }
        }
        let index = whole(world, state, set.root, &header)?;
        Ok((from_changes(set.changes(world, &index)), true))
    }

    /// Writes the times of the files as they are now beside the record, if they are all as recorded and old enough to be
    /// relied on. What fails here only costs time.
    pub(crate) fn renew_times(world: &dyn World, state: &Path, set: &ControlSet<'_>) -> Option<()> {
        let header = read_header(world, state, set.root).ok()??;
        let now = world.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut index = whole(world, state, set.root, &header).ok()?;
        for (path, entry) in &mut index.entries {
            // Looked at before it is read: what is written in between has another time.
            let seen = Entry::read(world, &set.root.join(path))?;
            if seen.kind != entry.kind || seen.digest != entry.digest {
                return None;
            }
            *entry = seen;
        }
        index.settle(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        let settled = index.entries.values().all(|entry| entry.ctime_ns != 0);
        let text = if settled { times::text(&header.digest, &index, set)? } else { return None };
        world.write_private(&times_path(state, set.root), text.as_bytes()).ok()
    }

    /// The digests that the record has of these files, which are relative to the project's root.
    pub(crate) fn digests(
        world: &dyn World,
        state: &Path,
        set: &ControlSet<'_>,
        files: &[&str],
    ) -> Result<BTreeMap<String, String>, Diagnostic> {
        let Some(header) = read_header(world, state, set.root)? else { return Ok(BTreeMap::new()) };
        let mut tools: Vec<&str> = files
            .iter()
            .filter(|path| set.is_manifest(path))
            .filter_map(|path| manifest_stem(path))
            .collect();
        tools.dedup();
        let index = part(world, state, set, &header, &tools)?;
        let wanted = index
            .entries
            .into_iter()
            .filter(|(path, entry)| entry.kind != Kind::Link && files.contains(&path.as_str()));
        Ok(wanted.map(|(path, entry)| (path, entry.digest)).collect())
    }

    /// The files outside the folders of tools and policies that the record covers: programs that manifests name.
    pub(crate) fn programs(
        world: &dyn World,
        state: &Path,
        set: &ControlSet<'_>,
    ) -> Result<Vec<PathBuf>, Diagnostic> {
        let Some(header) = read_header(world, state, set.root)? else { return Ok(Vec::new()) };
        let index = part(world, state, set, &header, &[])?;
        let programs = index.entries.keys().filter(|path| set.is_program(path));
        Ok(programs.map(|path| set.root.join(path)).collect())
    }
}

/// An author's edits are followed, but not the folder that somebody put in the place of the author's, nor what a tool
/// could have added.
fn author_state(world: &dyn World, set: &ControlSet<'_>, header: &Header) -> TrustState {
    if header.folder.is_some_and(|folder| Some(folder) != folder_of(world, set.root)) {
        return TrustState::Changed(vec![Change::new("the folder itself", ChangeKind::Modified)]);
    }
    let new = set.tops(world).into_iter().filter(|name| !header.there.contains(name));
    let new: Vec<_> = new.map(|name| Change::new(&name, ChangeKind::Added)).collect();
    if new.is_empty() { TrustState::Trusted { author: true } } else { TrustState::Changed(new) }
}

/// What tells a folder from another one at the same place: its inode, and when that was made.
fn folder_of(world: &dyn World, root: &Path) -> Option<(u64, i64)> {
    world.stat(root).ok().map(|stat| (stat.ino, stat.born_ns))
}

/// The lines that every call needs, and those of the manifests of these tools.
fn part(
    world: &dyn World,
    state: &Path,
    set: &ControlSet<'_>,
    header: &Header,
    tools: &[&str],
) -> Result<Index, Diagnostic> {
    if let Some(index) = times::part(world, &times_path(state, set.root), &header.digest, tools) {
        return Ok(index);
    }
    let text = read(world, state, set.root)?.unwrap_or_default();
    let (_, lines) = split(world, &text, state, set.root)?;
    let wanted =
        |path: &str| !set.is_manifest(path) || manifest_stem(path).is_some_and(|stem| tools.contains(&stem));
    Index::parse(lines, wanted).ok_or_else(|| damaged(world, state, set.root, "a line of it cannot be read"))
}

/// All lines, which must be those that were trusted.
fn whole(world: &dyn World, state: &Path, root: &Path, header: &Header) -> Result<Index, Diagnostic> {
    let text = read(world, state, root)?.unwrap_or_default();
    let (_, lines) = split(world, &text, state, root)?;
    let index = Index::parse(lines, |_| true)
        .ok_or_else(|| damaged(world, state, root, "a line of it cannot be read"))?;
    if index.digest() == header.digest {
        return Ok(index);
    }
    Err(damaged(world, state, root, "its digest is not that of its lines"))
}

fn from_changes(changes: Vec<Change>) -> TrustState {
    if changes.is_empty() { TrustState::Trusted { author: false } } else { TrustState::Changed(changes) }
}

/// Forgets that a project was trusted. Whether there was a record.
pub(super) fn revoke(world: &dyn World, state: &Path, root: &Path) -> Result<bool, Diagnostic> {
    let (usual, author) = record_paths(state, root);
    let existed = world.lstat(&usual).is_ok() || world.lstat(&author).is_ok();
    remove(world, &usual)?;
    remove(world, &author)?;
    remove(world, &times_path(state, root))?;
    remove(world, &reach_path(state, root))?;
    Ok(existed)
}

/// The control files of every project that follows its author's edits, but for `root`: whoever could write them from
/// another project would be believed there.
pub(in crate::project) fn author_files(world: &dyn World, state: &Path, root: Option<&Path>) -> Vec<PathBuf> {
    let dir = state.join("trust");
    let mut paths = Vec::new();
    for name in world.list(&dir).unwrap_or_default() {
        let file = dir.join(name);
        if file.extension().is_none_or(|extension| extension != AUTHOR) {
            continue;
        }
        // A record that cannot be used is no trust: nothing is believed in its project, so nothing of it needs protection,
        // and calls elsewhere must not suffer from it.
        let Some(header) = usable_header(world, &file) else { continue };
        if root != Some(header.path.as_path()) {
            let dirs = header.dirs.iter().map(String::as_str);
            paths.extend(SETTINGS_NAMES.into_iter().chain(dirs).map(|name| header.path.join(name)));
        }
    }
    paths
}

/// What a record says of itself, for lists.
pub(super) struct Record {
    pub(super) path: PathBuf,
    pub(super) author: bool,
    pub(super) at: u64,
    pub(super) suspended: bool,
}

/// Reads a record's first line; `None` if it is not one.
pub(super) fn read_record(world: &dyn World, file: &Path) -> Option<Record> {
    let Header { path, author, at, suspended, .. } = usable_header(world, file)?;
    Some(Record { path, author, at, suspended: suspended.is_some() })
}

fn usable_header(world: &dyn World, file: &Path) -> Option<Header> {
    check_owner(world, file, &[world.euid()], Path::new("/")).ok()?;
    serde_json::from_slice(&first_line(world, file).ok()?).ok()
}

/// The first line of a record, without reading the others.
fn first_line(world: &dyn World, file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = world.head(file, HEADER_BYTES)?;
    if !bytes.contains(&b'\n') {
        bytes = world.head(file, MAX_RECORD)?;
    }
    Ok(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default().to_vec())
}

/// Suspends the trust of a project until it is renewed, because a call created a file that would control it.
pub(in crate::project) fn suspend(
    world: &dyn World,
    state: &Path,
    root: &Path,
    created: &str,
) -> Result<(), Diagnostic> {
    let Some(text) = read(world, state, root)? else { return Ok(()) };
    let (mut header, lines) = split(world, &text, state, root)?;
    header.suspended = Some(created.to_owned());
    let text = format!("{}\n{lines}", to_json(&header)?);
    let (usual, author) = record_paths(state, root);
    write(world, if header.author { &author } else { &usual }, &text)
}

/// Where the record of a project is: the second place is for those that follow their author's edits, which are few and
/// have to be found from every other project.
fn record_paths(state: &Path, root: &Path) -> (PathBuf, PathBuf) {
    let name = sha256(root.as_os_str().as_encoded_bytes());
    let path = state.join("trust").join(name.trim_start_matches("sha256:"));
    let author = path.with_extension(AUTHOR);
    (path, author)
}

/// The record that counts: the author's, if there is one.
fn record_in_force(world: &dyn World, state: &Path, root: &Path) -> PathBuf {
    let (usual, author) = record_paths(state, root);
    if world.lstat(&author).is_ok() { author } else { usual }
}

fn remove(world: &dyn World, path: &Path) -> Result<(), Diagnostic> {
    world.remove(path).map_err(|error| {
        Diagnostic::error(
            Code::OutputError,
            format!("the record of trust cannot be removed: {}", escape(&error.to_string())),
        )
    })
}

/// Refuses a state folder that the project holds.
fn check_apart(world: &dyn World, state: &Path, root: &Path) -> Result<(), Diagnostic> {
    let real = real_path(world, state).unwrap_or_else(|_| state.to_path_buf());
    if !real.starts_with(root) {
        return Ok(());
    }
    Err(Diagnostic::error(
        Code::ConfigWorkspace,
        format!(
            "the state folder `{}` lies in the project `{}`, which could then trust itself",
            escape(&state.to_string_lossy()),
            escape(&root.to_string_lossy())
        ),
    )
    .help("unset TOOLCTL_HOME, or let it name a folder outside the project"))
}

/// Beside the folder of records, which holds nothing else.
fn times_path(state: &Path, root: &Path) -> PathBuf {
    state.join("trust-times").join(record_paths(state, root).0.file_name().unwrap_or_default())
}

fn reach_path(state: &Path, root: &Path) -> PathBuf {
    state.join("trust-reach").join(record_paths(state, root).0.file_name().unwrap_or_default())
}

fn read_header(world: &dyn World, state: &Path, root: &Path) -> Result<Option<Header>, Diagnostic> {
    let Some(path) = record_path(world, state, root)? else { return Ok(None) };
    let bytes = first_line(world, &path).map_err(|error| damaged(world, state, root, &error.to_string()))?;
    let line = String::from_utf8(bytes).map_err(|_| damaged(world, state, root, "it is not UTF-8"))?;
    split(world, &line, state, root).map(|(header, _)| Some(header))
}

fn read(world: &dyn World, state: &Path, root: &Path) -> Result<Option<String>, Diagnostic> {
    let Some(path) = record_path(world, state, root)? else { return Ok(None) };
    let bytes =
        world.read(&path, MAX_RECORD).map_err(|error| damaged(world, state, root, &error.to_string()))?;
    String::from_utf8(bytes).map(Some).map_err(|_| damaged(world, state, root, "it is not UTF-8"))
}

/// The record that counts, if there is one and nobody else could have written it.
fn record_path(world: &dyn World, state: &Path, root: &Path) -> Result<Option<PathBuf>, Diagnostic> {
    check_apart(world, state, root)?;
    let path = record_in_force(world, state, root);
    match world.lstat(&path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(damaged(world, state, root, &error.to_string())),
        Ok(_) => {}
    }
    check_owner(world, &path, &[world.euid()], Path::new("/"))?;
    Ok(Some(path))
}

fn split<'t>(
    world: &dyn World,
    text: &'t str,
    state: &Path,
    root: &Path,
) -> Result<(Header, &'t str), Diagnostic> {
    let (first, lines) = text.split_once('\n').unwrap_or((text, ""));
    let header: Header = serde_json::from_str(first)
        .map_err(|_| damaged(world, state, root, "its first line cannot be read"))?;
    if header.format != FORMAT || header.path != root {
        return Err(damaged(world, state, root, "it is of another format or another project"));
    }
    Ok((header, lines))
}

fn to_json(header: &Header) -> Result<String, Diagnostic> {
    serde_json::to_string(header)
        .map_err(|error| Diagnostic::error(Code::InternalError, escape(&error.to_string())))
}

fn write(world: &dyn World, path: &Path, text: &str) -> Result<(), Diagnostic> {
    world.write_private(path, text.as_bytes()).map_err(|error| {
        Diagnostic::error(
            Code::OutputError,
            format!(
                "the record of trust cannot be written to `{}`: {}",
                escape(&path.to_string_lossy()),
                escape(&error.to_string())
            ),
        )
    })
}

fn damaged(world: &dyn World, state: &Path, root: &Path, why: &str) -> Diagnostic {
    unusable(&record_in_force(world, state, root), why)
}

fn unusable(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::error(
        Code::ConfigNeedsTrust,
        format!("the record of trust `{}` cannot be used: {}", escape(&path.to_string_lossy()), escape(why)),
    )
    .help("look at the project's files, then renew it with `toolctl trust`; or remove the record")
}
