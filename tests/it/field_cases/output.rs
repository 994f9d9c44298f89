//! What is printed where, and machines that cannot give the sandbox.

use super::kit::{NO_ARGS, allow, host, project, sh, tool};
use crate::harness::{everybody, finish, started_by_root};
use std::process::{Command, Stdio};

/// Standard output is one JSON value with a versioned schema, whatever else there is to say.
#[test]
fn f121_stdout_is_one_json_value() {
    for who in everybody() {
        let noisy = sh("echo out; echo err >&2; echo '{{\"more\": 1}}'", "");
        let suspicious = "parameters: { type: object, properties: { a: { type: string, format: no-such-format } } }\ncommand: [/bin/true]\n";
        let project = project(
            &who,
            &[("noisy", &noisy), ("odd", suspicious)],
            &host("", &["{ id: ask, tool: [noisy, odd], always: true, action: ask }"]),
        );
        let one = |args: &[&str], env: &[(&str, &str)]| {
            let mut command = project.command(args.iter().copied().chain(["--format", "json"]));
            command.envs(env.iter().copied());
            let ran = finish(command, None);
            let json = ran.json();
            let schema = json["schema"].as_str().unwrap_or_else(|| panic!("no schema: {args:?} {json}"));
            assert!(schema.starts_with("toolctl.") && schema.contains("/v"), "{schema}");
            assert_eq!(ran.out().trim_end().lines().count(), 1, "{}", ran.out());
            ran
        };
        one(&["run", "noisy"], &[]).expect(11);
        one(&["run", "odd"], &[]).expect(11);
        one(&["run", "noisy", "-v", "-v"], &[]).expect(11);
        one(&["run", "noisy"], &[("RUST_LOG", "trace"), ("RUST_BACKTRACE", "1")]).expect(11);
        project.file("policies/main.yaml", allow("noisy", "read"));
        let ran = one(&["run", "noisy"], &[]).expect(0);
        assert_eq!(ran.json()["result"], "out\n{\"more\": 1}\n");
        assert_eq!(ran.json()["execution"]["stderr"], "err\n");
        assert!(!ran.stderr.contains("err"), "{}", ran.stderr);
        project.file("policies/main.yaml", "policy: [");
        one(&["run", "noisy"], &[]).expect(4);
    }
}

/// Without the kernel features nothing that needs them runs; `unshare` makes a machine that cannot.
#[test]
fn f051_no_sandbox_no_run() {
    let who = &everybody()[0];
    let fs = "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n";
    let project = project(who, &[("touch", &sh("touch marker", fs))], &allow("touch", "write"));
    let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let poor = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .args(["-Ur", "/bin/sh", "-c", script, "sh"])
            .arg(crate::harness::binary())
            .args(args)
            .current_dir(project.dir())
            .env("TOOLCTL_HOME", project.outside().join("home"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        finish(command, None)
    };
    if started_by_root() {
        let ran =
            poor(&["run", "touch", "--format", "json"]).expect(30).says("sandbox/unavailable").says("help:");
        assert_eq!(ran.json()["code"], "sandbox/unavailable");
        assert!(!project.dir().join("marker").exists());
        poor(&["plan", "touch", "--preflight"]).expect(30);
        poor(&["doctor"]).says("");
        // What the weaker backend can hold still runs, and the result says by which.
        project.file("policies/main.yaml", allow("read_file", "read")).file("a", "a");
        let json = poor(&["run", "read_file", "-a", "path=a", "--format", "json"]).expect(0).json();
        assert_eq!(json["execution"]["sandbox"]["backend"], "flat");
        project.file("policies/main.yaml", allow("touch", "write"));
    } else {
        eprintln!("skipped: only root can take the namespaces away");
    }
    project.run(["run", "touch"]).expect(0);
    assert!(project.dir().join("marker").exists());
    // A layer that the manifest calls required and that is not there: nothing runs in the weaker form.
    let doctor = project.run(["doctor", "--format", "json"]).out();
    if doctor.contains("\"cgroup\"") && doctor.contains("\"works\":false") {
        tool(
            &project,
            "touch",
            &format!("{NO_ARGS}command: [/bin/true]\nsandbox: {{ required: [cgroup] }}\n"),
        );
        project.run(["run", "touch"]).expect(30).says("cgroup");
    } else {
        eprintln!("skipped: control groups can be had here");
    }
}

/// JSON that was cut at a limit is an error with a text beside it, never a value; so is JSON that is not whole.
#[test]
fn f063_cut_json_is_not_json() {
    for who in everybody() {
        let script = |items: u32| {
            format!(
                "printf '[1'; i=0; while [ $i -lt {items} ]; do printf ',1234567890'; i=$((i+1)); done; printf ']'"
            )
        };
        let manifest = |script: &str| sh(script, "output: json\nsandbox: { maxOutputBytes: 20000 }\n");
        let project = project(&who, &[("list", &manifest(&script(100)))], &allow("list", "read"));
        let json = super::kit::result(&project, "list", 0);
        assert_eq!(json["result"].as_array().unwrap().len(), 101);
        tool(&project, "list", &manifest(&script(3000)));
        let json = super::kit::result(&project, "list", 23);
        assert_eq!(json["code"], "run/limit");
        assert!(json["result"].is_string() && !json["error"].is_null(), "{json}");
        assert!(json.to_string().len() < 80_000);
        let human = project.run(["run", "list"]).expect(23).says("run/limit");
        assert!(human.stdout.len() <= 20_000, "{}", human.stdout.len());
        for cut in ["printf '[1,2'", "printf '{{\"a\":1}} x'", "true"] {
            tool(&project, "list", &manifest(cut));
            let json = super::kit::result(&project, "list", 24);
            assert!(!json["result"].is_array() && !json["result"].is_object(), "{json}");
        }
    }
}

/// Every layer of the sandbox is in the result with its state, what was asked for holds for grandchildren too, and a
/// required layer that is not there stops the call.
#[test]
fn f089_each_layer_is_reported() {
    for who in everybody() {
        let inner = "for p in /etc/x in.txt new.txt; do (sh -c \"sh -c 'echo x >>$p'\") 2>/dev/null && echo $p; done; sh -c 'mv in.txt out.txt' 2>/dev/null && echo moved; sh -c ': >in.txt' 2>/dev/null && echo cut; (exec 3<>/dev/udp/127.0.0.1/53) 2>/dev/null && echo net; true";
        let manifest = |access: &str| {
            format!(
                "{NO_ARGS}command: [/bin/bash, -c, {}]\nstdin: none\nsandbox: {{ allowFS: {{ {access}: [\"{{workspace}}\"] }} }}\n",
                super::kit::quoted(inner)
            )
        };
        let project = project(&who, &[("try", &manifest("readOnly"))], &allow("try", "read, execute"));
        project.file("in.txt", "kept");
        let json = super::kit::result(&project, "try", 0);
        assert_eq!(json["result"], "", "{json}");
        let layers = json["execution"]["sandbox"]["layers"].as_array().unwrap();
        for layer in layers {
            let state = layer["state"].as_str().unwrap();
            assert!(["enforced", "partly", "absent", "off"].contains(&state), "{layer}");
        }
        let state = |name: &str| {
            let layer = layers.iter().find(|layer| layer["name"] == name);
            layer.unwrap_or_else(|| panic!("{name}: {json}"))["state"].clone()
        };
        for name in ["landlock", "seccomp", "no_new_privs", "mountns", "memory"] {
            assert_eq!(state(name), "enforced", "{name}");
        }
        assert_eq!(json["execution"]["sandbox"]["effectEnforcement"], "kernel");
        // By which means memory is held is said.
        let memory = layers.iter().find(|layer| layer["name"] == "memory").unwrap();
        assert!(
            ["watchdog", "cgroup"].iter().any(|means| memory["detail"].to_string().contains(means)),
            "{memory}"
        );
        // The control: what may be written is.
        tool(&project, "try", &manifest("readWrite"));
        project.file("policies/main.yaml", allow("try", "write, execute"));
        let json = super::kit::result(&project, "try", 0);
        assert_eq!(json["result"], "in.txt\nnew.txt\nmoved\ncut\n", "{json}");
        // A folder to be opened that is not there is an error, and drops nothing silently.
        let missing =
            manifest("readOnly").replace("{workspace}\"", "{workspace}\", \"{workspace}/not-there\"");
        tool(&project, "try", &missing);
        project.run(["run", "try"]).expect(4).says("not-there");
    }
}

/// Many processes at once, some of them killed: each answer is right and the state can be read afterwards. A state folder
/// that cannot be written is said by what needs it, and reading goes on.
#[test]
fn f099_many_at_once_lose_nothing() {
    for who in everybody() {
        let first = project(&who, &[("one", &sh("echo ran", ""))], &allow("one", "read"));
        let others: Vec<_> = (0..8)
            .map(|_| super::kit::untrusted(&who, &[("one", &sh("echo ran", ""))], &allow("one", "read")))
            .collect();
        let home = first.outside().join("home");
        let with_home = |mut command: Command| {
            command.env("TOOLCTL_HOME", &home);
            command
        };
        std::thread::scope(|scope| {
            for other in &others {
                scope.spawn(|| finish(with_home(other.command(["trust", "--author"])), None).expect(0));
                scope.spawn(|| finish(with_home(first.command(["trust", "--list"])), None).expect(0));
            }
            for _ in 0..20 {
                scope.spawn(|| assert_eq!(first.run(["run", "one"]).expect(0).out(), "ran\n"));
            }
            scope.spawn(|| {
                for wait in [1_u64, 3, 9] {
                    let mut killed = with_home(others[0].command(["trust", "--author"])).spawn().unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(wait));
                    let _ = killed.kill();
                    let _ = killed.wait();
                }
            });
        });
        let list = first.run(["trust", "--list"]).expect(0).out();
        for other in &others {
            assert!(list.contains(other.dir().to_str().unwrap()), "{list}");
            assert_eq!(finish(with_home(other.command(["run", "one"])), None).expect(0).out(), "ran\n");
        }
        if who.uid == 0 {
            continue;
        }
        // Nobody can write the state: calls that record nothing work, trusting says why it does not.
        let state = home.join("state");
        let mode = |mode: u32| {
            use std::os::unix::fs::PermissionsExt as _;
            for dir in ["", "trust", "trust-reach"] {
                let permissions = std::fs::Permissions::from_mode(mode);
                let _ = std::fs::set_permissions(state.join(dir), permissions);
            }
        };
        mode(0o500);
        first.run(["run", "one"]).expect(0);
        let fresh = super::kit::untrusted(&who, &[("one", &sh("echo ran", ""))], &allow("one", "read"));
        let ran = finish(with_home(fresh.command(["trust", "--author"])), None);
        assert!(ran.code.is_some_and(|code| code != 0), "{:?}", ran.code);
        assert!(ran.stderr.contains("state") && ran.stderr.contains("ermission"), "{}", ran.stderr);
        finish(with_home(fresh.command(["run", "one"])), None).expect(4);
        mode(0o700);
        finish(with_home(fresh.command(["trust", "--author"])), None).expect(0);
        finish(with_home(fresh.command(["run", "one"])), None).expect(0);
    }
}
