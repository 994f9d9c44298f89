//! The plan of one run: what is mounted where, which limits hold, what is executed. Nothing is started or written here.

mod build;
mod input;
mod preflight;
mod protect;
mod report;
mod roots;
mod tree;

pub use build::Plan;
pub use input::{BackendChoice, FileDigest, Launcher, PlanInput, Program, Protected};
pub use preflight::preflight;
pub use report::{LimitsReport, MountReport, PlanReport};

pub(super) use build::{flat_unavailable, hex};
pub(super) use roots::DEVICES;
pub use roots::shown_everywhere;
pub use tree::check_bind;

#[cfg(test)]
mod tests;
