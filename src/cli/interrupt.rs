//! Ctrl-C and its kin while a tool runs: the tool's tree is ended first, then the signal is raised again.

use crate::sandbox::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::JoinHandle;

/// Listens for signals from its making to [`Interrupt::finish`].
#[derive(Debug)]
pub(crate) struct Interrupt {
    cancel: Arc<Cancel>,
    seen: Arc<AtomicI32>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Interrupt {
    /// Starts to listen.
    pub(crate) fn install() -> io::Result<Self> {
        let cancel = Arc::new(Cancel::new()?);
        let seen = Arc::new(AtomicI32::new(0));
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn({
            let (cancel, seen) = (Arc::clone(&cancel), Arc::clone(&seen));
            move || {
                for signal in &mut signals {
                    seen.store(signal, Ordering::SeqCst);
                    cancel.cancel();
                }
            }
        })?;
        Ok(Self { cancel, seen, handle, thread: Some(thread) })
    }

    /// What ends the run.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Stops listening and says which signal came, if one did.
    pub(crate) fn finish(mut self) -> Option<i32> {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let signal = self.seen.load(Ordering::SeqCst);
        (signal != 0).then_some(signal)
    }
}

/// Ends this process as the signal would have, so that the shell sees it.
pub(crate) fn raise(signal: i32) {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}
