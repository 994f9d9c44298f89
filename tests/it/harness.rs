//! A throw-away project, and `toolctl` run in it as root or as an ordinary user.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Somebody who runs toolctl.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    pub(crate) name: &'static str,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

const USER: &str = "toolctl-test";

/// Whom the tests run as: root and an ordinary user if started by root, else the one that started them.
///
/// The ordinary user is made if it is missing. Tests that run as an ordinary user say so, since they then show half.
pub(crate) fn everybody() -> Vec<Who> {
    let (uid, gid) = {
        let meta = fs::metadata("/proc/self").unwrap();
        (meta.uid(), meta.gid())
    };
    if uid != 0 {
        eprintln!("skipped as root: the tests were started by uid {uid}");
        return vec![Who { name: "user", uid, gid }];
    }
    vec![Who { name: "root", uid: 0, gid: 0 }, ordinary()]
}

/// The ordinary user alone.
pub(crate) fn ordinary() -> Who {
    static IDS: OnceLock<(u32, u32)> = OnceLock::new();
    let (uid, gid) = *IDS.get_or_init(|| {
        let meta = fs::metadata("/proc/self").unwrap();
        if meta.uid() != 0 {
            return (meta.uid(), meta.gid());
        }
        find_user(USER).unwrap_or_else(|| {
            // Two test processes may try at once; whoever comes second finds the user.
            let _ = Command::new("useradd").args(["--create-home", USER]).stderr(Stdio::null()).status();
            find_user(USER).expect("the tests need `useradd` to make an ordinary user")
        })
    });
    Who { name: "user", uid, gid }
}

fn find_user(name: &str) -> Option<(u32, u32)> {
    fs::read_to_string("/etc/passwd").ok()?.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields[0] == name).then(|| (fields[2].parse().unwrap(), fields[3].parse().unwrap()))
    })
}

/// The binary, at a place where everybody may execute it.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &BINARY
        .get_or_init(|| {
            let dir = TempDir::with_prefix("toolctl-bin-").unwrap();
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let path = dir.path().join("toolctl");
            fs::copy(env!("CARGO_BIN_EXE_toolctl"), &path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            (dir, path)
        })
        .1
}

/// What a run of toolctl left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Ran {
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The one JSON document on stdout.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| {
            panic!("stdout is not one JSON document: {error}\n{}\n{}", self.out(), self.stderr)
        })
    }

    /// Asserts the exit code, showing everything if it is another.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "exit {:?} signal {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.code,
            self.signal,
            self.out(),
            self.stderr
        );
        self
    }

    /// Asserts that stderr holds a text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "stderr does not say `{text}`:\n{}", self.stderr);
        self
    }
}

/// A folder with a project in it, and a home for toolctl's own files beside it.
pub(crate) struct Project {
    pub(crate) who: Who,
    root: TempDir,
}

impl Project {
    /// An empty project of somebody.
    pub(crate) fn of(who: &Who) -> Self {
        let root = TempDir::with_prefix("toolctl-it-").unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let project = Self { who: who.clone(), root };
        for dir in ["project", "home"] {
            fs::create_dir(project.root.path().join(dir)).unwrap();
        }
        project.own(project.root.path());
        for dir in ["project", "home"] {
            project.own(&project.root.path().join(dir));
        }
        project
    }

    fn own(&self, path: &Path) {
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            std::os::unix::fs::lchown(path, Some(self.who.uid), Some(self.who.gid)).unwrap();
        }
    }

    /// The project's folder.
    pub(crate) fn dir(&self) -> PathBuf {
        self.root.path().join("project").canonicalize().unwrap()
    }

    /// The folder above it, outside of every sandbox.
    pub(crate) fn outside(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// Writes a file below the project.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        self.file_at(&self.dir().join(name), text)
    }

    /// Writes a file anywhere and gives it and its new folders to the user.
    pub(crate) fn file_at(&self, path: &Path, text: impl AsRef<[u8]>) -> &Self {
        let mut made = Vec::new();
        for dir in path.parent().unwrap().ancestors() {
            if dir.exists() {
                break;
            }
            made.push(dir.to_path_buf());
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for dir in made {
            self.own(&dir);
        }
        fs::write(path, text).unwrap();
        self.own(path);
        self
    }

    /// Writes a script below the project and makes it executable.
    pub(crate) fn script(&self, name: &str, text: &str) -> &Self {
        self.file(name, text);
        fs::set_permissions(self.dir().join(name), fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// The author vouches for the project.
    pub(crate) fn trusted(&self) -> &Self {
        self.run(["trust", "--author"]).expect(0);
        self
    }

    /// A command that runs toolctl in the project as its user, with a clean environment.
    pub(crate) fn command<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Command {
        self.program(binary(), args)
    }

    /// A shell line in the project, in which `toolctl` is the binary under test.
    pub(crate) fn shell(&self, line: &str) -> Command {
        self.program(Path::new("/bin/sh"), ["-c", line])
    }

    fn program<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, program: &Path, args: I) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary().parent().unwrap().display());
        command
            .args(args)
            .current_dir(self.dir())
            .env_clear()
            .env("PATH", path)
            .env("TOOLCTL_HOME", self.root.path().join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if fs::metadata("/proc/self").unwrap().uid() == 0 && self.who.uid != 0 {
            command.uid(self.who.uid).gid(self.who.gid);
        }
        // No controlling terminal: nobody can be asked.
        #[expect(unsafe_code, reason = "setsid between fork and exec is async-signal-safe")]
        // SAFETY: the closure makes one system call and touches no memory.
        unsafe {
            command.pre_exec(|| rustix::process::setsid().map(|_| ()).map_err(Into::into));
        }
        command
    }

    /// Runs toolctl in the project.
    #[track_caller]
    pub(crate) fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I) -> Ran {
        finish(self.command(args), None)
    }

    /// Runs toolctl in the project with something on stdin.
    #[track_caller]
    pub(crate) fn run_with<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(&self, args: I, stdin: &[u8]) -> Ran {
        finish(self.command(args), Some(stdin.to_vec()))
    }
}

/// Runs a prepared command to its end; a hang is a failure.
#[track_caller]
pub(crate) fn finish(mut command: Command, stdin: Option<Vec<u8>>) -> Ran {
    if stdin.is_some() {
        command.stdin(Stdio::piped());
    }
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    if let (Some(bytes), Some(mut pipe)) = (stdin, child.stdin.take()) {
        std::thread::spawn(move || {
            let _ = pipe.write_all(&bytes);
        });
    }
    let pid = child.id();
    let watchdog = std::thread::spawn({
        let limit = Duration::from_secs(60);
        move || {
            let end = Instant::now() + limit;
            while Instant::now() < end {
                if !Path::new(&format!("/proc/{pid}")).exists() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    });
    let output = child.wait_with_output().unwrap();
    let took = started.elapsed();
    drop(watchdog);
    Ran {
        code: output.status.code(),
        signal: output.status.signal(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took,
    }
}

/// Gives a path to the user of a project.
pub(crate) fn give(path: &Path, who: &Who) {
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        chown(path, Some(who.uid), Some(who.gid)).unwrap();
    }
}

/// How many processes have a text in their command line; used to prove that nothing survived.
pub(crate) fn processes_with(text: &str) -> usize {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|cmdline| String::from_utf8_lossy(cmdline).contains(text))
        .count()
}

/// A small C program of `tests/probes/NAME.c`, compiled once, at a place where everybody may execute it.
pub(crate) fn probe(name: &str) -> PathBuf {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    static BUILDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let dir = DIR.get_or_init(|| {
        let dir = TempDir::with_prefix("toolctl-probes-").unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        dir
    });
    let _guard = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let out = dir.path().join(name);
    if !out.exists() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/probes/{name}.c"));
        let status = Command::new("cc").args(["-O1", "-o"]).arg(&out).arg(source).status().unwrap();
        assert!(status.success(), "the probe {name} does not compile");
        fs::set_permissions(&out, fs::Permissions::from_mode(0o755)).unwrap();
    }
    out
}

/// Whether the tests can act as root.
pub(crate) fn started_by_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// How many rounds a race is tried: so many, or `RACE_TIMES` times that, which the nightly tests set.
pub(crate) fn times(rounds: usize) -> usize {
    let factor = std::env::var("RACE_TIMES").ok().and_then(|text| text.parse().ok());
    rounds * factor.unwrap_or(1).max(1)
}
