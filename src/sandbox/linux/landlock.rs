//! Landlock: file rights that hold on top of the mounts, and scopes for signals and abstract sockets.
//!
//! Rights that the kernel's version does not know are left out of the ruleset; the mount layer covers them in `ns`, and
//! `flat` refuses to run without them.

use super::job::Access;
use super::sys;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// Rights that make sense for a file rather than a folder.
const ON_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
/// `SCOPE_ABSTRACT_UNIX_SOCKET` and `SCOPE_SIGNAL`.
const SCOPES: u64 = 3;

/// The version from which signals and abstract sockets can be scoped.
pub(crate) const ABI_SCOPES: u32 = 6;

/// File rights that this version knows.
const fn known(abi: u32) -> u64 {
    match abi {
        0 => 0,
        1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => (1 << 16) - 1,
    }
}

/// A ruleset being filled.
#[derive(Debug)]
pub(crate) struct Rules {
    fd: OwnedFd,
    known: u64,
    /// The kernel's version.
    pub(crate) abi: u32,
}

impl Rules {
    /// A ruleset that denies all it knows.
    pub(crate) fn new() -> io::Result<Self> {
        let abi = sys::landlock_abi()?;
        let scopes = if abi >= ABI_SCOPES { SCOPES } else { 0 };
        let fd = sys::landlock_ruleset(known(abi), scopes)?;
        Ok(Self { fd, known: known(abi), abi })
    }

    /// Grants what the access means, at and below the path.
    pub(crate) fn allow(&self, path: BorrowedFd<'_>, access: Access, dir: bool) -> io::Result<()> {
        let all_writes = self.known & !(EXECUTE | READ_FILE | READ_DIR | MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV);
        let read = READ_FILE | READ_DIR;
        let rights = match access {
            Access::Hidden => return Ok(()),
            Access::Read => read,
            Access::ReadExec => read | EXECUTE,
            Access::Write => read | all_writes,
            Access::WriteExec => read | all_writes | EXECUTE,
            Access::Device => READ_FILE | WRITE_FILE | IOCTL_DEV | TRUNCATE,
        };
        let rights = rights & self.known & if dir { u64::MAX } else { ON_FILES };
        sys::landlock_allow(self.fd.as_fd(), path, rights)
    }

    /// The descriptor to enforce.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
