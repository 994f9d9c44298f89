//! Trust as it is kept: one file a project in the user's state.
//!
//! The file's first line is a JSON object, the rest are the lines of the index. The state folder must be out of the
//! project's reach: a record inside the project would be the project's own word.

use super::index::{Change, ChangeKind, Index, Kind};
use super::walk::ControlSet;
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
}

/// What a person is asked about, and what is kept of it.
#[derive(Debug, Clone)]
pub struct TrustRecord {
    header: Header,
    index: Index,
    /// What is kept of the index: an author's edits are followed, so only the programs matter, which are protected.
    kept: Index,
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
        };
        let mut kept = index.clone();
        kept.entries.retain(|path, _| !author || set.is_program(path));
        Ok(Self { header, index, kept })
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
    pub fn keep(&self, world: &dyn World, state: &Path) -> Result<(), Diagnostic> {
        check_apart(world, state, &self.header.path)?;
        let mut text = to_json(&self.header)?;
        text.push('\n');
        self.kept.write(&mut text);
        let (usual, author) = record_paths(state, &self.header.path);
        let (here, other) = if self.header.author { (author, usual) } else { (usual, author) };
        write(world, &here, &text)?;
        remove(world, &other)
    }

    /// What the record says of a project now. With `called`, only the files that a call of that tool depends on are
    /// looked at, unless a folder changed.
    pub(crate) fn state(
        world: &dyn World,
        state: &Path,
        set: &ControlSet<'_>,
        called: Option<&str>,
    ) -> Result<TrustState, Diagnostic> {
        let Some(text) = read(world, state, set.root)? else { return Ok(TrustState::Untrusted) };
        let (header, lines) = split(world, &text, state, set.root)?;
        if let Some(why) = header.suspended {
            return Ok(TrustState::Changed(vec![Change::new(&why, ChangeKind::Added)]));
        }
        if header.author {
            let new = set.tops(world).into_iter().filter(|name| !header.there.contains(name));
            let new: Vec<_> = new.map(|name| Change::new(&name, ChangeKind::Added)).collect();
            return Ok(if new.is_empty() {
                TrustState::Trusted { author: true }
            } else {
                TrustState::Changed(new)
            });
        }
        let damaged = || damaged(world, state, set.root, "a line of it cannot be read");
        if let Some(called) = called {
            let part =
                Index::parse(lines, |path| !set.is_other_manifest(path, called)).ok_or_else(damaged)?;
            if let Some(changes) = set.changes_for(world, &part, called) {
                return Ok(from_changes(changes));
            }
        }
        let index = Index::parse(lines, |_| true).ok_or_else(damaged)?;
        if index.digest() != header.digest {
            return Err(self::damaged(world, state, set.root, "its digest is not that of its lines"));
        }
        Ok(from_changes(set.changes(world, &index)))
    }

    /// The digests that the record has of these files, which are relative to the project's root.
    pub(crate) fn digests(
        world: &dyn World,
        state: &Path,
        set: &ControlSet<'_>,
        files: &[&str],
    ) -> Result<BTreeMap<String, String>, Diagnostic> {
        let Some(text) = read(world, state, set.root)? else { return Ok(BTreeMap::new()) };
        let (_, lines) = split(world, &text, state, set.root)?;
        let index = Index::parse(lines, |path| files.contains(&path))
            .ok_or_else(|| damaged(world, state, set.root, "a line of it cannot be read"))?;
        let plain = index.entries.into_iter().filter(|(_, entry)| entry.kind != Kind::Link);
        Ok(plain.map(|(path, entry)| (path, entry.digest)).collect())
    }

    /// The files outside the folders of tools and policies that the record covers: programs that manifests name.
    pub(crate) fn programs(
        world: &dyn World,
        state: &Path,
        set: &ControlSet<'_>,
    ) -> Result<Vec<PathBuf>, Diagnostic> {
        let Some(text) = read(world, state, set.root)? else { return Ok(Vec::new()) };
        let (_, lines) = split(world, &text, state, set.root)?;
        let index = Index::parse(lines, |path| set.is_program(path))
            .ok_or_else(|| damaged(world, state, set.root, "a line of it cannot be read"))?;
        Ok(index.entries.keys().map(|path| set.root.join(path)).collect())
    }
}

fn from_changes(changes: Vec<Change>) -> TrustState {
    if changes.is_empty() { TrustState::Trusted { author: false } } else { TrustState::Changed(changes) }
}

/// Forgets that a project was trusted. Whether there was a record.
pub(in crate::project) fn revoke(world: &dyn World, state: &Path, root: &Path) -> Result<bool, Diagnostic> {
    let (usual, author) = record_paths(state, root);
    let existed = world.lstat(&usual).is_ok() || world.lstat(&author).is_ok();
    remove(world, &usual)?;
    remove(world, &author)?;
    Ok(existed)
}

/// The control files of every project that follows its author's edits, but for `root`: whoever could write them from
/// another project would be believed there.
pub(in crate::project) fn author_files(
    world: &dyn World,
    state: &Path,
    root: Option<&Path>,
) -> Result<Vec<PathBuf>, Diagnostic> {
    let dir = state.join("trust");
    let mut paths = Vec::new();
    for name in world.list(&dir).unwrap_or_default() {
        let file = dir.join(name);
        if file.extension().is_none_or(|extension| extension != AUTHOR) {
            continue;
        }
        check_owner(world, &file, &[world.euid()], Path::new("/"))?;
        let text = world.read(&file, MAX_RECORD).map_err(|error| unusable(&file, &error.to_string()))?;
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let header: Header =
            serde_json::from_slice(first).map_err(|_| unusable(&file, "its first line cannot be read"))?;
        if root != Some(header.path.as_path()) {
            let dirs = header.dirs.iter().map(String::as_str);
            paths.extend(SETTINGS_NAMES.into_iter().chain(dirs).map(|name| header.path.join(name)));
        }
    }
    Ok(paths)
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

fn read(world: &dyn World, state: &Path, root: &Path) -> Result<Option<String>, Diagnostic> {
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
    let bytes =
        world.read(&path, MAX_RECORD).map_err(|error| damaged(world, state, root, &error.to_string()))?;
    String::from_utf8(bytes).map(Some).map_err(|_| damaged(world, state, root, "it is not UTF-8"))
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
