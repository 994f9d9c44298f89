//! The watchdog over memory and process numbers of the whole tree, where no control group holds them.
//!
//! A poll reads one small file a process. Resident sizes count shared pages once for each process, so when their sum
//! passes the limit the exact (and slow) share of each process is read, and not again until the sum has grown by what
//! was left.

use super::job::{Mode, Verdict};
use super::tree::Tree;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

/// Time between two looks.
pub(crate) const INTERVAL: Duration = Duration::from_millis(10);

/// The watchdog's state.
#[derive(Debug)]
pub(crate) struct Watch {
    tree: Tree,
    limit_kib: u64,
    max_processes: u64,
    temp_base_kib: u64,
    temp: bool,
    exact_above_kib: u64,
    page_kib: u64,
    /// The highest use seen.
    pub(crate) peak_kib: u64,
}

impl Watch {
    /// A watchdog; what the temp folder's file system holds now is not the tool's.
    pub(crate) fn new(mode: Mode, limit_kib: u64, max_processes: u64) -> Self {
        let temp = mode == Mode::Ns;
        Self {
            tree: Tree::of(mode),
            limit_kib,
            max_processes,
            temp_base_kib: if temp { temp_kib() } else { 0 },
            temp,
            exact_above_kib: limit_kib,
            page_kib: u64::try_from(rustix::param::page_size()).unwrap_or(4096) / 1024,
            peak_kib: 0,
        }
    }

    /// Looks once.
    pub(crate) fn look(&mut self) -> Verdict {
        let pids = self.tree.pids();
        let threads: u64 = pids.iter().map(|pid| threads(*pid)).sum();
        if threads > self.max_processes {
            return Verdict::Processes;
        }
        let temp = if self.temp { temp_kib().saturating_sub(self.temp_base_kib) } else { 0 };
        let resident: u64 = pids.iter().map(|pid| self.resident_kib(*pid)).sum();
        let quick = resident + temp;
        if quick <= self.exact_above_kib {
            self.peak_kib = self.peak_kib.max(quick.min(self.limit_kib));
            return Verdict::None;
        }
        let exact = temp + pids.iter().map(|pid| self.exact_kib(*pid)).sum::<u64>();
        self.peak_kib = self.peak_kib.max(exact);
        if exact > self.limit_kib {
            return Verdict::Memory;
        }
        // The true use cannot have grown by more than the sum has.
        self.exact_above_kib = quick + (self.limit_kib - exact);
        Verdict::None
    }

    fn resident_kib(&self, pid: i32) -> u64 {
        let text = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * self.page_kib
    }

    /// The process's share of anonymous and shared memory; file pages can be taken back by the kernel. What cannot be
    /// read counts in full.
    fn exact_kib(&self, pid: i32) -> u64 {
        let Ok(text) = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) else {
            return self.resident_kib(pid);
        };
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok())
        };
        match (field("Pss_Anon:"), field("Pss_Shmem:")) {
            (Some(anon), Some(shared)) => anon + shared,
            (_, _) => self.resident_kib(pid),
        }
    }
}

/// Threads of a process, by the link count of its task folder; a process that is gone has none.
fn threads(pid: i32) -> u64 {
    fs::metadata(format!("/proc/{pid}/task")).map_or(0, |meta| meta.nlink().saturating_sub(2))
}

/// What the private temp folder's file system holds.
fn temp_kib() -> u64 {
    rustix::fs::statfs("/tmp").map_or(0, |stat| {
        let used = stat.f_blocks.saturating_sub(stat.f_bfree);
        used.saturating_mul(u64::try_from(stat.f_bsize).unwrap_or(4096)) / 1024
    })
}
