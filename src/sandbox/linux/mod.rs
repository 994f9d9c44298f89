//! The Linux backends: `ns` (namespaces and a private root), `flat` (Landlock and the filter on the host's tree) and the
//! supervised process without a sandbox.

pub(crate) mod job;
pub(crate) mod landlock;
pub(crate) mod seccomp;
#[expect(unsafe_code, reason = "the one place where system calls without a safe wrapper are made")]
pub(crate) mod sys;
pub(crate) mod wire;

mod cancel;
mod capture;
mod early;
mod helper;
mod mounts;
mod spawn;
mod tree;
mod watch;

pub(crate) use spawn::try_namespaces;

pub use cancel::Cancel;
pub use early::Early;
pub use helper::{INIT_ARGUMENT, init_main};
pub use spawn::{Stdin, run, run_with};
