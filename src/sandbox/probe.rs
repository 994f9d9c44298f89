//! What this machine can hold, found out by doing it.

use super::Launcher;
use super::linux::{landlock, sys, try_namespaces};
use serde::Serialize;
use std::path::PathBuf;

/// One layer and whether it can be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbedLayer {
    /// The layer.
    pub name: String,
    /// Whether it works here.
    pub works: bool,
    /// Its version, or what the kernel said.
    pub detail: String,
}

/// What this machine can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeReport {
    /// Each layer.
    pub layers: Vec<ProbedLayer>,
    /// Whether the `ns` backend can be had.
    pub ns: bool,
    /// Whether the `flat` backend can be had.
    pub flat: bool,
}

/// Tries every layer in a throw-away process, started from the running executable.
pub fn probe() -> ProbeReport {
    probe_with(&Launcher::SelfExe)
}

/// The same for programs that embed the library.
pub fn probe_with(launcher: &Launcher) -> ProbeReport {
    let namespaces = try_namespaces(launcher);
    let cgroup = try_cgroup();
    let abi = sys::landlock_abi().map_err(|e| e.to_string());
    let has_landlock = abi.as_ref().is_ok_and(|abi| *abi >= 1);
    let flat = abi.as_ref().is_ok_and(|abi| *abi >= landlock::ABI_SCOPES);
    let ns = namespaces.is_ok() && has_landlock;
    let layer =
        |name: &str, works: bool, detail: String| ProbedLayer { name: name.to_owned(), works, detail };
    let layers = vec![
        match namespaces {
            Ok(()) => layer("namespaces", true, String::new()),
            Err((stage, detail)) => layer("namespaces", false, format!("{stage}: {detail}")),
        },
        match abi {
            Ok(abi) => layer("landlock", has_landlock, format!("ABI {abi}")),
            Err(error) => layer("landlock", false, error),
        },
        match cgroup {
            Ok(controllers) => layer("cgroup", true, controllers),
            Err(error) => layer("cgroup", false, error),
        },
    ];
    ProbeReport { layers, ns, flat }
}

/// The controllers of a control group that could be made below this process's own, and is removed again.
fn try_cgroup() -> Result<String, String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").map_err(|e| e.to_string())?;
    let mount = mounts
        .lines()
        .find_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            after.starts_with("cgroup2 ").then(|| before.split(' ').nth(4))?
        })
        .ok_or("no cgroup v2 is mounted")?;
    let groups = std::fs::read_to_string("/proc/self/cgroup").map_err(|e| e.to_string())?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).ok_or("not in a cgroup v2")?;
    let dir = PathBuf::from(mount).join(own).join(format!("toolctl-probe-{}", std::process::id()));
    std::fs::create_dir(&dir).map_err(|e| e.to_string())?;
    let controllers = std::fs::read_to_string(dir.join("cgroup.controllers"));
    std::fs::remove_dir(&dir).map_err(|e| e.to_string())?;
    let controllers = controllers.map_err(|e| e.to_string())?.trim().to_owned();
    let has = |name: &str| controllers.split(' ').any(|controller| controller == name);
    if has("memory") && has("pids") { Ok(controllers) } else { Err(format!("controllers: {controllers:?}")) }
}
