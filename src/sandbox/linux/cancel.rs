//! A wish to stop, that wakes the supervisor at once.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Cancels a run from another thread or from a signal handler's thread.
#[derive(Debug)]
pub struct Cancel(OwnedFd);

impl Cancel {
    /// A wish that nobody has uttered yet.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Asks the run to stop. Every run that watches this ends as cancelled, those that start later too.
    pub fn cancel(&self) {
        // A full counter is readable as well, which is all that counts.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
