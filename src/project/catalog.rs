//! Tools by name: the built-in ones and those of every layer. A lookup opens one file.

use super::layer::{LayerFiles, shown};
use crate::canon::sha256;
use crate::diag::{Code, Diagnostic};
use crate::manifest::{BUILTIN_NAMES, Origin, Tool, builtin_source, decode_compiled, is_tool_name, lint};
use crate::model::Layer;
use crate::schema::Schema;
use crate::source::{AliasBudget, Decoder, Files, JsonLimits, parse_json, read_source_with};
use crate::text::{Escaped, escape, nearest};
use crate::world::{FileKind, World};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// A tool that can be called.
#[derive(Debug)]
pub struct CatalogTool {
    /// Its definition.
    pub tool: Tool,
    /// The compiled schema of its arguments.
    pub schema: Schema,
    /// Where it comes from.
    pub layer: Layer,
    /// Findings on its manifest that are no errors.
    pub warnings: Vec<Diagnostic>,
}

/// Why a lookup gave no tool.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// There is no tool of that name.
    #[error("Tool \"{name}\" not found")]
    Unknown {
        /// The name as the caller wrote it.
        name: Escaped,
        /// The name that was probably meant.
        near: Option<String>,
    },
    /// There is one, and its manifest cannot be used.
    #[error("the tool's manifest cannot be used")]
    Invalid(Vec<Diagnostic>),
}

impl CatalogError {
    /// The findings: `call/unknown-tool`, or those on the manifest.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        match self {
            Self::Invalid(diagnostics) => diagnostics,
            Self::Unknown { ref near, .. } => {
                let diagnostic = Diagnostic::error(Code::CallUnknownTool, self.to_string());
                vec![match near {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic.help("`toolctl tools list` shows what there is"),
                }]
            }
        }
    }
}

impl From<Diagnostic> for CatalogError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(vec![diagnostic])
    }
}

/// The tools of all layers.
#[derive(Debug, Clone, Copy)]
pub struct Catalog<'a> {
    layers: &'a [LayerFiles],
}

/// A manifest's place, not yet opened.
#[derive(Debug, Clone)]
struct Place<'a> {
    layer: &'a LayerFiles,
    dir: &'a Path,
    path: PathBuf,
}

impl<'a> Catalog<'a> {
    /// The catalog of these layers, outermost first.
    pub(super) const fn new(layers: &'a [LayerFiles]) -> Self {
        Self { layers }
    }

    /// All names and the outermost layer of each. Reads folders and opens no file.
    pub fn names(&self, world: &dyn World) -> Result<BTreeMap<String, Layer>, Diagnostic> {
        let mut names: BTreeMap<String, Layer> =
            BUILTIN_NAMES.iter().map(|name| ((*name).to_owned(), Layer::Builtin)).collect();
        for layer in self.layers {
            for dir in &layer.tools {
                for (stem, _) in list(world, dir)?.into_iter().filter(|(stem, _)| is_tool_name(stem)) {
                    names.entry(stem).or_insert(layer.layer);
                }
            }
        }
        Ok(names)
    }

    /// The tool of this name.
    pub fn find(
        &self,
        world: &dyn World,
        files: &mut Files,
        name: &str,
    ) -> Result<CatalogTool, CatalogError> {
        if !is_tool_name(name) {
            return Err(self.unknown(world, name)?);
        }
        let places = self.places(world, name);
        let builtin = BUILTIN_NAMES.contains(&name);
        match (places.as_slice(), builtin) {
            ([], true) => embedded(files, name),
            ([], false) => {
                self.refuse_bundled(world, name)?;
                Err(self.unknown(world, name)?)
            }
            ([place, ..], true) => Err(shadows(name, &place.path).into()),
            ([first, rest @ ..], false) => {
                self.refuse_bundled(world, name)?;
                let found = open(world, files, first)?;
                for other in rest {
                    same(world, &found.tool, first, other)?;
                }
                Ok(found)
            }
        }
    }

    /// Every tool, and every fault of the folders and manifests.
    pub fn all(&self, world: &dyn World, files: &mut Files) -> (Vec<CatalogTool>, Vec<Diagnostic>) {
        let (mut tools, mut faults) = (Vec::new(), Vec::new());
        let names = self.names(world).unwrap_or_else(|fault| {
            faults.push(fault);
            BTreeMap::new()
        });
        for name in names.keys() {
            match self.find(world, files, name) {
                Ok(tool) => tools.push(tool),
                Err(error) => faults.extend(error.into_diagnostics()),
            }
        }
        for layer in self.layers {
            for dir in &layer.tools {
                // A folder that cannot be read was reported above.
                let found = list(world, dir).unwrap_or_default();
                faults.extend(found.iter().filter_map(|(stem, path)| misnamed(stem, path)));
            }
        }
        (tools, faults)
    }

    fn places(&self, world: &dyn World, name: &str) -> Vec<Place<'a>> {
        let mut places = Vec::new();
        for layer in self.layers {
            for dir in &layer.tools {
                for extension in EXTENSIONS {
                    let path = dir.join(format!("{name}.{extension}"));
                    if world.lstat(&path).is_ok() {
                        places.push(Place { layer, dir, path });
                    }
                }
            }
        }
        places
    }

    fn unknown(&self, world: &dyn World, name: &str) -> Result<CatalogError, CatalogError> {
        let names = self.names(world)?;
        let near = nearest(name, names.keys().map(String::as_str)).map(str::to_owned);
        Ok(CatalogError::Unknown { name: escape(name), near })
    }

    /// `server__tool` of a `server.mcp.yaml`: a kind of manifest that is not read yet.
    fn refuse_bundled(&self, world: &dyn World, name: &str) -> Result<(), Diagnostic> {
        let Some((server, _)) = name.split_once("__") else { return Ok(()) };
        for dir in self.layers.iter().flat_map(|layer| &layer.tools) {
            for extension in EXTENSIONS {
                let path = dir.join(format!("{server}.mcp.{extension}"));
                if world.lstat(&path).is_ok() {
                    return Err(bundle(&path));
                }
            }
        }
        Ok(())
    }
}

/// The manifests in a folder, by stem; nothing if the folder does not exist.
fn list(world: &dyn World, dir: &Path) -> Result<Vec<(String, PathBuf)>, Diagnostic> {
    let names = match world.list(dir) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(Diagnostic::error(
                Code::SourceUnreadable,
                format!(
                    "the folder `{}` cannot be read: {}",
                    escape(&dir.to_string_lossy()),
                    escape(&error.to_string())
                ),
            ));
        }
    };
    Ok(names
        .into_iter()
        .filter_map(|name| {
            let text = name.to_string_lossy().into_owned();
            let (stem, extension) = text.rsplit_once('.')?;
            // Editors keep their locks and copies under names with a dot in front.
            let manifest = EXTENSIONS.contains(&extension) && !stem.is_empty() && !stem.starts_with('.');
            manifest.then(|| (stem.to_owned(), dir.join(&name)))
        })
        .collect())
}

fn misnamed(stem: &str, path: &Path) -> Option<Diagnostic> {
    if is_tool_name(stem) {
        return None;
    }
    if stem.rsplit_once('.').is_some_and(|(_, kind)| kind == "mcp") {
        return Some(bundle(path));
    }
    let message = format!("`{}` cannot hold a tool: its name is not one", escape(&path.to_string_lossy()));
    Some(
        Diagnostic::error(Code::ManifestBadName, message)
            .help("a tool's file is named after it: 1 to 64 of A-Z, a-z, 0-9, _ and -, then .yaml"),
    )
}

fn bundle(path: &Path) -> Diagnostic {
    Diagnostic::error(
        Code::ManifestUnsupported,
        format!("`{}` is a bundle of an MCP server, which is not there yet", escape(&path.to_string_lossy())),
    )
    .help("remove the file to work without its tools")
}

fn shadows(name: &str, path: &Path) -> Diagnostic {
    Diagnostic::error(
        Code::ManifestDuplicateTool,
        format!("`{}` has the name of the built-in tool `{name}`", escape(&path.to_string_lossy())),
    )
    .help("rename it: what `read_file` and its like mean is the same everywhere")
}

fn open(world: &dyn World, files: &mut Files, place: &Place<'_>) -> Result<CatalogTool, CatalogError> {
    place.layer.access.check(world, &place.path)?;
    let source = read_source_with(world, files, &place.path, &shown(world, &place.path), AliasBudget::Few)
        .map_err(CatalogError::Invalid)?;
    let origin = Origin {
        bytes_digest: sha256(files.text(source.id).as_bytes()),
        dir: Some(place.dir.to_path_buf()),
        stem: place.path.file_stem().and_then(|stem| stem.to_str()),
        file: Some(place.path.clone()),
    };
    finish(&source.node, origin, place.layer.layer)
}

fn embedded(files: &mut Files, name: &str) -> Result<CatalogTool, CatalogError> {
    let text = builtin_source(name).unwrap_or_default();
    let id = files.add(format!("builtin:{name}"), text);
    let node = parse_json(files, id, JsonLimits::FILE)?;
    let origin = Origin { file: None, dir: None, stem: Some(name), bytes_digest: sha256(text.as_bytes()) };
    finish(&node, origin, Layer::Builtin)
}

fn finish(node: &crate::source::Node, origin: Origin<'_>, layer: Layer) -> Result<CatalogTool, CatalogError> {
    let mut decoder = Decoder::new();
    match decode_compiled(&mut decoder, node, origin) {
        Some((tool, schema)) => {
            let mut warnings = decoder.into_diagnostics();
            warnings.extend(lint(&tool));
            Ok(CatalogTool { tool, schema, layer, warnings })
        }
        None => Err(CatalogError::Invalid(decoder.into_diagnostics())),
    }
}

/// One name in two places is fine only if both say the same, programs beside the manifest included: that is, if they
/// are the same file.
fn same(world: &dyn World, found: &Tool, first: &Place<'_>, other: &Place<'_>) -> Result<(), Diagnostic> {
    let refuse = |why: &str| {
        Diagnostic::error(
            Code::ManifestDuplicateTool,
            format!(
                "tool `{}` is defined twice, by the {} layer and by the {} layer: {why}",
                found.name, first.layer.layer, other.layer.layer
            ),
        )
        .note(format!(
            "{} and {}",
            escape(&first.path.to_string_lossy()),
            escape(&other.path.to_string_lossy())
        ))
        .help("remove or rename one of them; neither wins")
    };
    other.layer.access.check(world, &other.path)?;
    let is_file = world.stat(&other.path).is_ok_and(|stat| stat.kind == FileKind::File);
    let text = is_file.then(|| world.read(&other.path, crate::source::MAX_FILE_BYTES).ok()).flatten();
    if first.path.extension() != other.path.extension() || first.layer.layer == other.layer.layer {
        return Err(refuse("two files"));
    }
    match text {
        Some(bytes) if sha256(&bytes) == found.digest => Ok(()),
        Some(_) | None => Err(refuse("they are not identical")),
    }
}
