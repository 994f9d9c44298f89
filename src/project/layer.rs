//! The files of one layer: its settings, and the folders of its tools and policies.

use super::access::Access;
use super::discover::SETTINGS_NAMES;
use super::settings::SettingsFile;
use crate::canon::sha256;
use crate::diag::{Code, Diagnostic};
use crate::model::Layer;
use crate::source::{Decoder, Files, read_source};
use crate::text::escape;
use crate::world::World;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// One layer on disk.
#[derive(Debug, Clone)]
pub struct LayerFiles {
    /// Which one.
    pub layer: Layer,
    /// Its folder.
    pub root: PathBuf,
    /// Its settings file, if it has one.
    pub settings_path: Option<PathBuf>,
    /// What that says.
    pub settings: SettingsFile,
    /// `sha256:…` of its text.
    pub settings_digest: Option<String>,
    /// Folders of manifests; they need not exist.
    pub tools: Vec<PathBuf>,
    /// Folders of policies; they need not exist.
    pub policies: Vec<PathBuf>,
    /// Who may have written its files.
    pub access: Access,
}

impl LayerFiles {
    /// Reads the settings of a layer; `None` if the layer's folder does not exist.
    pub(super) fn open(
        world: &dyn World,
        files: &mut Files,
        layer: Layer,
        root: &Path,
        access: Access,
    ) -> Result<Option<Self>, Vec<Diagnostic>> {
        match world.stat(root) {
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => {
                let message = format!(
                    "the {layer} layer at `{}` cannot be read: {}",
                    escape(&root.to_string_lossy()),
                    escape(&error.to_string())
                );
                return Err(vec![Diagnostic::error(Code::SourceUnreadable, message)]);
            }
        }
        let settings_path = settings_path(world, root).map_err(|d| vec![d])?;
        let (settings, settings_digest) = match &settings_path {
            None => (SettingsFile::default(), None),
            Some(path) => {
                let (settings, digest) = read_settings(world, files, path, &access)?;
                (settings, Some(digest))
            }
        };
        let folders = |names: Vec<&str>| names.into_iter().map(|name| root.join(name)).collect();
        Ok(Some(Self {
            layer,
            root: root.to_path_buf(),
            tools: folders(settings.tool_dirs()),
            policies: folders(settings.policy_dirs()),
            settings_path,
            settings,
            settings_digest,
            access,
        }))
    }
}

fn settings_path(world: &dyn World, root: &Path) -> Result<Option<PathBuf>, Diagnostic> {
    let mut found =
        SETTINGS_NAMES.iter().map(|name| root.join(name)).filter(|path| world.lstat(path).is_ok());
    let (first, second) = (found.next(), found.next());
    match (first, second) {
        (Some(first), Some(second)) => Err(Diagnostic::error(
            Code::ConfigBadSetting,
            format!(
                "there are two settings files: {} and {}",
                escape(&first.to_string_lossy()),
                escape(&second.to_string_lossy())
            ),
        )
        .help("keep one of them: neither could be meant to win")),
        (first, _) => Ok(first),
    }
}

fn read_settings(
    world: &dyn World,
    files: &mut Files,
    path: &Path,
    access: &Access,
) -> Result<(SettingsFile, String), Vec<Diagnostic>> {
    access.check(world, path).map_err(|diagnostic| vec![diagnostic])?;
    let source = read_source(world, files, path, &shown(world, path))?;
    let mut decoder = Decoder::new();
    let settings = SettingsFile::decode(&mut decoder, &source.node);
    let digest = sha256(files.text(source.id).as_bytes());
    settings.map(|settings| (settings, digest)).ok_or_else(|| decoder.into_diagnostics())
}

/// The path as people see it: from the working folder if it lies below that, else whole.
pub(super) fn shown(world: &dyn World, path: &Path) -> PathBuf {
    world
        .current_dir()
        .ok()
        .and_then(|cwd| path.strip_prefix(cwd).ok().map(Path::to_path_buf))
        .filter(|short| !short.as_os_str().is_empty())
        .unwrap_or_else(|| path.to_path_buf())
}
