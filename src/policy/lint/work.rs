//! How much the lints may do: rules are compared with each other, so that the time grows faster than a file.
//!
//! Counted are steps and not seconds, so that the same files have the same findings on every machine.

use std::cell::Cell;

/// Steps for all policies together; some seconds on a slow machine. Hundreds of rules of one tool are well within it.
const STEPS: usize = 24_000_000;

/// What is left.
#[derive(Debug)]
pub(super) struct Work {
    left: Cell<usize>,
}

impl Work {
    pub(super) const fn new() -> Self {
        Self { left: Cell::new(STEPS) }
    }

    /// Takes some steps; no if there are too few left, and from then on.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some() && !self.is_spent()
    }

    /// Whether something was left out.
    pub(super) const fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{STEPS, Work};

    #[test]
    fn what_is_spent_stays_spent() {
        let work = Work::new();
        assert!(work.spend(STEPS - 1) && !work.is_spent());
        assert!(!work.spend(2) && work.is_spent());
        assert!(!work.spend(0) && !work.spend(1));
    }
}
