//! The system calls that no safe crate covers. This is the only file with `unsafe`.
//!
//! Two functions make processes that share this process's memory until they exec. What runs in them is in
//! `enter_namespaces` and `become_tool`: raw system calls on data that was prepared before, no allocation, no locks, and
//! errors go back through a plain field. Everything else is a thin wrapper.

use libc::{c_char, c_int, c_long, c_void};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::ptr;

/// Steps of the children, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Clone,
    DeathSignal,
    Setgroups,
    UidMap,
    GidMap,
    Capabilities,
    Descriptors,
    Session,
    Folder,
    Limits,
    NoNewPrivs,
    Landlock,
    Seccomp,
    Exec,
}

impl Step {
    /// The step in words.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Clone => "new namespaces",
            Self::DeathSignal => "parent-death signal",
            Self::Setgroups => "setgroups",
            Self::UidMap => "uid_map",
            Self::GidMap => "gid_map",
            Self::Capabilities => "capabilities",
            Self::Descriptors => "descriptors",
            Self::Session => "session",
            Self::Folder => "working folder",
            Self::Limits => "resource limits",
            Self::NoNewPrivs => "no_new_privs",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::Exec => "exec",
        }
    }
}

/// A step that failed, with its error number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepError {
    pub step: Step,
    pub errno: i32,
}

/// A process and its descriptor.
#[derive(Debug)]
pub(crate) struct Child {
    pub pid: i32,
    pub pidfd: OwnedFd,
}

const STACK: usize = 128 * 1024;
const INIT_CAPS: [u32; 5] = [
    21, // CAP_SYS_ADMIN: mounts, pid_max.
    18, // CAP_SYS_CHROOT: pivot_root's relatives.
    12, // CAP_NET_ADMIN: the loopback device.
    19, // CAP_SYS_PTRACE: memory of processes that made themselves undumpable.
    5,  // CAP_KILL.
];

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// What the helper process starts with.
pub(crate) struct HelperSpec<'a> {
    pub exe: BorrowedFd<'a>,
    /// stdin, stdout, stderr, control, plan: they become 0 to 4. All must be numbered 5 or higher.
    pub fds: [RawFd; 5],
    /// `CLONE_NEW*`; empty for a helper on the host.
    pub namespaces: c_int,
    pub uid: u32,
    pub gid: u32,
}

struct HelperCtx {
    exe: RawFd,
    fds: [RawFd; 5],
    namespaces: bool,
    uid_map: CString,
    gid_map: CString,
    argv: [*const c_char; 3],
    envp: [*const c_char; 1],
    mask: libc::sigset_t,
    failed: Option<StepError>,
}

/// Starts the helper: new namespaces if asked for, identity maps, then an exec of `exe` with `argument`.
pub(crate) fn spawn_helper(
    spec: &HelperSpec<'_>,
    name: &CString,
    argument: &CString,
) -> Result<Child, StepError> {
    let map = |id: u32| CString::new(format!("{id} {id} 1\n")).unwrap_or_default();
    let mut ctx = HelperCtx {
        exe: spec.exe.as_raw_fd(),
        fds: spec.fds,
        namespaces: spec.namespaces != 0,
        uid_map: map(spec.uid),
        gid_map: map(spec.gid),
        argv: [name.as_ptr(), argument.as_ptr(), ptr::null()],
        envp: [ptr::null()],
        // SAFETY: an all-zero signal set is a valid value; it is filled below.
        mask: unsafe { std::mem::zeroed() },
        failed: None,
    };
    // SAFETY: both sets are valid; blocking every signal keeps handlers of this process out of the child that shares
    // its memory.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut ctx.mask);
    }
    let made = clone_vfork(spec.namespaces, enter_namespaces, (&raw mut ctx).cast());
    // SAFETY: restores the mask that was saved above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const ctx.mask, ptr::null_mut()) };
    settle(made, ctx.failed)
}

fn settle(made: Result<Child, i32>, failed: Option<StepError>) -> Result<Child, StepError> {
    let child = made.map_err(|errno| StepError { step: Step::Clone, errno })?;
    let Some(error) = failed else { return Ok(child) };
    let mut status = 0;
    // SAFETY: the child is ours and has exited; its status is collected so that no zombie stays.
    unsafe { libc::waitpid(child.pid, &raw mut status, libc::__WALL) };
    Err(error)
}

fn clone_vfork(
    flags: c_int,
    entry: extern "C" fn(*mut c_void) -> c_int,
    ctx: *mut c_void,
) -> Result<Child, i32> {
    let mut stack = vec![0_u128; STACK / 16];
    let mut pidfd: c_int = -1;
    let flags = flags | libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: the stack outlives the child's use of it, because CLONE_VFORK holds this thread until the child has
    // exec'd or exited; `entry` only makes system calls on `ctx`, which lives as long.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(STACK / 16);
        libc::clone(entry, top.cast(), flags, ctx, &raw mut pidfd)
    };
    if pid < 0 {
        return Err(errno());
    }
    // SAFETY: the kernel stored a fresh descriptor there.
    Ok(Child { pid, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) } })
}

/// Writes a file of /proc; 0 or an error number.
fn write_proc(path: &std::ffi::CStr, bytes: &[u8]) -> i32 {
    // SAFETY: plain system calls on a valid path and buffer.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return errno();
        }
        let written = libc::write(fd, bytes.as_ptr().cast(), bytes.len());
        let code = if written < 0 { errno() } else { 0 };
        libc::close(fd);
        code
    }
}

#[repr(C)]
struct CapHeader {
    version: u32,
    pid: c_int,
}

#[repr(C)]
struct CapData {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

fn set_caps(mask: u32) -> i32 {
    let header = CapHeader { version: 0x2008_0522, pid: 0 };
    let low = CapData { effective: mask, permitted: mask, inheritable: mask };
    let data = [low, CapData { effective: 0, permitted: 0, inheritable: 0 }];
    // SAFETY: header and data have the layout that version 3 of the interface asks for.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) };
    if result < 0 { errno() } else { 0 }
}

fn raise_caps() -> i32 {
    let code = set_caps(INIT_CAPS.iter().fold(0, |mask, cap| mask | (1 << cap)));
    if code != 0 {
        return code;
    }
    for cap in INIT_CAPS {
        // SAFETY: prctl with integer arguments.
        if unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, cap, 0, 0) } < 0 {
            return errno();
        }
    }
    0
}

fn map_ids(ctx: &HelperCtx) -> Result<(), StepError> {
    let check = |step, errno| if errno == 0 { Ok(()) } else { Err(StepError { step, errno }) };
    // SAFETY: prctl with integer arguments.
    let death = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
    check(Step::DeathSignal, if death < 0 { errno() } else { 0 })?;
    check(Step::Setgroups, write_proc(c"/proc/self/setgroups", b"deny"))?;
    check(Step::UidMap, write_proc(c"/proc/self/uid_map", ctx.uid_map.as_bytes()))?;
    check(Step::GidMap, write_proc(c"/proc/self/gid_map", ctx.gid_map.as_bytes()))?;
    check(Step::Capabilities, raise_caps())
}

extern "C" fn enter_namespaces(raw: *mut c_void) -> c_int {
    // SAFETY: the pointer is the context of `spawn_helper`, whose thread is stopped until this process execs or exits.
    let ctx = unsafe { &mut *raw.cast::<HelperCtx>() };
    if ctx.namespaces
        && let Err(error) = map_ids(ctx)
    {
        ctx.failed = Some(error);
        return 127;
    }
    for (target, fd) in (0..).zip(ctx.fds) {
        // SAFETY: plain descriptor calls; sources are 5 or higher, so no target overwrites a source.
        if unsafe { libc::dup2(fd, target) } < 0 {
            ctx.failed = Some(StepError { step: Step::Descriptors, errno: errno() });
            return 127;
        }
    }
    // SAFETY: as above; execveat reads the prepared null-terminated arrays.
    unsafe {
        if libc::syscall(libc::SYS_close_range, 5_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) < 0 {
            ctx.failed = Some(StepError { step: Step::Descriptors, errno: errno() });
            return 127;
        }
        libc::syscall(
            libc::SYS_execveat,
            ctx.exe,
            c"".as_ptr(),
            ctx.argv.as_ptr(),
            ctx.envp.as_ptr(),
            libc::AT_EMPTY_PATH,
        );
    }
    ctx.failed = Some(StepError { step: Step::Exec, errno: errno() });
    127
}

/// Which file the tool process execs.
pub(crate) enum Image<'a> {
    Path(&'a CString),
    Fd(BorrowedFd<'a>),
}

/// What the tool process does before it execs.
pub(crate) struct ToolSpec<'a> {
    pub image: Image<'a>,
    pub argv: &'a [CString],
    pub env: &'a [CString],
    pub cwd: &'a CString,
    pub rlimits: &'a [(u32, u64)],
    /// Die with the helper; in a PID namespace the kernel sees to that.
    pub die_with_helper: bool,
    /// Drop every capability and set `no_new_privs`.
    pub confine: bool,
    pub ruleset: Option<BorrowedFd<'a>>,
    pub filter: &'a [libc::sock_filter],
}

struct ToolCtx<'a> {
    spec: &'a ToolSpec<'a>,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    failed: Option<StepError>,
}

/// Starts the tool. The calling process must have one thread.
pub(crate) fn spawn_tool(spec: &ToolSpec<'_>) -> Result<Child, StepError> {
    let pointers =
        |list: &[CString]| list.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>();
    let mut ctx = ToolCtx { spec, argv: pointers(spec.argv), envp: pointers(spec.env), failed: None };
    let made = clone_vfork(0, become_tool, (&raw mut ctx).cast());
    settle(made, ctx.failed)
}

extern "C" fn become_tool(raw: *mut c_void) -> c_int {
    // SAFETY: the pointer is the context of `spawn_tool`, whose only thread is stopped until this process execs or
    // exits.
    let ctx = unsafe { &mut *raw.cast::<ToolCtx<'_>>() };
    ctx.failed = prepare_and_exec(ctx).err();
    127
}

fn prepare_and_exec(ctx: &ToolCtx<'_>) -> Result<(), StepError> {
    let fail = |step| Err(StepError { step, errno: errno() });
    let spec = ctx.spec;
    // SAFETY: system calls with integers and with pointers into data that outlives this process's use of it.
    unsafe {
        if libc::setsid() < 0 {
            return fail(Step::Session);
        }
        reset_signals();
        if spec.die_with_helper && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) < 0 {
            return fail(Step::DeathSignal);
        }
        if libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) < 0 {
            return fail(Step::Descriptors);
        }
        if libc::chdir(spec.cwd.as_ptr()) < 0 {
            return fail(Step::Folder);
        }
        // The usual one: what a tool makes in the workspace is for others to read, and its own folders are closed anyway.
        libc::umask(0o022);
        for (kind, value) in spec.rlimits {
            // At the hard limit of processor time the kernel kills without saying why; one second earlier it says so.
            let more = u64::from(*kind == libc::RLIMIT_CPU);
            let limit = libc::rlimit { rlim_cur: *value, rlim_max: value.saturating_add(more) };
            if libc::syscall(libc::SYS_prlimit64, 0, *kind, &raw const limit, ptr::null::<c_void>()) < 0 {
                return fail(Step::Limits);
            }
        }
        if spec.confine {
            if set_caps(0) != 0 {
                return fail(Step::Capabilities);
            }
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 {
                return fail(Step::NoNewPrivs);
            }
        }
        if let Some(ruleset) = &spec.ruleset
            && libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) < 0
        {
            return fail(Step::Landlock);
        }
        if !spec.filter.is_empty() {
            let program = libc::sock_fprog {
                len: u16::try_from(spec.filter.len()).unwrap_or(0),
                filter: spec.filter.as_ptr().cast_mut(),
            };
            if libc::syscall(libc::SYS_seccomp, 1_u32, 0_u32, &raw const program) < 0 {
                return fail(Step::Seccomp);
            }
        }
        match &spec.image {
            Image::Path(path) => {
                libc::execve(path.as_ptr(), ctx.argv.as_ptr(), ctx.envp.as_ptr());
            }
            Image::Fd(fd) => {
                libc::syscall(
                    libc::SYS_execveat,
                    fd.as_raw_fd(),
                    c"".as_ptr(),
                    ctx.argv.as_ptr(),
                    ctx.envp.as_ptr(),
                    libc::AT_EMPTY_PATH,
                );
            }
        }
    }
    fail(Step::Exec)
}

/// Puts every signal back to its default and unblocks all.
fn reset_signals() {
    // The C library hides two signals from its own call, so the kernel is asked.
    let default = [0_u64; 4];
    // SAFETY: all zeros are the default disposition in the kernel's layout, and an empty mask of eight bytes; numbers
    // that cannot be changed are refused by the kernel, harmlessly.
    unsafe {
        for signal in 1..=64 {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                ptr::null_mut::<c_void>(),
                8_usize,
            );
        }
        let none = 0_u64;
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const none,
            ptr::null_mut::<c_void>(),
            8_usize,
        );
    }
}

/// A descriptor that the parent left open at this number, taken over once.
pub(crate) fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: fcntl on any number is harmless; the descriptor is owned by nobody else because the parent placed it there
    // for this process, which takes it once.
    unsafe {
        if libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

/// Sets attributes (`MOUNT_ATTR_*`) of the mount behind the descriptor, and of those below it if `recursive`.
pub(crate) fn mount_setattr(mount: BorrowedFd<'_>, set: u64, recursive: bool) -> io::Result<()> {
    let attr = MountAttr { set, clear: 0, propagation: 0, userns: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the struct has the layout and size that the call is told.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<MountAttr>(),
        )
    })
    .map(drop)
}

fn check(result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The version of the kernel's Landlock interface.
pub(crate) fn landlock_abi() -> io::Result<u32> {
    // SAFETY: asks for the version; no memory is touched.
    let abi = check(unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<c_void>(), 0_usize, 1_u32)
    })?;
    Ok(u32::try_from(abi).unwrap_or(0))
}

#[repr(C)]
struct RulesetAttr {
    handled_fs: u64,
    handled_net: u64,
    scoped: u64,
}

/// A ruleset that handles these rights. `scoped` must be zero before version 6 of the interface.
pub(crate) fn landlock_ruleset(handled_fs: u64, scoped: u64) -> io::Result<OwnedFd> {
    let attr = RulesetAttr { handled_fs, handled_net: 0, scoped };
    // Kernels before a field existed refuse a larger struct only if that field is not zero.
    // SAFETY: the struct has the layout and size that the call is told; the result is a fresh descriptor.
    unsafe {
        let fd = check(libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attr,
            size_of::<RulesetAttr>(),
            0_u32,
        ))?;
        Ok(OwnedFd::from_raw_fd(RawFd::try_from(fd).map_err(|_| io::ErrorKind::Other)?))
    }
}

#[repr(C, packed)]
struct PathBeneath {
    access: u64,
    parent: RawFd,
}

/// Grants rights at and below a path.
pub(crate) fn landlock_allow(ruleset: BorrowedFd<'_>, path: BorrowedFd<'_>, access: u64) -> io::Result<()> {
    let attr = PathBeneath { access, parent: path.as_raw_fd() };
    // SAFETY: the struct has the layout of rule type 1.
    check(unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), 1_u32, &raw const attr, 0_u32)
    })
    .map(drop)
}

/// Brings the loopback device of this network namespace up.
pub(crate) fn loopback_up(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: an all-zero request is valid; the name fits and the kernel reads and writes only the struct.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (slot, byte) in request.ifr_name.iter_mut().zip(b"lo") {
            *slot = c_char::try_from(*byte).unwrap_or(0);
        }
        request.ifr_ifru.ifru_flags = 1; // IFF_UP
        check(c_long::from(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request))).map(drop)
    }
}

/// The highest resident size among the children that were waited for, in KiB.
pub(crate) fn children_peak_kib() -> u64 {
    // SAFETY: the kernel fills the struct.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        u64::try_from(usage.ru_maxrss).unwrap_or(0)
    }
}

/// Sends a signal to every other process of this PID namespace; does nothing unless this is its first process.
pub(crate) fn kill_namespace(signal: i32) {
    // SAFETY: plain system calls. Process 1 of the host never runs this code, and from anyone else -1 would mean all
    // processes of the user, so the number is checked.
    unsafe {
        if libc::getpid() == 1 {
            libc::kill(-1, signal);
        }
    }
}

/// Signals that are held back in this thread; they are let through again when this is dropped.
pub(crate) struct HeldSignals(libc::sigset_t);

impl std::fmt::Debug for HeldSignals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HeldSignals")
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: the mask was filled in by the same call in `hold_signals`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Holds signals back and gives a descriptor that becomes readable when one comes.
pub(crate) fn hold_signals(signals: &[i32]) -> io::Result<(OwnedFd, HeldSignals)> {
    // SAFETY: a signal set is plain bits, which `sigemptyset` initialises; all pointers are to locals that live on.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = OwnedFd::from_raw_fd(fd);
        let error = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok((fd, HeldSignals(before)))
    }
}
