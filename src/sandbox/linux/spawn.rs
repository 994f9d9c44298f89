//! From a plan to a started helper, and from its last report to the result.

use super::cancel::Cancel;
use super::capture::{self, Capture};
use super::job::{FailKind, Failed, Job, Mode, Net, Verdict};
use super::sys::{self, Child, HelperSpec, Step, StepError};
use super::wire::encode;
use crate::model::RequiredLayer;
use crate::sandbox::plan::flat_unavailable;
use crate::sandbox::{
    Backend, BackendChoice, EndCause, Ended, Launcher, LayerReport, LayerState, Plan, SandboxError,
};
use rustix::fs::{MemfdFlags, OFlags, SealFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

/// What the tool reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    Null,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

/// Runs a plan and waits for its end. Blocks the calling thread, which must live as long as the run.
///
/// # Errors
/// [`SandboxError::Lost`] if the outcome is unknown; any other error means that the tool did not run.
#[expect(clippy::needless_pass_by_value, reason = "a plan and its input are used once")]
pub fn run(plan: Plan, stdin: Stdin, cancel: Option<&Cancel>) -> Result<Ended, SandboxError> {
    if !plan.sandboxed {
        return attempt(&plan, Mode::Off, &stdin, cancel);
    }
    match plan.backend {
        BackendChoice::Ns => attempt(&plan, Mode::Ns, &stdin, cancel),
        BackendChoice::Flat => attempt(&plan, Mode::Flat, &stdin, cancel),
        BackendChoice::Auto => match attempt(&plan, Mode::Ns, &stdin, cancel) {
            Err(SandboxError::Unavailable { layer, detail, mut ways_out }) => {
                if let Some(reason) = &plan.flat_refusal {
                    ways_out.push(format!("the flat backend cannot stand in: {reason}"));
                    return Err(SandboxError::Unavailable { layer, detail, ways_out });
                }
                attempt(&plan, Mode::Flat, &stdin, cancel)
            }
            other => other,
        },
    }
}

const NAMESPACES: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;

/// This end of the pipes, and the helper.
struct Started {
    child: Child,
    control: OwnedFd,
    stdin: Option<OwnedFd>,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

fn attempt(plan: &Plan, mode: Mode, stdin: &Stdin, cancel: Option<&Cancel>) -> Result<Ended, SandboxError> {
    check_before(plan, mode)?;
    let begin = Instant::now();
    let netns = mode == Mode::Ns && plan.net != Net::Host;
    let mut job = job_of(plan, mode, netns);
    let started = match start(plan, &job, stdin) {
        Err(Refusal::Step(error)) if netns && may_do_without_netns(plan) && error.step == Step::Clone => {
            job.netns = false;
            start(plan, &job, stdin)
        }
        other => other,
    };
    let started = started.map_err(|refusal| match refusal {
        Refusal::Step(error) => step_error(mode, error),
        Refusal::Host(error) => error,
    })?;
    let bytes: &[u8] = match stdin {
        Stdin::Null => &[],
        Stdin::Bytes(bytes) => bytes,
    };
    let capture = Capture {
        mode,
        pidfd: &started.child.pidfd,
        control: &started.control,
        stdin: started.stdin,
        input: bytes,
        stdout: started.stdout,
        stderr: started.stderr,
        limit: plan.limits.output_bytes,
        deadline: begin + plan.limits.timeout,
        cancel,
    };
    let outcome = capture::until_end(capture);
    if mode != Mode::Ns && job.temp.symlink_metadata_ok() {
        // The helper was killed before it could clean up.
        let _ = std::fs::remove_dir_all(&job.temp);
    }
    finish(plan, mode, begin, outcome?)
}

/// Whether a name is taken, without following it.
trait Taken {
    fn symlink_metadata_ok(&self) -> bool;
}

impl Taken for PathBuf {
    fn symlink_metadata_ok(&self) -> bool {
        self.symlink_metadata().is_ok()
    }
}

fn check_before(plan: &Plan, mode: Mode) -> Result<(), SandboxError> {
    if mode == Mode::Flat
        && let Some(reason) = &plan.flat_refusal
    {
        return Err(flat_unavailable(reason));
    }
    if mode != Mode::Off && plan.required.contains(&RequiredLayer::Cgroup) {
        return Err(SandboxError::Unavailable {
            layer: "cgroup".to_owned(),
            detail: "memory is held by a watchdog, not by a control group".to_owned(),
            ways_out: vec!["leave `cgroup` out of `required`".to_owned()],
        });
    }
    // The other modes compare what they copy or allow.
    let changed =
        plan.digests.iter().filter(|_| mode == Mode::Off).find(|file| !has_digest(&file.path, &file.digest));
    let appeared = plan.absent.iter().find(|path| path.symlink_metadata_ok());
    match appeared.or(changed.map(|file| &file.path)) {
        Some(path) => Err(SandboxError::Changed { path: crate::sandbox::error::shown(path) }),
        None => Ok(()),
    }
}

fn has_digest(path: &Path, digest: &str) -> bool {
    std::fs::File::open(path)
        .and_then(|mut file| super::mounts::hash_while(&mut file, |_| Ok(())))
        .is_ok_and(|found| digest.strip_prefix("sha256:") == Some(found.as_str()))
}

fn may_do_without_netns(plan: &Plan) -> bool {
    plan.net == Net::None && !plan.required.contains(&RequiredLayer::Netns)
}

fn job_of(plan: &Plan, mode: Mode, netns: bool) -> Job {
    let root = rustix::process::geteuid().is_root();
    let pair = |(name, value): &(OsString, OsString)| {
        let mut text = name.clone();
        text.push("=");
        text.push(value);
        text
    };
    Job {
        mode,
        entries: plan.entries.clone(),
        links: plan.links.clone(),
        files: plan.files.clone(),
        program: plan.program.clone(),
        argv: plan.argv.clone(),
        env: plan.env.iter().map(pair).collect(),
        cwd: plan.cwd.clone().unwrap_or_default(),
        rlimits: rlimits(plan, mode, root),
        memory_kib: plan.limits.memory_kib,
        max_processes: plan.limits.processes,
        // Half of the memory: a full temp folder is an error of the tool, not its end.
        temp_bytes: plan.limits.memory_kib.saturating_mul(512),
        net: plan.net,
        netns,
        root,
        temp_exec: plan.temp_exec,
        temp: temp_name(),
    }
}

/// A name that no other run has; the helper makes the folder and fails if it is there.
fn temp_name() -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new("/tmp").join(format!("toolctl-{}-{count}-{nanos:x}", std::process::id()))
}

fn rlimits(plan: &Plan, mode: Mode, root: bool) -> Vec<(u32, u64)> {
    let mut limits = vec![(libc::RLIMIT_CORE, 0)];
    if mode == Mode::Off {
        return limits;
    }
    let data = plan.limits.memory_kib.saturating_mul(4096).saturating_add(1 << 30);
    limits.extend([
        (libc::RLIMIT_CPU, plan.limits.cpu_seconds),
        (libc::RLIMIT_FSIZE, plan.limits.file_bytes),
        (libc::RLIMIT_DATA, data),
        (libc::RLIMIT_NOFILE, 4096),
        (libc::RLIMIT_MEMLOCK, 64 << 10),
        (libc::RLIMIT_MSGQUEUE, 0),
        (libc::RLIMIT_NICE, 0),
        (libc::RLIMIT_RTPRIO, 0),
    ]);
    // Outside a user namespace of its own the count would include all of the user's processes.
    if mode == Mode::Ns && !root {
        limits.push((libc::RLIMIT_NPROC, plan.limits.processes.saturating_add(1)));
    }
    limits
}

enum Refusal {
    Step(StepError),
    Host(SandboxError),
}

impl From<StepError> for Refusal {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

fn host(stage: &'static str) -> impl Fn(rustix::io::Errno) -> Refusal {
    move |errno| Refusal::Host(SandboxError::host(stage, errno))
}

/// The helper's end of a pipe, numbered so high that the helper's own numbers do not meet it.
fn high(fd: &OwnedFd) -> Result<OwnedFd, Refusal> {
    rustix::io::fcntl_dupfd_cloexec(fd, 10).map_err(host("descriptors"))
}

fn start(plan: &Plan, job: &Job, stdin: &Stdin) -> Result<Started, Refusal> {
    let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(host("pipe"));
    let nonblocking = |fd: &OwnedFd| rustix::fs::fcntl_setfl(fd, OFlags::NONBLOCK).map_err(host("pipe"));
    let (stdout, stdout_tool) = pipe()?;
    let (stderr, stderr_tool) = pipe()?;
    nonblocking(&stdout)?;
    nonblocking(&stderr)?;
    let none = rustix::fs::Mode::empty();
    let (stdin_tool, stdin) = match stdin {
        Stdin::Null => (
            rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, none).map_err(host("stdin"))?,
            None,
        ),
        Stdin::Bytes(_) => {
            let (read, write) = pipe()?;
            nonblocking(&write)?;
            (read, Some(write))
        }
    };
    let (control, control_helper) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(host("control socket"))?;
    let memory = sealed(&encode(job)).map_err(host("plan"))?;
    let exe = match &plan.launcher {
        Launcher::SelfExe => Path::new("/proc/self/exe"),
        Launcher::Path(path) => path,
    };
    let exe = rustix::fs::open(exe, OFlags::PATH | OFlags::CLOEXEC, none).map_err(host("own executable"))?;
    let ends = [
        high(&stdin_tool)?,
        high(&stdout_tool)?,
        high(&stderr_tool)?,
        high(&control_helper)?,
        high(&memory)?,
    ];
    let exe = high(&exe)?;
    let spec = HelperSpec {
        exe: exe.as_fd(),
        fds: ends.each_ref().map(OwnedFd::as_raw_fd),
        namespaces: match (job.mode, job.netns) {
            (Mode::Ns, true) => NAMESPACES | libc::CLONE_NEWNET,
            (Mode::Ns, false) => NAMESPACES,
            (Mode::Flat | Mode::Off, _) => 0,
        },
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
    };
    let argument = CString::new(super::INIT_ARGUMENT).unwrap_or_default();
    let child = sys::spawn_helper(&spec, &c"toolctl".to_owned(), &argument)?;
    Ok(Started { child, control, stdin, stdout, stderr })
}

/// A file of memory that nobody can change any more, read from its start.
fn sealed(bytes: &[u8]) -> rustix::io::Result<OwnedFd> {
    let fd = rustix::fs::memfd_create("plan", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = rustix::io::write(&fd, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    rustix::fs::fcntl_add_seals(
        &fd,
        SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
    )?;
    rustix::fs::seek(&fd, rustix::fs::SeekFrom::Start(0))?;
    Ok(fd)
}

fn ways_out(mode: Mode) -> Vec<String> {
    let lines: &[&str] = match mode {
        Mode::Ns => &[
            "allow user namespaces: `sysctl user.max_user_namespaces` above 0; on Ubuntu also \
             `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for toolctl",
            "in Docker: `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`",
        ],
        Mode::Flat => {
            &["use a kernel with Landlock ABI 6 or later (Linux 6.12), booted with landlock in `lsm=`"]
        }
        Mode::Off => &[],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn words(errno: i32) -> String {
    if errno == 0 { String::new() } else { io::Error::from_raw_os_error(errno).to_string() }
}

fn step_error(mode: Mode, error: StepError) -> SandboxError {
    match error.step {
        Step::Clone
        | Step::DeathSignal
        | Step::Setgroups
        | Step::UidMap
        | Step::GidMap
        | Step::Capabilities
            if mode == Mode::Ns =>
        {
            SandboxError::Unavailable {
                layer: "userns".to_owned(),
                detail: format!("{}: {}", error.step.as_str(), words(error.errno)),
                ways_out: ways_out(mode),
            }
        }
        step => SandboxError::Exec {
            stage: step.as_str().to_owned(),
            errno: error.errno,
            detail: words(error.errno),
        },
    }
}

fn failed_error(plan: &Plan, mode: Mode, failed: Failed) -> SandboxError {
    let Failed { kind, stage, errno, detail } = failed;
    let words = words(errno);
    let said: Vec<&str> = [detail.as_str(), &words].into_iter().filter(|text| !text.is_empty()).collect();
    let said = said.join(": ");
    match kind {
        FailKind::Layer => SandboxError::Unavailable { layer: stage, detail: said, ways_out: ways_out(mode) },
        FailKind::Request if errno == libc::EACCES && rustix::process::geteuid().is_root() => {
            SandboxError::BadRequest(format!(
                "{stage}: {said}; a tool that root starts has no power over other users' files; run toolctl as their \
                 owner"
            ))
        }
        FailKind::Request => SandboxError::BadRequest(format!("{stage}: {said}")),
        FailKind::Changed => SandboxError::Changed { path: detail },
        FailKind::Exec if errno == libc::ENOENT && stage == Step::Exec.as_str() => {
            let path = plan.program.as_deref().unwrap_or(Path::new("toolctl"));
            SandboxError::ProgramMissing {
                path: crate::sandbox::error::shown(path),
                problem: "or the interpreter or loader that it names is not visible".to_owned(),
                ways_out: Vec::new(),
            }
        }
        FailKind::Exec => SandboxError::Exec { stage, errno, detail: said },
    }
}

fn finish(plan: &Plan, mode: Mode, begin: Instant, outcome: capture::Outcome) -> Result<Ended, SandboxError> {
    let duration = begin.elapsed();
    if let Some(failed) = outcome.failed {
        return Err(failed_error(plan, mode, failed));
    }
    if outcome.done.is_none() && outcome.cause.is_none() {
        return Err(SandboxError::Lost);
    }
    let signal = match &outcome.done {
        Some(done) => done.signal,
        None => Some(libc::SIGKILL),
    };
    let verdict = outcome.done.as_ref().map_or(Verdict::None, |done| done.verdict);
    let cause = outcome.cause.unwrap_or(match verdict {
        Verdict::Memory => EndCause::Memory,
        Verdict::Processes => EndCause::Processes,
        Verdict::None => cause_of(mode, signal),
    });
    Ok(Ended {
        cause,
        exit_code: outcome.done.as_ref().and_then(|done| done.code),
        signal,
        stdout: outcome.stdout,
        stderr: outcome.stderr,
        duration,
        peak_memory_kib: outcome.done.as_ref().map(|done| done.peak_kib),
        backend: match mode {
            Mode::Ns => Backend::Ns,
            Mode::Flat => Backend::Flat,
            Mode::Off => Backend::None,
        },
        layers: layer_reports(mode, outcome.layers),
        created: plan.absent.iter().filter(|path| path.symlink_metadata_ok()).cloned().collect(),
        digests: plan.digests.clone(),
    })
}

/// The helper's layers, and those that were not asked for.
fn layer_reports(mode: Mode, layers: Vec<super::job::Layer>) -> Vec<LayerReport> {
    let wanted: Vec<LayerReport> = layers
        .into_iter()
        .map(|layer| LayerReport {
            name: layer.name,
            state: if layer.enforced { LayerState::Enforced } else { LayerState::Absent },
            detail: layer.detail,
        })
        .collect();
    let off: &[&str] = match mode {
        Mode::Ns => &["netns"],
        Mode::Flat => &["userns", "pidns", "mountns", "netns"],
        Mode::Off => &["userns", "pidns", "mountns", "netns", "landlock", "seccomp", "memory", "processes"],
    };
    let missing: Vec<LayerReport> = off
        .iter()
        .filter(|name| !wanted.iter().any(|layer| layer.name == **name))
        .map(|name| LayerReport { name: (*name).to_owned(), state: LayerState::Off, detail: String::new() })
        .collect();
    wanted.into_iter().chain(missing).collect()
}

fn cause_of(mode: Mode, signal: Option<i32>) -> EndCause {
    match signal {
        None => EndCause::Exit,
        Some(libc::SIGXFSZ) => EndCause::FileSize,
        Some(libc::SIGXCPU) if mode != Mode::Off => EndCause::Cpu,
        Some(libc::SIGSYS) if mode != Mode::Off => EndCause::ForeignAbi,
        Some(_) => EndCause::Signal,
    }
}

/// Goes through every step of the `ns` backend with a program that is not there: whoever gets as far as finding that out
/// has had all layers. The error is the layer and what the kernel said.
pub(crate) fn try_namespaces(launcher: &Launcher) -> Result<(), (String, String)> {
    let plan = Plan::for_probe(launcher.clone());
    match attempt(&plan, Mode::Ns, &Stdin::Null, None) {
        Err(SandboxError::ProgramMissing { .. }) => Ok(()),
        Err(SandboxError::Unavailable { layer, detail, .. }) => Err((layer, detail)),
        Err(other) => Err(("helper".to_owned(), other.to_string())),
        Ok(_) => Err(("helper".to_owned(), "a program that does not exist was run".to_owned())),
    }
}
