//! The kernel's surface: what a tool must not be able to call, whoever started it.

use super::kit::{BOTH, Case, NS, all, denied, is_root, out, probe, try_to};
use std::fs;
use toolctl::model::AllowNetwork;
use toolctl::sandbox::{Backend, BackendChoice, EndCause};

/// What the filter answers, and what an ordinary caller would be told for the same arguments.
#[test]
fn dangerous_calls_are_denied() {
    let table: &[(libc::c_long, &[&str], i32)] = &[
        (libc::SYS_ptrace, &["0", "0", "0", "0"], libc::EPERM),
        (libc::SYS_unshare, &["0x10000000"], libc::EPERM),
        (libc::SYS_clone3, &["0", "0"], libc::ENOSYS),
        (libc::SYS_setns, &["-1", "0"], libc::EPERM),
        (libc::SYS_chroot, &["s:/nonexistent"], libc::EPERM),
        (libc::SYS_mount, &["s:x", "s:/nonexistent", "s:tmpfs", "0", "0"], libc::EPERM),
        (libc::SYS_open_tree, &["-100", "s:/nonexistent", "0"], libc::EPERM),
        (libc::SYS_move_mount, &["-1", "s:", "-1", "s:", "0"], libc::EPERM),
        (libc::SYS_mount_setattr, &["-1", "s:", "0", "0", "0"], libc::EPERM),
        (libc::SYS_pivot_root, &["s:/nonexistent", "s:/nonexistent"], libc::EPERM),
        (libc::SYS_open_by_handle_at, &["-1", "0", "0"], libc::EPERM),
        (libc::SYS_name_to_handle_at, &["-100", "s:/", "0", "0", "0"], libc::EPERM),
        (libc::SYS_keyctl, &["0", "-3", "0"], libc::EPERM),
        (libc::SYS_bpf, &["-1", "0", "0"], libc::EPERM),
        (libc::SYS_perf_event_open, &["0", "0", "-1", "-1", "0"], libc::EPERM),
        (libc::SYS_userfaultfd, &["1"], libc::EPERM),
        (libc::SYS_pidfd_getfd, &["-1", "0", "0"], libc::EPERM),
        (libc::SYS_memfd_create, &["s:x", "0"], libc::EPERM),
        (libc::SYS_shmget, &["0", "4096", "0x3b6"], libc::EPERM),
        (libc::SYS_personality, &["0x40000"], libc::EPERM),
        (libc::SYS_ioctl, &["0", "0x5412", "0"], libc::EPERM),
        (libc::SYS_ioctl, &["0", "0x100005412", "0"], libc::EPERM),
        (libc::SYS_ioctl, &["0", "0x541c", "0"], libc::EPERM),
        (600, &[], libc::ENOSYS),
    ];
    for (nr, args, errno) in table {
        let nr = nr.to_string();
        let mut words = vec!["sys", nr.as_str()];
        words.extend(*args);
        let expected = format!("errno {errno}\n");
        for backend in BOTH {
            let ended = try_to(&words).backend(backend).run();
            assert_eq!(out(&ended), expected, "{words:?} {}", all(&ended));
        }
        // An ordinary user is refused some of these anyway, so only root's run tells the filter's work apart.
        if is_root() && nr != "600" {
            assert_ne!(out(&try_to(&words).off().run()), expected, "{words:?}");
        }
    }
}

#[test]
fn foreign_interfaces_end_the_tool() {
    for backend in BOTH {
        for kind in ["i386", "x32"] {
            let ended = try_to(&["foreign", kind]).backend(backend).run();
            assert_eq!((ended.cause, ended.signal), (EndCause::ForeignAbi, Some(31)), "{}", all(&ended));
        }
    }
    assert!(out(&try_to(&["foreign", "i386"]).off().run()).starts_with("returned"));
}

#[test]
fn nothing_of_the_parent_is_seen() {
    let me = std::process::id().to_string();
    let env = format!("/proc/{me}/environ");
    denied(&BOTH, || try_to(&["read", &env]));
    let status = format!("/proc/{me}/status");
    denied(&NS, || try_to(&["read", &status]));
    for file in ["environ", "mem", "maps", "auxv"] {
        let ended = try_to(&["read", &format!("/proc/1/{file}")]).run();
        assert_eq!(ended.exit_code, Some(1), "{file} {}", all(&ended));
    }
    // The helper and the shell itself.
    let visible = Case::sh("echo /proc/[0-9]*").run();
    assert_eq!(out(&visible), "/proc/1 /proc/2\n");
    denied(&BOTH, || try_to(&["vmread"]));
}

#[test]
fn the_kernel_is_not_steered() {
    let files = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"];
    for file in files {
        for backend in BOTH {
            let ended = try_to(&["write", file]).backend(backend).run();
            assert_eq!(ended.exit_code, Some(1), "{file} {}", all(&ended));
        }
    }
    if is_root() {
        denied(&BOTH, || try_to(&["write", "/proc/sys/kernel/core_pattern"]));
    }
    for backend in BOTH {
        let ended = Case::sh("echo 500 >/proc/self/oom_score_adj").backend(backend).run();
        assert_ne!(ended.exit_code, Some(0), "{}", all(&ended));
        let ended = Case::sh("ls /sys/fs/cgroup").backend(backend).run();
        assert_ne!(ended.exit_code, Some(0), "{}", all(&ended));
    }
}

#[test]
fn no_power_is_left() {
    for backend in BOTH {
        let ended = Case::new(
            "/bin/grep",
            &["-E", "^(CapEff|CapPrm|CapAmb|NoNewPrivs|Seccomp):", "/proc/self/status"],
        )
        .ro("/usr")
        .backend(backend)
        .run();
        if backend == BackendChoice::Ns {
            let zero = "0000000000000000";
            let text = out(&ended);
            for line in [format!("CapPrm:\t{zero}"), format!("CapEff:\t{zero}"), format!("CapAmb:\t{zero}")] {
                assert!(text.contains(&line), "{}", all(&ended));
            }
            assert!(text.contains("NoNewPrivs:\t1") && text.contains("Seccomp:\t2"), "{}", all(&ended));
        }
        let limit = Case::sh("ulimit -c; ulimit -Hc; ulimit -n 100000 || echo no").backend(backend).run();
        assert_eq!(out(&limit), "0\n0\nno\n", "{}", all(&limit));
    }
    if is_root() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("other");
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::chown(&file, Some(12345), Some(12345)).unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let path = file.to_str().unwrap();
        denied(&BOTH, || try_to(&["read", path]).ro(dir.path()));
    }
}

#[test]
fn a_tool_cannot_type_or_reach_out_by_signals() {
    for backend in BOTH {
        let ended = try_to(&["killall"]).backend(backend).run();
        assert_eq!((ended.cause, out(&ended).as_str()), (EndCause::Exit, "sent\n"), "{}", all(&ended));
    }
}

#[test]
fn descriptors_variables_and_arguments_are_exact() {
    let secret = fs::File::open("/etc/passwd").unwrap();
    let leaked = rustix::io::fcntl_dupfd_cloexec(&secret, 50).unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    for case in [
        try_to(&["descriptors"]),
        try_to(&["descriptors"]).backend(BackendChoice::Flat),
        try_to(&["descriptors"]).off(),
    ] {
        let ended = case.run();
        assert_eq!(out(&ended), "0 1 2 \n", "{}", all(&ended));
    }
    for backend in [Backend::Ns, Backend::Flat, Backend::None] {
        let mut case = Case::new("/usr/bin/env", &[]);
        case.env = vec![("A".into(), "1".into()), ("EMPTY".into(), "".into()), ("A".into(), "2".into())];
        case = match backend {
            Backend::Ns => case,
            Backend::Flat => case.backend(BackendChoice::Flat),
            Backend::None => case.off(),
        };
        let text = out(&case.run());
        let mut names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
        names.sort_unstable();
        assert_eq!(names, ["A", "EMPTY", "HOME", "LANG", "PATH", "TMPDIR"], "{text}");
        assert!(text.contains("A=2\n"));
    }
    let odd = ["; rm -rf x", "$(id)", "--flag", "a b", "\n", ""];
    let ended = Case::new("/usr/bin/printf", &[&["<%s>"], &odd[..]].concat()).run();
    assert_eq!(out(&ended), format!("<{}>", odd.join("><")));
    let nul = Case::new(probe(), &["a\0b"]).plan();
    assert!(nul.is_err());
    let loader = Case { env: vec![("LD_PRELOAD".into(), "x".into())], ..Case::sh("true") };
    assert!(loader.plan().is_err());
}

#[test]
fn signals_and_mask_are_the_usual() {
    for case in [Case::sh(""), Case::sh("").backend(BackendChoice::Flat), Case::sh("").off()] {
        let mut case = case.set(|_| {});
        // `yes` ends with SIGPIPE only if that is not ignored.
        case.argv =
            ["/bin/sh", "-c", "umask; yes | head -1; yes 2>&1 | true; echo done"].map(Into::into).to_vec();
        let ended = case.run();
        assert_eq!(out(&ended), "0022\ny\ndone\n", "{}", all(&ended));
    }
    let status = Case::new("/bin/grep", &["-E", "^Sig(Blk|Ign):", "/proc/self/status"]).run();
    let zero = "0000000000000000";
    assert_eq!(out(&status), format!("SigBlk:\t{zero}\nSigIgn:\t{zero}\n"));
    let name = Case::sh("uname -n").network(AllowNetwork::No).run();
    assert_eq!(out(&name), "sandbox\n");
}
