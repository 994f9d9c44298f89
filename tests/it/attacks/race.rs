//! Files that change between a decision and what comes of it.

use super::{MASK, host, script};
use crate::harness::{Project, everybody, ordinary, times};
use crate::prompt::{exit_of, terminal, wait_for_question};
use expectrl::Expect as _;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// How long each side stands still, in microseconds. Most are far shorter than a call, which so meets both sides; the long
/// one lets some calls through whole, on a slow machine too. An odd number of them gives both sides each in turn.
const PAUSES: [u64; 15] =
    [300, 300, 900, 300, 2_000, 300, 300, 5_000, 300, 900, 300, 300, 2_000, 300, 120_000];

/// Exchanges two names in a loop, until dropped.
pub(super) struct Swap {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Swap {
    pub(super) fn start(a: PathBuf, b: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            for pause in PAUSES.iter().cycle() {
                if seen.load(Ordering::Relaxed) {
                    break;
                }
                renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(std::time::Duration::from_micros(*pause));
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A project in which `d/f` may be read and written, and what is outside may not.
fn prepared() -> Project {
    let project = Project::of(&ordinary());
    project.file("toolctl.yaml", "agentName: test\n");
    for (name, sandbox) in [("show", "readOnly"), ("change", "readWrite")] {
        let verb = if name == "show" { "cat \"$1\"" } else { "echo STOLEN > \"$1\"" };
        script(&project, name, "", verb);
        project.file(
            &format!("tools.d/{name}.yaml"),
            format!(
                "name: {name}\ndescription: A tool of the tests.\nparameters: {{ type: object, properties: {{ path: {{ type: string, format: path }} }}, required: [path], additionalProperties: false }}\ncommand: [\"./{name}.sh\", \"{{args.path}}\"]\nsandbox: {{ allowFS: {{ {sandbox}: [\"{{args.path}}\"] }} }}\n"
            ),
        );
    }
    let policy =
        host(&[("show", "read"), ("change", "write"), ("read_file", "read"), ("write_file", "write")], MASK)
            .replace("    always: true\n", "    when: { args.path: { under: [\"${workspace}\"] } }\n");
    project.file("policies/main.yaml", policy);
    project.file("d/f", "INNOCENT").file("out", "");
    project.file_at(&project.outside().join("secret/f"), "STOLEN");
    project.file_at(&project.outside().join("victim/f"), "KEPT");
    project.trusted();
    project
}

#[test]
fn a_folder_that_becomes_a_link_leads_nowhere() {
    let reads: &[&[&str]] = &[
        &["run", "show", "-a", "path=d/f"],
        &["run", "read_file", "-a", "path=d/f"],
        &["run", "write_file", "-a", "path=out", "-a", "content=@d/f"],
    ];
    let writes: &[&[&str]] = &[
        &["run", "change", "-a", "path=d/f"],
        &["run", "write_file", "-a", "path=d/f", "-a", "content=STOLEN"],
    ];
    for (calls, target) in [(reads, "../secret"), (writes, "../victim")] {
        for call in calls {
            let project = prepared();
            project.run(*call).expect(0);
            fs::write(project.dir().join("d/f"), "INNOCENT").unwrap();
            let link = project.dir().join("link");
            symlink(target, &link).unwrap();
            let swap = Swap::start(project.dir().join("d"), link);
            let mut ended = 0;
            for _ in 0..times(60) {
                let ran = project.run(*call);
                assert!(!ran.out().contains("STOLEN"), "{call:?}");
                if call.contains(&"path=out") {
                    assert!(
                        !fs::read_to_string(project.dir().join("out")).unwrap().contains("STOLEN"),
                        "{call:?}"
                    );
                }
                ended += u32::from(ran.code == Some(0));
            }
            drop(swap);
            assert_eq!(fs::read_to_string(project.outside().join("victim/f")).unwrap(), "KEPT", "{call:?}");
            // The control: some of the calls met the folder and did their work.
            assert!(ended > 0, "{call:?}");
        }
    }
}

/// The script, the manifest or the policy is exchanged while calls run: only what was trusted ever counts.
#[test]
fn what_runs_is_what_was_trusted() {
    for name in ["tools.d/t.sh", "tools.d/t.yaml", "policies/main.yaml"] {
        let project = Project::of(&ordinary());
        project.file("toolctl.yaml", "agentName: test\n");
        script(&project, "t", "", "echo GOOD");
        project.file("policies/main.yaml", host(&[("t", "read")], MASK));
        project.run(["trust"]).expect(0);
        let other = project.dir().join("other");
        match name {
            "tools.d/t.sh" => project.script("other", "#!/bin/bash\necho EVIL\n"),
            "tools.d/t.yaml" => {
                let text = fs::read_to_string(project.dir().join(name)).unwrap();
                project.file("other", text.replace("\"./t.sh\"", "/bin/echo, EVIL"))
            }
            _ => project.file("other", host(&[("t", "read"), ("run_command", "read")], "")),
        };
        let call: &[&str] = match name {
            "policies/main.yaml" => &["run", "run_command", "--args", r#"{"argv":["echo","EVIL"]}"#],
            _ => &["run", "t"],
        };
        // The control: exchanged and vouched for, it counts.
        let swap_once =
            || renameat_with(CWD, project.dir().join(name), CWD, &other, RenameFlags::EXCHANGE).unwrap();
        swap_once();
        project.run(["trust"]).expect(0);
        assert_eq!(project.run(call).expect(0).out(), "EVIL\n", "{name}");
        swap_once();
        project.run(["trust"]).expect(0);
        let swap = Swap::start(project.dir().join(name), other.clone());
        let mut good = 0;
        for _ in 0..times(60) {
            let ran = project.run(call);
            assert!(!ran.out().contains("EVIL"), "{name}: {}", ran.out());
            good += u32::from(ran.out() == "GOOD\n" || ran.code == Some(10));
        }
        drop(swap);
        assert!(good > 0, "{name}");
    }
}

/// While a person reads the question, what they were asked about changes.
#[test]
fn what_runs_is_what_was_approved() {
    let policy = host(&[("t", "read")], "").replace("allow", "ask");
    let manifest = "name: t\ndescription: A tool of the tests.\nparameters: { type: object, additionalProperties: false }\n";
    for who in everybody() {
        for (what, file, text, code) in [
            ("nothing", "notes", String::new(), 0),
            ("the script", "tools.d/t.sh", "#!/bin/bash\necho EVIL\n".to_owned(), 14),
            ("the manifest", "tools.d/t.yaml", format!("{manifest}command: [/bin/echo, EVIL]\n"), 14),
            (
                "the sandbox",
                "tools.d/t.yaml",
                format!(
                    "{manifest}command: [\"./t.sh\"]\nsandbox: {{ allowNetwork: true, allowFS: true }}\n"
                ),
                14,
            ),
            (
                "a stricter policy",
                "policies/main.yaml",
                policy.replace("always: true\n    action: ask", "action: deny"),
                10,
            ),
            (
                "a guard",
                "policies/guard.yaml",
                "policy: g\nformat: 1\nrole: guard\nrules: [{ id: no, tool: t, action: deny }]\n".to_owned(),
                10,
            ),
            ("a milder policy", "policies/main.yaml", policy.replace("action: ask", "action: allow"), 0),
            ("a comment", "policies/main.yaml", format!("{policy}# a remark\n"), 0),
            ("the whole tool", "tools.d/t.yaml", "x".to_owned(), 4),
        ] {
            let project = Project::of(&who);
            project.file("toolctl.yaml", "approval: { timeout: 15000 }\n");
            script(&project, "t", "", "echo GOOD");
            project.file("policies/main.yaml", &policy);
            project.trusted();
            let mut session = terminal(&project, "$TOOLCTL run t");
            wait_for_question(&mut session);
            project.file(file, text);
            session.send_line("yes").unwrap();
            let (got, text) = exit_of(session);
            assert_eq!(got, code, "{what} as {}: {text}", who.name);
            assert!(!text.contains("EVIL"), "{what}: {text}");
            assert_eq!(text.contains("GOOD"), code == 0, "{what}: {text}");
        }
    }
}
