//! The built-in tools that edit, move and delete, told to reach what they must not.

use super::race::Swap;
use super::{MASK, host};
use crate::harness::{Project, Ran, everybody, ordinary};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const TOOLS: [&str; 8] = [
    "read_file",
    "find_files",
    "file_info",
    "write_file",
    "edit_file",
    "move_file",
    "delete_file",
    "list_dir",
];

/// A trusted project in which every file tool may do what it likes, as far as its rules go.
fn project(who: &crate::harness::Who) -> Project {
    let project = Project::of(who);
    project.file("toolctl.yaml", "agentName: test\n");
    project.file("policies/main.yaml", host(&TOOLS.map(|name| (name, "read")), MASK));
    project.file(".git/config", "x\n").file(".git/hooks/pre-commit", "x\n").file(".git/info/note", "x\n");
    project.file(".envrc", "x\n").file(".vscode/tasks.json", "x\n");
    project.trusted();
    project
}

fn call(project: &Project, tool: &str, args: &Value) -> Ran {
    project.run(["run", tool, "--args", &args.to_string()])
}

fn edit(project: &Project, path: &str) -> Ran {
    call(project, "edit_file", &json!({"path": path, "edits": [{"old": "x", "new": "y"}]}))
}

fn delete(project: &Project, path: &str) -> Ran {
    call(project, "delete_file", &json!({"path": path, "recursive": true}))
}

fn mv(project: &Project, path: &str, to: &str) -> Ran {
    call(project, "move_file", &json!({"path": path, "to": to, "overwrite": true, "create_dirs": true}))
}

/// Files and folders of a project with their content, for a look before and after.
fn snapshot(project: &Project) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut todo = vec![project.dir()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap();
            let bytes = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path.display().to_string(), bytes));
            if kind.is_dir() {
                todo.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn control_files_are_neither_edited_nor_moved_nor_deleted() {
    for who in everybody() {
        let project = project(&who);
        project.file("notes", "x\n").file("sub/.git/config", "x\n").file("plain/notes", "x\n");
        let before = snapshot(&project);
        for path in [
            "toolctl.yaml",
            "policies/main.yaml",
            ".git/config",
            ".git/hooks/pre-commit",
            ".GIT/config",
            ".envrc",
            ".vscode/tasks.json",
            "sub/.git/config",
            "plain/../.git/config",
        ] {
            for ran in [
                edit(&project, path),
                delete(&project, path),
                mv(&project, path, "elsewhere"),
                mv(&project, "notes", path),
            ] {
                ran.expect(10).says("engine/control-files");
            }
        }
        for path in [".", ".git", ".GIT", ".git/hooks", ".vscode", "policies", "sub/.git", "tools.d"] {
            for ran in [delete(&project, path), mv(&project, path, "elsewhere"), mv(&project, "plain", path)]
            {
                ran.expect(10).says("engine/control-files");
            }
        }
        // What only a look at the disk tells: the tool refuses, and says what holds it.
        for ran in [delete(&project, "sub"), mv(&project, "sub", "elsewhere")] {
            ran.expect(20).says("sub/.git").says("nothing was changed");
        }
        assert_eq!(snapshot(&project), before);
        // The controls.
        edit(&project, "notes").expect(0);
        edit(&project, ".git/info/note").expect(0);
        mv(&project, "plain", "plain2").expect(0);
        delete(&project, "plain2").expect(0);
        delete(&project, ".git/info").expect(0);
        assert!(!project.dir().join("plain2").exists());
    }
}

#[test]
fn secrets_are_neither_edited_nor_moved_nor_deleted() {
    for who in everybody() {
        let project = project(&who);
        let guard = MASK.replace(
            "[read_file, list_dir, search_text, write_file]",
            "[read_file, edit_file, move_file, delete_file]",
        ) + "  - id: to\n    tool: move_file\n    when: { args.to: { path: [\"/**/.env\"], case: fold } }\n    action: deny\n";
        project.file("policies/main.yaml", host(&TOOLS.map(|name| (name, "read")), &guard));
        project.file("d/.env", "x SECRET\n").file("notes", "x\n").file("open/a", "x\n");
        symlink("d/.env", project.dir().join("link")).unwrap();
        project.trusted();
        let before = snapshot(&project);
        for ran in [
            edit(&project, "d/.env"),
            delete(&project, "d/.env"),
            mv(&project, "d/.env", "open/stolen"),
            mv(&project, "notes", "d/.env"),
            mv(&project, "notes", "d/.ENV"),
            edit(&project, "link"),
            delete(&project, "link"),
            mv(&project, "link", "open/link"),
        ] {
            ran.expect(10);
        }
        for ran in [delete(&project, "d"), mv(&project, "d", "open/d")] {
            ran.expect(20).says("d/.env").says("the sandbox holds it in place");
        }
        assert_eq!(snapshot(&project), before);
        mv(&project, "notes", "open/notes").expect(0);
        delete(&project, "open").expect(0);
    }
}

/// The sandbox of a writer gives one folder for writing, and both ends of a move lie in one.
#[test]
fn only_the_folder_of_the_path_can_be_written() {
    for who in everybody() {
        let project = project(&who);
        project.file("a/b/f", "x\n").file("a/c/g", "x\n").file("top", "x\n");
        let writable = |tool: &str, args: Value| {
            let ran = project.run(["--format", "json", "plan", tool, "--args", &args.to_string()]).expect(0);
            let plan: Value = serde_json::from_str(&ran.out()).unwrap();
            let mounts = plan["sandbox"]["mounts"].as_array().expect("mounts").clone();
            let dir = project.dir().display().to_string();
            mounts
                .iter()
                .filter(|mount| mount["access"].as_str().unwrap().starts_with("write"))
                .map(|mount| mount["path"].as_str().unwrap().replacen(&dir, "", 1))
                .collect::<Vec<_>>()
        };
        let edits = json!([{"old": "x", "new": "y"}]);
        for (tool, args, folders) in [
            ("edit_file", json!({"path": "a/b/f", "edits": edits}), &["/a/b"][..]),
            ("write_file", json!({"path": "a/b/f", "content": ""}), &["/a/b"]),
            ("write_file", json!({"path": "a/new/er/f", "content": "", "create_dirs": true}), &["/a"]),
            ("delete_file", json!({"path": "a/b", "recursive": true}), &["/a"]),
            ("delete_file", json!({"path": "a/b/f"}), &["/a/b"]),
            ("move_file", json!({"path": "a/b/f", "to": "a/c/h"}), &["/a"]),
            ("move_file", json!({"path": "a/b/f", "to": "a/b/h"}), &["/a/b"]),
            ("read_file", json!({"path": "a/b/f"}), &[]),
            ("file_info", json!({"path": "a/b/f"}), &[]),
            ("find_files", json!({}), &[]),
        ] {
            assert_eq!(writable(tool, args.clone()), folders, "{tool} {args}");
        }
        mv(&project, "a/b/f", "a/c/f").expect(0);
        mv(&project, "top", "a/b/top").expect(0);
        mv(&project, "a", "z/y").expect(0);
        assert_eq!(fs::read_to_string(project.dir().join("z/y/c/f")).unwrap(), "x\n");
    }
}

/// Where something protected lies between two folders, they are two file systems in the sandbox.
#[test]
fn a_move_across_something_protected_is_a_copy() {
    for who in everybody() {
        let project = project(&who);
        project.file("notes", "x\n").file("d/f", "x\n");
        symlink("d/f", project.dir().join("link")).unwrap();
        let moved = mv(&project, "notes", ".git/info/notes").expect(0);
        assert!(moved.out().contains("as a copy whose original was removed"), "{}", moved.out());
        mv(&project, "link", ".git/info/link").expect(0);
        mv(&project, "d", ".git/info/d").expect(20).says("something protected stands between");
        assert!(!project.dir().join("notes").exists() && project.dir().join("d/f").exists());
        assert_eq!(fs::read_to_string(project.dir().join(".git/info/notes")).unwrap(), "x\n");
        assert_eq!(fs::read_link(project.dir().join(".git/info/link")).unwrap().to_str(), Some("d/f"));
    }
}

/// A folder of the path and a link to the outside change places all the time.
#[test]
fn a_folder_that_becomes_a_link_leads_nowhere() {
    let project = project(&ordinary());
    project.file("d/f", "x INNOCENT").file("d/sub/g", "x\n");
    project.file_at(&project.outside().join("victim/f"), "x KEPT");
    project.file_at(&project.outside().join("victim/sub/g"), "x KEPT");
    let link = project.dir().join("link");
    symlink("../victim", &link).unwrap();
    let swap = Swap::start(project.dir().join("d"), link);
    let mut done = 0;
    for _ in 0..crate::harness::times(25) {
        for ran in [
            edit(&project, "d/f"),
            edit(&project, "link/f"),
            mv(&project, "d/f", "d/f2"),
            mv(&project, "d/f2", "d/f"),
            delete(&project, "d/sub"),
        ] {
            done += u32::from(ran.code == Some(0));
            assert!(!format!("{}{}", ran.out(), ran.stderr).contains("KEPT"));
        }
    }
    drop(swap);
    for name in ["f", "sub/g"] {
        let kept = fs::read_to_string(project.outside().join("victim").join(name)).unwrap();
        assert_eq!(kept, "x KEPT", "{name}");
    }
    // The control: some of the calls met the folder and did their work.
    assert!(done > 0);
}

/// Ends of a path that lead out of the workspace are judged where they lead.
#[test]
fn nothing_outside_the_workspace_is_touched() {
    for who in everybody() {
        let project = project(&who);
        project.file("notes", "x\n");
        project.file_at(&project.outside().join("victim/f"), "x KEPT");
        symlink(project.outside().join("victim"), project.dir().join("out")).unwrap();
        symlink(project.outside().join("victim/f"), project.dir().join("file")).unwrap();
        for ran in [
            edit(&project, "out/f"),
            edit(&project, "file"),
            edit(&project, "../victim/f"),
            delete(&project, "out/f"),
            mv(&project, "out/f", "stolen"),
            mv(&project, "notes", "out/f"),
            mv(&project, "notes", "out/new"),
        ] {
            assert_ne!(ran.code, Some(0), "{}", ran.stderr);
        }
        // A link is a name of the workspace: it goes, and what it leads to stays.
        mv(&project, "file", "file2").expect(0);
        delete(&project, "file2").expect(0);
        delete(&project, "out").expect(0);
        assert_eq!(fs::read_to_string(project.outside().join("victim/f")).unwrap(), "x KEPT");
        assert!(!project.dir().join("stolen").exists() && project.dir().join("notes").exists());
    }
}

/// Without a mount namespace nothing can be held inside a writable folder, so a folder with nothing to hold can be written
/// and any other is refused.
#[test]
fn without_namespaces_a_folder_that_holds_nothing_protected_can_be_written() {
    for who in everybody() {
        let project = project(&who);
        let policy = host(&TOOLS.map(|name| (name, "read")), "");
        project.file("policies/main.yaml", policy);
        project.file("toolctl.yaml", "agentName: test\nsandbox: { backend: flat }\n");
        project.file("d/e/f", "x\n").file("d/link-target", "x\n").file("top", "x\n");
        project.trusted();
        call(&project, "find_files", &json!({"path": "d"})).expect(0);
        call(&project, "file_info", &json!({"path": "d/e/f"})).expect(0);
        edit(&project, "d/e/f").expect(0);
        mv(&project, "d/e/f", "d/g").expect(0);
        mv(&project, "d/e", "d/h").expect(0);
        delete(&project, "d/h").expect(0);
        assert_eq!(fs::read_to_string(project.dir().join("d/g")).unwrap(), "y\n");
        let before = snapshot(&project);
        for ran in [edit(&project, "top"), delete(&project, "d"), mv(&project, "top", "d/top")] {
            ran.expect(30).says("must stay as it is inside a writable folder");
        }
        assert_eq!(snapshot(&project), before);
    }
}
