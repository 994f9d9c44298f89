//! How programs are started, watched and ended.

use super::kit::{NO_ARGS, WRITES, allow, call, host, human, project, quoted, result, sh, tool, wait_for};
use crate::harness::{everybody, finish, probe, processes_with};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn mark(text: &str, uid: u32) -> String {
    format!("{text}{uid}{}", std::process::id())
}

/// The result is reported when the tree is gone, not before, and nothing is done afterwards.
#[test]
fn f003_timeout_kills_descendants() {
    for who in everybody() {
        let mark = mark("41.5", who.uid);
        let script = format!("(sleep 1.5; touch late.txt; sleep {mark}) & sleep {mark}");
        let manifest = |timeout: &str| {
            sh(
                &script,
                &format!(
                    "sandbox: {{ timeout: {timeout}, allowFS: {{ readWrite: [\"{{workspace}}\"] }} }}\n"
                ),
            )
        };
        let short = project(&who, &[("tree", &manifest("700ms"))], &allow("tree", "write"));
        let ran = short.run(["run", "tree", "--format", "json"]).expect(22);
        assert_eq!(processes_with(&mark), 0, "somebody is alive after the report");
        assert!(ran.took < Duration::from_secs(4), "{:?}", ran.took);
        assert_eq!(ran.json()["execution"]["ended"], "timeout");
        std::thread::sleep(Duration::from_millis(1200));
        assert!(!short.dir().join("late.txt").exists());
        // The control: with time enough the same descendant does its work.
        let long = project(&who, &[("tree", &manifest("2500ms"))], &allow("tree", "write"));
        long.run(["run", "tree"]).expect(22);
        assert!(long.dir().join("late.txt").exists());
    }
}

/// Repeating calls is not there yet: a manifest that asks for it is refused, and a call that ran out of time was made
/// exactly once.
#[test]
fn f053_a_call_with_effects_is_not_repeated() {
    for who in everybody() {
        let script = "echo charged >> log.txt; sleep 30";
        let rest = "sandbox: { timeout: 500, allowFS: { readWrite: [\"{workspace}\"] } }\n";
        let once = project(&who, &[("charge", &sh(script, rest))], &allow("charge", "write, external"));
        let json = result(&once, "charge", 22);
        assert_eq!(json["execution"]["attempts"], 1);
        assert_eq!(json["retryable"], false);
        assert_eq!(fs::read_to_string(once.dir().join("log.txt")).unwrap(), "charged\n");
        let retry = sh(script, &format!("{rest}retry: {{ attempts: 3, backoffMs: 10 }}\n"));
        let refused = project(&who, &[("charge", &retry)], &allow("charge", "write, external"));
        refused.run(["run", "charge"]).expect(4).says("manifest/unsupported").says("retry");
        assert!(!refused.dir().join("log.txt").exists());
    }
}

/// The program's stdin is what the manifest says, never the caller's, and there is no terminal for it.
#[test]
fn f055_the_callers_stdin_and_terminal_are_not_the_tools() {
    for who in everybody() {
        let cat = |stdin: &str| format!("{NO_ARGS}command: [/bin/cat]\n{stdin}");
        let tty = sh("read x </dev/tty && echo got $x", "");
        let tools = [("none", cat("stdin: none\n")), ("args", cat("")), ("tty", tty)];
        let tools: Vec<(&str, &str)> = tools.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let policy = host(
            "none: [{ effect: read }]\n  args: [{ effect: read }]\n  tty: [{ effect: read }]",
            &["{ id: all, tool: [none, args, tty], always: true, action: allow }"],
        );
        let project = project(&who, &tools, &policy);
        let ran = project.run_with(["run", "none"], b"meant for somebody else").expect(0);
        assert_eq!(ran.out(), "");
        assert!(ran.took < Duration::from_secs(5));
        // Passing something on stdin is what the manifest asks for: the arguments, here.
        assert_eq!(project.run_with(["run", "args"], b"meant for somebody else").expect(0).out(), "{}");
        let ran = project.run_with(["run", "tty"], b"typed\n").expect(20);
        assert!(!ran.out().contains("got"));
        assert!(ran.took < Duration::from_secs(5));
        // A program that wants an editor on the terminal ends with its own message.
        if !Path::new("/usr/bin/git").exists() {
            eprintln!("skipped: there is no git");
            continue;
        }
        let git = "cd \"$TMPDIR\" && git init -q . && exec git -c user.name=n -c user.email=a@b commit --allow-empty";
        tool(&project, "tty", &sh(git, "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n"));
        let effects = policy.replace("tty: [{ effect: read }]", "tty: [{ effect: [write, execute] }]");
        project.file("policies/main.yaml", effects);
        let ran = project.run_with(["run", "tty"], b"message\n").expect(20);
        assert!(ran.took < Duration::from_secs(5) && ran.stderr.contains("message"), "{}", ran.stderr);
    }
}

#[test]
fn f057_a_signal_is_no_success() {
    for who in everybody() {
        let policy = |tool: &str| allow(tool, "read");
        for (script, code, exit, signal, ended) in [
            ("kill -9 $$", 21, Value::Null, json!(9), "signal"),
            ("kill -SEGV $$", 21, Value::Null, json!(11), "signal"),
            ("exit 137", 20, json!(137), Value::Null, "exit"),
            ("exit 256", 0, json!(0), Value::Null, "exit"),
            ("exit 0", 0, json!(0), Value::Null, "exit"),
            ("exit 1", 20, json!(1), Value::Null, "exit"),
        ] {
            // A shell whose `exit` refuses to wrap says so with another failure; bash wraps as the kernel does.
            let manifest = format!("{NO_ARGS}command: [/bin/bash, -c, {}]\n", quoted(script));
            let project = project(&who, &[("ends", &manifest)], &policy("ends"));
            let json = result(&project, "ends", code);
            assert_eq!(json["execution"]["exitCode"], exit, "{script}");
            assert_eq!(json["execution"]["signal"], signal, "{script}");
            assert_eq!(json["execution"]["ended"], ended, "{script}");
            assert_eq!(json["error"].is_null(), code == 0, "{script}");
        }
    }
}

/// What was printed before the end is kept, a last line without a newline too, for timeouts and interrupts alike.
#[test]
fn f059_output_before_the_end_is_kept() {
    for who in everybody() {
        let mark = mark("42.5", who.uid);
        let script = format!("echo 'step 1'; echo warn >&2; printf partial; sleep {mark}; echo after");
        let manifest = |timeout: u32| sh(&script, &format!("sandbox: {{ timeout: {timeout} }}\n"));
        let short = project(&who, &[("steps", &manifest(700))], &allow("steps", "read"));
        let json = result(&short, "steps", 22);
        assert_eq!(json["result"], "step 1\npartial");
        assert_eq!(json["execution"]["stderr"], "warn\n");
        assert!(json["execution"]["durationMs"].as_u64().unwrap() >= 700);
        assert!(short.run(["run", "steps"]).expect(22).says("its timeout").out().contains("step 1"));

        let long = project(&who, &[("steps", &manifest(30_000))], &allow("steps", "read"));
        let command = long.command(["run", "steps", "--format", "json"]);
        let killer = std::thread::spawn({
            let mark = mark.clone();
            move || {
                wait_for("the tool", || processes_with(&format!("sleep\0{mark}")) > 0);
                std::thread::sleep(Duration::from_millis(200));
                let toolctl = toolctl_above(&mark);
                Command::new("kill").args(["-INT", &toolctl]).status().unwrap();
            }
        });
        let ran = finish(command, None);
        killer.join().unwrap();
        assert_eq!(ran.signal, Some(2), "{:?} {}", ran.code, ran.stderr);
        let json = ran.json();
        assert_eq!(json["result"], "step 1\npartial");
        assert_eq!(json["execution"]["stderr"], "warn\n");
        assert_eq!(processes_with(&mark), 0);
    }
}

/// The process id of the toolctl that has a tool with this text in its command line below it.
fn toolctl_above(text: &str) -> String {
    let parent = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(stat.rsplit(')').next()?.split_whitespace().nth(1)?.to_owned())
    };
    let line = |pid: &str| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    };
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut pid = pids
        .filter(|pid| pid.parse::<u32>().is_ok())
        .find(|pid| line(pid).starts_with("sleep") && line(pid).contains(text))
        .expect("the tool's process");
    while !line(&pid).contains("run steps --format json") {
        pid = parent(&pid).expect("toolctl above the tool");
        assert_ne!(pid, "0", "toolctl is not above the tool");
    }
    pid
}

/// Exact bytes in the human form, marks and `lossy` in JSON. Artifacts that keep the bytes beside JSON come later.
#[test]
fn f061_bytes_that_are_no_text() {
    for who in everybody() {
        let cases: [(&str, &[u8], Option<&str>); 5] = [
            (r"printf '\377\376'", b"\xff\xfe", None),
            (r"printf 'a\000b'", b"a\0b", Some("a\0b")),
            (r"printf 'caf\351'", b"caf\xe9", None),
            (r"printf '\377\376h\000i\000'", b"\xff\xfeh\0i\0", None),
            (r"printf '\303'; sleep 0.2; printf '\251'", "é".as_bytes(), Some("é")),
        ];
        for (script, bytes, text) in cases {
            let project = project(&who, &[("bytes", &sh(script, ""))], &allow("bytes", "read"));
            assert_eq!(project.run(["run", "bytes"]).expect(0).stdout, bytes, "{script}");
            let json = result(&project, "bytes", 0);
            if let Some(text) = text {
                assert_eq!(json["result"], text, "{script}");
            } else {
                assert_eq!(json["lossy"], true, "{script}");
                assert!(json["result"].as_str().unwrap().contains('\u{fffd}'), "{script}");
            }
        }
    }
}

/// A clean base environment, enough for ordinary programs; what may come from the caller is the user's list, and names
/// count exactly. Patterns are not a thing, so `*` is just a name that nobody may forward.
#[test]
fn f087_the_environment_is_a_list() {
    for who in everybody() {
        let tool_of =
            |env: &str| format!("{NO_ARGS}command: [/usr/bin/env]\nstdin: none\nsandbox: {{ env: {env} }}\n");
        let run = |env: &str, code: i32| {
            let project = project(&who, &[("show", &tool_of(env))], &allow("show", "read"));
            let mut command = project.command(["run", "show"]);
            command.env("HTTPS_PROXY", "http://secret@proxy").env("LC_ALL", "C.UTF-8").env("lc_time", "x");
            finish(command, None).expect(code)
        };
        let base = run("{}", 0).out();
        for name in ["PATH=", "HOME=", "TMPDIR=", "LANG=", "TOOLCTL_CALL_ID="] {
            assert!(base.lines().any(|line| line.starts_with(name)), "{name} is missing:\n{base}");
        }
        assert!(
            !base.contains("PROXY") && !base.contains("LC_ALL") && !base.contains("TOOLCTL_HOME"),
            "{base}"
        );
        let given = run("{ forward: [LC_ALL], set: { GREETING: hello } }", 0).out();
        assert!(given.contains("LC_ALL=C.UTF-8\n") && given.contains("GREETING=hello\n"), "{given}");
        assert_eq!(run("{ forward: [] }", 0).out().lines().count(), base.lines().count());
        for env in [
            "{ forward: [HTTPS_PROXY] }",
            "{ forward: ['*'] }",
            "{ forward: ['LC_*'] }",
            "{ forward: [lc_time] }",
        ] {
            let ran = run(env, 4);
            assert!(ran.stderr.contains("forwardableEnv"), "{env}: {}", ran.stderr);
        }
        // The user's own settings can open it; a project's cannot.
        let project =
            project(&who, &[("show", &tool_of("{ forward: [HTTPS_PROXY] }"))], &allow("show", "read"));
        project.file("toolctl.yaml", "agentName: test\nforwardableEnv: [HTTPS_PROXY]\n");
        project.run(["run", "show"]).expect(4);
        let own = project.outside().join("home/config/toolctl.yaml");
        project.file("toolctl.yaml", "agentName: test\n");
        project.file_at(&own, "forwardableEnv: [HTTPS_PROXY]\n");
        let mut command = project.command(["run", "show"]);
        command.env("HTTPS_PROXY", "http://proxy");
        assert!(finish(command, None).expect(0).out().contains("HTTPS_PROXY=http://proxy\n"));
        // A tool that fails hears which ways to the network were kept from it, by name, if it has the network at all.
        project.file("policies/main.yaml", allow("net", "external"));
        for (network, exit, told) in [(true, 3, true), (false, 3, false), (true, 0, false)] {
            tool(
                &project,
                "net",
                &sh(&format!("exit {exit}"), &format!("sandbox: {{ allowNetwork: {network} }}\n")),
            );
            let mut command = project.command(["run", "net"]);
            command.env("HTTPS_PROXY", "http://secret@proxy").env("LC_ALL", "C.UTF-8");
            let ran = finish(command, None).expect(if exit == 0 { 0 } else { 20 });
            assert_eq!(ran.stderr.contains("not given to the tool: HTTPS_PROXY"), told, "{}", ran.stderr);
            assert!(!ran.stderr.contains("secret@proxy"), "{}", ran.stderr);
        }
        tool(
            &project,
            "net",
            &sh("exit 3", "sandbox: { allowNetwork: true, env: { forward: [HTTPS_PROXY] } }\n"),
        );
        let mut command = project.command(["run", "net"]);
        command.env("HTTPS_PROXY", "http://proxy");
        assert!(!finish(command, None).expect(20).stderr.contains("HTTPS_PROXY"));
        // A temp folder that works.
        let temp = sh("f=$(mktemp) && echo x > \"$f\" && cat \"$f\"", "");
        tool(&project, "temp", &temp);
        project.file("policies/main.yaml", allow("temp", "read"));
        assert_eq!(project.run(["run", "temp"]).expect(0).out(), "x\n");
    }
}

/// Memory is counted for the whole tree and by use, so programs that only reserve much are not hit.
#[test]
fn f097_memory_is_what_is_used_by_the_whole_tree() {
    for who in everybody() {
        let eat = probe("eat");
        let limited = |command: &str, mb: u32| {
            format!("{NO_ARGS}command: {command}\nsandbox: {{ maxMemoryMB: {mb}, maxProcesses: 64 }}\n")
        };
        let one = limited(&format!("[{}, '1024']", quoted(eat.to_str().unwrap())), 512);
        let json = result(&project(&who, &[("eat", &one)], &allow("eat", "read")), "eat", 23);
        assert_eq!(json["execution"]["ended"], "memory");
        let script = format!("e={}; for i in 1 2 3 4; do $e 200 700 & done; wait", eat.display());
        let four = |mb: u32| {
            format!(
                "{NO_ARGS}command: [/bin/sh, -c, {}]\nsandbox: {{ maxMemoryMB: {mb}, allowFS: {{ readOnly: [{}] }} }}\n",
                quoted(&script),
                quoted(eat.parent().unwrap().to_str().unwrap())
            )
        };
        let policy = allow("eat", "read, execute");
        let json = result(&project(&who, &[("eat", &four(512))], &policy), "eat", 23);
        assert_eq!(json["execution"]["ended"], "memory");
        let enough = project(&who, &[("eat", &four(2048))], &policy).run(["run", "eat"]).expect(0).out();
        assert_eq!(enough.matches("touched 200 MiB").count(), 4, "{enough}");
        // A runtime that reserves gigabytes of address space and uses little.
        if !Path::new("/usr/bin/node").exists() {
            eprintln!("skipped: there is no node");
            continue;
        }
        let node = limited("[/usr/bin/node, -e, \"console.log('hello')\"]", 512);
        let node = project(&who, &[("node", &node)], &allow("node", "read"));
        assert_eq!(node.run(["run", "node"]).expect(0).out(), "hello\n");
    }
}

/// Every call has a first process of its own that reaps, so orphans end as nobody's zombies, wherever toolctl runs.
#[test]
fn f105_orphans_are_reaped_and_codes_are_right() {
    for who in everybody() {
        let orphans = sh(
            "for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.05 &) ; done; sleep 0.3; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l; exit 7",
            "",
        );
        let project = project(&who, &[("orphans", &orphans)], &allow("orphans", "read"));
        for _ in 0..5 {
            let json = result(&project, "orphans", 20);
            assert_eq!(json["execution"]["exitCode"], 7);
            assert_eq!(json["result"].as_str().unwrap().trim(), "0", "zombies in the sandbox");
        }
    }
    // toolctl itself as the first process of a pid namespace.
    if !crate::harness::started_by_root() {
        eprintln!("skipped: only root can start toolctl as process 1");
        return;
    }
    let project =
        project(&everybody()[0], &[("leave", &sh("(sleep 0.05 &); exit 7", ""))], &allow("leave", "read"));
    let mut command = Command::new("unshare");
    command
        .args(["--pid", "--fork", "--mount-proc"])
        .arg(crate::harness::binary())
        .args(["run", "leave", "--exit-status", "tool"])
        .current_dir(project.dir())
        .env("TOOLCTL_HOME", project.outside().join("home"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    finish(command, None).expect(7);
}

/// A value in a place of its own cannot become an option, except where the manifest says that it may.
#[test]
fn f131_a_leading_dash_is_no_option() {
    for who in everybody() {
        let params = "parameters: { type: object, properties: { ref: { type: string }, files: { type: array, items: { type: string } } }, required: [ref], additionalProperties: false }\n";
        let manifest = |command: &str| format!("{params}command: {command}\nstdin: none\n");
        let printf = "/usr/bin/printf, \"<%s>\"";
        let plain = project(
            &who,
            &[("log", &manifest(&format!("[{printf}, \"{{args.ref}}\"]")))],
            &allow("log", "read"),
        );
        for (value, code, out) in [
            ("main", 0, "<main>"),
            ("", 0, "<>"),
            ("a b; $(x)", 0, "<a b; $(x)>"),
            ("--output=/tmp/x", 3, ""),
            ("-", 3, ""),
            ("@file", 3, ""),
        ] {
            let ran = human(&plain, "log", &json!({"ref": value}).to_string()).expect(code);
            assert_eq!(ran.out(), out, "{value:?}");
            if code != 0 {
                assert!(ran.stderr.contains("call/unsafe-argument"), "{}", ran.stderr);
            }
        }
        let spliced = manifest(&format!("[{printf}, x, \"{{args.files}}\"]"));
        tool(&plain, "log", &spliced);
        call(&plain, "log", r#"{"ref":"x","files":["a","-rf"]}"#, 3);
        assert_eq!(human(&plain, "log", r#"{"ref":"x","files":["a","b"]}"#).expect(0).out(), "<x><a><b>");
        for open in [
            manifest(&format!("[{printf}, --, \"{{args.ref}}\"]")) + "endOfOptions: true\n",
            manifest(&format!("[{printf}, \"{{args.ref}}\"]")) + "allowLeadingDash: [ref]\n",
        ] {
            tool(&plain, "log", &open);
            let ran = human(&plain, "log", r#"{"ref":"-x"}"#);
            assert!(ran.code != Some(3), "{}", ran.stderr);
        }
        // `--` without the word of the manifest that the program honours it is not enough.
        tool(&plain, "log", &manifest(&format!("[{printf}, --, \"{{args.ref}}\"]")));
        call(&plain, "log", r#"{"ref":"-x"}"#, 3);
    }
}

/// A value that no program can be given is a fault of the arguments, found before anybody is asked.
#[test]
fn what_is_too_long_for_a_command_line_is_said_before_the_start() {
    for who in everybody() {
        let params = "parameters: { type: object, properties: { t: { type: string } }, required: [t], additionalProperties: false }\n";
        let by_argv = format!("{params}command: [/usr/bin/printf, \"%s\", \"{{args.t}}\"]\nstdin: none\n");
        let by_stdin = format!("{params}command: [/bin/cat]\nstdin: \"{{args.t}}\"\n");
        let project = project(&who, &[("say", &by_argv)], &allow("say", "read"));
        let run = |command: &str, bytes: usize| {
            let args = json!({"t": "x".repeat(bytes)}).to_string();
            project.run_with([command, "say", "--format", "json", "--args", "-"], args.as_bytes())
        };
        let json = run("run", 131_071).expect(0).json();
        assert_eq!(json["result"].as_str().unwrap().len(), 131_071);
        for bytes in [131_072, 3_000_000] {
            assert_eq!(run("run", bytes).expect(3).says("stdin").json()["code"], "call/unsafe-argument");
            run("plan", bytes).expect(3);
        }
        tool(&project, "say", &by_stdin);
        assert_eq!(run("run", 500_000).expect(0).json()["result"].as_str().unwrap().len(), 500_000);
    }
}

/// A bare name is looked for on a constant list of folders: neither the working folder nor the caller's PATH counts.
#[test]
fn f133_the_path_of_the_caller_finds_nothing() {
    for who in everybody() {
        let bare = format!("{NO_ARGS}command: [hello-field-case]\nstdin: none\n");
        let env = format!("{NO_ARGS}command: [env, printf, found]\nstdin: none\n");
        let policy = host(
            "bare: [{ effect: read }]\n  env: [{ effect: read }]",
            &["{ id: all, tool: [bare, env], always: true, action: allow }"],
        );
        let project = project(&who, &[("bare", &bare), ("env", &env)], &policy);
        project.script("hello-field-case", "#!/bin/sh\necho wrong one\n");
        project.script("env", "#!/bin/sh\necho wrong one\n");
        for path in [".", "", ":/usr/bin", project.dir().to_str().unwrap(), "sub:/usr/bin"] {
            let mut command = project.command(["run", "bare"]);
            command.env("PATH", path);
            finish(command, None).expect(4).says("run/program-missing");
            let mut command = project.command(["run", "env"]);
            command.env("PATH", path);
            assert_eq!(finish(command, None).expect(0).out(), "found");
        }
        // The plan shows the file that would run, and the same name with a slash is the one beside the manifest.
        let plan = project.run(["plan", "env", "--format", "json"]).expect(0).json();
        assert!(
            plan["sandbox"]["program"].as_str().unwrap().starts_with("/usr/"),
            "{}",
            plan["sandbox"]["program"]
        );
        let beside = format!("{NO_ARGS}command: [../hello-field-case]\nstdin: none\n");
        tool(&project, "bare", &beside);
        // A tool could have made that file: its author looks once more.
        project.run(["run", "bare"]).expect(4).says("not part of what was trusted");
        project.trusted();
        assert_eq!(project.run(["run", "bare"]).expect(0).out(), "wrong one\n");
    }
}

/// A folder that is to be writable and is not there is an error before the start; its parent is not opened instead.
#[test]
fn f091_a_missing_folder_is_said_before_the_start() {
    for who in everybody() {
        let manifest = sh(
            "mkdir -p build/out && touch build/out/x",
            "sandbox: { allowFS: { readOnly: [\"{workspace}\"], readWrite: [\"{workspace}/build/out\"] } }\n",
        );
        let project = project(&who, &[("build", &manifest)], &allow("build", "write"));
        for command in ["run", "plan"] {
            project.run([command, "build"]).expect(4).says("build/out");
        }
        assert!(!project.dir().join("build").exists());
        project.file("build/out/there", "");
        project.run(["run", "build"]).expect(0);
        assert!(project.dir().join("build/out/x").exists());
        tool(
            &project,
            "build",
            &sh(
                "touch build/y",
                "sandbox: { allowFS: { readOnly: [\"{workspace}\"], readWrite: [\"{workspace}/build/out\"] } }\n",
            ),
        );
        project.run(["run", "build"]).expect(20);
        assert!(!project.dir().join("build/y").exists());
    }
}

/// Caching is not there yet: nothing is ever answered from before, and a manifest that asks for it is refused.
#[test]
fn f083_nothing_is_answered_from_before() {
    for who in everybody() {
        let append = sh("echo x >> log.txt", WRITES);
        let project = project(&who, &[("append", &append)], &allow("append", "write"));
        for _ in 0..2 {
            assert_eq!(result(&project, "append", 0)["cached"], false);
        }
        assert_eq!(fs::read_to_string(project.dir().join("log.txt")).unwrap(), "x\nx\n");
        project.file("policies/main.yaml", allow("read_file", "read"));
        assert_eq!(project.run(["run", "read_file", "-a", "path=log.txt"]).expect(0).out(), "x\nx\n");
        project.file("log.txt", "new");
        assert_eq!(project.run(["run", "read_file", "-a", "path=log.txt"]).expect(0).out(), "new");
        tool(&project, "append", &format!("{append}cache: {{ ttl: 60000 }}\n"));
        project.file("policies/main.yaml", allow("append", "write"));
        project.run(["run", "append"]).expect(4).says("manifest/unsupported").says("cache");
    }
}

/// Lists of hosts cannot be held yet, so a manifest that asks for one is refused rather than given more; `false` is held.
#[test]
fn f093_listed_hosts_are_not_pretended() {
    for who in everybody() {
        let manifest = |network: &str| {
            let script = "exec 3<>/dev/udp/127.0.0.1/53 && echo sent";
            format!(
                "{NO_ARGS}command: [/bin/bash, -c, {}]\nsandbox: {{ allowNetwork: {network} }}\n",
                quoted(script)
            )
        };
        let project = project(&who, &[("net", &manifest("[ok.test:443]"))], &allow("net", "external"));
        project.run(["run", "net"]).expect(4).says("manifest/unsupported");
        project.run(["plan", "net"]).expect(4);
        tool(&project, "net", &manifest("false"));
        project.run(["run", "net"]).expect(20);
        tool(&project, "net", &manifest("true"));
        assert_eq!(project.run(["run", "net"]).expect(0).out(), "sent\n");
    }
}
