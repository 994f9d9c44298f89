//! The git tools on ordinary repositories, linked work trees and submodules.

use super::kit::{call, call_with, have, messages, repository, sh, text, unasked};
use crate::harness::{Project, everybody};
use serde_json::json;
use std::fs;

#[test]
fn status_log_and_diff_read_and_change_nothing() {
    if !have(&["git"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        repository(&project);
        project.file("a.txt", "one\ntwo\n").file("new.txt", "x").file("sub/--x y", "x");
        // A stale index would be refreshed and written by a git that takes its locks.
        sh(&project, "touch -d '2001-01-01' a.txt");
        let index = fs::metadata(project.dir().join(".git/index")).unwrap().modified().unwrap();

        let status = call(&project, "git_status", &json!({}), 0);
        assert_eq!(text(&status), "## main\n M a.txt\n?? new.txt\n?? sub/\n");
        assert_eq!(status["execution"]["sandbox"]["effectEnforcement"], "kernel");
        let all = call(&project, "git_status", &json!({"untracked": "all", "path": "sub"}), 0);
        assert_eq!(text(&all), "## main\n?? \"sub/--x y\"\n");

        let diff = call(&project, "git_diff", &json!({}), 0);
        assert!(text(&diff).contains("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\n"), "{diff}");
        let none = call(&project, "git_diff", &json!({"path": "new.txt"}), 0);
        assert_eq!(text(&none), "");

        sh(&project, "git add a.txt && git commit -q -m second -m body");
        let log = call(&project, "git_log", &json!({"count": 1, "stat": true}), 0);
        assert!(text(&log).contains("\tSomebody\tsecond\n") && text(&log).contains("a.txt | 1 +"), "{log}");
        let range = call(&project, "git_log", &json!({"ref": "HEAD~1..main", "path": "a.txt"}), 0);
        assert_eq!(text(&range).lines().count(), 1);
        let between = call(&project, "git_diff", &json!({"ref": "HEAD~1", "stat": true}), 0);
        assert!(text(&between).contains("1 file changed, 1 insertion(+)"), "{between}");
        assert!(index <= fs::metadata(project.dir().join(".git/index")).unwrap().modified().unwrap());
    }
}

#[test]
fn the_index_is_not_refreshed_by_a_reader() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&crate::harness::ordinary());
    repository(&project);
    sh(&project, "touch -d '2001-01-01' a.txt");
    let before = fs::read(project.dir().join(".git/index")).unwrap();
    call(&project, "git_status", &json!({}), 0);
    assert!(before == fs::read(project.dir().join(".git/index")).unwrap());
    // The control: git itself does refresh it.
    sh(&project, "git status");
    assert!(before != fs::read(project.dir().join(".git/index")).unwrap());
}

#[test]
fn what_a_revision_cannot_be() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&crate::harness::ordinary());
    repository(&project);
    for tool in ["git_log", "git_diff"] {
        for (bad, code) in [("--output=x", 3), ("-p", 3), ("", 3), ("a b", 3), ("@", 3), ("nothing", 20)] {
            let document = call(&project, tool, &json!({"ref": bad}), code);
            assert!(!text(&document).is_empty(), "{tool} {bad}");
        }
        call(&project, tool, &json!({"ref": "main"}), 0);
        call(&project, tool, &json!({"path": "/etc"}), 10);
    }
    assert!(!project.dir().join("x").exists());
    call(&project, "git_log", &json!({"count": 0}), 3);
}

#[test]
fn stages_and_commits_what_is_named() {
    if !have(&["git"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        repository(&project);
        let refused = call(&project, "git_commit", &json!({"message": "nothing"}), 20);
        assert!(messages(&refused).contains("nothing is staged"), "{refused}");

        project.file("b.txt", "b\n").file("c.txt", "c\n").file("*", "star\n").file("-d", "d\n");
        project.file(".env", "TOKEN=1\n");
        let added = call(&project, "git_add", &json!({"paths": ["b.txt", "*", "-d"]}), 0);
        assert_eq!(text(&added), "add '*'\nadd '-d'\nadd 'b.txt'\n");
        let message = "Add b\n\n# not a comment\n--amend $(touch pwned) `id`";
        let done = call(&project, "git_commit", &json!({ "message": message }), 0);
        assert!(text(&done).contains("Add b\n") && text(&done).contains("b.txt"), "{done}");
        assert_eq!(sh(&project, "git log -1 --format=%B").trim_end(), message);
        assert_eq!(sh(&project, "git log -1 --format=%an"), "Somebody\n");

        // Everything: but not what usually holds secrets, which the sandbox does not even show.
        call(&project, "git_add", &json!({"paths": ["."]}), 0);
        assert_eq!(sh(&project, "git diff --cached --name-only"), "c.txt\n");
        let secret = call(&project, "git_add", &json!({"paths": ["c.txt", ".env"]}), 10);
        assert_eq!(secret["decision"]["rule"], "workspace/secrets-in-lists");
        assert!(!project.dir().join("pwned").exists());

        // A person's own repository is as it was: nothing is left over.
        assert_eq!(sh(&project, "git status --porcelain"), "A  c.txt\n?? .env\n");
        sh(&project, "git fsck --strict");
    }
}

#[test]
fn who_commits_comes_from_the_caller_or_the_repository() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&crate::harness::ordinary());
    repository(&project);
    sh(&project, "git config --unset user.name && echo x >>a.txt && git add a.txt");
    let message = json!({"message": "x"});
    call_with(&project, &[], "git_commit", &message).expect(20).says("who commits is not known");
    let name = |name| [("GIT_AUTHOR_NAME", name), ("GIT_AUTHOR_EMAIL", "r@example.com")];
    let mut env = name("Robot $(id)").to_vec();
    env.extend([("GIT_COMMITTER_NAME", "Host"), ("GIT_COMMITTER_EMAIL", "h@example.com")]);
    // What else the caller's environment says of git never arrives.
    env.extend([("GIT_DIR", "/nonexistent"), ("GIT_INDEX_FILE", "/nonexistent"), ("GIT_EDITOR", "false")]);
    call_with(&project, &env, "git_commit", &message).expect(0);
    let names = "git log -1 --format='%an <%ae> %cn'";
    assert_eq!(sh(&project, names), "Robot $(id) <r@example.com> Host\n");
}

#[test]
fn a_commit_needs_no_hook_signature_or_editor() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&crate::harness::ordinary());
    repository(&project);
    sh(
        &project,
        "git config commit.gpgSign true; git config gpg.program /bin/false; git config core.editor /bin/false; \
         git config commit.template /nonexistent; for hook in pre-commit commit-msg prepare-commit-msg post-commit; do \
         printf '#!/bin/sh\\nexit 1\\n' >.git/hooks/$hook; chmod +x .git/hooks/$hook; done; echo x >>a.txt; git add a.txt",
    );
    call(&project, "git_commit", &json!({"message": "second"}), 0);
    assert_eq!(sh(&project, "git log -1 --format=%s"), "second\n");
}

/// A project in a linked work tree of a repository that lies outside of it.
pub(super) fn work_tree(project: &Project) {
    sh(
        project,
        "git init -q -b main ../main && cd ../main && git config user.name Somebody && \
         git config user.email s@example.com && echo one >a.txt && git add a.txt && git commit -q -m first && \
         git worktree add -q -b side ../tree && mv ../tree/.git ../tree/a.txt ../project/ && \
         git worktree repair ../project 2>/dev/null && printf 'tools.d\\npolicies\\n' >.git/info/exclude",
    );
}

#[test]
fn a_linked_work_tree_has_its_repository() {
    if !have(&["git"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        work_tree(&project);
        project.file("a.txt", "two\n");
        assert_eq!(text(&call(&project, "git_status", &json!({}), 0)), "## side\n M a.txt\n");
        call(&project, "git_add", &json!({"paths": ["a.txt"]}), 0);
        call(&project, "git_commit", &json!({"message": "second"}), 0);
        assert_eq!(sh(&project, "git -C ../main log -1 --format=%s side"), "second\n");
        assert_eq!(sh(&project, "git -C ../main log -1 --format=%s main"), "first\n");
        let plan = project.run(["plan", "git_commit", "-a", "message=x"]).expect(0).out();
        for held in ["main/.git/config", "worktrees/project/commondir", "worktrees/project/gitdir"] {
            let name = held.replace("worktrees/project", &own_name(&project));
            assert!(plan.contains(&name), "{name} is not held in\n{plan}");
        }
    }
}

/// `worktrees/NAME`, as git chose it.
pub(super) fn own_name(project: &Project) -> String {
    let text = fs::read_to_string(project.dir().join(".git")).unwrap();
    text.trim().rsplit(".git/").next().unwrap().to_owned()
}

#[test]
fn a_repository_that_is_not_this_workspaces_is_not_shown() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&crate::harness::ordinary());
    // The repository of somebody else, which a `.git` file in a download names.
    sh(&project, "git init -q -b main ../other && cd ../other && git config core.canary CANARY");
    project.file(".git", format!("gitdir: {}\n", project.outside().join("other/.git").display()));
    for tool in ["git_status", "git_log", "git_diff"] {
        let ran = project.run(["run", tool]).expect(4).says("does not name this workspace in return");
        assert!(!ran.out().contains("CANARY"));
    }
    project.run(["run", "git_commit", "-a", "message=x"]).expect(4);
    fs::remove_file(project.dir().join(".git")).unwrap();
    std::os::unix::fs::symlink("../other/.git", project.dir().join(".git")).unwrap();
    project.run(["run", "git_status"]).expect(4).says("symbolic link");
    fs::remove_file(project.dir().join(".git")).unwrap();
    project.run(["run", "git_status"]).expect(20).says("not a git repository");
}

#[test]
fn a_submodule_is_a_workspace_too() {
    if !have(&["git"]) {
        return;
    }
    let project = unasked(&crate::harness::ordinary());
    sh(
        &project,
        "git init -q -b main ../lib && cd ../lib && git config user.name S && git config user.email s@example.com && \
         echo one >a.txt && git add . && git commit -q -m first && git init -q -b main ../super && cd ../super && \
         git -c protocol.file.allow=always submodule --quiet add ../lib lib && mv ../project/tools.d ../project/policies lib/",
    );
    let lib = project.outside().join("super/lib");
    let at = lib.to_str().unwrap();
    project.run(["-C", at, "trust", "--author"]).expect(0);
    let log = project.run(["-C", at, "run", "git_log"]).expect(0).out();
    assert!(log.contains("first"), "{log}");
}

/// Git refuses a repository of another owner; root that reads for a user is not in danger of it here.
#[test]
fn root_reads_a_users_repository() {
    if !have(&["git"]) || !crate::harness::started_by_root() {
        eprintln!("skipped: only root can read as root");
        return;
    }
    let mut as_root = unasked(&crate::harness::ordinary());
    repository(&as_root);
    as_root.who = everybody().remove(0);
    // Root's own files lie in folders of root's; the project alone is the user's.
    for path in [as_root.outside(), as_root.outside().join("home")] {
        crate::harness::give(&path, &as_root.who);
    }
    std::fs::remove_dir_all(as_root.outside().join("home")).unwrap();
    as_root.run(["trust", "--author"]).expect(0);
    assert!(text(&call(&as_root, "git_log", &json!({}), 0)).contains("first"));
    assert!(text(&call(&as_root, "git_status", &json!({}), 0)).starts_with("## main"));
    let refused = as_root.run(["run", "git_commit", "-a", "message=x"]).expect(4);
    assert!(refused.stderr.contains("run toolctl as that user"), "{}", refused.stderr);
}
