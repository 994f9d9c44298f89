use super::{base_name, shell_templates};
use crate::manifest::{ArgvElement, Exec, Template};

fn hits(command: &[&str]) -> usize {
    let argv = command.iter().map(|text| ArgvElement::One(Template::parse(text, None).unwrap())).collect();
    shell_templates(&Exec::Command(argv)).len()
}

#[test]
fn names_lose_folder_and_version() {
    for (path, name) in [
        ("/usr/bin/python3.11", "python"),
        ("awk", "awk"),
        ("sqlite3", "sqlite"),
        ("bash", "bash"),
        ("7", "7"),
        ("R", "r"),
        ("/x/perl5.38.2", "perl"),
    ] {
        assert_eq!(base_name(path), name);
    }
}

#[test]
fn code_with_a_placeholder_is_found() {
    let table: &[&[&str]] = &[
        &["sh", "-c", "grep {args.q} f"],
        &["sh", "-c", "{args.q}"],
        &["/bin/bash", "-lc", "{args.q}"],
        &["bash", "-euo", "pipefail", "-c", "{args.q}"],
        &["bash", "-c", "-e", "{args.q}"],
        &["bash", "-ce", "{args.q}"],
        &["bash", "-o", "pipefail", "-c", "{args.q}"],
        &["dash", "-ec", "x {ctx.userId}"],
        &["zsh", "-c", "x={args.q}"],
        &["ksh", "-c", "x={args.q}"],
        &["fish", "--command", "x {args.q}"],
        &["fish", "--command=x {args.q}"],
        &["python3", "-c", "print('{args.q}')"],
        &["python3", "-W", "ignore", "-c", "print('{args.q}')"],
        &["python3", "-Ic", "{args.q}"],
        &["python3", "-cprint({args.q})"],
        &["perl", "-e", "print {args.q}"],
        &["perl", "-E", "say {args.q}"],
        &["perl", "-lane", "{args.q}", "f"],
        &["perl", "-I", "lib", "-pe", "s/{args.q}//"],
        &["ruby", "-e", "puts {args.q}"],
        &["node", "-e", "{args.q}"],
        &["node", "-p", "{args.q}"],
        &["node", "-pe", "{args.q}"],
        &["node", "--eval", "{args.q}"],
        &["node", "--eval={args.q}"],
        &["node", "-r", "mod", "-e", "{args.q}"],
        &["php", "-d", "a=b", "-r", "{args.q}"],
        &["deno", "eval", "{args.q}"],
        &["Rscript", "-e", "{args.q}"],
        &["lua5.4", "-e", "{args.q}"],
        &["awk", "/{args.q}/ {{print}}", "f"],
        &["awk", "-F", ":", "-v", "a=b", "{args.q}"],
        &["awk", "-F:", "{args.q}"],
        &["gawk", "-e", "{args.q}"],
        &["gawk", "--source={args.q}"],
        &["sed", "s/a/{args.q}/", "f"],
        &["sed", "-n", "{args.q}p"],
        &["sed", "-i", "-e", "{args.q}"],
        &["sed", "-ne", "{args.q}"],
        &["sed", "-E", "-es/{args.q}//"],
        &["sed", "--expression=s/{args.q}//"],
        &["sed", "-e", "p", "-e", "{args.q}"],
        &["find", ".", "-exec", "grep", "{args.q}", "{{}}", ";"],
        &["find", ".", "-execdir", "{args.q}", "+"],
        &["fd", "x", "-x", "echo", "{args.q}"],
        &["xargs", "grep", "{args.q}"],
        &["parallel", "echo {args.q}"],
        &["watch", "ls {args.q}"],
        &["ssh", "host", "ls {args.q}"],
        &["ssh", "-p", "22", "host", "ls", "{args.q}"],
        &["ssh", "-i", "k", "{args.h}", "--", "ls", "{args.q}"],
        &["ssh", "-o", "ProxyCommand={args.q}", "host"],
        &["git", "-c", "core.pager={args.q}", "log"],
        &["git", "-C", "{workspace}", "-c", "{args.q}", "log"],
        &["git", "-ccore.pager={args.q}", "log"],
        &["git", "--exec-path={args.q}", "log"],
        &["git", "{args.q}"],
        &["sqlite3", "db", "select {args.q}"],
        &["sqlite3", "-separator", ",", "db", "{args.q}"],
        &["sqlite3", "-cmd", "{args.q}", "db"],
        &["psql", "db", "-c", "select {args.q}"],
        &["mysql", "-e", "select {args.q}"],
        &["env", "-S", "{args.q}"],
        &["env", "-Sx {args.q}"],
        &["env", "--split-string={args.q}"],
        &["env", "{args.q}", "ls"],
        &["env", "A=b", "sh", "-c", "{args.q}"],
        &["env", "-u", "X", "awk", "{args.q}"],
        &["timeout", "5", "sh", "-c", "{args.q}"],
        &["timeout", "-k", "1", "5", "sed", "{args.q}"],
        &["nice", "-n", "5", "awk", "{args.q}"],
        &["busybox", "sh", "-c", "{args.q}"],
        &["busybox", "awk", "{args.q}"],
        &["nohup", "find", ".", "-exec", "{args.q}", ";"],
        &["sudo", "-u", "x", "{args.q}"],
        &["docker", "run", "img", "sh", "-c", "{args.q}"],
        &["kubectl", "exec", "pod", "--", "bash", "-c", "{args.q}"],
        &["su", "nobody", "-c", "{args.q}"],
        &["flock", "lock", "-c", "{args.q}"],
        &["script", "-qc", "{args.q}", "out"],
        &["rsync", "-e", "ssh {args.q}", "a", "b"],
        &["vim", "f", "-c", "{args.q}"],
    ];
    for command in table {
        assert!(hits(command) >= 1, "{command:?}");
    }
}

#[test]
fn data_is_left_alone() {
    let table: &[&[&str]] = &[
        &["sh", "-c", "grep -e \"$1\" f", "sh", "{args.q}"],
        &["sh", "script.sh", "{args.q}"],
        &["sh", "{tool.dir}/run.sh", "-c", "{args.q}"],
        &["python3", "{tool.dir}/run.py", "-c", "{args.q}"],
        &["python3", "-c", "import sys", "{args.q}"],
        &["python3", "-m", "pytest", "-c", "{args.q}"],
        &["perl", "-e", "print shift", "{args.q}"],
        &["node", "run.js", "--eval", "{args.q}"],
        &["awk", "-v", "q={args.q}", "$1 == q", "{args.f}"],
        &["awk", "-f", "{tool.dir}/x.awk", "{args.f}"],
        &["sed", "-n", "1,5p", "--", "{args.f}"],
        &["sed", "-e", "p", "{args.f}"],
        &["sed", "-f", "s.sed", "{args.f}"],
        &["find", "{args.d}", "-name", "{args.q}"],
        &["find", ".", "-exec", "wc", "{{}}", ";", "-name", "{args.q}"],
        &["ssh", "{args.h}"],
        &["ssh", "-l", "{args.u}", "host", "uptime"],
        &["git", "-c", "core.fsmonitor=false", "log", "-n", "{args.n}", "--", "{args.f}"],
        &["git", "commit", "-c", "{args.q}"],
        &["git", "-C", "{args.d}", "status"],
        &["sqlite3", "{args.db}", "select 1"],
        &["env", "A={args.q}", "ls"],
        &["timeout", "{args.n}", "ls", "{args.q}"],
        &["grep", "-e", "{args.q}", "sed", "awk"],
        &["grep", "sed", "{args.f}"],
        &["echo", "{args.q}"],
        &["jq", "--arg", "q", "{args.q}", ".x == $q"],
        &["rsync", "-a", "{args.f}", "b"],
        &["psql", "-f", "q.sql", "-v", "q={args.q}"],
    ];
    for command in table {
        assert_eq!(hits(command), 0, "{command:?}");
    }
}
