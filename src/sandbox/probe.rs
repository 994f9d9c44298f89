//! What this machine can hold, found out by doing it.

use super::linux::{landlock, sys, try_namespaces};
use serde::Serialize;

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

/// Tries every layer in a throw-away process.
pub fn probe() -> ProbeReport {
    let namespaces = try_namespaces();
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
    ];
    ProbeReport { layers, ns, flat }
}
