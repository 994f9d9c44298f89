//! What comes from disk: the layers, their settings, tools and policies, and whether a project is trusted.

mod access;
mod catalog;
mod control;
mod discover;
mod env;
mod gitdir;
mod home;
mod layer;
mod open;
mod policies;
mod settings;
mod trust;
mod workspace;

pub use access::Access;
pub use catalog::{Catalog, CatalogError, CatalogTool};
pub use control::{Control, itself, repository};
pub use discover::{Discovery, SETTINGS_NAMES, discover};
pub use env::{VARIABLES, Variable, check_environment, no_prompt};
pub use gitdir::{GitDirError, GitDirs, git_dirs};
pub use home::{Homes, SYSTEM_DIR};
pub use layer::LayerFiles;
pub use open::Project;
pub use policies::PolicyNode;
pub use settings::{
    Approval, ApprovalPolicy, Artifacts, Backend, HelperCommand, LoopAction, LoopDetection, OnException,
    Router, Settings, SettingsFile, TimeoutAction,
};
pub use trust::{
    Change, ChangeKind, ControlSet, TrustEntry, TrustEntryState, TrustRecord, TrustState, list_trust,
    revoke_trust,
};
