//! Machines that cannot give everything: nothing runs, and the reason is said. And the whole suite once more as an
//! ordinary user, if root runs it.

use super::kit::{Case, TOOLCTL, all, is_root, launcher, try_to};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};
use toolctl::sandbox::{Backend, BackendChoice, Launcher, SandboxError};

/// Set in a process of the tests that was started by another one.
const INNER: &str = "TOOLCTL_TEST_INNER";
/// A user that no other test and no account has, so that what it leaves behind is ours.
const USER: u32 = 61_234;

fn inner() -> Option<String> {
    std::env::var(INNER).ok()
}

/// Runs tests of this binary again, behind `prefix`.
fn again(prefix: &[&str], filter: &str, inner: &str, user: bool) -> Output {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = |from: &Path, name: &str| {
        let to = dir.path().join(name);
        std::fs::copy(from, &to).unwrap();
        to
    };
    let Launcher::Path(toolctl) = launcher() else { unreachable!("tests name the binary") };
    let tests = copy(&std::env::current_exe().unwrap(), "tests");
    let toolctl = copy(&toolctl, "toolctl");
    let mut words: Vec<&str> = prefix.to_vec();
    words.push(tests.to_str().unwrap());
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(filter).args(["--test-threads", "2"]);
    command.env(INNER, inner).env(TOOLCTL, toolctl).env_remove("TMPDIR");
    if user {
        command.uid(USER).gid(USER);
    }
    command.current_dir("/").output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn an_ordinary_user_gets_the_same() {
    if !is_root() || inner().is_some() {
        return;
    }
    let output = again(&[], "sandbox::", "user", true);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(leftovers(), Vec::<String>::new());
}

/// Temp folders and processes of the ordinary user that outlived its tests.
fn leftovers() -> Vec<String> {
    use std::os::unix::fs::MetadataExt as _;
    let theirs = |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|meta| meta.uid() == USER);
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let list = |dir: &str| std::fs::read_dir(dir).unwrap().flatten().filter(theirs).map(name);
    let folders = list("/tmp").filter(|name| name.starts_with("toolctl-"));
    let shared = list("/dev/shm");
    let processes = list("/proc").filter(|pid| {
        pid.parse::<u32>().is_ok()
            && std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
    });
    folders.chain(shared).chain(processes).collect()
}

/// Without user namespaces: `ns` is refused, `auto` falls back to what `flat` can hold, and refuses the rest.
#[test]
fn without_namespaces_nothing_is_pretended() {
    if inner().as_deref() == Some("no-userns") {
        let dir = tempfile::tempdir().unwrap();
        let marker = dir.path().join("marker");
        let touch = || Case::sh(&format!("echo >{}", marker.display())).rw(dir.path());
        let refused = touch().try_run();
        let Err(error @ SandboxError::Unavailable { .. }) = refused else { panic!("{refused:?}") };
        assert!(!error.ways_out().is_empty());
        let mut held_back = touch().backend(BackendChoice::Auto);
        held_back.protected.read_only = vec![dir.path().join("kept")];
        std::fs::write(dir.path().join("kept"), "x").unwrap();
        let refused = held_back.try_run();
        assert!(matches!(refused, Err(SandboxError::Unavailable { .. })), "{refused:?}");
        assert!(!marker.exists(), "nothing ran");
        let ended = touch().backend(BackendChoice::Auto).run();
        assert_eq!((ended.backend, ended.exit_code), (Backend::Flat, Some(0)), "{}", all(&ended));
        assert!(marker.exists());
        assert!(!toolctl::sandbox::probe_with(&launcher()).ns);
        return;
    }
    let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let prefix = ["/usr/bin/unshare", "-Ur", "/bin/sh", "-c", script, "sh"];
    let output =
        again(&prefix, "sandbox::closed::without_namespaces_nothing_is_pretended", "no-userns", false);
    assert!(output.status.success() && text(&output).contains("1 passed"), "{}", text(&output));
}

#[test]
fn the_probe_finds_what_works() {
    let report = toolctl::sandbox::probe_with(&launcher());
    assert!(report.ns && report.flat, "{report:?}");
}

#[test]
fn what_cannot_start_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plain");
    std::fs::write(&file, "x").unwrap();
    let result = Case::new(&file, &[]).plan();
    assert!(matches!(result, Err(SandboxError::ProgramMissing { .. })), "{result:?}");
    // Executable, and nothing that the kernel knows how to run.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let result = Case::new(&file, &[]).try_run();
    assert!(
        matches!(&result, Err(SandboxError::Exec { stage, errno: libc::ENOEXEC, .. }) if stage == "exec"),
        "{result:?}"
    );
    let result = try_to(&["pair"]).ro(dir.path().join("missing")).plan();
    assert!(matches!(&result, Err(SandboxError::BadRequest(text)) if text.contains("missing")), "{result:?}");
    for path in ["/", "/proc/self", "/dev", "/sys/kernel", "relative"] {
        assert!(matches!(try_to(&["pair"]).ro(path).plan(), Err(SandboxError::BadRequest(_))), "{path}");
    }
}

#[test]
fn root_is_told_whose_folder_it_is() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(dir.path(), Some(USER), Some(USER)).unwrap();
    let result = try_to(&["pair"]).rw(dir.path()).plan();
    assert!(
        matches!(&result, Err(SandboxError::BadRequest(text)) if text.contains("belongs to")),
        "{result:?}"
    );
}

/// A toolctl that is killed takes the tool with it.
#[test]
fn a_killed_parent_takes_all_with_it() {
    if let Some(mode) = inner().filter(|mode| mode.starts_with("killed:")) {
        let beat = mode.trim_start_matches("killed:").to_owned();
        let (backend, beat) = beat.split_once(':').unwrap();
        let script = format!("while :; do echo x >>{beat}; sleep 0.05; done");
        let case = Case::sh(&script).rw(Path::new(beat).parent().unwrap());
        let case = match backend {
            "ns" => case,
            "flat" => case.backend(BackendChoice::Flat),
            _ => case.off(),
        };
        case.run();
        return;
    }
    for backend in ["ns", "flat", "off"] {
        let dir = tempfile::tempdir().unwrap();
        let beat = dir.path().join("beat");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["sandbox::closed::a_killed_parent_takes_all_with_it", "--test-threads", "1"])
            .env(INNER, format!("killed:{backend}:{}", beat.display()))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let size = || std::fs::metadata(&beat).map_or(0, |meta| meta.len());
        let begin = std::time::Instant::now();
        while size() == 0 && begin.elapsed().as_secs() < 10 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(size() > 0, "{backend}: the tool ran");
        child.kill().unwrap();
        child.wait().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        let then = size();
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(size(), then, "{backend}: the tool is gone");
        let prefix = format!("toolctl-{}-", child.id());
        let folders = std::fs::read_dir("/tmp").unwrap().flatten();
        let left = folders.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count();
        assert_eq!(left, 0, "{backend}: its temp folder is gone");
    }
}
