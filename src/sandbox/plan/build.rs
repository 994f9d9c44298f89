//! Building the plan.

use super::input::{BackendChoice, FileDigest, Launcher, PlanInput, Program};
use super::preflight;
use super::protect::{hide_kernel_mounts, pin_ancestors, protect};
use super::report::{LimitsReport, MountReport, PlanReport};
use super::roots::{PROGRAM_ROOTS, Root, access_for};
use super::tree::{Tree, bindable, entry};
use crate::model::{AllowFs, AllowNetwork, Effect, RequiredLayer, SandboxConfig};
use crate::sandbox::config::{
    DEFAULT_FILE_MB, DEFAULT_MEMORY_MB, DEFAULT_OUTPUT_BYTES, DEFAULT_PROCESSES, DEFAULT_TIMEOUT,
};
use crate::sandbox::error::shown;
use crate::sandbox::linux::job::{Access, Entry, Mode, Net};
use crate::sandbox::linux::wire::{Wire as _, encode};
use crate::sandbox::{Backend, SandboxError};
use crate::world::{FileKind, Stat, World};
use sha2::{Digest as _, Sha256};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where programs are looked for inside a sandbox.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// A larger program is not copied; it must belong to root.
const MAX_COPY: u64 = 512 << 20;

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sandbox) struct Limits {
    pub timeout: Duration,
    pub memory_kib: u64,
    pub output_bytes: u64,
    pub processes: u64,
    pub file_bytes: u64,
    pub cpu_seconds: u64,
}

/// A run that could be started.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(in crate::sandbox) sandboxed: bool,
    pub(in crate::sandbox) backend: BackendChoice,
    pub(in crate::sandbox) entries: Vec<Entry>,
    pub(in crate::sandbox) links: Vec<(PathBuf, PathBuf)>,
    pub(in crate::sandbox) files: Vec<(PathBuf, OsString)>,
    pub(in crate::sandbox) program: Option<PathBuf>,
    pub(in crate::sandbox) argv: Vec<OsString>,
    pub(in crate::sandbox) env: Vec<(OsString, OsString)>,
    /// `None`: the private temp folder.
    pub(in crate::sandbox) cwd: Option<PathBuf>,
    pub(in crate::sandbox) limits: Limits,
    pub(in crate::sandbox) net: Net,
    pub(in crate::sandbox) required: Vec<RequiredLayer>,
    pub(in crate::sandbox) absent: Vec<PathBuf>,
    pub(in crate::sandbox) digests: Vec<FileDigest>,
    pub(in crate::sandbox) launcher: Launcher,
    pub(in crate::sandbox) temp_exec: bool,
    pub(in crate::sandbox) flat_refusal: Option<String>,
}

impl Plan {
    /// Works out what a run would do. Reads the disk; starts and writes nothing.
    ///
    /// # Errors
    /// [`SandboxError::BadRequest`] for what no backend can give, [`SandboxError::ProgramMissing`] for a program that
    /// could not start, [`SandboxError::Unavailable`] if `flat` was asked for and cannot hold this.
    pub fn build(input: PlanInput<'_>) -> Result<Self, SandboxError> {
        check_arguments(&input)?;
        let sandboxed = input.config.as_ref().is_some_and(|config| config.enabled != Some(false));
        let config = input.config.clone().unwrap_or_default();
        let net = if sandboxed { network(&config)? } else { Net::Host };
        if config.run_as.is_some() {
            return Err(SandboxError::BadRequest("`runAs` is not supported yet".to_owned()));
        }
        let mut root = Root::default();
        let digests;
        let mut absent = input.protected.absent.clone();
        if sandboxed {
            let world = input.world;
            show_binds(&mut root, &input, &config, net)?;
            absent = protect(world, &mut root.tree, &input.protected, &input.masks)?;
            hide_kernel_mounts(world, &mut root.tree)?;
            digests = show_programs(&mut root.tree, &input)?;
            pin_ancestors(world, &mut root.tree);
        } else {
            // Without a root of its own nothing is copied, and what was approved is still what has to be there.
            digests = show_programs(&mut Tree::default(), &input)?;
        }
        let program = match &input.program {
            Program::HostFile(path) => Some(path.clone()),
            Program::SelfExe => None,
        };
        let cwd = working_folder(&input, &root.tree, sandboxed)?;
        let flat_refusal = flat_refusal(&root.tree, &config, net);
        let plan = Self {
            sandboxed,
            backend: input.backend,
            entries: root.tree.into_entries(),
            links: root.links,
            files: root.files,
            program,
            env: environment(&input.env),
            argv: input.argv,
            cwd,
            limits: limits(&config),
            net,
            required: config.required,
            absent,
            digests,
            launcher: input.launcher,
            temp_exec: input.effects.contains(Effect::Execute),
            flat_refusal,
        };
        if let Some(program) = &plan.program {
            preflight::check(input.world, program, &plan)?;
        }
        plan.check_backend()?;
        Ok(plan)
    }

    /// A plan without binds whose program does not exist.
    pub(in crate::sandbox) fn for_probe(launcher: Launcher) -> Self {
        Self {
            sandboxed: true,
            backend: BackendChoice::Ns,
            entries: Vec::new(),
            links: Vec::new(),
            files: Vec::new(),
            program: Some(PathBuf::from("/.nothing")),
            argv: vec![OsString::from("probe")],
            env: Vec::new(),
            cwd: None,
            limits: limits(&SandboxConfig::default()),
            net: Net::None,
            required: Vec::new(),
            absent: Vec::new(),
            digests: Vec::new(),
            launcher,
            temp_exec: false,
            flat_refusal: None,
        }
    }

    fn check_backend(&self) -> Result<(), SandboxError> {
        match (&self.flat_refusal, self.backend) {
            (Some(reason), BackendChoice::Flat) if self.sandboxed => Err(flat_unavailable(reason)),
            (_, BackendChoice::Auto | BackendChoice::Ns | BackendChoice::Flat) => Ok(()),
        }
    }

    /// The plan as it is shown.
    pub fn report(&self) -> PlanReport {
        let mut env: Vec<String> =
            self.env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        env.extend(["HOME", "TMPDIR"].iter().map(|name| (*name).to_owned()));
        env.sort();
        env.dedup();
        let limit = |value: u64| self.sandboxed.then_some(value);
        PlanReport {
            backend: if self.sandboxed { self.backend.as_str() } else { Backend::None.as_str() }.to_owned(),
            mounts: self
                .entries
                .iter()
                .map(|e| MountReport { path: e.target.clone(), access: e.access.as_str().to_owned() })
                .collect(),
            network: match self.net {
                Net::None => "none",
                Net::Loopback => "loopback",
                Net::Host => "host",
            }
            .to_owned(),
            limits: LimitsReport {
                timeout_ms: u64::try_from(self.limits.timeout.as_millis()).unwrap_or(u64::MAX),
                memory_kib: limit(self.limits.memory_kib),
                output_bytes: self.limits.output_bytes,
                processes: limit(self.limits.processes),
                file_bytes: limit(self.limits.file_bytes),
                cpu_seconds: limit(self.limits.cpu_seconds),
            },
            env,
            cwd: self.cwd.as_deref().unwrap_or(Path::new("/tmp")).to_string_lossy().into_owned(),
            program: self.program.clone(),
            argv: self.argv.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            absent: self.absent.clone(),
            layers: self.intended_layers(),
            effect_enforcement: if self.sandboxed { "kernel" } else { "declared" }.to_owned(),
            digests: self.digests.clone(),
            flat_refusal: self.flat_refusal.clone().filter(|_| self.sandboxed),
        }
    }

    fn intended_layers(&self) -> Vec<String> {
        let mut layers = Vec::new();
        if self.sandboxed {
            layers.extend(["landlock", "seccomp", "rlimits", "no_new_privs", "memory", "processes"]);
            if self.backend != BackendChoice::Flat {
                layers.extend(["userns", "pidns", "mountns", "ipcns", "utsns"]);
                if self.net != Net::Host {
                    layers.push("netns");
                }
            }
        }
        layers.into_iter().map(str::to_owned).collect()
    }

    /// `sha256:…` over all that decides what the run can do.
    pub fn digest(&self) -> String {
        let mode = if self.sandboxed { Mode::Ns } else { Mode::Off };
        let mut bytes = encode(&(self.entries.clone(), (self.links.clone(), self.files.clone())));
        mode.put(&mut bytes);
        self.program.put(&mut bytes);
        self.argv.put(&mut bytes);
        self.env.put(&mut bytes);
        self.cwd.put(&mut bytes);
        self.net.put(&mut bytes);
        self.absent.put(&mut bytes);
        self.temp_exec.put(&mut bytes);
        for file in &self.digests {
            file.path.put(&mut bytes);
            file.digest.put(&mut bytes);
        }
        self.backend.as_str().to_owned().put(&mut bytes);
        for (layer, name) in [
            (RequiredLayer::Netns, "netns"),
            (RequiredLayer::Cgroup, "cgroup"),
            (RequiredLayer::Landlock, "landlock"),
        ] {
            self.required.contains(&layer).then(|| name.to_owned()).put(&mut bytes);
        }
        let limits = self.limits;
        for number in [
            u64::try_from(limits.timeout.as_nanos()).unwrap_or(u64::MAX),
            limits.memory_kib,
            limits.output_bytes,
            limits.processes,
            limits.file_bytes,
            limits.cpu_seconds,
        ] {
            number.put(&mut bytes);
        }
        format!("sha256:{}", hex(&Sha256::digest(&bytes)))
    }
}

/// Lower-case hexadecimal.
pub(in crate::sandbox) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(in crate::sandbox) fn flat_unavailable(reason: &str) -> SandboxError {
    SandboxError::Unavailable {
        layer: "flat".to_owned(),
        detail: reason.to_owned(),
        ways_out: vec!["run where user namespaces can be made, so that the `ns` backend holds it".to_owned()],
    }
}

fn check_arguments(input: &PlanInput<'_>) -> Result<(), SandboxError> {
    let bad = |what: &str| Err(SandboxError::BadRequest(what.to_owned()));
    if input.argv.is_empty() {
        return bad("there is no argument, not even the program's name");
    }
    if input.argv.iter().any(|arg| arg.as_bytes().contains(&0)) {
        return bad("an argument holds a NUL byte, which no program can receive");
    }
    for (name, value) in &input.env {
        let name = name.as_bytes();
        if name.is_empty() || name.contains(&b'=') || name.contains(&0) || value.as_bytes().contains(&0) {
            return bad("an environment variable has a name or value that no program can receive");
        }
        if name.starts_with(b"LD_") || name == b"GCONV_PATH" {
            return bad("variables of the dynamic loader cannot be set");
        }
    }
    Ok(())
}

fn network(config: &SandboxConfig) -> Result<Net, SandboxError> {
    match &config.allow_network {
        None | Some(AllowNetwork::No) => Ok(Net::None),
        Some(AllowNetwork::Loopback) => Ok(Net::Loopback),
        Some(AllowNetwork::Yes) => Ok(Net::Host),
        Some(AllowNetwork::Hosts(_)) => Err(SandboxError::BadRequest(
            "a list of hosts cannot be held by this kernel's interfaces yet; write true or false".to_owned(),
        )),
    }
}

fn limits(config: &SandboxConfig) -> Limits {
    let timeout = config.timeout.unwrap_or(DEFAULT_TIMEOUT);
    Limits {
        timeout,
        memory_kib: config.max_memory_mb.unwrap_or(DEFAULT_MEMORY_MB).saturating_mul(1024),
        output_bytes: config.max_output_bytes.unwrap_or(DEFAULT_OUTPUT_BYTES),
        processes: config.max_processes.unwrap_or(DEFAULT_PROCESSES),
        file_bytes: config.max_file_size_mb.unwrap_or(DEFAULT_FILE_MB).saturating_mul(1 << 20),
        cpu_seconds: config
            .cpu_seconds
            .unwrap_or_else(|| timeout.as_secs().saturating_add(1).saturating_mul(2)),
    }
}

fn show_binds(
    root: &mut Root,
    input: &PlanInput<'_>,
    config: &SandboxConfig,
    net: Net,
) -> Result<(), SandboxError> {
    let world = input.world;
    let write = input.effects.contains(Effect::Write);
    let exec = input.effects.contains(Effect::Execute);
    let mut binds: Vec<(&PathBuf, Access)> = Vec::new();
    match &config.allow_fs {
        None | Some(AllowFs::No) => root.show_system(world, net),
        Some(AllowFs::All) => {
            root.show_all(world, write, exec);
            binds.push((&input.workspace, access_for(write, exec)));
        }
        Some(AllowFs::Paths { .. }) => {
            root.show_system(world, net);
            binds.extend(input.read_write.iter().map(|path| (path, access_for(write, exec))));
            binds.extend(input.read_only.iter().map(|path| (path, access_for(false, exec))));
        }
    }
    binds.extend(input.runtime.iter().map(|path| (path, Access::ReadExec)));
    for (path, access) in binds {
        let (real, stat) = bindable(world, path)?;
        if input.decided.get(path).is_some_and(|decided| decided != &real) {
            return Err(SandboxError::Changed { path: shown(path) });
        }
        if &real != path {
            root.links.push((path.clone(), real.clone()));
        }
        if access.writes() {
            check_owner(world, &real, stat.uid)?;
        }
        // A read-only bind inside the system's programs takes nothing away from them.
        let runs = root.tree.covering(&real).is_some_and(|cover| cover.access == Access::ReadExec);
        let access = if runs && access == Access::Read { Access::ReadExec } else { access };
        root.tree.put(entry(&real, stat, access));
    }
    Ok(())
}

/// Root without its capabilities cannot write what belongs to another user; the kernel's own message would not say so.
fn check_owner(world: &dyn World, path: &Path, owner: u32) -> Result<(), SandboxError> {
    if world.euid() != 0 || owner == 0 {
        return Ok(());
    }
    let open = world.stat(path).is_ok_and(|stat| stat.mode & 0o002 != 0);
    if open {
        return Ok(());
    }
    let name = world.account(owner).map_or_else(|| owner.to_string(), |account| account.name);
    Err(SandboxError::BadRequest(format!(
        "{} belongs to {}, and a tool that root starts has no power over other users' files; run toolctl as that user",
        shown(path),
        crate::text::escape(&name)
    )))
}

/// Whether nobody but the system's administrator can change a file. Root itself is that administrator only for the
/// system's own programs: an agent that runs as root edits every other file of root's as it likes.
fn is_vouched_for(world: &dyn World, path: &Path, stat: Stat) -> bool {
    let system = || PROGRAM_ROOTS.iter().any(|root| path.starts_with(root));
    stat.uid == 0 && stat.mode & 0o022 == 0 && (world.euid() != 0 || system())
}

/// Makes the program, its interpreters and the scripts visible; what somebody could change is copied and hashed.
fn show_programs(tree: &mut Tree, input: &PlanInput<'_>) -> Result<Vec<FileDigest>, SandboxError> {
    let mut files: Vec<(PathBuf, Access)> = Vec::new();
    if let Program::HostFile(path) = &input.program {
        files.push((path.clone(), Access::ReadExec));
        // An interpreter that no bind shows is left out, so that the preflight can name its folder.
        let visible = |path: &PathBuf| tree.covering(path).is_some_and(|c| c.access != Access::Hidden);
        let interpreters = preflight::interpreters(input.world, path).into_iter().filter(visible);
        files.extend(interpreters.map(|path| (path, Access::ReadExec)));
    }
    files.extend(input.scripts.iter().map(|path| (path.clone(), Access::Read)));
    let mut digests = Vec::new();
    for (path, access) in files {
        digests.extend(show_program(tree, input, &path, access)?);
    }
    Ok(digests)
}

fn show_program(
    tree: &mut Tree,
    input: &PlanInput<'_>,
    path: &Path,
    access: Access,
) -> Result<Option<FileDigest>, SandboxError> {
    let world = input.world;
    let stat = world.stat(path).map_err(|e| preflight::missing(path, &e.to_string()))?;
    let mut entry = entry(path, stat, access);
    if entry.dir {
        return Err(preflight::missing(path, "is a folder"));
    }
    if is_vouched_for(world, path, stat) {
        let runs = |cover: &Entry| matches!(cover.access, Access::ReadExec | Access::WriteExec);
        let covered = tree
            .covering(path)
            .is_some_and(|c| c.access != Access::Hidden && (access == Access::Read || runs(c)));
        if !covered {
            tree.put(entry);
        }
        return Ok(None);
    }
    let bytes = world.read(path, MAX_COPY).map_err(|e| preflight::missing(path, &e.to_string()))?;
    let digest = hex(&Sha256::digest(&bytes));
    entry.copy = Some(digest.clone());
    tree.put(entry);
    Ok(Some(FileDigest { path: path.to_path_buf(), digest: format!("sha256:{digest}") }))
}

fn environment(extra: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let defaults = [("PATH", PATH), ("LANG", "C.UTF-8")];
    let mut env: Vec<(OsString, OsString)> =
        defaults.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    for (name, value) in extra {
        // The last one of a name counts, and only one is passed.
        env.retain(|(known, _)| known != name);
        env.push((name.clone(), value.clone()));
    }
    env
}

fn working_folder(
    input: &PlanInput<'_>,
    tree: &Tree,
    sandboxed: bool,
) -> Result<Option<PathBuf>, SandboxError> {
    let visible = |path: &Path| {
        !sandboxed || tree.covering(path).is_some_and(|cover| cover.dir && cover.access != Access::Hidden)
    };
    match &input.cwd {
        Some(path) if path.starts_with("/tmp") && sandboxed => Ok(Some(path.clone())),
        Some(path) if visible(path) => Ok(Some(path.clone())),
        Some(path) => Err(SandboxError::BadRequest(format!(
            "the working folder {} is not visible in the sandbox; add it to `allowFS`",
            shown(path)
        ))),
        None => {
            let there = input.world.stat(&input.workspace).is_ok_and(|stat| stat.kind == FileKind::Dir);
            Ok((there && visible(&input.workspace)).then(|| input.workspace.clone()))
        }
    }
}

/// Why Landlock on the host's own tree cannot hold this, if it cannot: it only ever grants.
fn flat_refusal(tree: &Tree, config: &SandboxConfig, net: Net) -> Option<String> {
    if config.allow_fs == Some(AllowFs::All) {
        return Some("`allowFS: true` with files held back needs a mount namespace".to_owned());
    }
    if net == Net::Loopback {
        return Some("`allowNetwork: loopback` needs a network namespace".to_owned());
    }
    if config.required.contains(&RequiredLayer::Netns) {
        return Some("`required: [netns]` needs a network namespace".to_owned());
    }
    tree.iter().find_map(|entry| {
        if entry.access == Access::Hidden {
            return Some(format!("hiding {} needs a mount namespace", shown(&entry.target)));
        }
        let parent = entry.target.parent()?;
        let above = tree.covering(parent)?;
        (!entry.access.writes() && above.access.writes()).then(|| {
            format!(
                "{} must stay as it is inside a writable folder, which needs a mount namespace",
                shown(&entry.target)
            )
        })
    })
}
