//! The tool's processes, as the helper sees them, and how all of them end.

use super::job::Mode;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::fs;
use std::time::{Duration, Instant};

/// How the helper finds its processes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tree {
    /// All of this PID namespace but the helper.
    Namespace,
    /// The descendants of the helper, which is their subreaper.
    Descendants,
}

impl Tree {
    pub(crate) const fn of(mode: Mode) -> Self {
        match mode {
            Mode::Ns => Self::Namespace,
            Mode::Flat | Mode::Off => Self::Descendants,
        }
    }

    /// The process ids.
    pub(crate) fn pids(self) -> Vec<i32> {
        match self {
            Self::Namespace => fs::read_dir("/proc")
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
                .filter(|pid| *pid != 1)
                .collect(),
            Self::Descendants => {
                let mut found = children("self");
                let mut next = 0;
                while let Some(pid) = found.get(next) {
                    let below = children(&pid.to_string());
                    found.extend(below);
                    next += 1;
                }
                found
            }
        }
    }

    /// Sends a signal to all.
    pub(crate) fn signal(self, signal: Signal) {
        match self {
            // As the first process of the namespace, this reaches everything in it but itself.
            Self::Namespace => {
                super::sys::kill_namespace(signal.as_raw());
            }
            Self::Descendants => {
                for pid in self.pids().into_iter().filter_map(Pid::from_raw) {
                    let _ = rustix::process::kill_process(pid, signal);
                }
            }
        }
    }

    /// Kills all and waits until none is left. Gives up after the time, which only processes stuck in the kernel reach.
    pub(crate) fn end(self, within: Duration) -> bool {
        let start = Instant::now();
        loop {
            self.signal(Signal::KILL);
            if reap(|_, _| {}) == Left::None {
                return true;
            }
            if start.elapsed() > within {
                return false;
            }
            std::thread::sleep(Duration::from_micros(300));
        }
    }
}

fn children(pid: &str) -> Vec<i32> {
    // A process's children are listed by the thread that made them.
    fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split(' ').filter_map(|pid| pid.trim().parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// Whether children are left after reaping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Some,
    None,
}

/// Collects every child that has ended.
pub(crate) fn reap(mut ended: impl FnMut(Pid, WaitStatus)) -> Left {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) => return Left::Some,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Left::None,
        }
    }
}
