//! Files: what is hidden, what stays as it is, what can be changed.

use super::kit::{BOTH, Case, NS, all, allowed, denied, out, probe, try_to};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use toolctl::model::{AllowFs, Effect, EffectSet};
use toolctl::sandbox::{BackendChoice, EndCause, SandboxError};

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// `secret` is bound nowhere, `ro` and `rw` are.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["secret", "ro", "rw"] {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("file"), format!("content of {name}")).unwrap();
        }
        Self { dir }
    }

    fn at(&self, path: &str) -> String {
        self.dir.path().join(path).to_str().unwrap().to_owned()
    }

    fn case(&self, args: &[&str]) -> Case {
        try_to(args).ro(self.at("ro")).rw(self.at("rw"))
    }
}

fn number(nr: libc::c_long) -> String {
    nr.to_string()
}

#[test]
fn hidden_files_cannot_be_read_or_changed() {
    let place = Place::new();
    let file = place.at("secret/file");
    denied(&BOTH, || place.case(&["read", &file]));
    denied(&BOTH, || place.case(&["write", &file]));
    let before = fs::metadata(&file).unwrap();
    let path = format!("s:{file}");
    let fixed = ["-100", &path];
    for (nr, args) in [
        (libc::SYS_fchmodat, vec![fixed[0], fixed[1], "0777"]),
        (libc::SYS_utimensat, vec![fixed[0], fixed[1], "0", "0"]),
        (libc::SYS_setxattr, vec![&path, "s:user.x", "s:v", "1", "0"]),
    ] {
        let nr = number(nr);
        for backend in BOTH {
            let mut all_args = vec!["sys", &nr];
            all_args.extend(&args);
            let ended = place.case(&all_args).backend(backend).run();
            assert_eq!(ended.exit_code, Some(1), "{nr} {backend:?} {}", all(&ended));
        }
    }
    let after = fs::metadata(&file).unwrap();
    assert_eq!((before.mode(), before.mtime_nsec()), (after.mode(), after.mtime_nsec()));
    let nr = number(libc::SYS_fchmodat);
    denied(&BOTH, || place.case(&["sys", &nr, "-100", &path, "0777"]));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o777, "the control changed it");
}

#[test]
fn hidden_files_do_not_exist() {
    let place = Place::new();
    let nr = number(libc::SYS_faccessat);
    let path = format!("s:{}", place.at("secret/file"));
    let ended = place.case(&["sys", &nr, "-100", &path, "0"]).run();
    assert_eq!(out(&ended), "errno 2\n", "{}", all(&ended));
    denied(&NS, || place.case(&["sys", &nr, "-100", &path, "0"]));
}

#[test]
fn read_only_stays_as_it_is() {
    let place = Place::new();
    let at = |path: &str| place.at(path);
    let file = format!("s:{}", at("ro/file"));
    let fresh = format!("s:{}", at("ro/fresh"));
    let moved = format!("s:{}", at("rw/moved"));
    let open = format!("f:{}", at("ro/file"));
    let n = number;
    for args in [
        vec!["write".to_owned(), at("ro/file")],
        vec!["create".to_owned(), at("ro/made")],
        vec!["sys".into(), n(libc::SYS_fchmodat), "-100".into(), file.clone(), "0600".into()],
        vec!["sys".into(), n(libc::SYS_fchmod), open.clone(), "0600".into()],
        vec!["sys".into(), n(libc::SYS_utimensat), "-100".into(), file.clone(), "0".into(), "0".into()],
        vec!["sys".into(), n(libc::SYS_truncate), file.clone(), "0".into()],
        vec!["sys".into(), n(libc::SYS_mkdirat), "-100".into(), fresh.clone(), "0700".into()],
        vec![
            "sys".into(),
            n(libc::SYS_mknodat),
            "-100".into(),
            format!("{fresh}f"),
            "010600".into(),
            "0".into(),
        ],
        vec!["sys".into(), n(libc::SYS_symlinkat), "s:x".into(), "-100".into(), format!("{fresh}l")],
        vec![
            "sys".into(),
            n(libc::SYS_linkat),
            "-100".into(),
            file.clone(),
            "-100".into(),
            moved.clone(),
            "0".into(),
        ],
        vec!["sys".into(), n(libc::SYS_unlinkat), "-100".into(), format!("{fresh}f"), "0".into()],
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        denied(&BOTH, || place.case(&args));
    }
    let rename = n(libc::SYS_renameat);
    denied(&BOTH, || place.case(&["sys", &rename, "-100", &file, "-100", &moved]));
}

#[test]
fn read_write_changes_the_host() {
    let place = Place::new();
    for backend in BOTH {
        let path = place.at("rw/made");
        allowed(&[backend], || place.case(&["create", &path]));
        let meta = fs::metadata(&path).unwrap();
        assert_eq!(meta.uid(), rustix::process::geteuid().as_raw());
        assert_eq!(meta.permissions().mode() & 0o777, 0o644, "umask");
        fs::remove_file(&path).unwrap();
    }
    // Without a decided write, the same folder is only looked at.
    denied(&BOTH, || {
        let path = place.at("rw/file");
        let mut case = place.case(&["write", &path]);
        case.effects = EffectSet::of(Effect::Read);
        case.read_only.append(&mut case.read_write);
        case
    });
}

#[test]
fn links_lead_nowhere_new() {
    let place = Place::new();
    std::os::unix::fs::symlink(place.at("secret/file"), place.at("rw/link")).unwrap();
    let link = place.at("rw/link");
    denied(&BOTH, || place.case(&["read", &link]));
    // A link in the request itself shows its target and nothing beside it.
    std::os::unix::fs::symlink(place.at("secret"), place.at("named")).unwrap();
    let named = place.at("named/file");
    allowed(&BOTH, || try_to(&["read", &named]).ro(place.at("named")));
}

#[test]
fn a_swapped_folder_is_refused() {
    let place = Place::new();
    let plan = place.case(&["read", &place.at("ro/file")]).plan().unwrap();
    fs::rename(place.at("ro"), place.at("old")).unwrap();
    std::os::unix::fs::symlink(place.at("secret"), place.at("ro")).unwrap();
    let result = toolctl::sandbox::run(plan, toolctl::sandbox::Stdin::Null, None);
    assert!(matches!(result, Err(SandboxError::Changed { .. } | SandboxError::BadRequest(_))), "{result:?}");
}

#[test]
fn narrower_inside_wider_holds() {
    let place = Place::new();
    fs::create_dir_all(place.at("rw/a/b")).unwrap();
    fs::write(place.at("rw/a/b/kept"), "kept").unwrap();
    let case = |script: &str| Case::sh(script).rw(place.at("rw")).ro(place.at("rw/a/b")).set(|_| {});
    let script = format!(
        "cd {} && (echo x >a/b/kept; mv a/b a/c; mv a z; rm -rf a/b; echo fine >a/new) 2>/dev/null; cat a/new",
        place.at("rw")
    );
    let ended = case(&script).run();
    assert_eq!(out(&ended), "fine\n", "{}", all(&ended));
    assert_eq!(fs::read_to_string(place.at("rw/a/b/kept")).unwrap(), "kept");
    let flat = case("true").backend(BackendChoice::Flat).plan();
    assert!(matches!(flat, Err(SandboxError::Unavailable { .. })), "{flat:?}");
    assert!(matches!(case("true").off().run().cause, EndCause::Exit));
    let control = Case::sh(&script).off().run();
    assert!(!Path::new(&place.at("rw/a/b")).exists(), "the control moved it: {}", all(&control));
}

#[test]
fn control_files_hold() {
    let place = Place::new();
    let git = place.at("rw/.git");
    fs::create_dir_all(format!("{git}/hooks")).unwrap();
    fs::write(format!("{git}/config"), "old").unwrap();
    fs::write(place.at("rw/state"), "hidden").unwrap();
    let case = |script: &str| {
        let mut case = Case::sh(script).rw(place.at("rw"));
        case.cwd = Some(place.at("rw").into());
        case.protected.read_only = vec![format!("{git}/config").into(), format!("{git}/hooks").into()];
        case.protected.hidden = vec![place.at("rw/state").into()];
        case.protected.absent = vec![place.at("rw/.envrc").into(), place.at("rw/.vscode").into()];
        case.masks = vec![place.at("rw/file").into()];
        case
    };
    let attack = "(mv .git x; mv .git/config c; echo new >.git/config; echo x >.git/hooks/p; cat state; cat file; \
                  rm -f state; rm -rf .git) 2>/dev/null; touch .git/index && echo usable; echo x >.envrc";
    let ended = case(attack).run();
    assert_eq!(out(&ended), "usable\n", "{}", all(&ended));
    assert_eq!(fs::read_to_string(format!("{git}/config")).unwrap(), "old");
    assert_eq!(fs::read_dir(format!("{git}/hooks")).unwrap().count(), 0);
    assert_eq!(fs::read_to_string(place.at("rw/state")).unwrap(), "hidden");
    assert_eq!(ended.created, [std::path::PathBuf::from(place.at("rw/.envrc"))]);
    let flat = case("true").backend(BackendChoice::Flat).plan();
    assert!(matches!(flat, Err(SandboxError::Unavailable { .. })), "{flat:?}");
    fs::remove_file(place.at("rw/.envrc")).unwrap();
    let control = case(attack).off().run();
    assert!(!Path::new(&format!("{git}/config")).exists(), "the control did it: {}", all(&control));
}

#[test]
fn a_bind_of_hidden_things_is_refused() {
    let place = Place::new();
    let mut case = place.case(&["read", "x"]);
    case.protected.hidden = vec![place.at("ro").into()];
    assert!(matches!(case.plan(), Err(SandboxError::BadRequest(_))));
    let mut case = place.case(&["write", &place.at("rw/file")]);
    case.protected.read_only = vec![place.at("rw").into()];
    let ended = case.run();
    assert_eq!(ended.exit_code, Some(1), "{}", all(&ended));
}

#[test]
fn the_system_stays_as_it_is() {
    let script = "for f in /x /etc/x /usr/x /dev/x /proc/x /bin/x; do (echo x >$f) 2>/dev/null && echo $f; done; \
                  mknod /tmp/null c 1 3 2>/dev/null && echo node; true";
    for backend in BOTH {
        let ended = Case::sh(script).backend(backend).run();
        assert_eq!(out(&ended), "", "{backend:?} {}", all(&ended));
        assert_eq!(ended.exit_code, Some(0));
    }
    let control = Case::sh("echo x >$TMPDIR/x && echo fine").off().run();
    assert_eq!(out(&control), "fine\n");
}

#[test]
fn temp_is_private_and_bounded() {
    let name = format!("toolctl-test-{}", std::process::id());
    let ended = Case::sh(&format!("echo x >/tmp/{name} && echo x >/dev/shm/{name} && ls /tmp")).run();
    assert_eq!(out(&ended), format!("home\n{name}\n"), "{}", all(&ended));
    assert!(!Path::new("/tmp").join(&name).exists() && !Path::new("/dev/shm").join(&name).exists());
    let full =
        Case::sh("head -c 100000000 /dev/zero >/tmp/big; echo $?").set(|c| c.max_memory_mb = Some(64)).run();
    assert_eq!(out(&full), "1\n", "{}", all(&full));
    assert!(String::from_utf8_lossy(&full.stderr).contains("No space left"), "{}", all(&full));
}

#[test]
fn a_file_has_a_size_limit() {
    let place = Place::new();
    for backend in BOTH {
        let target = place.at("rw/big");
        let mut case = Case::new("/usr/bin/head", &["-c", "5000000", "/dev/zero"]).rw(place.at("rw"));
        case = case.set(|c| c.max_file_size_mb = Some(2));
        // The probe's descriptor must be a file of its own, so a shell redirects.
        let mut shell = Case::sh(&format!("exec head -c 5000000 /dev/zero >{target}"));
        shell.config = case.config;
        shell.read_write = case.read_write;
        let ended = shell.backend(backend).run();
        assert_eq!(ended.cause, EndCause::FileSize, "{backend:?} {}", all(&ended));
        assert_eq!(fs::metadata(&target).unwrap().len(), 2 << 20);
    }
}

#[test]
fn the_whole_tree_without_its_controls() {
    let place = Place::new();
    let script = format!(
        "cat {}; ls /sys /proc/1/root 2>&1 | head -3; test -e /home && echo home; echo x >/proc/sys/kernel/core_pattern",
        place.at("ro/file")
    );
    let mut case = Case::sh(&script).set(|c| c.allow_fs = Some(AllowFs::All));
    case.workspace = place.dir.path().into();
    let before = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    let ended = case.run();
    let text = out(&ended);
    assert!(text.starts_with("content of ro") && text.contains("home"), "{}", all(&ended));
    assert!(text.contains("No such file") && ended.exit_code != Some(0), "{}", all(&ended));
    assert_eq!(before, fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap());
}

#[test]
fn only_declared_programs_run() {
    let place = Place::new();
    let program = place.at("rw/probe");
    fs::copy(probe(), &program).unwrap();
    let script = format!("{program} pair");
    for backend in BOTH {
        let ended = Case::sh(&script).rw(place.at("rw")).backend(backend).run();
        assert_eq!(ended.exit_code, Some(126), "{backend:?} {}", all(&ended));
        let mut case = Case::sh(&script).rw(place.at("rw")).backend(backend);
        case.effects = case.effects.with(Effect::Execute);
        assert_eq!(out(&case.run()), "ok\n");
    }
}

#[test]
fn set_id_bits_cannot_be_planted() {
    let place = Place::new();
    let path = format!("s:{}", place.at("rw/file"));
    let nr = number(libc::SYS_fchmodat);
    denied(&BOTH, || place.case(&["sys", &nr, "-100", &path, "04755"]));
}

#[test]
fn what_was_hashed_is_what_runs() {
    let place = Place::new();
    let program = place.at("tool");
    fs::write(&program, "#!/bin/sh\necho first\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o777)).unwrap();
    for backend in BOTH {
        let ended = Case::new(&program, &[]).backend(backend).run();
        assert_eq!(out(&ended), "first\n", "{}", all(&ended));
        assert_eq!(ended.digests.len(), 1);
        let plan = Case::new(&program, &[]).backend(backend).plan().unwrap();
        fs::write(&program, "#!/bin/sh\necho second\n").unwrap();
        let result = toolctl::sandbox::run(plan, toolctl::sandbox::Stdin::Null, None);
        assert!(matches!(result, Err(SandboxError::Changed { .. })), "{result:?}");
        fs::write(&program, "#!/bin/sh\necho first\n").unwrap();
    }
}

#[test]
fn a_missing_interpreter_is_named() {
    let place = Place::new();
    let program = place.at("tool");
    for (line, named) in [("#!/nonexistent/python\n", "/nonexistent/python"), ("#!/bin/sh\n", "")] {
        fs::write(&program, line).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let result = Case::new(&program, &[]).plan();
        match result {
            Err(SandboxError::ProgramMissing { path, .. }) => assert_eq!(path, named),
            other => assert!(named.is_empty() && other.is_ok(), "{other:?}"),
        }
    }
}

/// A folder that is swapped for a link while runs start is never followed.
#[test]
fn a_race_is_never_won() {
    let place = Place::new();
    fs::create_dir(place.at("spare")).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (ro, spare, secret) = (place.at("ro"), place.at("spare/ro"), place.at("secret"));
    let path = place.at("ro/file");
    let mut seen = 0;
    let mut leaked = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&ro, &spare).unwrap();
                std::os::unix::fs::symlink(&secret, &ro).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(200));
                fs::remove_file(&ro).unwrap();
                fs::rename(&spare, &ro).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(700));
            }
        });
        for round in 0..crate::harness::times(150) {
            let backend = BOTH[round % 2];
            // The plan is made while the folder is the folder, as a caller that checked it would.
            let Ok(plan) = try_to(&["read", &path]).ro(&ro).backend(backend).plan() else { continue };
            if plan.report().mounts.iter().any(|mount| mount.path == Path::new(&secret)) {
                continue;
            }
            let Ok(ended) = toolctl::sandbox::run(plan, toolctl::sandbox::Stdin::Null, None) else {
                continue;
            };
            leaked.extend(out(&ended).contains("content of secret").then(|| all(&ended)));
            seen += usize::from(out(&ended).contains("content of ro"));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(leaked.is_empty(), "{leaked:?}");
    assert!(seen > 0, "some runs won");
}

#[test]
fn two_runs_do_not_meet() {
    let one = || Case::sh("echo mine >/tmp/x; sleep 0.3; ls /tmp; cat /tmp/x; echo /proc/[0-9]*");
    let outputs: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(move || out(&one().run()))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(outputs, ["home\nx\nmine\n/proc/1 /proc/2\n"; 2]);
}

/// A declared prefix is enough for the interpreter that the tool's own first line names, and for nothing else in it.
#[test]
fn the_named_interpreter_of_a_bound_prefix_runs() {
    let place = Place::new();
    let interpreter = place.at("ro/interpreter");
    fs::copy("/bin/sh", &interpreter).unwrap();
    fs::copy("/bin/true", place.at("ro/other")).unwrap();
    let program = place.at("tool");
    fs::write(&program, format!("#!{interpreter}\necho ran; {}; echo $?\n", place.at("ro/other"))).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for backend in BOTH {
        let ended = Case::new(&program, &[]).ro(place.at("ro")).backend(backend).run();
        assert_eq!(out(&ended), "ran\n126\n", "{backend:?} {}", all(&ended));
        let result = Case::new(&program, &[]).backend(backend).plan();
        let Err(error @ SandboxError::ProgramMissing { .. }) = result else { panic!("{result:?}") };
        assert!(error.ways_out().iter().any(|way| way.contains(&place.at("ro"))), "{error:?}");
    }
}
