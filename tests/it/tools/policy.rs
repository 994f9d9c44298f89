//! The shipped policies, and the checkout as the project that they make it.

use super::kit::{bring, call, checkout, have, repository, shipped, text};
use crate::harness::{Project, everybody, ordinary};
use serde_json::json;
use std::fs;

#[test]
fn the_checkout_is_a_project_without_errors() {
    for who in everybody() {
        let project = Project::of(&who);
        bring(&project);
        let ran = project.run(["check", "--format", "json"]).expect(0).json();
        assert_eq!(ran["ok"], true);
        assert!(ran["tools"].as_u64() > Some(10) && ran["policies"].as_u64() > Some(2), "{ran}");
    }
}

/// The first command of the README, in a checkout that nobody trusted.
#[test]
fn the_readme_can_be_read_before_anybody_trusts_the_checkout() {
    let project = Project::of(&ordinary());
    bring(&project);
    let readme = fs::read(checkout().join("README.md")).unwrap();
    project.file("README.md", &readme).file(".env", "x");
    let ran = project.run(["run", "read_file", "-a", "path=README.md"]).expect(0);
    assert!(ran.stdout == readme);
    project.run(["run", "read_file", "-a", "path=.env"]).expect(10);
    project.run(["run", "git_status"]).expect(4).says("toolctl trust");
}

#[test]
fn what_runs_what_asks_and_what_is_denied() {
    if !have(&["git", "jq", "sqlite3"]) {
        return;
    }
    for who in everybody() {
        let project = shipped(&who);
        repository(&project);
        project.file("d.json", "{}").file("README.md", "hello\n").file("src/x", "x");
        for (tool, args, code, rule) in [
            ("read_file", json!({"path": "README.md"}), 0, "read-files"),
            ("list_dir", json!({}), 0, "read-files"),
            ("json_query", json!({"path": "d.json", "filter": "."}), 0, "read-files"),
            ("find_files", json!({"glob": "*.md"}), 0, "read-files"),
            ("file_info", json!({"path": "README.md"}), 0, "read-files"),
            (
                "edit_file",
                json!({"path": "README.md", "edits": [{"old": "a", "new": "b"}]}),
                11,
                "edit-files",
            ),
            ("move_file", json!({"path": "README.md", "to": "x.md"}), 11, "move-files"),
            ("delete_file", json!({"path": "README.md"}), 11, "delete-files"),
            ("delete_file", json!({"path": "src", "recursive": true}), 11, "delete-folders"),
            ("move_file", json!({"path": "README.md", "to": ".env"}), 10, "secrets-moved"),
            ("delete_file", json!({"path": "certs/x.pem"}), 10, "secrets"),
            ("file_info", json!({"path": ".env"}), 10, "secrets"),
            ("git_status", json!({}), 0, "git-read"),
            ("git_diff", json!({"path": "a.txt"}), 0, "git-read"),
            ("git_log", json!({"count": 200}), 0, "git-log"),
            ("archive_files", json!({"paths": ["a.txt"]}), 0, "archive"),
            ("git_log", json!({"count": 201}), 11, "git-long-log"),
            ("write_file", json!({"path": "x", "content": "x"}), 11, "write-files"),
            ("git_add", json!({"paths": ["."]}), 11, "stage"),
            ("git_commit", json!({"message": "x"}), 11, "commit"),
            ("http_get", json!({"url": "https://example.com"}), 11, "fetch"),
            ("run_command", json!({"argv": ["true"]}), 11, "run"),
            ("run_shell", json!({"script": "true"}), 11, "shell"),
            ("read_file", json!({"path": "sub/.env"}), 10, "secrets"),
            ("read_file", json!({"path": "tls/Server.KEY"}), 10, "secrets"),
            ("git_log", json!({"path": ".npmrc"}), 10, "secrets"),
            ("sql_query", json!({"database": "x.pem", "query": "SELECT 1;"}), 10, "secrets-in-databases"),
            ("archive_files", json!({"paths": ["a.txt", ".ssh"]}), 10, "secrets-in-lists"),
        ] {
            let document = call(&project, tool, &args, code);
            assert_eq!(document["decision"]["rule"], format!("workspace/{rule}"), "{tool} {args}");
        }
        call(&project, "read_file", &json!({"path": "/etc/passwd"}), 10);
        call(&project, "git_add", &json!({"paths": ["policies/workspace.yaml"]}), 10);
    }
}

/// A path guard with `mask` holds whichever tool tries.
#[test]
fn secrets_are_hidden_from_every_tool() {
    let project = shipped(&ordinary());
    project.file("certs/server.key", "CANARY").file(".env", "CANARY").file(".env.example", "sample");
    let found = call(&project, "search_text", &json!({"pattern": "CANARY", "all": true}), 0);
    assert!(!text(&found).contains("server.key:") && !text(&found).contains(".env:"), "{found}");
    let sample = call(&project, "read_file", &json!({"path": ".env.example"}), 0);
    assert_eq!(text(&sample), "sample");
}

#[test]
fn a_delegate_may_only_read_and_fetch() {
    let project = shipped(&ordinary());
    project.file("README.md", "hello\n");
    let run = |agents: &[&str], tool: &str, args: &str, code| {
        let mut words = vec!["run", tool, "--format", "json", "--args", args];
        for agent in agents {
            words.extend(["--agent", agent]);
        }
        project.run(words).expect(code).json()
    };
    let (read, fetch, write) =
        (r#"{"path":"README.md"}"#, r#"{"url":"https://example.com"}"#, r#"{"path":"x","content":"y"}"#);
    for agents in [&["researcher"][..], &["main", "researcher"], &["researcher", "inner"]] {
        run(agents, "read_file", read, 0);
        run(agents, "http_get", fetch, 11);
        for (tool, args) in [
            ("write_file", write),
            ("run_shell", r#"{"script":"true"}"#),
            ("delete_file", r#"{"path":"README.md"}"#),
            ("git_commit", r#"{"message":"x"}"#),
            ("run_command", r#"{"argv":["true"]}"#),
        ] {
            let document = run(agents, tool, args, 10);
            assert_eq!(document["decision"]["rule"], "researcher/read-and-fetch", "{agents:?} {tool}");
        }
    }
    // The control: another agent is asked about, as anybody.
    run(&["main"], "write_file", write, 11);
}

/// The scripts beside the manifests are part of what is trusted: a changed one does not run.
#[test]
fn a_script_that_changed_after_it_was_trusted_does_not_run() {
    if !have(&["tar", "gzip", "base64"]) {
        return;
    }
    for who in everybody() {
        let project = Project::of(&who);
        bring(&project);
        project.file("a.txt", "one\n");
        project.run(["trust"]).expect(0);
        let args = json!({"paths": ["a.txt"]});
        call(&project, "archive_files", &args, 0);
        let script = fs::read_to_string(project.dir().join("tools.d/archive_files.sh")).unwrap();
        project.file("tools.d/archive_files.sh", format!("{script}echo >&2 more\n"));
        let ran = project.run(["run", "archive_files", "--args", &args.to_string()]).expect(4);
        assert!(ran.stderr.contains("archive_files.sh"), "{}", ran.stderr);
        project.file("tools.d/archive_files.sh", script);
        call(&project, "archive_files", &args, 0);
    }
}

/// A program that is not there is named, with a way to get it.
#[test]
fn a_missing_program_is_named() {
    let project = super::kit::unasked(&ordinary());
    project.file("d.json", "{}");
    let own = project.outside().join("home/config/toolctl.yaml");
    project.file_at(&own, format!("path: [{:?}]\n", project.outside().join("none")));
    for (tool, args, program) in [
        ("json_query", r#"{"path":"d.json","filter":"."}"#, "jq"),
        ("git_status", "{}", "git"),
        ("http_get", r#"{"url":"https://example.com"}"#, "curl"),
    ] {
        let ran = project.run(["run", tool, "--args", args]).expect(4);
        assert!(ran.stderr.contains(&format!("`{program}`")), "{}", ran.stderr);
        assert!(ran.stderr.contains(&format!("apt-get install {program}")), "{}", ran.stderr);
    }
}
