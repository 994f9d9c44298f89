//! What `toolctl trust` shows before it records anything, and what it says of a change.

use super::project;
use crate::harness::{Project, everybody, give, started_by_root};
use crate::prompt::{exit_of, terminal};
use expectrl::Expect as _;
use std::fs;

const MANIFEST: &str = "name: fetch
description: Fetches something.
parameters: { type: object, properties: { url: { type: string } }, additionalProperties: false }
command: [./fetch.sh, --quiet, \"two words\", \"{args.url}\"]
sandbox:
  timeout: 120s
  allowNetwork: false
  allowFS: { readOnly: [\"{workspace}\"], readWrite: [\"{workspace}/out\"] }
  env: { set: { MODE: fast }, forward: [LANG] }
";

fn fetcher(who: &crate::harness::Who) -> Project {
    let project = project(who);
    project.script("tools.d/fetch.sh", "#!/bin/sh\necho fetched\n").file("tools.d/fetch.yaml", MANIFEST);
    project
}

#[test]
fn all_that_a_project_reaches_is_shown_first() {
    for who in everybody() {
        let project = fetcher(&who);
        project.file("toolctl.yaml", "agentName: a\nsandbox: { maxMemoryMB: 900 }\nconcurrency: 9\n");
        let policy = "policy: main\nformat: 1\nrole: host\ndefault: deny\neffects: { t: [ { effect: read } ] }\nrules:\n  - { id: a, tool: [t], always: true, action: allow }\n  - { id: b, tool: fetch, when: { args.url: x }, action: ask }\n  - { id: c, tool: write_file, action: deny }\n";
        project.file("policies/main.yaml", policy);
        let ran = project.run(["trust", "--dry-run"]).expect(0);
        for text in [
            "runs         ./fetch.sh --quiet 'two words' {args.url}",
            "scripts      tools.d/fetch.sh (sha256:",
            "files        read {workspace}; write {workspace}/out",
            "network      no",
            "environment  MODE=fast LANG (yours)",
            "limits       120 s",
            "limits       900 MiB of memory",
            "policies/main.yaml",
            "allows   t",
            "asks     fetch (if)",
            "guards   write_file",
            "effects  t read",
            "toolctl.yaml:2:12",
            "toolctl.yaml:3:1",
            "nothing was recorded",
        ] {
            assert!(ran.stderr.contains(text), "not shown: {text}\n{}", ran.stderr);
        }
        project.run(["run", "t"]).expect(4);
        // The same as data.
        let json = project.run(["trust", "--format", "json"]).expect(0).json();
        assert_eq!(json["trusted"], true);
        let tool = &json["reach"]["tools"]["fetch"];
        assert_eq!(tool["files"], "read {workspace}; write {workspace}/out");
        assert!(tool["scripts"].as_str().unwrap().starts_with("tools.d/fetch.sh (sha256:"), "{tool}");
        assert_eq!(json["reach"]["settings"]["concurrency"]["says"], "concurrency: 9");
        assert_eq!(project.run(["run", "t"]).expect(0).out(), "ran\n");
    }
}

/// A default of the settings that only counts once the project is trusted is shown as it will be then.
#[test]
fn what_is_shown_is_what_counts_afterwards() {
    for (settings, files) in
        [("sandbox: false\n", "everything of yours: no sandbox"), ("agentName: a\n", "none")]
    {
        let project = project(&crate::harness::ordinary());
        project.file("toolctl.yaml", settings);
        let json = project.run(["trust", "--dry-run", "--format", "json"]).expect(0).json();
        assert_eq!(json["reach"]["tools"]["t"]["files"], files, "{json}");
        assert_eq!(json["trusted"], false);
    }
}

#[test]
fn a_change_is_shown_as_a_difference() {
    for who in everybody() {
        let project = fetcher(&who);
        project.run(["trust"]).expect(0);
        let without = project.run(["trust"]).expect(0);
        assert!(!without.stderr.contains("changed since"), "{}", without.stderr);

        project.file("tools.d/fetch.yaml", MANIFEST.replace("allowNetwork: false", "allowNetwork: true"));
        project.script("tools.d/fetch.sh", "#!/bin/sh\necho other\n");
        project.file(
            "policies/more.yaml",
            "policy: more\nformat: 1\nrole: guard\nrules:\n  - { id: a, tool: t, action: deny }\n",
        );
        project.file("toolctl.yaml", "agentName: a\nsandbox: { allowNetwork: true }\n");
        fs::remove_file(project.dir().join("tools.d/t.yaml")).unwrap();
        project.run(["run", "fetch", "-a", "url=x"]).expect(4).says("tools.d/fetch.yaml (modified)");

        let ran = project.run(["trust", "--dry-run"]).expect(0);
        for text in [
            "changed since it was trusted",
            "modified tools.d/fetch.yaml",
            "modified tools.d/fetch.sh",
            "added    policies/more.yaml",
            "removed  tools.d/t.yaml",
            "fetch: network no -> yes",
            "fetch: scripts tools.d/fetch.sh (sha256:",
            "policies/more.yaml: new: guards t; role guard",
            "sandbox.allowNetwork: new: ",
            "t: gone",
        ] {
            assert!(ran.stderr.contains(text), "not shown: {text}\n{}", ran.stderr);
        }
        let json = project.run(["trust", "--format", "json"]).expect(0).json();
        let network =
            json["differences"].as_array().unwrap().iter().find(|d| d["aspect"] == "network").unwrap();
        assert_eq!((&network["before"], &network["now"]), (&"no".into(), &"yes".into()));
        assert_eq!(json["changes"].as_array().unwrap().len(), 5);
        project.run(["trust"]).expect(0);
    }
}

#[test]
fn giving_up_the_authors_trust_is_said() {
    let project = project(&crate::harness::ordinary());
    project.trusted();
    project.run(["trust"]).expect(0).says("your edits are no longer followed");
    let again = project.run(["trust"]).expect(0);
    assert!(!again.stderr.contains("no longer followed"), "{}", again.stderr);
}

/// Root is told whose files it is about to obey.
#[test]
fn root_is_told_whose_files_they_are() {
    if !started_by_root() {
        eprintln!("skipped: only root can obey files of others");
        return;
    }
    let root = &everybody()[0];
    let mine = project(root).run(["trust"]).expect(0);
    assert!(!mine.stderr.contains("belong to"), "{}", mine.stderr);
    let project = project(root);
    let other = crate::harness::ordinary();
    for path in
        ["", "toolctl.yaml", "tools.d", "tools.d/t.yaml", "tools.d/t.sh", "policies", "policies/main.yaml"]
    {
        give(&project.dir().join(path), &other);
    }
    let ran = project.run(["trust"]).expect(0);
    assert!(ran.stderr.contains(&format!("belong to toolctl-test (uid {})", other.uid)), "{}", ran.stderr);
    project.run(["run", "t"]).expect(0);
}

/// At a terminal a person is asked; without one, and with --no-prompt, the command itself is the step.
#[test]
fn a_person_at_a_terminal_is_asked() {
    for who in everybody() {
        for (answer, code) in [("yes", 0), ("no", 12), ("", 12), ("y", 12), ("YES", 12)] {
            let project = project(&who);
            let mut session = terminal(&project, "$TOOLCTL trust");
            let seen = session.expect("anything else for no: ").expect("the question");
            let shown = String::from_utf8_lossy(seen.before()).into_owned();
            assert!(shown.contains("./t.sh") && shown.contains("Trust these files?"), "{shown}");
            std::thread::sleep(std::time::Duration::from_millis(450));
            session.send_line(answer).unwrap();
            let (got, text) = exit_of(session);
            assert_eq!(got, code, "{answer:?}: {text}");
            project.run(["run", "t"]).expect(if code == 0 { 0 } else { 4 });
        }
        let project = project(&who);
        let (code, text) = exit_of(terminal(&project, "$TOOLCTL trust --no-prompt"));
        assert_eq!(code, 0, "{text}");
        project.run(["run", "t"]).expect(0);
    }
}

#[test]
fn records_are_listed_and_forgotten() {
    for who in everybody() {
        let project = project(&who);
        assert_eq!(project.run(["trust", "--list"]).expect(0).out(), "no project is trusted\n");
        project.trusted();
        let dir = project.dir();
        let shown = project.run(["trust", "--list"]).expect(0).out();
        assert!(shown.contains(dir.to_str().unwrap()) && shown.contains("as its author"), "{shown}");
        // Broken settings do not stand in the way of withdrawing it.
        project.file("toolctl.yaml", "agentNmae: a\n");
        project.run(["trust"]).expect(4);
        project.run(["trust", "--revoke"]).expect(0).says("no longer trusted");
        project.run(["trust", "--revoke"]).expect(0).says("it was not trusted");
        project.file("toolctl.yaml", "agentName: a\n");
        project.run(["trust"]).expect(0);
        // Renamed: it is another place, and the old one can be forgotten by its name.
        let moved = project.outside().join("moved");
        fs::rename(&dir, &moved).unwrap();
        fs::create_dir(&dir).unwrap();
        give(&dir, &who);
        let moved = moved.to_str().unwrap();
        project.run(["-C", moved, "run", "t"]).expect(4).says("toolctl trust");
        fs::remove_dir(&dir).unwrap();
        let in_moved = |args: &[&str]| {
            let mut command = project_command(&project, args, moved);
            command.current_dir(moved);
            crate::harness::finish(command, None)
        };
        let shown = in_moved(&["trust", "--list"]).expect(0).out();
        assert!(shown.contains("the folder has gone"), "{shown}");
        in_moved(&["trust", "--revoke", "../project"]).expect(0).says("no longer trusted");
        assert_eq!(in_moved(&["trust", "--list"]).expect(0).out(), "no project is trusted\n");
        // The control: trusted at its new place, it runs there.
        in_moved(&["trust"]).expect(0);
        in_moved(&["run", "t"]).expect(0);
        fs::rename(moved, &dir).unwrap();
    }
}

/// A command whose project's folder has gone: the harness would look for it.
fn project_command(project: &Project, args: &[&str], dir: &str) -> std::process::Command {
    let missing = project.outside().join("project");
    fs::create_dir(&missing).unwrap();
    give(&missing, &project.who);
    let command = project.command(args);
    fs::remove_dir(&missing).unwrap();
    assert!(fs::metadata(dir).is_ok());
    command
}
