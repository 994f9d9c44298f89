//! Whether a person has said that a project's files may act: a record in the user's state of the project's real path
//! and of the digest of its control set.
//!
//! The control set is the settings file, everything below the folders of tools and policies, and the programs and scripts
//! outside of them that manifests name. The record keeps one line a file. To find out about one call, it is enough that
//! the files that can influence this call are as recorded: settings, policies, the called tool's manifest and every
//! file in the tool folders that is not another tool's manifest. A file whose size, inode and time of change are those
//! of the record is not read again: no program can set a time of change, and times within two seconds before the
//! record was made are never relied on. A folder whose time of change is as recorded has the same names in it, so 5,000
//! manifests cost no more than ten.

mod index;
mod list;
mod record;
mod times;
mod walk;

pub use index::{Change, ChangeKind};
pub use list::{TrustEntry, TrustEntryState, list_trust, revoke_trust};
pub use record::{TrustRecord, TrustState};
pub(super) use record::{author_files, suspend};
pub use walk::ControlSet;
