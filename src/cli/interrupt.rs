//! Ctrl-C and its kin while a tool runs: the tool's tree is ended first, then the signal is raised again.

use rustix::process::{Signal, getpid, kill_process};

/// Ends this process as the signal would have, so that the shell sees it.
pub(crate) fn raise(signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        // A signal to oneself that cannot be sent leaves the exit code to tell.
        let _ = kill_process(getpid(), signal);
    }
}
