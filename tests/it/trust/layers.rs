//! The system's, the user's and the project's files: who has the word, and where tools may work.

use super::project;
use crate::attacks::{READS, host, script};
use crate::harness::{Project, everybody, finish, ordinary};
use std::fs;

fn config(project: &Project, name: &str, text: &str) {
    project.file_at(&project.outside().join("home/config").join(name), text);
}

/// A project's settings only tighten the user's, and both lines are named.
#[test]
fn the_users_settings_are_not_loosened() {
    for who in everybody() {
        let project = project(&who);
        config(&project, "toolctl.yaml", "sandbox: { timeout: 5s }\nconcurrency: 2\n");
        project.file("toolctl.yaml", "agentName: a\nsandbox: { timeout: 6s }\nconcurrency: 1\n");
        project.trusted();
        let ran = project.run(["run", "t"]).expect(0);
        assert!(ran.stderr.contains("`sandbox.timeout` is left out"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("concurrency"), "{}", ran.stderr);
        for place in ["toolctl.yaml:2:1", "home/config/toolctl.yaml:1:1"] {
            assert!(ran.stderr.contains(place), "{place}: {}", ran.stderr);
        }
        let json = project.run(["plan", "t", "--format", "json"]).expect(0).out();
        assert!(json.contains("5000"), "{json}");
    }
}

/// The outermost host decides; what is inside it can only tighten; guards count from anywhere.
#[test]
fn the_outermost_host_decides() {
    for who in everybody() {
        let project = project(&who);
        project.file("hello", "hello");
        project.trusted();
        project.run(["run", "t"]).expect(0);
        // The user's host comes between: what it does not grant is denied, whatever the project's says.
        let own = host(&[("read_file", "read")], "").replace("policy: main", "policy: own");
        config(&project, "policies/own.yaml", &own);
        project.run(["run", "t"]).expect(10);
        project.run(["run", "read_file", "-a", "path=hello"]).expect(10);
        // The project says nothing of it as a guard: the host's grant counts.
        project.file("policies/main.yaml", "policy: main\nformat: 1\nrole: guard\nrules: []\n");
        project.run(["run", "read_file", "-a", "path=hello"]).expect(0);
        project.file(
            "policies/main.yaml",
            "policy: main\nformat: 1\nrole: guard\nrules:\n  - { id: no, tool: read_file, action: deny }\n",
        );
        project.run(["run", "read_file", "-a", "path=hello"]).expect(10).says("main/no");
        // A guard of the user's does not make the user's layer the host.
        fs::remove_file(project.outside().join("home/config/policies/own.yaml")).unwrap();
        config(
            &project,
            "policies/guard.yaml",
            "policy: guard\nformat: 1\nrole: guard\nrules:\n  - { id: no, tool: write_file, action: deny }\n",
        );
        project.file("policies/main.yaml", host(&[("t", "read"), ("write_file", "write")], ""));
        project.run(["run", "t"]).expect(0);
        project.run(["run", "write_file", "-a", "path=n", "-a", "content=x"]).expect(10).says("guard/no");
        // A delegate cannot grant.
        let delegate = host(&[("t", "read")], "").replace("role: host", "role: delegate");
        project.file("policies/main.yaml", delegate);
        assert_ne!(project.run(["run", "t"]).code, Some(0));
    }
}

/// Folders that no tool may work in.
#[test]
fn unsafe_workspaces_are_refused() {
    for who in everybody() {
        let project = project(&who);
        let home = home_of(&who);
        let inside = project.outside().join("home/state/x");
        project.file_at(&inside.join("f"), "");
        for dir in ["/", home.as_str(), inside.to_str().unwrap(), project.outside().to_str().unwrap()] {
            let ran = project.run(["-C", dir, "run", "read_file", "-a", "path=f"]);
            assert_eq!(ran.code, Some(4), "{dir}: {}", ran.stderr);
            assert!(ran.stderr.contains("config/workspace"), "{dir}: {}", ran.stderr);
        }
        for text in ["/", home.as_str(), "../home", "..", "nowhere", "hello"] {
            project.file("hello", "hello").file("toolctl.yaml", format!("workspace: {text}\n"));
            let ran = project.run(["trust", "--author"]);
            let ran = if ran.code == Some(0) { project.run(["run", "t"]) } else { ran };
            assert_eq!(ran.code, Some(4), "{text}: {}", ran.stderr);
            assert!(ran.stderr.contains("toolctl.yaml:1:1"), "{text}: {}", ran.stderr);
            project.run(["trust", "--revoke"]).expect(0);
        }
        // The control: a folder of its own.
        project.file("sub/f", "text").file("toolctl.yaml", "workspace: sub\n");
        project.trusted();
        project.run(["run", "t"]).expect(0);
    }
}

fn home_of(who: &crate::harness::Who) -> String {
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|line| line.split(':').nth(2) == Some(&who.uid.to_string()));
    line.and_then(|line| line.split(':').nth(5)).unwrap_or("/root").to_owned()
}

/// Programs of a workspace beside the project are part of what is trusted as well.
#[test]
fn programs_of_a_workspace_elsewhere_are_known() {
    let project = project(&ordinary());
    let other = project.outside().join("other");
    project.file_at(&other.join("x.sh"), "echo good\n");
    project.file("toolctl.yaml", "workspace: ../other\n");
    let manifest = format!(
        "name: t\ndescription: A tool.\nparameters: {{ type: object, additionalProperties: false }}\ncommand: [sh, x.sh]\n{READS}\n"
    );
    project.file("tools.d/t.yaml", manifest);
    project.file("policies/main.yaml", host(&[("t", "read, execute")], ""));
    project.run(["trust"]).expect(0);
    assert_eq!(project.run(["run", "t"]).expect(0).out(), "good\n");
    project.file_at(&other.join("x.sh"), "echo evil\n");
    project.run(["run", "t"]).expect(4);
    project.run(["trust"]).expect(0);
    assert_eq!(project.run(["run", "t"]).expect(0).out(), "evil\n");
}

/// A misspelt variable is an error and not without effect.
#[test]
fn variables_are_a_closed_list() {
    let project = project(&ordinary());
    project.trusted();
    for (name, near) in
        [("TOOLCTL_NO_PROMT", "TOOLCTL_NO_PROMPT"), ("TOOLCTL_ALLOW", "toolctl help environment")]
    {
        for args in [&["run", "t"][..], &["trust"], &["trust", "--list"], &["trust", "--revoke"], &["check"]]
        {
            let mut command = project.command(args);
            command.env(name, "1");
            finish(command, None).expect(2).says(near).says("config/environment");
        }
    }
    project.run(["run", "t"]).expect(0);
    assert!(project.run(["help", "environment"]).expect(0).out().contains("TOOLCTL_HOME"));
}

/// A record of another project that is damaged is that project's matter alone.
#[test]
fn a_damaged_record_stops_no_other_project() {
    for who in everybody() {
        let project = project(&who);
        project.trusted();
        let other = project.outside().join("other");
        project.file_at(&other.join("tools.d/x.yaml"), "name: x\n");
        project.run(["trust", "--author", other.to_str().unwrap()]).expect(0);
        let dir = project.outside().join("home/state/trust");
        let record = fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| fs::read_to_string(path).unwrap().contains(other.to_str().unwrap()))
            .unwrap();
        fs::write(&record, "garbage").unwrap();
        project.run(["run", "t"]).expect(0);
        assert!(project.run(["trust", "--list"]).expect(0).out().contains("cannot be read"));
        let ran = project.run(["-C", other.to_str().unwrap(), "tools", "list"]);
        assert!(ran.stderr.contains("cannot be used"), "{}", ran.stderr);
        script(&project, "t", "", "echo still");
        assert_eq!(project.run(["run", "t"]).expect(0).out(), "still\n");
    }
}
