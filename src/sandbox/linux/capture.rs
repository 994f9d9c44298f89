//! The supervisor's loop: feeds stdin, reads both streams up to their limit, keeps the deadline, listens to the helper.
//!
//! It ends when the helper has, not at the end of the pipes: something that the tool left behind could hold those open.

use super::cancel::Cancel;
use super::job::{Done, Failed, Layer, Message, Mode};
use super::wire::decode;
use crate::sandbox::{EndCause, SandboxError};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

/// Time between the polite signal and the other one.
const GRACE: Duration = Duration::from_millis(500);
/// Time that a helper on the host has to sweep.
const SWEEP: Duration = Duration::from_secs(12);
/// Bytes of one read.
const CHUNK: usize = 64 << 10;

/// What the loop works with.
pub(crate) struct Capture<'a> {
    pub mode: Mode,
    pub pidfd: &'a OwnedFd,
    pub control: &'a OwnedFd,
    pub stdin: Option<OwnedFd>,
    pub input: &'a [u8],
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    pub limit: u64,
    pub deadline: Instant,
    pub cancel: Option<&'a Cancel>,
}

/// What it found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Why the supervisor ended the run, if it did.
    pub cause: Option<EndCause>,
    pub layers: Vec<Layer>,
    pub failed: Option<Failed>,
    pub done: Option<Done>,
}

/// One output stream.
struct Stream {
    fd: Option<OwnedFd>,
    bytes: Vec<u8>,
    limit: usize,
    over: bool,
}

impl Stream {
    fn new(fd: OwnedFd, limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { fd: Some(fd), bytes: Vec::new(), limit, over: false }
    }

    /// Reads what is there; beyond the limit nothing is kept.
    fn drain(&mut self, buffer: &mut [u8]) {
        while let Some(fd) = &self.fd {
            match rustix::io::read(fd, &mut *buffer) {
                Ok(0) => self.fd = None,
                Ok(len) => {
                    let room = self.limit - self.bytes.len();
                    self.bytes.extend(buffer.iter().take(len.min(room)));
                    if len > room {
                        self.over = true;
                        self.fd = None;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.fd = None,
            }
        }
    }
}

/// How far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The polite signal is out; the other one follows then.
    Asked(Instant),
    /// Everything was told to die; a helper on the host that does not is killed then.
    Killed(Instant),
    /// The helper was killed as well.
    HelperKilled(Instant),
    /// Something is stuck in the kernel and cannot die yet; nobody waits for it.
    GivenUp,
}

struct Loop<'a> {
    mode: Mode,
    pidfd: &'a OwnedFd,
    control: &'a OwnedFd,
    phase: Phase,
    deadline: Instant,
    outcome: Outcome,
}

impl Loop<'_> {
    fn tell(&self, byte: u8) {
        let flags = rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT;
        // A helper that is gone has nothing left to end.
        let _ = rustix::net::send(self.control, &[byte], flags);
    }

    fn blame(&mut self, cause: EndCause) {
        // A tool that had ended by itself before is not blamed.
        if self.outcome.cause.is_none() && self.outcome.done.is_none() {
            self.outcome.cause = Some(cause);
        }
    }

    fn ask(&mut self, cause: EndCause) {
        if self.phase == Phase::Running {
            self.blame(cause);
            self.tell(b'T');
            self.phase = Phase::Asked(Instant::now() + GRACE);
        }
    }

    fn kill(&mut self) {
        match self.phase {
            Phase::Running | Phase::Asked(_) => {}
            Phase::Killed(_) | Phase::HelperKilled(_) | Phase::GivenUp => return,
        }
        match self.mode {
            // The kernel ends the namespace with its first process.
            Mode::Ns => self.kill_helper(),
            Mode::Flat | Mode::Off => self.tell(b'K'),
        }
        self.phase = Phase::Killed(Instant::now() + SWEEP);
    }

    fn kill_helper(&self) {
        let _ = rustix::process::pidfd_send_signal(self.pidfd, Signal::KILL);
    }

    fn on_time(&mut self) {
        let now = Instant::now();
        match self.phase {
            Phase::Running if now >= self.deadline => self.ask(EndCause::Timeout),
            Phase::Asked(at) if now >= at => self.kill(),
            Phase::Killed(at) if now >= at => {
                self.kill_helper();
                self.phase = Phase::HelperKilled(now + GRACE);
            }
            Phase::HelperKilled(at) if now >= at => self.phase = Phase::GivenUp,
            Phase::Running | Phase::Asked(_) | Phase::Killed(_) | Phase::HelperKilled(_) | Phase::GivenUp => {
            }
        }
    }

    fn next(&self) -> Duration {
        let at = match self.phase {
            Phase::Running => self.deadline,
            Phase::Asked(at) | Phase::Killed(at) | Phase::HelperKilled(at) => at,
            Phase::GivenUp => return Duration::ZERO,
        };
        at.saturating_duration_since(Instant::now())
    }

    /// Takes every message that is there. `false` once the helper has closed its end.
    fn listen(&mut self) -> bool {
        let mut buffer = [0; 16 << 10];
        loop {
            match rustix::net::recv(self.control, &mut buffer, rustix::net::RecvFlags::DONTWAIT) {
                Ok((0, _)) => return false,
                Ok((len, _)) => {
                    let Some(message) = buffer.get(..len).and_then(decode::<Message>) else { continue };
                    self.outcome.failed = self.outcome.failed.take().or(message.failed);
                    self.outcome.done = self.outcome.done.take().or(message.done);
                    if let Some(layers) = message.started {
                        self.outcome.layers = layers;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            }
        }
    }
}

/// What became ready.
#[derive(Debug, Default, Clone, Copy)]
struct Ready {
    helper: bool,
    control: bool,
    stdin: bool,
    cancel: bool,
}

/// Runs until the helper has ended and everything it left in the pipes is read.
pub(crate) fn until_end(capture: Capture<'_>) -> Result<Outcome, SandboxError> {
    let mut out = Stream::new(capture.stdout, capture.limit);
    let mut err = Stream::new(capture.stderr, capture.limit);
    let mut stdin = capture.stdin;
    let mut input = capture.input;
    let mut listening = true;
    let mut buffer = vec![0; CHUNK];
    let mut state = Loop {
        mode: capture.mode,
        pidfd: capture.pidfd,
        control: capture.control,
        phase: Phase::Running,
        deadline: capture.deadline,
        outcome: Outcome::default(),
    };
    loop {
        let cancel = capture.cancel.filter(|_| state.phase == Phase::Running);
        let ready = match wait(&state, listening, &out, &err, stdin.as_ref(), cancel) {
            Ok(ready) => ready,
            Err(error) => {
                // A helper on the host ends its tree when the control socket closes.
                if state.mode == Mode::Ns {
                    state.kill_helper();
                }
                return Err(error);
            }
        };
        if ready.control {
            listening = state.listen();
        }
        if ready.stdin {
            input = feed(&mut stdin, input);
        }
        out.drain(&mut buffer);
        err.drain(&mut buffer);
        if out.over || err.over {
            state.blame(EndCause::Output);
            state.kill();
        }
        if ready.cancel {
            state.ask(EndCause::Cancelled);
        }
        if ready.helper || state.phase == Phase::GivenUp {
            break;
        }
        state.on_time();
    }
    // The helper is a child of this process; waiting for it also removes it from the process table.
    let _ = rustix::process::waitid(
        WaitId::PidFd(capture.pidfd.as_fd()),
        WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
    );
    state.listen();
    out.drain(&mut buffer);
    err.drain(&mut buffer);
    let mut outcome = state.outcome;
    if (out.over || err.over) && outcome.cause.is_none() {
        outcome.cause = Some(EndCause::Output);
    }
    outcome.stdout = out.bytes;
    outcome.stderr = err.bytes;
    Ok(outcome)
}

fn wait(
    state: &Loop<'_>,
    listening: bool,
    out: &Stream,
    err: &Stream,
    stdin: Option<&OwnedFd>,
    cancel: Option<&Cancel>,
) -> Result<Ready, SandboxError> {
    let slots = [
        (Some(state.pidfd.as_fd()), PollFlags::IN),
        (listening.then(|| state.control.as_fd()), PollFlags::IN),
        (stdin.map(OwnedFd::as_fd), PollFlags::OUT),
        (cancel.map(|cancel| cancel.as_fd()), PollFlags::IN),
        (out.fd.as_ref().map(OwnedFd::as_fd), PollFlags::IN),
        (err.fd.as_ref().map(OwnedFd::as_fd), PollFlags::IN),
    ];
    let mut fds: Vec<PollFd<'_>> =
        slots.iter().filter_map(|(fd, flags)| fd.map(|fd| PollFd::from_borrowed_fd(fd, *flags))).collect();
    let pause = state.next();
    let timeout = Timespec {
        tv_sec: i64::try_from(pause.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(pause.subsec_nanos()),
    };
    match rustix::event::poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(SandboxError::host("poll", errno)),
    }
    let mut results = fds.iter().map(|fd| !fd.revents().is_empty());
    let mut take = |present: bool| present && results.next().unwrap_or(false);
    Ok(Ready {
        helper: take(true),
        control: take(listening),
        stdin: take(stdin.is_some()),
        cancel: take(cancel.is_some()),
    })
}

/// Writes as much as the pipe takes, and closes it after the last byte or when nobody reads any more.
fn feed<'a>(stdin: &mut Option<OwnedFd>, input: &'a [u8]) -> &'a [u8] {
    let Some(fd) = stdin else { return input };
    let rest = match rustix::io::write(&*fd, input) {
        Ok(len) => input.get(len..).unwrap_or_default(),
        Err(Errno::AGAIN | Errno::INTR) => return input,
        // Whether the tool reads its input is its own business.
        Err(_) => &[],
    };
    if rest.is_empty() {
        *stdin = None;
    }
    rest
}
