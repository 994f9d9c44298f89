//! Which folder tools work in, and which folders that may never be.

use super::discover::{Discovery, real_path};
use super::home::Homes;
use super::layer::LayerFiles;
use crate::diag::{Code, Diagnostic};
use crate::text::escape;
use crate::world::{FileKind, World};
use std::path::{Path, PathBuf};

/// The workspace: what the project's settings name, else the project's root, else the folder that the command starts in.
///
/// An untrusted project can only name a folder of its own; another one is left out with a warning.
pub(super) fn choose(
    world: &dyn World,
    homes: &Homes,
    discovery: &Discovery,
    project: Option<&LayerFiles>,
    trusted: bool,
    warnings: &mut Vec<Diagnostic>,
) -> Result<PathBuf, Diagnostic> {
    let usual = discovery.root.as_ref().unwrap_or(&discovery.start);
    let named = project.and_then(|layer| layer.settings.workspace().map(|text| (layer, text)));
    let Some((layer, text)) = named else {
        refuse_unsafe(world, homes, usual)?;
        return Ok(usual.clone());
    };
    let place = |diagnostic: Diagnostic| match layer.settings.place("workspace") {
        Some(span) => diagnostic.at(span, "set here"),
        None => diagnostic,
    };
    let refuse = |why: &str| {
        place(Diagnostic::error(
            Code::ConfigWorkspace,
            format!("the workspace cannot be `{}`: {}", escape(text), escape(why)),
        ))
    };
    if text.is_empty() {
        return Err(refuse("it is empty"));
    }
    let real = real_path(world, &layer.root.join(text)).map_err(|why| refuse(&why))?;
    match world.stat(&real) {
        Ok(stat) if stat.kind == FileKind::Dir => {}
        Ok(_) => return Err(refuse("it is not a folder")),
        Err(error) => return Err(refuse(&error.to_string())),
    }
    if !trusted && !real.starts_with(&layer.root) {
        warnings.push(place(
            Diagnostic::warning(
                Code::ConfigNeedsTrust,
                format!(
                    "`workspace: {}` is left out: it lies outside a project that is not trusted",
                    escape(text)
                ),
            )
            .help("read the project's files, then run `toolctl trust`"),
        ));
        refuse_unsafe(world, homes, usual)?;
        return Ok(usual.clone());
    }
    refuse_unsafe(world, homes, &real).map_err(place)?;
    Ok(real)
}

/// Refuses a folder that holds, or is held by, what decides about it.
fn refuse_unsafe(world: &dyn World, homes: &Homes, workspace: &Path) -> Result<(), Diagnostic> {
    let real = |path: &Path| real_path(world, path).unwrap_or_else(|_| path.to_path_buf());
    let shown = escape(&workspace.to_string_lossy());
    let refuse = |why: &str| {
        Err(Diagnostic::error(Code::ConfigWorkspace, format!("the workspace cannot be `{shown}`: {why}"))
            .help("work in a folder of its own: `cd` into one, or name it with -C"))
    };
    if workspace == Path::new("/") {
        return refuse("that is every file of the machine");
    }
    if homes.home.as_deref().map(real).as_deref() == Some(workspace) {
        return refuse("that is your home folder, with your keys and settings");
    }
    for folder in homes.hidden() {
        let folder = real(&folder);
        if folder.starts_with(workspace) {
            return refuse(&format!(
                "toolctl's own files are in it, at `{}`",
                escape(&folder.to_string_lossy())
            ));
        }
        if workspace.starts_with(&folder) {
            return refuse("toolctl's own files are kept there");
        }
    }
    Ok(())
}
