//! How far long work has come: a line on a terminal, and nothing anywhere else.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Work that is done before this time shows no progress.
const PATIENCE: Duration = Duration::from_millis(600);

/// A progress line on standard error. Whatever else is written meanwhile goes through [`Self::aside`].
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    shown: bool,
}

impl Progress {
    /// Progress towards a number of bytes, or towards an unknown end. `visible`: standard error is a terminal, and nobody
    /// asked for silence.
    pub(super) fn new(visible: bool, length: Option<u64>) -> Self {
        let bar = visible.then(|| {
            let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
            let template = match length {
                Some(_) => "{bar:24} {percent}% {msg}",
                None => "{spinner} {msg}",
            };
            // The templates are ours; a plain bar is as good as one with a faulty template.
            bar.with_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
        });
        Self { bar, started: Instant::now(), shown: false }
    }

    /// So many bytes are done, and so many things.
    pub fn step(&mut self, bytes: u64, things: u64, what: &'static str) {
        let Some(bar) = &self.bar else { return };
        if !self.shown && self.started.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        if self.shown {
            bar.set_message(format!("{things} {what}"));
            bar.set_position(bytes);
        }
    }

    /// Does something that writes to the terminal, with the line out of its way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.bar.as_ref().filter(|_| self.shown) {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
