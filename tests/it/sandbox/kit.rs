//! What the tests of the sandbox share: plans in one line, the users to run as.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use toolctl::model::{AllowFs, AllowNetwork, Effect, EffectSet, SandboxConfig};
use toolctl::sandbox::{
    BackendChoice, Ended, Launcher, Plan, PlanInput, Program, Protected, SandboxError, Stdin, run,
};
use toolctl::world::HostWorld;

/// A run to be made.
pub(crate) struct Case {
    pub(crate) config: Option<SandboxConfig>,
    pub(crate) backend: BackendChoice,
    pub(crate) effects: EffectSet,
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) read_write: Vec<PathBuf>,
    pub(crate) workspace: PathBuf,
    pub(crate) program: Program,
    pub(crate) argv: Vec<OsString>,
    pub(crate) scripts: Vec<PathBuf>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) protected: Protected,
    pub(crate) masks: Vec<PathBuf>,
    pub(crate) stdin: Stdin,
}

impl Case {
    pub(crate) fn new(program: impl AsRef<Path>, args: &[&str]) -> Self {
        let program = program.as_ref().canonicalize().unwrap();
        let words = std::iter::once(program.clone().into_os_string())
            .chain(args.iter().map(OsString::from))
            .collect();
        Self {
            config: Some(SandboxConfig {
                timeout: Some(Duration::from_secs(20)),
                allow_fs: Some(AllowFs::Paths { read_only: Vec::new(), read_write: Vec::new() }),
                ..SandboxConfig::default()
            }),
            backend: BackendChoice::Ns,
            effects: EffectSet::of(Effect::Read).with(Effect::Write),
            read_only: Vec::new(),
            read_write: Vec::new(),
            workspace: PathBuf::from("/nonexistent"),
            program: Program::HostFile(program),
            argv: words,
            scripts: Vec::new(),
            env: Vec::new(),
            cwd: None,
            protected: Protected::default(),
            masks: Vec::new(),
            stdin: Stdin::Null,
        }
    }

    /// `/bin/sh -c script`.
    pub(crate) fn sh(script: &str) -> Self {
        Self::new("/bin/sh", &["-c", script])
    }

    pub(crate) fn backend(mut self, backend: BackendChoice) -> Self {
        self.backend = backend;
        self
    }

    /// The positive control: the same without a sandbox.
    pub(crate) fn off(mut self) -> Self {
        self.config = None;
        self
    }

    pub(crate) fn ro(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    pub(crate) fn rw(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_write.push(path.into());
        self
    }

    pub(crate) fn network(mut self, network: AllowNetwork) -> Self {
        self.with(|config| config.allow_network = Some(network));
        self.effects = self.effects.with(Effect::External);
        self
    }

    pub(crate) fn with(&mut self, change: impl FnOnce(&mut SandboxConfig)) {
        if let Some(config) = &mut self.config {
            change(config);
        }
    }

    pub(crate) fn set(mut self, change: impl FnOnce(&mut SandboxConfig)) -> Self {
        self.with(change);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    pub(crate) fn plan(self) -> Result<Plan, SandboxError> {
        Plan::build(PlanInput {
            world: &HostWorld,
            config: self.config,
            backend: self.backend,
            effects: self.effects,
            read_only: self.read_only,
            read_write: self.read_write,
            workspace: self.workspace,
            program: self.program,
            argv: self.argv,
            scripts: self.scripts,
            env: self.env,
            cwd: self.cwd,
            protected: self.protected,
            masks: self.masks,
            decided: std::collections::BTreeMap::new(),
            runtime: Vec::new(),
            launcher: launcher(),
        })
    }

    pub(crate) fn try_run(self) -> Result<Ended, SandboxError> {
        let stdin = self.stdin.clone();
        run(self.plan()?, stdin, None)
    }

    pub(crate) fn run(self) -> Ended {
        self.try_run().unwrap()
    }
}

/// The variable that names toolctl where the tests run from a copy.
pub(crate) const TOOLCTL: &str = "TOOLCTL_UNDER_TEST";

/// The executable under test.
pub(crate) fn launcher() -> Launcher {
    let path = std::env::var_os(TOOLCTL).unwrap_or_else(|| env!("CARGO_BIN_EXE_toolctl").into());
    Launcher::Path(PathBuf::from(path))
}

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The probe program, compiled once a test process.
pub(crate) fn probe() -> &'static Path {
    static PROBE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    &PROBE
        .get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            let source = dir.path().join("probe.c");
            std::fs::write(&source, include_str!("../../probes/probe.c")).unwrap();
            let program = dir.path().join("probe");
            let status = Command::new("cc").args(["-O1", "-o"]).arg(&program).arg(&source).status().unwrap();
            assert!(status.success());
            (dir, program)
        })
        .1
}

/// A run of the probe.
pub(crate) fn try_to(args: &[&str]) -> Case {
    Case::new(probe(), args)
}

/// The two backends that hold something.
pub(crate) const BOTH: [BackendChoice; 2] = [BackendChoice::Ns, BackendChoice::Flat];
/// Only the backend with a private root.
pub(crate) const NS: [BackendChoice; 1] = [BackendChoice::Ns];

/// Asserts that each backend denies what the same program does without a sandbox.
pub(crate) fn denied(backends: &[BackendChoice], case: impl Fn() -> Case) {
    for backend in backends {
        let ended = case().backend(*backend).run();
        assert!(
            ended.exit_code == Some(1) && out(&ended).contains("errno "),
            "{backend:?} must deny it: {}",
            all(&ended)
        );
    }
    let control = case().off().run();
    assert!(out(&control).ends_with("ok\n"), "the control must succeed: {}", all(&control));
}

/// Asserts that each backend lets it through.
pub(crate) fn allowed(backends: &[BackendChoice], case: impl Fn() -> Case) {
    for backend in backends {
        let ended = case().backend(*backend).run();
        assert!(out(&ended).ends_with("ok\n"), "{backend:?} must allow it: {}", all(&ended));
    }
}

/// What the tool wrote to stdout.
pub(crate) fn out(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// Both streams, for messages of failed assertions.
pub(crate) fn all(ended: &Ended) -> String {
    format!("{ended:?}\nstdout: {}\nstderr: {}", out(ended), String::from_utf8_lossy(&ended.stderr))
}
