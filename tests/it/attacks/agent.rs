//! An agent that chooses the tool's name, the arguments and the flags.

use super::{MASK, host, project};
use crate::harness::{Project, Who, everybody, finish, ordinary};
use std::os::unix::fs::symlink;

/// A project whose policy allows the built-in tools everything but `.env` files and `priv`.
fn allowed(who: &Who) -> Project {
    let project = Project::of(who);
    project.file("toolctl.yaml", "agentName: test\n");
    let names =
        ["read_file", "write_file", "list_dir", "search_text", "run_command"].map(|name| (name, "read"));
    let guard = MASK.replace("\"/**/.env\"", "\"/**/.env\", \"/**/priv\", \"/**/priv/**\"");
    project.file("policies/main.yaml", host(&names, &guard));
    for (path, text) in
        [(".env", "CANARY"), ("priv/x", "CANARY"), (".env.example", "EXAMPLE"), ("plain", "PLAIN")]
    {
        project.file(path, text);
    }
    project.file_at(&project.outside().join("other/x"), "CANARY");
    std::fs::create_dir(project.dir().join("d")).unwrap();
    crate::harness::give(&project.dir().join("d"), who);
    for (text, path) in
        [(".env", "l1"), (".", "l2"), ("../priv", "d/p"), ("l1", "l3"), ("/proc/self/cwd", "l4")]
    {
        symlink(text, project.dir().join(path)).unwrap();
    }
    project.trusted();
    project
}

/// Spellings of paths that are denied, hidden or outside.
fn spellings(project: &Project) -> Vec<String> {
    let here = project.dir().display().to_string();
    [
        ".env",
        "./.env",
        "d/../.env",
        ".//.env",
        "l1",
        "l2/.env",
        "l3",
        "l2/l2/l1",
        ".env/",
        ".env/.",
        ".ENV",
        "d/p/x",
        "priv/x",
        "priv//x",
        "PRIV/../priv/x",
        "d/p/../priv/x",
        "l4/.env",
        "/proc/self/cwd/.env",
        "/proc/thread-self/cwd/.env",
        "/dev/fd/../cwd/.env",
        "../other/x",
        "d/../../other/x",
        "nothing/../.env",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain(["/.env", "//.env", "/d/../.env", "/../other/x"].map(|rest| format!("{here}{rest}")))
    .chain(["/proc/self/root", "//", "/../.."].map(|before| format!("{before}{here}/.env")))
    .collect()
}

#[test]
fn no_spelling_reaches_what_is_denied() {
    for who in everybody() {
        let project = allowed(&who);
        for path in spellings(&project) {
            for (tool, name) in [("read_file", "path"), ("search_text", "path"), ("list_dir", "path")] {
                let mut call =
                    vec!["run".to_owned(), tool.to_owned(), "-a".to_owned(), format!("{name}={path}")];
                if tool == "search_text" {
                    call.extend(["-a", "pattern=CANAR[Y]", "-a", "all:=true"].map(str::to_owned));
                }
                let ran = project.run(&call);
                assert!(
                    !ran.out().contains("CANARY") && !ran.stderr.contains("CANARY"),
                    "{call:?}: {}",
                    ran.out()
                );
            }
            let ran =
                project.run(["run", "write_file", "-a", "path=copy", "-a", &format!("content=@{path}")]);
            assert_eq!(ran.code, Some(3), "@{path}: {}", ran.stderr);
        }
        for path in ["plain", "./plain", "d/../plain", "l2/plain", ".env.example"] {
            let ran = project.run(["run", "read_file", "-a", &format!("path={path}")]).expect(0);
            assert!(ran.out() == "PLAIN" || ran.out() == "EXAMPLE");
            project.run(["run", "read_file", "-a", &format!("path=@{path}")]).expect(20);
        }
    }
}

#[test]
fn a_search_and_a_command_see_no_hidden_file() {
    for who in everybody() {
        let project = allowed(&who);
        for args in [
            r#"{"pattern":"CANARY|PLAIN","all":true}"#,
            r#"{"pattern":"CANARY|PLAIN","all":true,"path":"l2"}"#,
            r#"{"pattern":"CANARY|PLAIN","all":true,"glob":"{../**,**,.*,priv/**,plain}"}"#,
        ] {
            let ran = project.run(["run", "search_text", "--args", args]).expect(0);
            assert!(!ran.out().contains("CANARY") && ran.out().contains("PLAIN"), "{args}: {}", ran.out());
        }
        for argv in [
            r#"["cat","plain",".env"]"#,
            r#"["cat","plain","l1","d/p/x","priv/x"]"#,
            r#"["sh","-c","cat plain; cp .env z; ln .env y; mv priv q; cat z y q/x; tar c . 2>/dev/null | grep -a CANA[R]Y"]"#,
            r#"["sh","-c","cat plain ../other/x /etc/shadow /proc/1/environ; cd /proc/self/cwd; cat .env"]"#,
        ] {
            let ran = project.run(["run", "run_command", "--args", &format!("{{\"argv\":{argv}}}")]);
            assert!(!ran.out().contains("CANARY") && ran.out().contains("PLAIN"), "{argv}: {}", ran.out());
            assert!(!ran.out().contains("root:"), "{argv}");
        }
    }
}

/// Writes to control files and to what is executed later, by every spelling.
#[test]
fn no_spelling_writes_what_controls() {
    for who in everybody() {
        let project = allowed(&who);
        project.file(".git/config", "").file(".git/index", "").file("sub/.git/config", "");
        symlink("policies", project.dir().join("d/pol")).unwrap();
        symlink("../policies", project.dir().join("d/pol2")).unwrap();
        for path in [
            "policies/main.yaml",
            "policies/new.yaml",
            "d/../policies/new.yaml",
            "d/pol2/new.yaml",
            "l2/policies/new.yaml",
            "toolctl.yaml",
            "toolctl.yml",
            "toolctl.json",
            "tools.d/x.yaml",
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/commondir",
            ".git/config.worktree",
            ".git/modules/a/hooks/x",
            ".git/worktrees/a/commondir",
            "sub/.git/config",
            "sub/.git/hooks/x",
            "sub/.GIT/hooks/x",
            ".envrc",
            ".vscode/tasks.json",
            "sub/.git",
            "policies",
            "l2/.envrc",
        ] {
            let args = serde_json::json!({"path": path, "content": "x", "create_dirs": true}).to_string();
            let ran = project.run(["run", "write_file", "--args", &args]);
            assert_eq!(ran.code, Some(10), "{path}: {}", ran.stderr);
            assert!(ran.stderr.contains("engine/control-files"), "{path}: {}", ran.stderr);
        }
        for path in ["notes", "d/n", "policies2/x", ".git/info/note", ".gitignore", "sub/.gitconfig"] {
            let args = serde_json::json!({"path": path, "content": "x", "create_dirs": true}).to_string();
            project.run(["run", "write_file", "--args", &args]).expect(0);
        }
    }
}

#[test]
fn json_has_one_meaning() {
    let project = allowed(&ordinary());
    let deep = format!("{{\"path\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for args in [
        r#"{"path":"plain","path":".env"}"#,
        r#"{"path":"plain","pa\u0074h":".env"}"#,
        r#"{"path":{"$serde_json::private::Number":"1"}}"#,
        r#"{"path":"plain","limit":{"$serde_json::private::Number":"1"}}"#,
        r#"{"path":"plain","limit":{"$serde_json::private::RawValue":"1"}}"#,
        r#"{"$serde_json::private::RawValue":"{\"path\":\"plain\"}"}"#,
        r#"{"path":"plain","limit":1e400}"#,
        r#"{"path":"plain","limit":1.5}"#,
        r#"{"path":"plain","limit":-0}"#,
        r#"{"path":"plain","limit":99999999999999999999999}"#,
        r#"{"path":"plain","limit":"1"}"#,
        r#"{"path":"plain","limit":NaN}"#,
        r#"{"path":"plain","__proto__":{"x":1}}"#,
        r#"{"path":"plain","Path":".env"}"#,
        r#"{"path":"plain\u0000.txt"}"#,
        r#"{"path":"\ud800"}"#,
        r#"{"path":"plain",}"#,
        r#"{"path":"plain"} {"path":".env"}"#,
        r#"{"path":["plain"]}"#,
        r#"[{"path":"plain"}]"#,
        "{\"path\":'plain'}",
        "\u{feff}{\"path\":\"plain\"}",
        "// x\n{\"path\":\"plain\"}",
        "null",
        "",
        &deep,
    ] {
        let ran = project.run_with(["run", "read_file", "--args", "-"], args.as_bytes());
        assert_eq!(ran.code, Some(3), "{}: {}", args.get(..60).unwrap_or(args), ran.stderr);
        assert!(ran.out().is_empty(), "{args}");
    }
    project
        .run_with(["run", "read_file", "--args", "-"], br#" {"pa\u0074h":"pl\u0061in","limit":5.0} "#)
        .expect(0);
    for flag in [
        "@path=plain",
        "=plain",
        "path",
        "path:plain",
        "path:={",
        "limit=x",
        "nope=1",
        "path=plain\u{1b}[2J\u{202e}",
    ] {
        let ran = project.run(["run", "read_file", "-a", flag]);
        assert!(matches!(ran.code, Some(3 | 20)), "{flag}: {:?}", ran.code);
        assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\u{202e}'), "{flag}: {}", ran.stderr);
    }
}

/// What the caller claims loosens nothing.
#[test]
fn claims_loosen_nothing() {
    let who = ordinary();
    let project = project(&who, "write", super::WRITES, "echo x > made");
    project.file(
        "policies/other.yaml",
        "policy: other\nformat: 1\nrole: delegate\nfor: { ctx.agentName: researcher }\ndefault: inherit\nrules:\n  - { id: no, tool: t, action: deny }\n",
    );
    project.trusted();
    project.run(["run", "t"]).expect(0);
    for claims in [
        &["--mode", "plan"][..],
        &["--agent", "researcher"],
        &["--agent", "root", "--agent", "researcher"],
        &["--agent", "researcher", "--agent", "root"],
        &["--agent", "researcher", "--user-id", "root", "--tenant-id", "root"],
        &["--agent", "researcher", "--mode", "execute"],
    ] {
        let ran = project.run(["run", "t"].iter().chain(claims));
        assert_eq!(ran.code, Some(10), "{claims:?}: {}", ran.stderr);
    }
    let evil = "\u{1b}[2J\n\u{202e}x";
    for flag in ["--call-id", "--run-id", "--session-id", "--user-id", "--tenant-id", "--agent"] {
        for verb in ["run", "plan"] {
            let ran = project.run([verb, "t", flag, evil]);
            assert!(!ran.out().contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{verb} {flag}");
        }
    }
}

/// The state decides about the project, so it cannot lie in it; other variables change nothing.
#[test]
fn the_environment_loosens_nothing() {
    let who = ordinary();
    let project = project(&who, "read", "", "env; echo ran");
    let inside = project.dir().join("home");
    let with = |name: &str, value: &str, args: &[&str]| {
        let mut command = project.command(args);
        command.env(name, value);
        finish(command, None)
    };
    let inside = inside.to_str().unwrap();
    with("TOOLCTL_HOME", inside, &["trust", "--author"]).expect(4);
    with("TOOLCTL_HOME", inside, &["run", "t"]).expect(4);
    for bad in ["", "relative", "/", "/a/../b", "."] {
        let ran = with("TOOLCTL_HOME", bad, &["run", "t"]);
        assert_ne!(ran.code, Some(0), "{bad}");
    }
    with("TOOLCTL_SANDBOX", "off", &["run", "t"]).expect(2);
    project.trusted();
    for (name, value) in [
        ("HOME", "/tmp"),
        ("XDG_STATE_HOME", "/tmp"),
        ("XDG_CONFIG_HOME", inside),
        ("PATH", inside),
        ("LC_ALL", "\u{1b}[2J"),
        ("BASH_ENV", "/tmp/x"),
        ("ENV", "/tmp/x"),
        ("LD_LIBRARY_PATH", inside),
        ("TMPDIR", inside),
        ("GIT_DIR", inside),
        ("RUST_LOG", "trace"),
        ("RUST_BACKTRACE", "full"),
    ] {
        let ran = with(name, value, &["run", "t"]).expect(0);
        assert!(ran.out().ends_with("ran\n"), "{name}");
        let passed = format!("{name}={value}\n");
        assert!(!ran.out().contains(&passed), "{name} reached the tool");
    }
}

#[test]
fn secrets_are_not_repeated() {
    let who = ordinary();
    let project = Project::of(&who);
    project.file("toolctl.yaml", "agentName: test\n");
    project.file(
        "tools.d/login.yaml",
        r#"name: login
description: A tool of the tests.
parameters:
  type: object
  properties:
    user: { type: string }
    pw: { type: string, writeOnly: true, maxLength: 8, pattern: '^[A-Z0-9]*$', default: "" }
    tok: { type: string, format: password, enum: [AAAA, ""], default: "" }
    pin: { type: integer, x-secret: true, maximum: 9999, default: 0 }
    obj: { type: object, x-secret: true, properties: { k: { type: string, maxLength: 3 } }, additionalProperties: false }
    list: { type: array, items: { type: string, writeOnly: true, maxLength: 3 } }
  required: [user]
  additionalProperties: false
command: [/bin/echo, "{args.user}", "--pw={args.pw}", "{args.pin}"]
"#,
    );
    let policy = host(&[("login", "read")], "").replace(
        "    always: true\n    action: allow\n",
        "    when: { args.user: eve }\n    action: ask\n    reason: \"{args.user} {args.pw} {args.pin} {args.obj}\"\n  - { id: no, tool: login, when: { args.user: mal }, action: deny, reason: \"{args.pw} {args.tok} {args.pin}\" }\n",
    );
    project.file("policies/main.yaml", policy);
    project.trusted();
    for args in [
        r#"{"user":"eve","pw":"CANARY7"}"#,
        r#"{"user":"mal","pw":"CANARY7","pin":7777}"#,
        r#"{"user":"eve","pin":7777}"#,
        r#"{"user":"eve","obj":{"k":"7777"}}"#,
        r#"{"user":"eve","obj":{"CANARY":1}}"#,
        r#"{"user":"eve","obj":"CANARY"}"#,
        r#"{"user":"eve","list":["CANARY"]}"#,
        r#"{"user":"eve","pw":"CANARY-TOO-LONG"}"#,
        r#"{"user":"eve","pw":7777}"#,
        r#"{"user":"eve","tok":"CANARY"}"#,
        r#"{"user":"eve","pin":77777}"#,
        r#"{"user":"eve","pin":"CANARY"}"#,
    ] {
        for command in [&["run"][..], &["plan"], &["policy", "explain"]] {
            for format in ["human", "json"] {
                let ran = project.run(command.iter().chain(&["login", "--args", args, "--format", format]));
                // The digest of a call may hold any digits.
                let all = format!("{}{}", ran.out(), ran.stderr).replace("sha256:", "\nsha256:");
                let shown: Vec<&str> = all.lines().filter(|line| !line.starts_with("sha256:")).collect();
                let shown = shown.join("\n");
                assert!(!shown.contains("CANARY") && !shown.contains("7777"), "{command:?} {args}: {shown}");
            }
        }
    }
    // The control: what is no secret is shown.
    let ran = project.run(["plan", "login", "--args", r#"{"user":"eve"}"#]).expect(11);
    assert!(ran.out().contains("/bin/echo eve"), "{}", ran.out());
}

/// A rule that names a file that is executed later opens just that one, in the policy and in the sandbox.
#[test]
fn a_rule_opens_just_the_hook_that_it_names() {
    for who in everybody() {
        let project = Project::of(&who);
        project.file("toolctl.yaml", "agentName: test\n");
        let policy = |path: &str| {
            host(&[("write_file", "write")], "").replace(
                "    always: true\n",
                &format!("    when: {{ args.path: {{ path: [\"{path}\", \"**\"] }} }}\n"),
            )
        };
        project.file(".git/hooks/x", "").file(".git/config", "");
        let write = |path: &str| {
            project.run(["run", "write_file", "-a", &format!("path={path}"), "-a", "content=y"]).code
        };
        project.file("policies/main.yaml", policy(".git/hooks/*"));
        project.trusted();
        assert_eq!(write(".git/hooks/pre-commit"), Some(0));
        for path in
            [".git/config", ".envrc", ".git/commondir", ".vscode/x", "policies/x.yaml", "toolctl.json"]
        {
            assert_eq!(write(path), Some(10), "{path}");
        }
        project.file("policies/main.yaml", policy(".envrc"));
        assert_eq!(write(".envrc"), Some(0));
        assert_eq!(write(".git/hooks/pre-commit"), Some(10));
        project.file("policies/main.yaml", policy("policies/*"));
        assert_eq!(write("policies/x.yaml"), Some(10));
    }
}

/// However short the lines of a file of calls are, what is said of them does not fill the memory.
#[test]
fn short_lines_do_not_fill_the_memory() {
    let project = allowed(&ordinary());
    let line = "yes '{' | head -n 40000 >calls; toolctl validate --calls calls --format ndjson >out 2>/dev/null & \
                p=$!; while grep VmHWM /proc/$p/status >>peak 2>/dev/null; do sleep 0.05; done; \
                tail -n 1 peak; tail -n 1 out";
    let ran = finish(project.shell(line), None).expect(0);
    let out = ran.out();
    let (peak, last) = out.split_once('\n').unwrap();
    let peak: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(peak < 80 << 10, "{peak} kB");
    // The control: all lines were judged.
    assert!(last.contains("\"line\":40000,"), "{last}");
}
