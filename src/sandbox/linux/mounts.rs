//! The private root: a small file system of memory, into which parts of the host's tree are bound.
//!
//! The order matters. All sources are opened before anything is mounted, since a mount may hide a source. What is bound
//! is compared by device and inode with what the planner saw. Targets are opened without following a symlink and inside
//! the new root, so that a folder swapped for a link in the meantime is refused, not followed.

use super::job::{Access, Entry, FailKind, Failed, Job, Net};
use super::landlock::Rules;
use super::sys;
use crate::sandbox::error::shown;
use crate::sandbox::plan::DEVICES;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

const RDONLY: u64 = 1;
const NOSUID: u64 = 2;
const NODEV: u64 = 4;
const NOEXEC: u64 = 8;

/// Turns an error of the kernel into a report.
fn layer(stage: &str) -> impl Fn(Errno) -> Failed {
    move |errno| Failed {
        kind: FailKind::Layer,
        stage: stage.to_owned(),
        errno: errno.raw_os_error(),
        detail: String::new(),
    }
}

/// The same, for an error that speaks of a path.
fn at(stage: &str, path: &Path, errno: Errno) -> Failed {
    let kind = match errno {
        Errno::PERM | Errno::INVAL | Errno::NOSYS => FailKind::Layer,
        Errno::LOOP | Errno::NOTDIR | Errno::NOENT => FailKind::Changed,
        _ => FailKind::Request,
    };
    Failed { kind, stage: stage.to_owned(), errno: errno.raw_os_error(), detail: shown(path) }
}

fn io_errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

/// An error on opening what was there when it was planned: gone, or a link or a file in its place, is a change.
pub(crate) fn not_as_planned(stage: &str, path: &Path, errno: Errno) -> Failed {
    match errno {
        Errno::NOENT | Errno::LOOP | Errno::NOTDIR => changed(path),
        _ => at(stage, path, errno),
    }
}

fn changed(path: &Path) -> Failed {
    Failed { kind: FailKind::Changed, stage: "compare".to_owned(), errno: 0, detail: shown(path) }
}

/// Something of the host, opened before the new root hides it.
enum Source {
    Mount(OwnedFd),
    Copy(File),
    Nothing,
}

/// Builds the root, moves into it, and returns the file rights for the tool.
pub(crate) fn enter_private_root(job: &Job, rules: &Rules) -> Result<(), Failed> {
    let devices: Vec<Entry> = DEVICES
        .iter()
        .map(|path| Entry {
            target: PathBuf::from(path),
            access: Access::Device,
            dir: false,
            identity: None,
            copy: None,
        })
        .collect();
    let mut sources = Vec::with_capacity(job.entries.len() + devices.len());
    for entry in devices.iter().chain(&job.entries) {
        sources.push((entry, open_source(entry)?));
    }
    let root = new_root(job)?;
    fill_root(job, &root)?;
    mount_proc(job, &root)?;
    mount_temp(job, &root, rules)?;
    let mut seal = Vec::new();
    for (number, (entry, source)) in sources.into_iter().enumerate() {
        let mount = match source {
            Source::Mount(fd) => fd,
            Source::Copy(file) => copy_file(&root, number, entry, file)?,
            Source::Nothing => empty(&root, number, entry, &mut seal)?,
        };
        attach(&root, &mount, entry)?;
        // Everything is readable through the rule of the root; only more than that needs a rule.
        if entry.access != Access::Read {
            rules
                .allow(mount.as_fd(), entry.access, entry.dir)
                .map_err(|e| at("landlock", &entry.target, io_errno(&e)))?;
        }
    }
    rules.allow(root.as_fd(), Access::Read, true).map_err(|e| layer("landlock")(io_errno(&e)))?;
    for mount in seal {
        read_only(mount.as_fd(), 0)?;
    }
    read_only(root.as_fd(), NOSUID | NODEV)?;
    rustix::process::pivot_root(".", ".").map_err(layer("pivot_root"))?;
    rustix::mount::unmount(".", UnmountFlags::DETACH).map_err(layer("leaving the host's tree"))?;
    rustix::process::chdir("/").map_err(layer("chdir"))
}

fn read_only(mount: BorrowedFd<'_>, more: u64) -> Result<(), Failed> {
    sys::mount_setattr(mount, RDONLY | more, false).map_err(|e| layer("mount_setattr")(io_errno(&e)))
}

fn open_source(entry: &Entry) -> Result<Source, Failed> {
    if entry.access == Access::Hidden {
        return Ok(Source::Nothing);
    }
    let path = &entry.target;
    if entry.copy.is_some() {
        let fd =
            exact(path, OFlags::RDONLY | OFlags::NONBLOCK).map_err(|e| not_as_planned("open", path, e))?;
        same(fd.as_fd(), entry)?;
        return Ok(Source::Copy(File::from(fd)));
    }
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_NO_AUTOMOUNT;
    if entry.dir {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    let place = exact(path, OFlags::PATH).map_err(|e| not_as_planned("bind", path, e))?;
    same(place.as_fd(), entry)?;
    let fd = rustix::mount::open_tree(&place, "", flags).map_err(|e| at("bind", path, e))?;
    let attributes = match entry.access {
        Access::Write | Access::WriteExec => NOSUID | NODEV,
        Access::Read | Access::ReadExec => RDONLY | NOSUID | NODEV,
        // Writing to a device is no change of the file system, so it works all the same.
        Access::Device | Access::Hidden => RDONLY | NOSUID | NOEXEC,
    };
    sys::mount_setattr(fd.as_fd(), attributes, entry.dir).map_err(|e| at("bind", path, io_errno(&e)))?;
    Ok(Source::Mount(fd))
}

/// Opens a canonical path name by name. A symlink on it appeared after the plan was made, and is an error: the planner's
/// own look at the path may already have gone through it.
pub(crate) fn exact(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let more = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = OFlags::PATH | OFlags::DIRECTORY;
    let mut at = rustix::fs::open("/", folder | more, Mode::empty())?;
    let mut names = path.components().filter(|part| *part != Component::RootDir).peekable();
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else { return Err(Errno::INVAL) };
        let flags = if names.peek().is_some() { folder } else { flags };
        at = rustix::fs::openat(&at, name, flags | more, Mode::empty())?;
    }
    Ok(at)
}

fn same(fd: BorrowedFd<'_>, entry: &Entry) -> Result<(), Failed> {
    let Some(identity) = entry.identity else { return Ok(()) };
    let stat = rustix::fs::fstat(fd).map_err(|e| at("compare", &entry.target, e))?;
    if (stat.st_dev, stat.st_ino) == identity { Ok(()) } else { Err(changed(&entry.target)) }
}

fn new_fs(name: &str, options: &[(&str, &str)], attributes: MountAttrFlags) -> Result<OwnedFd, Errno> {
    let context = rustix::mount::fsopen(name, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        rustix::mount::fsconfig_set_string(&context, *key, *value)?;
    }
    rustix::mount::fsconfig_create(&context)?;
    rustix::mount::fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn move_mount(mount: BorrowedFd<'_>, target: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    rustix::mount::move_mount(mount, "", target, "", flags)
}

fn new_root(job: &Job) -> Result<OwnedFd, Failed> {
    let fail = layer("a root of its own");
    let copies: u64 = job.entries.iter().filter(|e| e.copy.is_some()).map(copy_size).sum();
    let size = (job.temp_bytes + copies + (1 << 20)).to_string();
    let options = [("size", size.as_str()), ("nr_inodes", "65536"), ("mode", "0755")];
    let root = new_fs("tmpfs", &options, MountAttrFlags::empty()).map_err(&fail)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(&root, "", CWD, "/", flags).map_err(&fail)?;
    rustix::process::fchdir(&root).map_err(&fail)?;
    Ok(root)
}

fn copy_size(entry: &Entry) -> u64 {
    // Rounded up generously: the file system counts whole pages.
    std::fs::metadata(&entry.target).map_or(0, |meta| meta.len() + (64 << 10))
}

/// The folders, files and links that belong to no bind.
fn fill_root(job: &Job, root: &OwnedFd) -> Result<(), Failed> {
    let fail = layer("filling the private root");
    let private = Mode::RWXU;
    let open = Mode::from_raw_mode(0o755);
    for (path, mode) in [
        ("proc", open),
        ("dev", open),
        ("tmp", private),
        ("tmp/home", private),
        ("tmp/.shm", private),
        (".files", private),
    ] {
        rustix::fs::mkdirat(root, path, mode).map_err(&fail)?;
    }
    let links = [
        ("/proc/self/fd", "dev/fd"),
        ("/proc/self/fd/0", "dev/stdin"),
        ("/proc/self/fd/1", "dev/stdout"),
        ("/proc/self/fd/2", "dev/stderr"),
        ("urandom", "dev/random"),
        ("/tmp/.shm", "dev/shm"),
    ];
    for (text, path) in links {
        rustix::fs::symlinkat(text, root, path).map_err(&fail)?;
    }
    for (path, content) in &job.files {
        let parent = parent_fd(root, path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let name = path.file_name().unwrap_or_default();
        match rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o644)) {
            Ok(fd) => {
                use std::os::unix::ffi::OsStrExt as _;
                File::from(fd).write_all(content.as_bytes()).map_err(|e| fail(io_errno(&e)))?;
            }
            Err(errno) => return Err(fail(errno)),
        }
    }
    for (path, text) in &job.links {
        let parent = parent_fd(root, path)?;
        match rustix::fs::symlinkat(text, &parent, path.file_name().unwrap_or_default()) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(at("link", path, errno)),
        }
    }
    Ok(())
}

/// Opens a path of the new root, following no symlink.
fn open_inside(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// The folder of a path in the new root, made if it is missing. Nothing is ever made outside the file systems of memory.
fn parent_fd(root: &OwnedFd, path: &Path) -> Result<OwnedFd, Failed> {
    let parent = relative(path).parent().unwrap_or(Path::new(""));
    if parent.as_os_str().is_empty() {
        return root.try_clone().map_err(|e| layer("dup")(io_errno(&e)));
    }
    match open_inside(root.as_fd(), parent) {
        Ok(fd) => return Ok(fd),
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(at("target", path, errno)),
    }
    let mut dir = root.try_clone().map_err(|e| layer("dup")(io_errno(&e)))?;
    for part in parent.components() {
        let Component::Normal(name) = part else { return Err(at("target", path, Errno::INVAL)) };
        let name = Path::new(name);
        dir = match open_inside(dir.as_fd(), name) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => {
                own(root, &dir, path)?;
                rustix::fs::mkdirat(&dir, name, Mode::from_raw_mode(0o755))
                    .map_err(|e| at("target", path, e))?;
                open_inside(dir.as_fd(), name).map_err(|e| at("target", path, e))?
            }
            Err(errno) => return Err(at("target", path, errno)),
        };
    }
    Ok(dir)
}

/// Refuses to make something in a folder that is the host's.
fn own(root: &OwnedFd, dir: &OwnedFd, path: &Path) -> Result<(), Failed> {
    let device = |fd: &OwnedFd| rustix::fs::fstat(fd).map(|stat| stat.st_dev);
    let same = device(root).and_then(|a| Ok(a == device(dir)?)).map_err(|e| at("target", path, e))?;
    if same { Ok(()) } else { Err(changed(path)) }
}

fn attach(root: &OwnedFd, mount: &OwnedFd, entry: &Entry) -> Result<(), Failed> {
    let path = &entry.target;
    let target = match open_inside(root.as_fd(), relative(path)) {
        Ok(fd) => fd,
        Err(Errno::NOENT) => {
            let parent = parent_fd(root, path)?;
            own(root, &parent, path)?;
            let name = path.file_name().unwrap_or_default();
            if entry.dir {
                rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755))
            } else {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o444)).map(drop)
            }
            .map_err(|e| at("target", path, e))?;
            open_inside(parent.as_fd(), Path::new(name)).map_err(|e| at("target", path, e))?
        }
        // A symlink where the planner saw none.
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(changed(path)),
        Err(errno) => return Err(at("target", path, errno)),
    };
    move_mount(mount.as_fd(), target.as_fd()).map_err(|e| at("bind", path, e))
}

fn mount_proc(job: &Job, root: &OwnedFd) -> Result<(), Failed> {
    let fail = layer("a fresh /proc");
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let proc = new_fs("proc", &[], flags).map_err(&fail)?;
    let target = open_inside(root.as_fd(), Path::new("proc")).map_err(&fail)?;
    move_mount(proc.as_fd(), target.as_fd()).map_err(&fail)?;
    if job.root {
        // Root is not held by the user's process limit. Kernels without a limit of the namespace refuse or lack this;
        // the watchdog counts in any case.
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        if let Ok(fd) = rustix::fs::openat(&proc, "sys/kernel/pid_max", flags, Mode::empty()) {
            let _ = File::from(fd).write_all((301 + job.max_processes).to_string().as_bytes());
        }
    }
    read_only(proc.as_fd(), 0)
}

fn mount_temp(job: &Job, root: &OwnedFd, rules: &Rules) -> Result<(), Failed> {
    let fail = layer("a private /tmp");
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let temp = rustix::mount::open_tree(root, "tmp", flags).map_err(&fail)?;
    sys::mount_setattr(temp.as_fd(), NOSUID | NODEV, false).map_err(|e| fail(io_errno(&e)))?;
    let target = open_inside(root.as_fd(), Path::new("tmp")).map_err(&fail)?;
    move_mount(temp.as_fd(), target.as_fd()).map_err(&fail)?;
    let access = if job.temp_exec { Access::WriteExec } else { Access::Write };
    rules.allow(temp.as_fd(), access, true).map_err(|e| fail(io_errno(&e)))
}

/// An empty file or folder to put over what is hidden.
fn empty(root: &OwnedFd, number: usize, entry: &Entry, seal: &mut Vec<OwnedFd>) -> Result<OwnedFd, Failed> {
    let fail = |e| at("hide", &entry.target, e);
    let name = format!(".files/{number}");
    if entry.dir {
        rustix::fs::mkdirat(root, &name, Mode::from_raw_mode(0o555)).map_err(fail)?;
    } else {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        rustix::fs::openat(root, &name, flags, Mode::empty()).map_err(fail)?;
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let mount = rustix::mount::open_tree(root, &name, flags).map_err(fail)?;
    // Sealed at the end: a program of its own may still have to be shown inside.
    seal.push(mount.try_clone().map_err(|e| fail(io_errno(&e)))?);
    Ok(mount)
}

/// Copies a file into the private root while hashing it; what was hashed is what runs.
fn copy_file(root: &OwnedFd, number: usize, entry: &Entry, mut from: File) -> Result<OwnedFd, Failed> {
    let fail = |e| at("copy", &entry.target, e);
    let name = format!(".files/{number}");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(root, &name, flags, Mode::from_raw_mode(0o555)).map_err(fail)?;
    let mut to = File::from(fd);
    if hash_while(&mut from, |chunk| to.write_all(chunk)).map_err(|e| fail(io_errno(&e)))?
        != entry.copy.as_deref().unwrap_or_default()
    {
        return Err(changed(&entry.target));
    }
    drop(to);
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let mount = rustix::mount::open_tree(root, &name, flags).map_err(fail)?;
    sys::mount_setattr(mount.as_fd(), RDONLY | NOSUID | NODEV, false).map_err(|e| fail(io_errno(&e)))?;
    Ok(mount)
}

/// The SHA-256 of a file in hexadecimal, each part handed on as it is read.
pub(crate) fn hash_while(
    from: &mut File,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        let len = from.read(&mut buffer)?;
        let chunk = buffer.get(..len).unwrap_or_default();
        if chunk.is_empty() {
            return Ok(crate::sandbox::plan::hex(&hash.finalize()));
        }
        hash.update(chunk);
        each(chunk)?;
    }
}

/// Brings up the loopback device if the tool may use it, and gives the machine a name that says nothing.
pub(crate) fn name_and_network(job: &Job) -> Result<(), Failed> {
    rustix::system::sethostname(b"sandbox").map_err(layer("utsns"))?;
    if job.net == Net::Loopback {
        let fail = layer("netns");
        let socket =
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)
                .map_err(&fail)?;
        sys::loopback_up(socket.as_fd()).map_err(|e| fail(io_errno(&e)))?;
    }
    Ok(())
}
