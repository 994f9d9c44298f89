//! A helper that is started while the call is still being decided, so that the two do not wait for each other.
//!
//! It is toolctl itself in empty namespaces, waiting for a job; of the tool it knows nothing. If the decision is no, or
//! another kind of helper is needed, it is ended unused.

use super::spawn::{NAMESPACES, Refusal, Waiting, launch};
use super::sys;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// A helper for the `ns` backend without network, on its way. Dropped unused, it is ended.
#[derive(Debug)]
pub struct Early {
    made: Receiver<Result<Waiting, Refusal>>,
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Early {
    /// Starts the helper in a thread, which lives as long as this does: the kernel ends a helper with the thread that
    /// made it. `None` if there is no thread to be had; the helper is then started when it is needed.
    pub fn start() -> Option<Self> {
        let (tell, made) = channel();
        let (over, wait) = channel::<()>();
        let thread = std::thread::Builder::new()
            .name("helper".to_owned())
            .spawn(move || {
                // Signals that end toolctl are the main thread's to take.
                sys::block_signals();
                let launched = launch(Path::new("/proc/self/exe"), NAMESPACES | libc::CLONE_NEWNET);
                let sent = tell.send(launched).is_ok();
                // Nothing more comes: whoever asks again is told so rather than left to wait.
                drop(tell);
                if sent {
                    // Ends when the sender is dropped.
                    let _ = wait.recv();
                }
            })
            .ok()?;
        Some(Self { made, over: Some(over), thread: Some(thread) })
    }

    /// The helper, or why it could not be started. `None` if it was taken before.
    pub(super) fn take(&self) -> Option<Result<Waiting, Refusal>> {
        self.made.recv().ok()
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        // A helper that nobody took is ended by the drop of what holds it, before its thread goes.
        drop(self.made.recv());
        self.over = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
