//! The main job from end to end: each way in which a call can end, as root and as an ordinary user.
//!
//! A test that shows that something is stopped has a control that shows that the same thing works without the stop.

use crate::harness::{Project, Who, everybody, processes_with};
use std::fs;
use std::time::Duration;

/// A trusted project with one host policy that allows the tools of a test with a given effect.
fn project(who: &Who, tools: &[(&str, &str)], policy: &str) -> Project {
    let project = Project::of(who);
    project.file("toolctl.yaml", "agentName: test\n");
    for (name, manifest) in tools {
        project.file(
            &format!("tools.d/{name}.yaml"),
            format!("name: {name}\ndescription: A tool of the tests.\n{manifest}"),
        );
    }
    project.file("policies/main.yaml", policy);
    project.trusted();
    project
}

/// A host policy that classifies `tool` and lets it run.
fn allow(tool: &str, effect: &str) -> String {
    format!(
        "policy: main\nformat: 1\nrole: host\ndefault: deny\neffects:\n  {tool}: [{{ effect: {effect} }}]\nrules:\n  - id: all\n    tool: {tool}\n    always: true\n    action: allow\n"
    )
}

const NO_ARGS: &str = "parameters: { type: object, additionalProperties: false }\n";

/// A manifest that runs a shell script; the text is fixed, so no shell parses a placeholder.
fn sh(script: &str, rest: &str) -> String {
    format!("{NO_ARGS}command: [/bin/sh, -c, {}]\n{rest}", serde_json::to_string(script).unwrap())
}

#[test]
fn a_valid_read_succeeds() {
    for who in everybody() {
        let project = Project::of(&who);
        project.file("hello.txt", "hello\n\0world");
        let ran = project.run(["run", "read_file", "-a", "path=hello.txt"]).expect(0);
        assert_eq!(ran.stdout, b"hello\n\0world");
        let ran = project.run(["run", "read_file", "-a", "path=hello.txt", "--format", "json"]).expect(0);
        let json = ran.json();
        assert_eq!(json["schema"], "toolctl.result/v1");
        assert_eq!(json["decision"]["action"], "allow");
        assert_eq!(json["decision"]["effect"], "read");
        assert_eq!(json["execution"]["ended"], "exit");
        assert_eq!(json["execution"]["exitCode"], 0);
        assert_eq!(json["execution"]["sandbox"]["backend"], "ns");
        assert_eq!(json["execution"]["sandbox"]["effectEnforcement"], "kernel");
        assert_eq!(json["audit"], "none");
        let layers = json["execution"]["sandbox"]["layers"].as_array().unwrap();
        for name in ["landlock", "seccomp"] {
            assert!(
                layers.iter().any(|layer| layer["name"] == name && layer["state"] == "enforced"),
                "{layers:?}"
            );
        }
    }
}

#[test]
fn a_missing_argument_is_named() {
    for who in everybody() {
        let project = Project::of(&who);
        project.run(["run", "read_file"]).expect(3).says("path");
        let ran = project.run(["run", "read_file", "--format", "json"]).expect(3);
        let json = ran.json();
        assert_eq!(json["issues"][0]["path"], "");
        assert!(json["issues"][0]["message"].as_str().unwrap().contains("path"));
    }
}

#[test]
fn a_duplicate_key_is_refused() {
    for who in everybody() {
        let project = Project::of(&who);
        project.file("a", "x");
        project.run(["run", "read_file", "--args", r#"{"path":"a","path":"b"}"#]).expect(3).says("path");
        project.run(["run", "read_file", "--args", r#"{"path":"a"}"#]).expect(0);
    }
}

#[test]
fn an_unknown_tool_gets_a_proposal() {
    for who in everybody() {
        let project = Project::of(&who);
        project.run(["run", "raed_file", "-a", "path=x"]).expect(5).says("read_file").says("raed_file");
    }
}

#[test]
fn three_faults_of_a_policy_are_shown_at_once() {
    for who in everybody() {
        let project = Project::of(&who);
        project.file("toolctl.yaml", "agentName: test\n");
        project.file(
            "policies/main.yaml",
            "policy: main\nformat: 1\nrole: host\ndefault: deny\nrules:\n  - id: a\n    tool: read_file\n    decison: deny\n    action: deny\n  - id: b\n    tool: read_file\n    always: true\n    action: alow\n  - id: c\n    tool: read_file\n    when: { args.path: { undr: [x] } }\n    action: deny\n",
        );
        let ran = project.run(["run", "read_file", "-a", "path=x"]).expect(4);
        for (text, line) in [("decison", ":8:"), ("alow", ":13:"), ("undr", ":16:")] {
            assert!(ran.stderr.contains(text), "{text} is not shown:\n{}", ran.stderr);
            assert!(
                ran.stderr.contains(&format!("policies/main.yaml{line}")),
                "no place for {text}:\n{}",
                ran.stderr
            );
        }
        assert!(ran.stderr.matches('^').count() >= 3, "no carets:\n{}", ran.stderr);
    }
}

#[test]
fn a_denied_write_names_rule_and_line() {
    for who in everybody() {
        let policy = "policy: main\nformat: 1\nrole: host\ndefault: deny\nrules:\n  - id: no-writes\n    tool: write_file\n    action: deny\n    reason: \"{args.path} stays as it is\"\n";
        let project = project(&who, &[], policy);
        let ran = project
            .run(["run", "write_file", "-a", "path=new.txt", "-a", "content=x"])
            .expect(10)
            .says("main/no-writes");
        assert!(ran.stderr.contains("policies/main.yaml:6:"), "{}", ran.stderr);
        assert!(!project.dir().join("new.txt").exists());
        let control =
            policy.replace("action: deny\n    reason", "always: true\n    action: allow\n    reason");
        project.file("policies/main.yaml", control);
        project.run(["run", "write_file", "-a", "path=new.txt", "-a", "content=x"]).expect(0);
        assert_eq!(fs::read_to_string(project.dir().join("new.txt")).unwrap(), "x");
    }
}

#[test]
fn an_ask_without_terminal_ends_at_once() {
    for who in everybody() {
        let policy = allow("write_file", "write").replace("action: allow", "action: ask");
        let project = project(&who, &[], &policy);
        let ran =
            project.run(["run", "write_file", "-a", "path=n", "-a", "content=x"]).expect(11).says("main/all");
        assert!(ran.took < Duration::from_secs(2), "it took {:?}", ran.took);
        assert!(!project.dir().join("n").exists());
        let json = project
            .run(["run", "write_file", "-a", "path=n", "-a", "content=x", "--format", "json"])
            .expect(11)
            .json();
        assert_eq!(json["denial"], "approval_required");
        assert_eq!(json["code"], "approval/required");
    }
}

#[test]
fn a_timeout_ends_the_whole_tree() {
    for who in everybody() {
        let mark = format!("31.4{}{}", who.uid, std::process::id());
        let script = format!(
            "(setsid sh -c 'sleep {mark}; touch late' >/dev/null 2>&1 &) ; echo started; sleep {mark}"
        );
        let manifest = sh(&script, "sandbox: { timeout: 700 }\n");
        let project = project(&who, &[("slow", &manifest)], &allow("slow", "read"));
        let json = project.run(["run", "slow", "--format", "json"]).expect(22).json();
        assert_eq!(json["execution"]["ended"], "timeout");
        assert_eq!(json["result"].as_str().unwrap().lines().next(), Some("started"));
        assert_eq!(processes_with(&mark), 0, "a process of the tool survived");
    }
}

#[test]
fn a_socket_is_refused() {
    for who in everybody() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
        let tool = |sandbox: &str| {
            format!(
                "{NO_ARGS}command: [/bin/bash, -c, {}]\n{sandbox}",
                serde_json::to_string(&script).unwrap()
            )
        };
        let denied = project(&who, &[("net", &tool(""))], &allow("net", "external"));
        let json = denied.run(["run", "net", "--format", "json"]).expect(20).json();
        assert!(!json["result"].as_str().unwrap().starts_with("connected"));
        let open =
            project(&who, &[("net", &tool("sandbox: { allowNetwork: true }\n"))], &allow("net", "external"));
        assert_eq!(open.run(["run", "net"]).expect(0).out(), "connected\n");
        // Classified read, the declared network is cut off.
        let read =
            project(&who, &[("net", &tool("sandbox: { allowNetwork: true }\n"))], &allow("net", "read"));
        read.run(["run", "net"]).expect(20);
    }
}

#[test]
fn a_gigabyte_of_memory_is_too_much() {
    for who in everybody() {
        let probe = crate::harness::probe("eat");
        let tool = |mb: u32| {
            format!(
                "{NO_ARGS}command: [{}, \"1024\"]\nsandbox: {{ maxMemoryMB: {mb} }}\n",
                serde_json::to_string(probe.to_str().unwrap()).unwrap()
            )
        };
        let small = project(&who, &[("eat", &tool(256))], &allow("eat", "read"));
        let json = small.run(["run", "eat", "--format", "json"]).expect(23).json();
        assert_eq!(json["execution"]["ended"], "memory");
        assert_eq!(json["code"], "run/limit");
        let large = project(&who, &[("eat", &tool(2048))], &allow("eat", "read"));
        assert_eq!(large.run(["run", "eat"]).expect(0).out(), "touched 1024 MiB\n");
    }
}

#[test]
fn secrets_of_the_home_are_not_there() {
    for who in everybody() {
        let outer = Project::of(&who);
        let key = outer.outside().join("home/.ssh/id_test");
        outer.file_at(&key, "SECRET-KEY");
        let tool = |sandbox: &str| {
            format!(
                "{NO_ARGS}command: [/bin/cat, {}]\n{sandbox}",
                serde_json::to_string(key.to_str().unwrap()).unwrap()
            )
        };
        let closed = project(&who, &[("cat", &tool(""))], &allow("cat", "read"));
        let json = closed.run(["run", "cat", "--format", "json"]).expect(20).json();
        assert!(json["execution"]["stderr"].as_str().unwrap().contains("No such file"), "{json}");
        assert!(!json.to_string().contains("SECRET-KEY"));
        let open = tool(&format!(
            "sandbox: {{ allowFS: {{ readOnly: [{}] }} }}\n",
            serde_json::to_string(key.to_str().unwrap()).unwrap()
        ));
        let open = project(&who, &[("cat", &open)], &allow("cat", "read"));
        assert_eq!(open.run(["run", "cat"]).expect(0).out(), "SECRET-KEY");
    }
}

#[test]
fn endless_output_is_cut() {
    for who in everybody() {
        let manifest = format!("{NO_ARGS}command: [/usr/bin/yes]\nsandbox: {{ maxOutputBytes: 65536 }}\n");
        let project = project(&who, &[("flood", &manifest)], &allow("flood", "read"));
        let json = project.run(["run", "flood", "--format", "json"]).expect(23).json();
        assert_eq!(json["execution"]["ended"], "output");
        assert!(json["result"].as_str().unwrap().len() <= 65536);
    }
}

#[test]
fn a_tool_classified_read_cannot_write() {
    for who in everybody() {
        let manifest =
            sh("echo changed > kept.txt", "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n");
        let read = project(&who, &[("edit", &manifest)], &allow("edit", "read"));
        read.file("kept.txt", "as it was");
        read.run(["run", "edit"]).expect(20);
        assert_eq!(fs::read_to_string(read.dir().join("kept.txt")).unwrap(), "as it was");
        let write = project(&who, &[("edit", &manifest)], &allow("edit", "write"));
        write.file("kept.txt", "as it was");
        write.run(["run", "edit"]).expect(0);
        assert_eq!(fs::read_to_string(write.dir().join("kept.txt")).unwrap(), "changed\n");
    }
}

#[test]
fn a_writer_cannot_edit_the_policies() {
    for who in everybody() {
        let fs = "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n";
        for script in [
            "echo 'default: allow' > policies/main.yaml",
            "rm policies/main.yaml",
            "mv policies gone",
            "mv policies/main.yaml x.yaml",
            "cp policies/main.yaml p2 && mv p2 policies/main.yaml",
            "touch policies/other.yaml",
            "echo x > tools.d/edit.yaml",
            "rm toolctl.yaml",
            "chmod 777 policies",
            "ln -sf /etc policies",
        ] {
            let project =
                project(&who, &[("edit", &sh(&format!("set -e; {script}"), fs))], &allow("edit", "write"));
            let before = tree(&project);
            let ran = project.run(["run", "edit"]);
            assert_eq!(ran.code, Some(20), "{script}: {:?} {}", ran.code, ran.stderr);
            assert!(tree(&project) == before, "{script}");
        }
        let control =
            project(&who, &[("edit", &sh("mkdir d && mv d e && touch e/x", fs))], &allow("edit", "write"));
        control.run(["run", "edit"]).expect(0);
        assert!(control.dir().join("e/x").exists());
        // The same through the built-in writer: a rule of the engine denies it before anything runs.
        let write = project(&who, &[], &allow("write_file", "write"));
        write
            .run(["run", "write_file", "-a", "path=policies/main.yaml", "-a", "content=x"])
            .expect(10)
            .says("engine/control-files");
        write.run(["run", "write_file", "-a", "path=notes/../ok.txt", "-a", "content=x"]).expect(0);
    }
}

#[test]
fn a_control_file_that_was_created_is_quarantined() {
    for who in everybody() {
        let fs = "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n";
        let manifest = sh("mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit && echo x > .envrc", fs);
        let project = project(&who, &[("edit", &manifest)], &allow("edit", "write"));
        let ran = project.run(["run", "edit"]).expect(24).says(".envrc");
        assert!(ran.stderr.contains("run/control-file-created"), "{}", ran.stderr);
        assert!(!project.dir().join(".envrc").exists());
        assert!(!project.dir().join(".git/hooks").exists());
        // The author's trust is suspended until a person looks.
        project.run(["run", "edit"]).expect(4).says("toolctl trust");
    }
}

/// Every control file of the project with its mode and content.
fn tree(project: &Project) -> Vec<(String, u32, Vec<u8>)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut out = Vec::new();
    let mut todo = vec![project.dir()];
    let control = ["toolctl.yaml", "policies", "tools.d"].map(|name| project.dir().join(name));
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if !control.iter().any(|root| path.starts_with(root)) {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            out.push((path.to_string_lossy().into_owned(), meta.permissions().mode(), content));
            if meta.is_dir() {
                todo.push(path);
            }
        }
    }
    out.sort();
    out
}
