//! The system-call filter: a balanced tree over ranges of numbers, so that no call walks a long list.
//!
//! A foreign architecture or the x32 bit ends the process. Arguments are compared as 32-bit words, which is what the
//! kernel uses of them. Calls that are newer than this table fail as if the kernel did not have them.

use super::job::Net;
use libc::{c_long, sock_filter};

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const ERRNO: u32 = 0x0005_0000;

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// The first number that this table does not know.
const FIRST_UNKNOWN: u32 = 470;

/// What the filter depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Which sockets can be made.
    pub net: Net,
    /// No mount namespace: calls that change metadata are denied, since Landlock does not see them.
    pub flat: bool,
    /// The program is toolctl itself, which opens paths with `openat2`, and nothing that it could start. The filter
    /// cannot see the mode of that call, so no other program may have it.
    pub own: bool,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Allow,
    Errno(i32),
    /// Denied if the argument has one of the bits.
    Bits {
        arg: u32,
        bits: u32,
        errno: i32,
    },
    /// Denied if the call creates a file with one of the bits in the argument after `flags`.
    Creates {
        flags: u32,
        bits: u32,
    },
    /// Denied if the argument is one of these values.
    Values {
        arg: u32,
        values: [u32; 5],
        errno: i32,
    },
    /// Allowed only if the argument is one of two values.
    Only {
        arg: u32,
        values: [u32; 2],
        errno: i32,
    },
    /// `socket` with a network: internet families, and netlink for routes.
    InetSocket,
    /// `socketpair`: stream and sequenced pairs of the local family. A datagram pair could send to any path.
    StreamPair,
}

const CLONE_NEW: u32 = 0x7e02_0080; // NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
const SET_ID: u32 = 0o6000;
/// `O_CREAT` and the bit of `O_TMPFILE`.
const CREATES: u32 = 0o100 | 0o20_000_000;

const ALWAYS_DENIED: &[c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    467,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Memory that the watchdog does not see.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_semget,
];

#[cfg(target_arch = "x86_64")]
const CREATE_MODULE: c_long = 174;
#[cfg(target_arch = "x86_64")]
const ALWAYS_DENIED_HERE: &[c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    CREATE_MODULE,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const ALWAYS_DENIED_HERE: &[c_long] = &[];

const METADATA: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    463,
    466,
    469,
];
#[cfg(target_arch = "x86_64")]
const METADATA_HERE: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const METADATA_HERE: &[c_long] = &[];

/// Every call that is not simply allowed.
fn table(shape: Shape) -> Vec<(u32, Act)> {
    let denied = ALWAYS_DENIED.iter().chain(ALWAYS_DENIED_HERE);
    let mut acts: Vec<(c_long, Act)> = denied.map(|nr| (*nr, Act::Errno(libc::EPERM))).collect();
    // TIOCSTI, TIOCLINUX, TIOCSETD; FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR, which need no descriptor open for writing.
    let ioctls = [0x5412, 0x541c, 0x5423, 0x4008_6602, 0x401c_5820];
    acts.extend([
        (libc::SYS_clone, Act::Bits { arg: 0, bits: CLONE_NEW, errno: libc::EPERM }),
        // Its flags lie behind a pointer; the C library falls back to clone.
        (libc::SYS_clone3, Act::Errno(libc::ENOSYS)),
        (libc::SYS_personality, Act::Only { arg: 0, values: [0, u32::MAX], errno: libc::EPERM }),
        (libc::SYS_ioctl, Act::Values { arg: 1, values: ioctls, errno: libc::EPERM }),
        (libc::SYS_socketpair, Act::StreamPair),
        (libc::SYS_socket, if shape.net == Net::None { Act::Errno(libc::EACCES) } else { Act::InetSocket }),
    ]);
    if !shape.own {
        acts.push((libc::SYS_openat2, Act::Errno(libc::ENOSYS)));
    }
    if shape.flat {
        let metadata = METADATA.iter().chain(METADATA_HERE);
        acts.extend(metadata.map(|nr| (*nr, Act::Errno(libc::EPERM))));
    } else {
        acts.extend(set_id_checks(&[
            (libc::SYS_fchmod, 1),
            (libc::SYS_fchmodat, 2),
            (libc::SYS_fchmodat2, 2),
        ]));
        #[cfg(target_arch = "x86_64")]
        acts.extend(set_id_checks(&[(libc::SYS_chmod, 1)]));
    }
    acts.push((libc::SYS_openat, Act::Creates { flags: 2, bits: SET_ID }));
    acts.extend(set_id_checks(&[(libc::SYS_mknodat, 2)]));
    #[cfg(target_arch = "x86_64")]
    {
        acts.push((libc::SYS_open, Act::Creates { flags: 1, bits: SET_ID }));
        acts.extend(set_id_checks(&[(libc::SYS_creat, 1), (libc::SYS_mknod, 1)]));
    }
    let mut acts: Vec<(u32, Act)> =
        acts.into_iter().filter_map(|(nr, act)| Some((u32::try_from(nr).ok()?, act))).collect();
    acts.sort_by_key(|(nr, _)| *nr);
    acts.dedup_by_key(|(nr, _)| *nr);
    acts
}

/// A file that root makes set-user-id would be a way up for everybody on the host.
fn set_id_checks(calls: &[(c_long, u32)]) -> Vec<(c_long, Act)> {
    calls.iter().map(|(nr, arg)| (*nr, Act::Bits { arg: *arg, bits: SET_ID, errno: libc::EPERM })).collect()
}

/// The whole space of numbers as ranges: where each starts and what happens in it.
fn ranges(table: &[(u32, Act)]) -> Vec<(u32, Act)> {
    let mut ranges: Vec<(u32, Act)> = vec![(0, Act::Allow)];
    let mut push = |start: u32, act: Act| match ranges.last_mut() {
        Some(last) if last.0 == start => last.1 = act,
        Some(last) if last.1 == act => {}
        Some(_) | None => ranges.push((start, act)),
    };
    for (nr, act) in table {
        push(*nr, *act);
        push(nr + 1, Act::Allow);
    }
    push(FIRST_UNKNOWN, Act::Errno(libc::ENOSYS));
    merge(ranges)
}

fn merge(ranges: Vec<(u32, Act)>) -> Vec<(u32, Act)> {
    let mut merged: Vec<(u32, Act)> = Vec::with_capacity(ranges.len());
    for range in ranges {
        if merged.last().is_none_or(|last| last.1 != range.1) {
            merged.push(range);
        }
    }
    merged
}

const fn code(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

const fn ret(value: u32) -> sock_filter {
    code(RETURN, 0, 0, value)
}

fn deny(errno: i32) -> sock_filter {
    ret(ERRNO | u32::try_from(errno).unwrap_or(1))
}

/// Loads the low word of an argument; both architectures are little-endian.
const fn load_arg(arg: u32) -> sock_filter {
    code(LOAD, 0, 0, 16 + 8 * arg)
}

fn leaf(act: Act) -> Vec<sock_filter> {
    let allow = ret(ALLOW);
    match act {
        Act::Allow => vec![allow],
        Act::Errno(errno) => vec![deny(errno)],
        Act::Bits { arg, bits, errno } => {
            vec![load_arg(arg), code(ANY_BIT, 0, 1, bits), deny(errno), allow]
        }
        // The mode counts only together with O_CREAT or O_TMPFILE; without them its register may hold anything.
        Act::Creates { flags, bits } => vec![
            load_arg(flags),
            code(ANY_BIT, 0, 3, CREATES),
            load_arg(flags + 1),
            code(ANY_BIT, 0, 1, bits),
            deny(libc::EPERM),
            allow,
        ],
        Act::Values { arg, values, errno } => {
            // Each match jumps over the later comparisons; the last one that fails jumps over the denial.
            let later = (0..u8::try_from(values.len()).unwrap_or(0)).rev();
            let compare =
                values.iter().zip(later).map(|(value, left)| code(EQUAL, left, u8::from(left == 0), *value));
            std::iter::once(load_arg(arg)).chain(compare).chain([deny(errno), allow]).collect()
        }
        Act::Only { arg, values: [a, b], errno } => {
            vec![load_arg(arg), code(EQUAL, 1, 0, a), code(EQUAL, 0, 1, b), allow, deny(errno)]
        }
        Act::InetSocket => vec![
            load_arg(0),
            code(EQUAL, 4, 0, 2),  // AF_INET
            code(EQUAL, 3, 0, 10), // AF_INET6
            code(EQUAL, 0, 3, 16), // AF_NETLINK
            load_arg(2),
            code(EQUAL, 0, 1, 0), // NETLINK_ROUTE
            allow,
            deny(libc::EACCES),
        ],
        Act::StreamPair => vec![
            load_arg(0),
            code(EQUAL, 0, 5, 1), // AF_UNIX
            load_arg(1),
            code(AND, 0, 0, 0xf),
            code(EQUAL, 1, 0, 1), // SOCK_STREAM
            code(EQUAL, 0, 1, 5), // SOCK_SEQPACKET
            allow,
            deny(libc::EACCES),
        ],
    }
}

fn search(ranges: &[(u32, Act)]) -> Vec<sock_filter> {
    let (left, right) = ranges.split_at(ranges.len() / 2);
    let (Some((pivot, _)), false) = (right.first(), left.is_empty()) else {
        return ranges.first().map(|(_, act)| leaf(*act)).unwrap_or_default();
    };
    let low = search(left);
    let high = search(right);
    let mut program = Vec::with_capacity(low.len() + high.len() + 2);
    if let Ok(skip) = u8::try_from(low.len()) {
        program.push(code(AT_LEAST, skip, 0, *pivot));
    } else {
        program.push(code(AT_LEAST, 0, 1, *pivot));
        program.push(code(JUMP, 0, 0, u32::try_from(low.len()).unwrap_or(u32::MAX)));
    }
    program.extend(low);
    program.extend(high);
    program
}

/// The filter of a tool.
pub(crate) fn filter(shape: Shape) -> Vec<sock_filter> {
    let mut program = vec![
        code(LOAD, 0, 0, 4),
        code(EQUAL, 1, 0, ARCH),
        ret(KILL),
        code(LOAD, 0, 0, 0),
        // The x32 interface of x86-64; on other machines no such number exists either.
        code(AT_LEAST, 0, 1, 0x4000_0000),
        ret(KILL),
    ];
    program.extend(search(&ranges(&table(shape))));
    program
}

#[cfg(test)]
mod tests;
