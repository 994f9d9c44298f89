//! A wish to stop, that wakes the supervisor at once.

use super::sys;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Ends a run from outside: from another thread, or by the signals that ask this process to end.
#[derive(Debug)]
pub struct Cancel {
    fd: OwnedFd,
    held: Option<sys::HeldSignals>,
}

impl Cancel {
    /// A wish that nobody has uttered yet.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        Ok(Self { fd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?, held: None })
    }

    /// The wish that SIGINT, SIGTERM and SIGHUP utter. They are held back in this thread as long as this lives, so the
    /// tool's tree is ended before the process is; a signal that the caller's parent ignores stays ignored.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn on_signals() -> io::Result<Self> {
        let (fd, held) = sys::hold_signals(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP])?;
        Ok(Self { fd, held: Some(held) })
    }

    /// The signal that came, if one did and [`Self::on_signals`] made this. It is taken: the next call gives the next.
    pub fn signal(&self) -> Option<i32> {
        self.held.as_ref()?;
        let mut record = [0_u8; 128];
        let read = rustix::io::read(&self.fd, &mut record).ok()?;
        let number: [u8; 4] = record.get(..read.min(4))?.try_into().ok()?;
        i32::try_from(u32::from_ne_bytes(number)).ok()
    }

    /// Asks the run to stop. Every run that watches this ends as cancelled, those that start later too. Without effect
    /// on one that waits for signals.
    pub fn cancel(&self) {
        // A full counter is readable as well, which is all that counts.
        let _ = rustix::io::write(&self.fd, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
