//! The lines of a record, sorted so that one call finds its few without reading those of all other tools.
//!
//! It is a file beside the record and says nothing by itself: it counts only while the record is there and has the same
//! digest, so it can be lost, written late or left behind without harm. The first line is a JSON object. Then come the
//! lines that every call needs, then those of manifests, spread over sections by the name of the tool.

use super::index::Index;
use super::walk::{ControlSet, manifest_stem};
use crate::canon::sha256;
use crate::source::check_owner;
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::path::Path;

const FORMAT: u32 = 1;
/// Manifests in a section, on average.
const PER_SECTION: usize = 16;
/// Bytes that are read at first: head and common lines of most projects.
const FIRST_BYTES: u64 = 32 << 10;
/// Largest head with its common lines, in bytes.
const MAX_BYTES: u64 = 32 << 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: u32,
    /// The digest of the record that this belongs to.
    digest: String,
    /// Length of the common lines, in bytes.
    common: u64,
    /// Where each section ends, in bytes after the common lines.
    ends: Vec<u64>,
}

/// The whole file.
pub(super) fn text(digest: &str, index: &Index, set: &ControlSet<'_>) -> Option<String> {
    let (mut common, mut manifests) = (Index::default(), Vec::new());
    for (path, entry) in &index.entries {
        match manifest_stem(path).filter(|_| set.is_manifest(path)) {
            Some(stem) => manifests.push((stem, path, entry)),
            None => drop(common.entries.insert(path.clone(), entry.clone())),
        }
    }
    let count = manifests.len() / PER_SECTION + 1;
    let mut sections = vec![Index::default(); count];
    for (stem, path, entry) in manifests {
        sections.get_mut(section_of(stem, count))?.entries.insert(path.clone(), entry.clone());
    }
    let (mut lines, mut tail, mut ends) = (String::new(), String::new(), Vec::new());
    common.write(&mut lines);
    for section in &sections {
        section.write(&mut tail);
        ends.push(tail.len() as u64);
    }
    let head = Head { format: FORMAT, digest: digest.to_owned(), common: lines.len() as u64, ends };
    Some(format!("{}\n{lines}{tail}", serde_json::to_string(&head).ok()?))
}

/// The lines that every call needs and those of the manifests of these tools; `None` if the file is not there or is not
/// of the record with this digest.
pub(super) fn part(world: &dyn World, path: &Path, digest: &str, tools: &[&str]) -> Option<Index> {
    check_owner(world, path, &[world.euid()], Path::new("/")).ok()?;
    let mut bytes = world.head(path, FIRST_BYTES).ok()?;
    if !bytes.contains(&b'\n') {
        bytes = world.head(path, MAX_BYTES).ok()?;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(bytes.get(..end)?).ok()?;
    if head.format != FORMAT || head.digest != digest {
        return None;
    }
    let start = end as u64 + 1;
    let lines = section(world, path, &bytes, start, head.common)?;
    let mut index = Index::parse(&lines, |_| true)?;
    for tool in tools {
        let number = section_of(tool, head.ends.len());
        let to = *head.ends.get(number)?;
        let from = number.checked_sub(1).map_or(Some(0), |before| head.ends.get(before).copied())?;
        let lines = section(world, path, &bytes, start + head.common + from, to.checked_sub(from)?)?;
        index.entries.extend(Index::parse(&lines, |path| manifest_stem(path) == Some(tool))?.entries);
    }
    Some(index)
}

/// A part of the file, from what was read already if that holds it.
fn section(world: &dyn World, path: &Path, known: &[u8], from: u64, len: u64) -> Option<String> {
    let range = usize::try_from(from).ok()?..usize::try_from(from.checked_add(len)?).ok()?;
    let bytes = match known.get(range) {
        Some(bytes) => bytes.to_vec(),
        None => world.section(path, from, len).ok()?,
    };
    let whole = bytes.len() as u64 == len && (len == 0 || bytes.ends_with(b"\n"));
    if whole { String::from_utf8(bytes).ok() } else { None }
}

fn section_of(tool: &str, count: usize) -> usize {
    let digest = sha256(tool.as_bytes());
    let number =
        digest.trim_start_matches("sha256:").get(..8).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    number.map_or(0, |number| number as usize).checked_rem(count).unwrap_or(0)
}
