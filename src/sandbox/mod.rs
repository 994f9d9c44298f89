//! The sandbox: what a tool process may reach, decided as data and held by the kernel.
//!
//! Three levels, each pure of the next: `config` turns what was written into one configuration and cuts it down to the
//! decided effects; `plan` turns that into mounts, limits and arguments without starting anything; `run` starts the tool
//! behind namespaces, Landlock and a syscall filter (`ns`), or behind the last two alone (`flat`).

mod config;
mod ended;
mod error;
mod linux;
mod plan;
mod probe;

pub use config::{cut, resolve};
pub use ended::{Backend, EndCause, Ended, LayerReport, LayerState};
pub use error::SandboxError;
pub use linux::{Cancel, Early, INIT_ARGUMENT, Stdin, init_main, run, run_with};
pub use plan::{
    BackendChoice, FileDigest, Launcher, LimitsReport, MountReport, Plan, PlanInput, PlanReport, Program,
    Protected, check_bind, preflight, shown_everywhere,
};
pub use probe::{ProbeReport, ProbedLayer, probe, probe_with};
