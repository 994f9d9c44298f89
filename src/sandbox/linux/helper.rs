//! The helper process: it builds the sandbox around itself, starts the tool, watches it and ends whatever is left.
//!
//! In `ns` it is the first process of its own namespaces, so that the kernel ends the whole tree with it. On the host it
//! is the subreaper of all that the tool starts, and sweeps them itself.

use super::job::{Access, Done, FailKind, Failed, Job, Layer, Message, Mode, Net, Verdict};
use super::landlock::{ABI_SCOPES, Rules};
use super::mounts;
use super::seccomp::{self, Shape};
use super::spawn::GO;
use super::sys::{self, Child, Image, Step, StepError, ToolSpec};
use super::tree::{Left, Tree, reap};
use super::watch::{INTERVAL, Watch};
use super::wire::{decode, encode};
use crate::sandbox::error::shown;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{CWD, OFlags};
use rustix::process::{DumpableBehavior, Pid, Resource, Signal, WaitStatus};
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The first argument with which toolctl is started as the helper.
pub const INIT_ARGUMENT: &str = "__sandbox-init";

/// How long the tool's other processes may still write after the tool itself has ended.
const GRACE: Duration = Duration::from_millis(50);
/// How long the sweep of a tree on the host may take.
const SWEEP: Duration = Duration::from_secs(10);

/// Runs the helper. It was started by [`run`](super::run) with its control socket and plan in place; started by anybody
/// else it does nothing and fails.
pub fn init_main<I: IntoIterator<Item = OsString>>(_args: I) -> ExitCode {
    match take_job() {
        Some((control, job)) => serve(&control, job),
        None => ExitCode::from(70),
    }
}

fn take_job() -> Option<(OwnedFd, Job)> {
    let control = sys::inherited(3).ok()?;
    let plan = sys::inherited(4).ok()?;
    // Whoever made this process may still be deciding; if it gives up, it ends this one or its end of the socket.
    let mut sign = [0_u8; 8];
    let (got, _) = rustix::net::recv(&control, &mut sign, rustix::net::RecvFlags::empty()).ok()?;
    if sign.get(..got) != Some(GO) {
        return None;
    }
    // The plan is a sealed file of memory: a helper that a person starts by hand has none.
    rustix::fs::fcntl_get_seals(&plan).ok().filter(|seals| !seals.is_empty())?;
    let mut bytes = Vec::new();
    File::from(plan).read_to_end(&mut bytes).ok()?;
    let job: Job = decode(&bytes)?;
    if job.null_stdin {
        let none = rustix::fs::Mode::empty();
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, none).ok()?;
        rustix::stdio::dup2_stdin(&null).ok()?;
    }
    Some((control, job))
}

fn send(control: &OwnedFd, message: &Message) {
    // Toolctl that has gone away needs no answer.
    let _ = rustix::net::send(control, &encode(message), rustix::net::SendFlags::NOSIGNAL);
}

fn serve(control: &OwnedFd, job: Job) -> ExitCode {
    let temp = (job.mode != Mode::Ns).then(|| job.temp.clone());
    let tree = Tree::of(job.mode);
    let result = start(job);
    match result {
        Ok((mut run, layers)) => {
            send(control, &Message { failed: None, started: Some(layers), done: None });
            let done = run.watch_over(control);
            if matches!(tree, Tree::Descendants) {
                tree.end(SWEEP);
            }
            clean(temp.as_deref());
            send(control, &Message { failed: None, started: None, done: Some(done) });
            ExitCode::SUCCESS
        }
        Err(failed) => {
            clean(temp.as_deref());
            send(control, &Message { failed: Some(failed), started: None, done: None });
            ExitCode::from(70)
        }
    }
}

fn clean(temp: Option<&Path>) {
    if let Some(temp) = temp {
        let _ = std::fs::remove_dir_all(temp);
    }
}

fn failed(kind: FailKind, stage: &str, errno: i32, detail: String) -> Failed {
    Failed { kind, stage: stage.to_owned(), errno, detail }
}

fn refused(stage: &'static str) -> impl Fn(std::io::Error) -> Failed {
    move |error| failed(FailKind::Layer, stage, error.raw_os_error().unwrap_or(0), String::new())
}

fn step_failed(error: StepError) -> Failed {
    let kind = match error.step {
        Step::Landlock | Step::Seccomp | Step::NoNewPrivs | Step::Capabilities => FailKind::Layer,
        Step::Clone
        | Step::DeathSignal
        | Step::Setgroups
        | Step::UidMap
        | Step::GidMap
        | Step::Descriptors
        | Step::Session
        | Step::Folder
        | Step::Limits
        | Step::Exec => FailKind::Exec,
    };
    failed(kind, error.step.as_str(), error.errno, String::new())
}

/// What a started tool leaves in the helper's hands.
struct Run {
    tool: Child,
    tree: Tree,
    watch: Option<Watch>,
    status: Option<WaitStatus>,
}

fn start(mut job: Job) -> Result<(Run, Vec<Layer>), Failed> {
    let own = match job.program {
        None => Some(
            rustix::fs::open("/proc/self/exe", OFlags::PATH | OFlags::CLOEXEC, rustix::fs::Mode::empty())
                .map_err(|e| refused("own executable")(e.into()))?,
        ),
        Some(_) => None,
    };
    let rules = if job.mode == Mode::Off { None } else { Some(Rules::new().map_err(refused("landlock"))?) };
    if let (Some(rules), Some(own)) = (&rules, &own) {
        rules.allow(own.as_fd(), Access::ReadExec, false).map_err(refused("landlock"))?;
    }
    match (job.mode, &rules) {
        (Mode::Ns, Some(rules)) => {
            mounts::name_and_network(&job)?;
            mounts::enter_private_root(&job, rules)?;
            push_env(&mut job.env, "HOME", Path::new("/tmp/home"));
            push_env(&mut job.env, "TMPDIR", Path::new("/tmp"));
        }
        (Mode::Flat, Some(rules)) => {
            host_helper(&mut job)?;
            flat_rules(&job, rules)?;
        }
        (Mode::Off, _) => host_helper(&mut job)?,
        (Mode::Ns | Mode::Flat, None) => {
            return Err(failed(FailKind::Layer, "landlock", libc::ENOSYS, String::new()));
        }
    }
    let tool = launch(&job, rules.as_ref(), own.as_ref())?;
    // The tool's pipes are the tool's alone from here on.
    for fd in 0..3 {
        drop(sys::inherited(fd));
    }
    let watch = (job.mode != Mode::Off).then(|| Watch::new(job.mode, job.memory_kib, job.max_processes));
    let run = Run { tool, tree: Tree::of(job.mode), watch, status: None };
    Ok((run, layers(&job, rules.as_ref())))
}

fn push_env(env: &mut Vec<OsString>, name: &str, value: &Path) {
    let prefix = [name.as_bytes(), b"="].concat();
    if env.iter().any(|entry| entry.as_bytes().starts_with(&prefix)) {
        return;
    }
    let mut entry = OsString::from(name);
    entry.push("=");
    entry.push(value);
    env.push(entry);
}

/// What a helper on the host needs: to be the reaper of all, and a temp folder for the tool.
fn host_helper(job: &mut Job) -> Result<(), Failed> {
    let me = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(me)).map_err(|e| refused("subreaper")(e.into()))?;
    if std::fs::metadata("/proc/self/task/self/children").is_err()
        && std::fs::metadata(format!("/proc/self/task/{}/children", me.as_raw_nonzero())).is_err()
    {
        return Err(failed(
            FailKind::Layer,
            "the list of child processes in /proc",
            libc::ENOENT,
            String::new(),
        ));
    }
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mkdirat(CWD, &job.temp, mode).map_err(|e| refused("temp folder")(e.into()))?;
    push_env(&mut job.env, "HOME", &job.temp.clone());
    push_env(&mut job.env, "TMPDIR", &job.temp.clone());
    if job.cwd.as_os_str().is_empty() {
        job.cwd.clone_from(&job.temp);
    }
    let _ = rustix::process::setsid();
    Ok(())
}

/// The file rights on the host's own tree.
fn flat_rules(job: &Job, rules: &Rules) -> Result<(), Failed> {
    if rules.abi < ABI_SCOPES {
        let detail = format!("version {} of landlock cannot hold signals", rules.abi);
        return Err(failed(FailKind::Layer, "landlock", 0, detail));
    }
    let open = |path: &Path| {
        rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, rustix::fs::Mode::empty())
    };
    for entry in &job.entries {
        let fd = mounts::exact(&entry.target, OFlags::PATH)
            .map_err(|e| mounts::not_as_planned("open", &entry.target, e))?;
        let stat = rustix::fs::fstat(&fd).map_err(|e| refused("compare")(e.into()))?;
        if entry.identity.is_some_and(|identity| identity != (stat.st_dev, stat.st_ino))
            || !same_content(entry)
        {
            return Err(failed(FailKind::Changed, "compare", 0, shown(&entry.target)));
        }
        rules.allow(fd.as_fd(), entry.access, entry.dir).map_err(refused("landlock"))?;
    }
    let devices = crate::sandbox::plan::DEVICES.iter().map(|path| (PathBuf::from(path), Access::Device));
    let random = std::iter::once((PathBuf::from("/dev/random"), Access::Device));
    let files = job.files.iter().map(|(path, _)| (path.clone(), Access::Read));
    for (path, access) in devices.chain(random).chain(files) {
        if let Ok(fd) = open(&path) {
            rules.allow(fd.as_fd(), access, false).map_err(refused("landlock"))?;
        }
    }
    let temp = open(&job.temp).map_err(|e| refused("temp folder")(e.into()))?;
    let access = if job.temp_exec { Access::WriteExec } else { Access::Write };
    rules.allow(temp.as_fd(), access, true).map_err(refused("landlock"))
}

fn same_content(entry: &super::job::Entry) -> bool {
    let Some(expected) = &entry.copy else { return true };
    mounts::exact(&entry.target, OFlags::RDONLY | OFlags::NONBLOCK)
        .map(File::from)
        .map_err(Into::into)
        .and_then(|mut file| mounts::hash_while(&mut file, |_| Ok(())))
        .is_ok_and(|found| &found == expected)
}

fn c_string(bytes: &[u8]) -> Result<CString, Failed> {
    CString::new(bytes)
        .map_err(|_| failed(FailKind::Request, "arguments", libc::EINVAL, "a NUL byte".to_owned()))
}

fn launch(job: &Job, rules: Option<&Rules>, own: Option<&OwnedFd>) -> Result<Child, Failed> {
    let confine = job.mode != Mode::Off;
    let filter = if confine {
        seccomp::filter(Shape {
            net: job.net,
            flat: job.mode == Mode::Flat,
            own: job.program.is_none() && !job.temp_exec,
        })
    } else {
        Vec::new()
    };
    let argv = job.argv.iter().map(|s| c_string(s.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    let env = job.env.iter().map(|s| c_string(s.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    let cwd = if job.cwd.as_os_str().is_empty() { Path::new("/tmp") } else { &job.cwd };
    let cwd = c_string(cwd.as_os_str().as_bytes())?;
    let rlimits: Vec<(u32, u64)> = job.rlimits.iter().map(|limit| clamp(*limit)).collect();
    let path = match &job.program {
        Some(path) => Some(c_string(path.as_os_str().as_bytes())?),
        None => None,
    };
    let image = match (&path, own) {
        (Some(path), _) => Image::Path(path),
        (None, Some(own)) => Image::Fd(own.as_fd()),
        (None, None) => return Err(failed(FailKind::Exec, "own executable", libc::ENOENT, String::new())),
    };
    if confine {
        // What the tool could read of this process would be the plan.
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|e| refused("dumpable")(e.into()))?;
    }
    sys::spawn_tool(&ToolSpec {
        image,
        argv: &argv,
        env: &env,
        cwd: &cwd,
        rlimits: &rlimits,
        die_with_helper: job.mode != Mode::Ns,
        confine,
        ruleset: rules.map(Rules::as_fd),
        filter: &filter,
    })
    .map_err(step_failed)
}

/// A limit above the one that already holds cannot be set, and need not be.
fn clamp((kind, value): (u32, u64)) -> (u32, u64) {
    let resource = match kind {
        libc::RLIMIT_CPU => Resource::Cpu,
        libc::RLIMIT_FSIZE => Resource::Fsize,
        libc::RLIMIT_DATA => Resource::Data,
        libc::RLIMIT_NPROC => Resource::Nproc,
        libc::RLIMIT_NOFILE => Resource::Nofile,
        libc::RLIMIT_MEMLOCK => Resource::Memlock,
        _ => return (kind, value),
    };
    let hard = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    (kind, value.min(hard))
}

fn layers(job: &Job, rules: Option<&Rules>) -> Vec<Layer> {
    let layer =
        |name: &str, enforced: bool, detail: String| Layer { name: name.to_owned(), enforced, detail };
    let mut layers = Vec::new();
    if job.mode == Mode::Ns {
        for name in ["userns", "pidns", "mountns", "ipcns", "utsns"] {
            layers.push(layer(name, true, String::new()));
        }
    }
    if let Some(rules) = rules {
        layers.push(layer("landlock", true, format!("ABI {}", rules.abi)));
        layers.push(layer("seccomp", true, String::new()));
        layers.push(layer("no_new_privs", true, String::new()));
        layers.push(layer("memory", true, "watchdog".to_owned()));
        let processes = match (job.root, job.mode) {
            (false, Mode::Ns) => "RLIMIT_NPROC",
            (true, Mode::Ns) => "watchdog and pid_max",
            (_, Mode::Flat | Mode::Off) => "watchdog",
        };
        layers.push(layer("processes", true, processes.to_owned()));
    }
    if job.mode != Mode::Off && job.net != Net::Host {
        let detail = if job.netns { String::new() } else { "held by seccomp".to_owned() };
        layers.push(layer("netns", job.netns, detail));
    }
    layers
}

/// What came in over the control socket.
enum Order {
    Nothing,
    Terminate,
    Kill,
    Gone,
}

fn order(control: &OwnedFd) -> Order {
    let mut byte = [0_u8; 1];
    match rustix::net::recv(control, &mut byte, rustix::net::RecvFlags::DONTWAIT) {
        Ok((0, _)) => Order::Gone,
        Ok(_) if byte == *b"T" => Order::Terminate,
        Ok(_) => Order::Kill,
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Order::Nothing,
        Err(_) => Order::Gone,
    }
}

impl Run {
    /// Waits until the tool has ended or must end.
    fn watch_over(&mut self, control: &OwnedFd) -> Done {
        let mut next_look = Instant::now() + INTERVAL;
        while self.status.is_none() {
            let pause = next_look.saturating_duration_since(Instant::now());
            self.wait_for_event(control, pause);
            match order(control) {
                Order::Nothing => {}
                Order::Terminate => {
                    self.tree.signal(Signal::TERM);
                    // A stopped process takes its signals only once it runs.
                    self.tree.signal(Signal::CONT);
                }
                Order::Kill | Order::Gone => return self.kill(Verdict::None),
            }
            self.collect();
            if Instant::now() >= next_look {
                let verdict = self.watch.as_mut().map_or(Verdict::None, Watch::look);
                if verdict != Verdict::None && self.status.is_none() {
                    return self.kill(verdict);
                }
                next_look = Instant::now() + INTERVAL;
            }
        }
        self.linger();
        self.done(Verdict::None)
    }

    fn wait_for_event(&self, control: &OwnedFd, pause: Duration) {
        let mut fds = [PollFd::new(control, PollFlags::IN), PollFd::new(&self.tool.pidfd, PollFlags::IN)];
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) };
        // An interrupted wait only means one more look.
        let _ = rustix::event::poll(&mut fds, Some(&timeout));
    }

    fn collect(&mut self) -> Left {
        let tool = Pid::from_raw(self.tool.pid);
        let status = &mut self.status;
        reap(|pid, ended| {
            if Some(pid) == tool {
                *status = Some(ended);
            }
        })
    }

    /// Gives what the tool started a moment to finish by itself.
    fn linger(&mut self) {
        let start = Instant::now();
        while self.collect() == Left::Some && start.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn kill(&mut self, verdict: Verdict) -> Done {
        self.tree.signal(Signal::KILL);
        let start = Instant::now();
        while self.status.is_none() && start.elapsed() < SWEEP {
            self.collect();
            self.tree.signal(Signal::KILL);
            std::thread::sleep(Duration::from_micros(300));
        }
        self.done(verdict)
    }

    fn done(&self, verdict: Verdict) -> Done {
        let seen = self.watch.as_ref().map_or(0, |watch| watch.peak_kib);
        Done {
            code: self.status.and_then(WaitStatus::exit_status),
            signal: self.status.and_then(WaitStatus::terminating_signal),
            verdict,
            peak_kib: seen.max(sys::children_peak_kib()),
        }
    }
}
