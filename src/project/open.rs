//! Ties the layers together. Nothing is read that the command at hand does not need: settings at once, manifests and
//! policies when they are asked for.

use super::access::Access;
use super::catalog::{Catalog, CatalogTool};
use super::control::{Control, control_set, named_programs};
use super::discover::{Discovery, discover};
use super::home::Homes;
use super::layer::LayerFiles;
use super::policies::{PolicyNode, read_policies};
use super::settings::{Merger, Settings, SettingsFile};
use super::trust::{ControlSet, TrustRecord, TrustState, author_files, suspend};
use super::workspace;
use crate::diag::{Code, Diagnostic, Severity};
use crate::manifest::Tool;
use crate::model::Layer;
use crate::source::Files;
use crate::text::Span;
use crate::world::World;
use std::path::{Path, PathBuf};

/// Everything around a call that comes from disk.
#[derive(Debug)]
pub struct Project {
    /// The project's root; `None` without a project.
    pub root: Option<PathBuf>,
    /// The folder that tools work in, as a real path.
    pub workspace: PathBuf,
    /// The folders outside the project.
    pub homes: Homes,
    /// The settings in force.
    pub settings: Settings,
    /// Whether the project's files may act.
    pub trust: TrustState,
    /// The layers that exist, outermost first.
    pub layers: Vec<LayerFiles>,
    /// What was left out of the settings, and why.
    pub warnings: Vec<Diagnostic>,
    /// The times that were kept of the project's files did not suffice to find out whether it is as it was trusted.
    outdated_times: bool,
}

impl Project {
    /// Opens the project around `start`, the working folder or what `-C` names. Without a project, the folder itself is
    /// the workspace.
    ///
    /// # Errors
    /// Every fault of the settings, of their owners, and of the record of trust.
    pub fn open(world: &dyn World, files: &mut Files, start: &Path) -> Result<Self, Vec<Diagnostic>> {
        Self::open_for(world, files, start, None)
    }

    /// As [`Self::open`]. With `called`, whether the project is trusted is found out for calls of this tool alone, which
    /// is as safe and does not look at the manifests of all others.
    pub fn open_for(
        world: &dyn World,
        files: &mut Files,
        start: &Path,
        called: Option<&str>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let one = |diagnostic| vec![diagnostic];
        let homes = Homes::find(world).map_err(one)?;
        let discovery = discover(world, start, homes.home.as_deref()).map_err(one)?;
        let mut faults = Vec::new();
        let mut layers = Vec::new();
        let mut add = |layer: Layer, root: &Path, access: Access| match LayerFiles::open(
            world, files, layer, root, access,
        ) {
            Ok(found) => layers.extend(found),
            Err(found) => faults.extend(found),
        };
        add(Layer::System, &homes.system, Access::system());
        if let Some(config) = &homes.config {
            add(Layer::User, config, Access::user(world));
        }
        if let Some(root) = &discovery.root {
            add(Layer::Project, root, Access::project(world, root));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let project = layers.iter().find(|layer| layer.layer == Layer::Project);
        let mut warnings = Vec::new();
        let (trust, outdated_times) = match (project, &homes.state) {
            (None, _) => (TrustState::NoProject, false),
            (Some(_), None) => (TrustState::Untrusted, false),
            (Some(layer), Some(state)) => {
                trust_state(world, state, layer, called, &mut warnings).map_err(one)?
            }
        };
        let mut merger = Merger::default();
        for layer in &layers {
            merger.add(layer.layer, &layer.settings, layer.layer != Layer::Project || trust.is_trusted());
        }
        let (settings, left_out) = merger.finish();
        warnings.extend(left_out);
        for outer in layers.iter().filter(|layer| layer.layer != Layer::Project) {
            warnings.extend(outer_workspace(&outer.settings));
        }
        let workspace =
            workspace::choose(world, &homes, &discovery, project, trust.is_trusted(), &mut warnings)
                .map_err(one)?;
        Ok(Self { root: discovery.root, workspace, homes, settings, trust, layers, warnings, outdated_times })
    }

    /// The tools of all layers.
    pub fn catalog(&self) -> Catalog<'_> {
        Catalog::new(&self.layers)
    }

    /// The policy files of all layers.
    pub fn policies(&self, world: &dyn World, files: &mut Files) -> Result<Vec<PolicyNode>, Vec<Diagnostic>> {
        read_policies(world, files, &self.layers, self.trust.is_trusted())
    }

    /// What no tool may change. `tool` is the one that is called: programs that it names are protected too, as are those
    /// that were named when the project was trusted, and the control sets of projects inside the workspace that follow
    /// their author's edits.
    pub fn control_set(&self, world: &dyn World, tool: Option<&Tool>) -> Result<Control, Diagnostic> {
        let mut programs = Vec::new();
        let recorded = matches!(self.trust, TrustState::Trusted { .. } | TrustState::Changed(_));
        if let (Some(layer), Some(state), true) = (self.project_layer(), &self.homes.state, recorded) {
            programs.extend(TrustRecord::programs(world, state, &ControlSet::of(layer))?);
        }
        if let Some(tool) = tool {
            programs.extend(self.named_programs(world, tool));
        }
        if let Some(state) = &self.homes.state {
            let others = author_files(world, state, self.root.as_deref());
            programs.extend(others.into_iter().filter(|path| path.starts_with(&self.workspace)));
        }
        Ok(control_set(world, self, &programs))
    }

    /// The programs that a tool names below the project or the workspace.
    pub fn named_programs(&self, world: &dyn World, tool: &Tool) -> Vec<PathBuf> {
        let below = |path: &PathBuf| {
            path.starts_with(&self.workspace) || self.root.as_ref().is_some_and(|root| path.starts_with(root))
        };
        named_programs(world, tool, &self.workspace).into_iter().filter(below).collect()
    }

    /// Programs of the project that a tool of a trusted project names and that were not there when it was trusted. Nobody
    /// has said of them that they may run: another tool could have made them. So it is for an author too, whose edits of
    /// known programs are followed because every sandbox protects them.
    pub fn unknown_programs(
        &self,
        world: &dyn World,
        found: &CatalogTool,
    ) -> Result<Vec<PathBuf>, Diagnostic> {
        let bound = self.trust.is_trusted() && found.layer == Layer::Project;
        let (Some(layer), Some(state), true) = (self.project_layer(), &self.homes.state, bound) else {
            return Ok(Vec::new());
        };
        let set = ControlSet::of(layer);
        let known = TrustRecord::programs(world, state, &set)?;
        let mut programs = self.named_programs(world, &found.tool);
        programs.retain(|path| !known.contains(path) && set.holds_program(path));
        Ok(programs)
    }

    /// The first of the files, given with the digests of what was read of them, that is not the one that was trusted.
    /// Whether the project is as it was trusted is found out before its files are read, and they could change in between.
    pub fn differs(
        &self,
        world: &dyn World,
        read: &[(PathBuf, String)],
    ) -> Result<Option<PathBuf>, Diagnostic> {
        let fixed = self.trust == (TrustState::Trusted { author: false });
        let (Some(layer), Some(state), true) = (self.project_layer(), &self.homes.state, fixed) else {
            return Ok(None);
        };
        let set = ControlSet::of(layer);
        let names: Vec<(String, &String)> =
            read.iter().filter_map(|(path, digest)| Some((set.name_of(path)?, digest))).collect();
        let wanted: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        let known = TrustRecord::digests(world, state, &set, &wanted)?;
        let other =
            names.into_iter().find(|(name, digest)| known.get(name).is_some_and(|known| known != *digest));
        Ok(other.map(|(name, _)| layer.root.join(name)))
    }

    /// Checks who could have written the programs and scripts that a tool names by a path, as was done for its manifest.
    /// Installed programs found by a bare name are the system's matter.
    pub fn check_programs(&self, world: &dyn World, found: &CatalogTool) -> Result<(), Vec<Diagnostic>> {
        let Some(layer) = self.layers.iter().find(|layer| layer.layer == found.layer) else { return Ok(()) };
        let access = Access { inside: None, ..layer.access.clone() };
        let faults: Vec<Diagnostic> = named_programs(world, &found.tool, &self.workspace)
            .iter()
            .filter_map(|path| access.check(world, path).err())
            .collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Prepares to trust the project: reads and checks all of its control set. Show the tools' requests to the person
    /// first, then [`TrustRecord::keep`] it in [`Self::state_dir`].
    ///
    /// # Errors
    /// There is no project, or a file of it cannot be read or believed. Faults inside manifests do not hinder: trust
    /// speaks of who wrote them, not of their being right.
    pub fn prepare_trust(
        &self,
        world: &dyn World,
        tools: &[CatalogTool],
        author: bool,
    ) -> Result<TrustRecord, Vec<Diagnostic>> {
        let Some(layer) = self.project_layer() else {
            return Err(vec![
                Diagnostic::error(Code::NothingToDo, "there is no project here that could be trusted")
                    .help("a project has a `toolctl.yaml` or a `tools.d` folder at its root"),
            ]);
        };
        let programs: Vec<PathBuf> = tools
            .iter()
            .filter(|tool| tool.layer == Layer::Project)
            .flat_map(|tool| self.named_programs(world, &tool.tool))
            .collect();
        let record = TrustRecord::prepare(world, &ControlSet::of(layer), &programs, author)
            .map_err(|fault| vec![fault])?;
        let faults: Vec<Diagnostic> = record
            .files()
            .filter_map(|path| {
                // A program of a workspace elsewhere is no symlink out of the project, but a file of its own.
                let inside = layer.access.inside.clone().filter(|_| !Path::new(path).is_absolute());
                Access { inside, ..layer.access.clone() }.check(world, &layer.root.join(path)).err()
            })
            .collect();
        if faults.is_empty() { Ok(record) } else { Err(faults) }
    }

    /// Keeps a prepared record, and what was shown of it: the next difference is told from that. `reach` is one line.
    pub fn trust(&self, world: &dyn World, record: &TrustRecord, reach: &str) -> Result<(), Diagnostic> {
        record.keep(world, self.state_dir()?, reach)
    }

    /// Suspends the project's trust after a call created `created`, a file that would control it.
    pub fn suspend_trust(&self, world: &dyn World, created: &str) -> Result<(), Diagnostic> {
        match (&self.root, &self.homes.state) {
            (Some(root), Some(state)) => suspend(world, state, root, created),
            // Nothing can be trusted here.
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// The keys of the project's settings that loosen the defaults, and where they stand: they count once it is trusted.
    pub fn loosening(&self) -> Vec<(&'static str, Option<Span>)> {
        let mut merger = Merger::default();
        for layer in &self.layers {
            merger.add(layer.layer, &layer.settings, layer.layer != Layer::Project);
        }
        let Some(layer) = self.project_layer() else { return Vec::new() };
        merger.loosened().iter().map(|key| (*key, layer.settings.place_of(key))).collect()
    }

    /// The project with the settings and the workspace that it has once it is trusted; [`Self::trust`] stays what it is.
    ///
    /// # Errors
    /// The workspace that the settings name is refused.
    pub fn once_trusted(mut self, world: &dyn World) -> Result<Self, Diagnostic> {
        let mut merger = Merger::default();
        for layer in &self.layers {
            merger.add(layer.layer, &layer.settings, true);
        }
        (self.settings, _) = merger.finish();
        if let Some(root) = &self.root {
            let place = Discovery { start: root.clone(), root: Some(root.clone()) };
            let layer = self.project_layer();
            self.workspace = workspace::choose(world, &self.homes, &place, layer, true, &mut Vec::new())?;
        }
        Ok(self)
    }

    /// Whether what was read of the project, its settings and these files with their digests, is what a prepared record
    /// covers: a person must be shown what is recorded.
    pub fn is_what_is_recorded(&self, record: &TrustRecord, read: &[(&Path, &str)]) -> bool {
        let settings = self
            .project_layer()
            .and_then(|layer| Some((layer.settings_path.as_deref()?, layer.settings_digest.as_deref()?)));
        read.iter().copied().chain(settings).all(|(path, digest)| {
            let name = path.strip_prefix(record.root()).unwrap_or(path).to_str();
            // A symlink's digest covers its target too, and is not that of the text.
            name.and_then(|name| record.digest_of(name)).is_none_or(|recorded| recorded == digest)
        })
    }

    /// What was kept with the record of trust for the next person who looks, if it is of that record.
    pub fn kept_reach(&self, world: &dyn World) -> Option<String> {
        let (layer, state) = (self.project_layer()?, self.homes.state.as_ref()?);
        TrustRecord::reach(world, state, &layer.root)
    }

    /// Makes the next call faster if this one had to read the whole control set. Writes to the user's state, so it is not
    /// for commands that only look.
    pub fn spare_the_next(&self, world: &dyn World) {
        let fixed = self.trust == (TrustState::Trusted { author: false });
        if let (Some(layer), Some(state), true) =
            (self.project_layer(), &self.homes.state, fixed && self.outdated_times)
        {
            TrustRecord::renew_times(world, state, &ControlSet::of(layer));
        }
    }

    /// The folder of trust and state.
    ///
    /// # Errors
    /// The user has no password entry, and `TOOLCTL_HOME` is not set.
    pub fn state_dir(&self) -> Result<&Path, Diagnostic> {
        self.homes.state_dir()
    }

    fn project_layer(&self) -> Option<&LayerFiles> {
        self.layers.iter().find(|layer| layer.layer == Layer::Project)
    }
}

/// A record that cannot be used is as good as none: it must not stand in the way of renewing it. A state folder inside
/// the project stays an error.
fn trust_state(
    world: &dyn World,
    state: &Path,
    layer: &LayerFiles,
    called: Option<&str>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(TrustState, bool), Diagnostic> {
    match TrustRecord::state(world, state, &ControlSet::of(layer), called) {
        Err(fault) if fault.code != Code::ConfigWorkspace => {
            warnings.push(Diagnostic { severity: Severity::Warning, ..fault });
            Ok((TrustState::Untrusted, false))
        }
        other => other,
    }
}

/// A workspace is a project's matter: one for all projects would be none of them.
fn outer_workspace(settings: &SettingsFile) -> Option<Diagnostic> {
    settings.workspace()?;
    let warning = Diagnostic::warning(
        Code::ConfigBadSetting,
        "`workspace` is left out: it is read from a project's settings only",
    );
    Some(match settings.place("workspace") {
        Some(span) => warning.at(span, "left out"),
        None => warning,
    })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod trust_tests;
