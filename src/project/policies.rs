//! Finds and reads the policy files of all layers. What they mean is the policy module's business.
//!
//! A policy that cannot be read or believed is an error, never left out: it could hold the guard that matters.

use super::layer::{LayerFiles, shown};
use crate::canon::sha256;
use crate::diag::{Code, Diagnostic};
use crate::model::Layer;
use crate::source::{Files, Read, read_outline};
use crate::text::{FileId, escape};
use crate::world::{FileKind, World};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A policy file that was read.
#[derive(Debug, Clone)]
pub struct PolicyNode {
    /// What it says.
    pub read: Read,
    /// Where its text is registered.
    pub file: FileId,
    /// The layer it speaks for.
    pub layer: Layer,
    /// Whether its grants count: `false` for those of a project that is not trusted.
    pub trusted: bool,
    /// Its path.
    pub path: PathBuf,
    /// `sha256:…` of its text.
    pub digest: String,
}

/// Reads the policies of the layers, outermost first, by name within a folder.
pub(super) fn read_policies(
    world: &dyn World,
    files: &mut Files,
    layers: &[LayerFiles],
    project_trusted: bool,
) -> Result<Vec<PolicyNode>, Vec<Diagnostic>> {
    let (mut nodes, mut faults) = (Vec::new(), Vec::new());
    for layer in layers {
        for dir in &layer.policies {
            let paths = match list(world, layer, dir) {
                Ok(paths) => paths,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            for path in paths {
                match read(world, files, layer, &path) {
                    Ok((file, read)) => nodes.push(PolicyNode {
                        digest: sha256(files.text(file).as_bytes()),
                        read,
                        file,
                        layer: layer.layer,
                        trusted: layer.layer != Layer::Project || project_trusted,
                        path,
                    }),
                    Err(found) => faults.extend(found),
                }
            }
        }
    }
    if faults.is_empty() { Ok(nodes) } else { Err(faults) }
}

fn read(
    world: &dyn World,
    files: &mut Files,
    layer: &LayerFiles,
    path: &Path,
) -> Result<(FileId, Read), Vec<Diagnostic>> {
    layer.access.check(world, path).map_err(|fault| vec![fault])?;
    read_outline(world, files, path, &shown(world, path))
}

/// The policy files in a folder. Sub-folders are not read; one that holds policies and is not `tests` is refused, since
/// its guards would silently not count.
fn list(world: &dyn World, layer: &LayerFiles, dir: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let names = match world.list(dir) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound && world.lstat(dir).is_err() => {
            return Ok(Vec::new());
        }
        Err(error) => {
            return Err(Diagnostic::error(
                Code::SourceUnreadable,
                format!(
                    "the policies in `{}` cannot be read: {}",
                    escape(&dir.to_string_lossy()),
                    escape(&error.to_string())
                ),
            ));
        }
    };
    // The folder too: whoever may write it can take a guard away.
    layer.access.check(world, dir)?;
    let mut paths = Vec::new();
    for name in names {
        let text = name.to_string_lossy();
        let path = dir.join(&name);
        if text.starts_with('.') {
            continue;
        }
        if is_policy_name(&text) {
            paths.push(path);
        } else if text != "tests" && world.stat(&path).is_ok_and(|stat| stat.kind == FileKind::Dir) {
            let inner = world.list(&path).unwrap_or_default();
            if inner.iter().any(|name| is_policy_name(&name.to_string_lossy())) {
                return Err(Diagnostic::error(
                    Code::ConfigBadSetting,
                    format!("the policies in `{}` would not be read", escape(&path.to_string_lossy())),
                )
                .help("list the folder under `policies:` in toolctl.yaml, or move its files up"));
            }
        }
    }
    Ok(paths)
}

fn is_policy_name(name: &str) -> bool {
    // A file with an extension in capitals is taken, and then refused by its reader, rather than passed over.
    let lower = name.to_ascii_lowercase();
    [".yaml", ".yml", ".json"].iter().any(|end| lower.ends_with(end))
}
