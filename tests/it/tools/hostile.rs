//! A repository whose configuration names programs wherever git would start one. Nothing of it writes to the work tree,
//! leaves the sandbox, or is started at all where a tool promises that.

use super::kit::{call, have, repository, sh, unasked};
use crate::harness::{Project, everybody, ordinary};
use serde_json::json;
use std::fs;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every place of a repository's configuration that names a program which the read and write tools could meet.
const CONFIG: &str = "\
[core]
\tfsmonitor = PROGRAM fsmonitor
\thooksPath = HOOKS
\tpager = PROGRAM pager
\teditor = PROGRAM editor
\tsshCommand = PROGRAM ssh
\taskPass = PROGRAM askpass
\talternateRefsCommand = PROGRAM alternates
\tgitProxy = PROGRAM proxy
[diff]
\texternal = PROGRAM external
[diff \"evil\"]
\tcommand = PROGRAM diff
\ttextconv = PROGRAM textconv
[merge \"evil\"]
\tdriver = PROGRAM merge
[gpg]
\tprogram = PROGRAM gpg
[log]
\tshowSignature = true
[commit]
\tgpgSign = true
[alias]
\tstatus = !PROGRAM alias
\tlog = !PROGRAM alias
[credential]
\thelper = !PROGRAM credential
[include]
\tpath = ../evil.config
[trailer \"x\"]
\tcommand = PROGRAM trailer
[maintenance]
\tauto = true
[gc]
\tauto = 1
[submodule]
\trecurse = true
";

/// A program that leaves marks wherever it can, and a listener that counts who calls.
struct Trap {
    project: Project,
    calls: Arc<AtomicUsize>,
}

fn trap(project: Project, config: &str) -> Trap {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    std::thread::spawn(move || {
        while listener.accept().is_ok() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let outside = project.outside().join("pwned");
    let here = project.dir().join("pwned");
    let program = project.dir().join("evil.sh");
    project.script(
        "evil.sh",
        &format!(
            "#!/bin/sh\necho CALLED-$1 >&2\ntouch {} {}\n(echo hi >/dev/tcp/127.0.0.1/{port}) 2>/dev/null\n\
             bash -c 'echo hi >/dev/tcp/127.0.0.1/{port}' 2>/dev/null\ncp $0 .git/hooks/post-checkout\n\
             git config core.canary CANARY\ncat\nexit 0\n",
            outside.display(),
            here.display()
        ),
    );
    project.file("evil.config", format!("[core]\n\tfsmonitor = sh {} included\n", program.display()));
    let hooks = project.dir().join("evil-hooks");
    for hook in
        ["pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction", "pre-push"]
    {
        project.script(&format!("evil-hooks/{hook}"), &format!("#!/bin/sh\n{} hook\n", program.display()));
    }
    let config = config
        .replace("HOOKS", hooks.to_str().unwrap())
        .replace("PROGRAM", &format!("sh {}", program.display()));
    let file = project.dir().join(".git/config");
    let old = fs::read_to_string(&file).unwrap();
    fs::write(&file, old + &config).unwrap();
    Trap { project, calls }
}

impl Trap {
    /// Nothing was written outside of git's own folder, no connection was made, and the configuration is as it was.
    #[track_caller]
    fn nothing_happened(&self, config: &str) {
        let (inside, outside) = (self.project.dir().join("pwned"), self.project.outside().join("pwned"));
        assert!(!inside.exists() && !outside.exists(), "something was written");
        assert_eq!(self.calls.load(Ordering::SeqCst), 0, "something was sent");
        assert_eq!(fs::read_to_string(self.project.dir().join(".git/config")).unwrap(), config);
        assert!(!self.project.dir().join(".git/hooks/post-checkout").exists(), "a hook was written");
    }
}

#[test]
fn no_program_of_the_configuration_is_started() {
    if !have(&["git"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        repository(&project);
        project.file(".gitattributes", "*.txt diff=evil merge=evil\n");
        sh(&project, "git add .gitattributes && git commit -q -m attributes && echo changed >>a.txt");
        let trap = trap(project, CONFIG);
        let project = &trap.project;
        let config = fs::read_to_string(project.dir().join(".git/config")).unwrap();
        for (tool, args) in [
            ("git_status", json!({"untracked": "all"})),
            ("git_log", json!({"stat": true})),
            ("git_diff", json!({})),
            ("git_diff", json!({"ref": "HEAD~1", "stat": true})),
            ("git_add", json!({"paths": ["a.txt"]})),
            ("git_diff", json!({"staged": true})),
            ("git_commit", json!({"message": "x"})),
        ] {
            let document = call(project, tool, &args, 0);
            assert!(!document.to_string().contains("CALLED"), "{tool} started a program: {document}");
            trap.nothing_happened(&config);
        }
        // The control: git as it is starts them.
        let git = "git status >/dev/null 2>&1; git diff >/dev/null 2>&1; true";
        sh(project, git);
        assert!(project.dir().join("pwned").exists(), "the trap does not work");
    }
}

/// What git has no switch for: a filter of the configuration runs, with what the tool may do and no more.
#[test]
fn a_filter_has_the_tools_own_sandbox() {
    if !have(&["git"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        repository(&project);
        project.file(".gitattributes", "*.txt filter=evil\n");
        sh(&project, "git add .gitattributes && git commit -q -m attributes");
        // Of the same size, so that git has to look at the content.
        project.file("a.txt", "two\n");
        let trap = trap(project, "[filter \"evil\"]\n\tclean = PROGRAM clean\n\trequired = true\n");
        let project = &trap.project;
        let config = fs::read_to_string(project.dir().join(".git/config")).unwrap();
        let mut started = 0;
        for (tool, args) in [
            ("git_status", json!({})),
            ("git_diff", json!({})),
            ("git_add", json!({"paths": ["a.txt"]})),
            ("git_commit", json!({"message": "x"})),
        ] {
            let document = call(project, tool, &args, 0);
            started += usize::from(document.to_string().contains("CALLED-clean"));
            trap.nothing_happened(&config);
        }
        assert!(started > 0, "the filter was never started, so nothing was shown");
    }
}

/// In a linked work tree the repository lies elsewhere: what git obeys there is held as well.
#[test]
fn a_filter_cannot_change_the_repository_of_a_work_tree() {
    if !have(&["git"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        super::git::work_tree(&project);
        let own = super::git::own_name(&project);
        let evil = "for dir in COMMON OWN; do for name in hooks/post-checkout config config.worktree commondir gitdir \
                    modules/x worktrees/y; do mkdir -p \"$(dirname $dir/$name)\" && echo CANARY >>$dir/$name; done; done \
                    2>/dev/null; mv COMMON/config COMMON/old 2>/dev/null; echo CANARY >>COMMON/description; cat"
            .replace("OWN", &format!("COMMON/{own}"))
            .replace("COMMON", project.outside().join("main/.git").to_str().unwrap());
        project.script("evil.sh", &format!("#!/bin/sh\n{evil}\n")).file("a.txt", "two\n");
        let line =
            "printf '*.txt filter=evil\\n' >.gitattributes && git config filter.evil.clean 'sh ./evil.sh'";
        sh(&project, line);
        let before = sh(&project, "cd ../main/.git && cat config; find . -name 'hooks*' -o -name 'config*'");
        // A name that may not come into being is found after the run, moved away, and the call ends in 24.
        let ran = project.run(["run", "git_add", "--args", r#"{"paths":["a.txt"]}"#]);
        assert!([0, 24].contains(&ran.code.unwrap()), "{}", ran.stderr);
        assert_eq!(
            before,
            sh(&project, "cd ../main/.git && cat config; find . -name 'hooks*' -o -name 'config*'")
        );
        for name in ["config", "commondir", "gitdir", "HEAD"] {
            let file = project.outside().join(format!("main/.git/{own}/{name}"));
            assert!(!fs::read_to_string(file).unwrap_or_default().contains("CANARY"), "{name}");
        }
        // The control: the filter did run and could write where git itself has to.
        let description = fs::read_to_string(project.outside().join("main/.git/description")).unwrap();
        assert!(description.contains("CANARY"));
    }
}

/// A submodule has a configuration of its own, to which `-c` does not reach.
#[test]
fn the_configuration_of_submodules_is_not_met() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&ordinary());
    repository(&project);
    sh(
        &project,
        "git init -q -b main ../lib && git -C ../lib -c user.name=S -c user.email=s@example.com commit -q \
         --allow-empty -m lib && git -c protocol.file.allow=always submodule --quiet add ../lib lib && \
         git commit -q -m submodule && echo x >lib/x",
    );
    let trap = trap(project, "");
    let project = &trap.project;
    let evil = project.dir().join("evil.sh");
    sh(project, &format!("git -C lib config core.fsmonitor 'sh {}'", evil.display()));
    let config = fs::read_to_string(project.dir().join(".git/config")).unwrap();
    for (tool, args) in [
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("git_log", json!({"stat": true})),
        ("git_diff", json!({"ref": "HEAD~1"})),
    ] {
        let document = call(project, tool, &args, 0);
        assert!(!document.to_string().contains("CALLED"), "{tool}: {document}");
        trap.nothing_happened(&config);
    }
    sh(project, "git status >/dev/null 2>&1; true");
    assert!(project.dir().join("pwned").exists(), "the trap does not work");
}

/// Secrets that are in the history, or are tracked, are in no patch.
#[test]
fn patches_leave_secrets_out() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&ordinary());
    repository(&project);
    project.file(".env", "TOKEN=CANARY\n").file("certs/server.PEM", "CANARY\n").file("b.txt", "b\n");
    sh(&project, "git add -f .env certs b.txt && git commit -q -m secrets && echo more >>.env");
    for args in [json!({}), json!({"ref": "HEAD~1"}), json!({"ref": "HEAD~1..HEAD", "context": 100})] {
        let document = call(&project, "git_diff", &args, 0);
        assert!(!document.to_string().contains("CANARY"), "{args}: {document}");
    }
    assert!(call(&project, "git_diff", &json!({"ref": "HEAD~1"}), 0).to_string().contains("b.txt"));
    assert_eq!(call(&project, "git_diff", &json!({"path": ".env"}), 10)["denial"], "policy");
    // A tracked secret is hidden from the sandbox; staging everything must not stage its absence.
    call(&project, "git_add", &json!({"paths": ["."]}), 0);
    assert_eq!(sh(&project, "git diff --cached --name-only"), "");
}
