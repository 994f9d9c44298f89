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
