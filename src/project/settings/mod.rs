//! `toolctl.yaml`: what one file says, and what all layers together mean.

mod decode;
mod file;
mod merge;
mod sandbox;
#[cfg(test)]
mod tests;
mod values;

pub use file::SettingsFile;
pub(super) use merge::Merger;
pub use values::{
    Approval, ApprovalPolicy, Artifacts, Backend, HelperCommand, LoopAction, LoopDetection, OnException,
    Router, Settings, TimeoutAction,
};
