//! What `plan` says is what `run` does: on random small projects, and by watching that a plan starts and writes nothing.

use crate::field_cases::kit::{self, WRITES, sh, snapshot, untrusted};
use crate::harness::{Project, Ran, binary, everybody, finish, started_by_root};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// A project and one call in it.
#[derive(Debug, Clone)]
struct Case {
    effects: Option<&'static str>,
    default: &'static str,
    rules: Vec<Rule>,
    second: &'static str,
    user: &'static str,
    settings: &'static str,
    approval: &'static str,
    command: &'static str,
    sandbox: &'static str,
    trust: Trust,
    plan_mode: bool,
    args: &'static str,
    by_stdin: bool,
    tool: &'static str,
}

#[derive(Debug, Clone)]
struct Rule {
    selects: &'static str,
    when: &'static str,
    action: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Trust {
    Never,
    AsItIs,
    Author,
    Outdated,
}

const PARAMETERS: &str = "parameters: { type: object, properties: { path: { type: string, format: path }, n: { type: integer, default: 3 }, mode: { type: string, enum: [look, change] }, note: { type: string } }, required: [path], additionalProperties: false }\n";

fn rule() -> impl Strategy<Value = Rule> {
    (
        select(
            &[
                "tool: probe",
                "effect: read",
                "effect: [write, unknown]",
                "tool: [probe, read_file]",
                "tool: \"*\"",
                "tool: other",
            ][..],
        ),
        select(
            &[
                "",
                "args.n: { gt: 2 }",
                "args.path: { under: [src] }",
                "args.mode: change",
                "args.mode: { exists: false }",
                "not: { args.path: { under: [\"${workspace}\"] } }",
                "ctx.userId: alice",
                "effect: external",
                "tool.sandbox.enabled: true",
            ][..],
        ),
        mostly(&["allow"], &["ask", "deny", "{ atLeast: ask }"]),
    )
        .prop_map(|(selects, when, action)| Rule { selects, when, action })
}

/// Ordinary values five times in six, else one that makes trouble: with a dozen places to go wrong, a fair choice
/// would leave hardly a call that runs.
fn mostly<T: Clone + std::fmt::Debug + 'static>(
    ordinary: &'static [T],
    trouble: &'static [T],
) -> impl Strategy<Value = T> {
    prop_oneof![5 => select(ordinary), 1 => select(trouble)]
}

const SECOND: [&str; 2] = [
    "policy: second\nformat: 1\nrole: guard\nrules:\n  - { id: tight, effect: [write], action: { atLeast: ask } }\n",
    "policy: second\nformat: 1\nrole: delegate\nfor: { ctx.agentName: test }\ndefault: inherit\nrules:\n  - { id: no-src, tool: probe, when: { args.path: { under: [src] } }, action: deny }\n",
];
const OWN: [&str; 2] = [
    "policy: own\nformat: 1\nrole: host\ndefault: deny\neffects: { probe: [{ effect: write }] }\nrules:\n  - { id: all, tool: probe, always: true, action: allow, from: project }\n",
    "policy: own\nformat: 1\nrole: guard\nrules:\n  - { id: ask, tool: probe, action: { atLeast: ask } }\n",
];

fn case() -> impl Strategy<Value = Case> {
    let policy = (
        select(
            &[
                None,
                Some("[{ effect: read }]"),
                Some("[{ effect: write }]"),
                Some("[{ effect: [read, external] }]"),
                Some("[{ when: { args.mode: look }, effect: read }, { effect: [write, execute] }]"),
            ][..],
        ),
        select(&["deny", "ask", "allow", "allow"][..]),
        prop::collection::vec(rule(), 0..4),
        mostly(&[""], &SECOND),
        mostly(&[""], &OWN),
    );
    let project = (
        mostly(
            &["agentName: test\n", "sandbox: { timeout: 5s }\n"],
            &["approval: { policy: all }\n", "approval: { policy: [probe] }\n", "concurrency: many\n"],
        ),
        mostly(
            &["", "requiresApproval: false\n"],
            &[
                "requiresApproval: true\n",
                "requiresApproval: { when: { args.mode: change } }\n",
                "retry: { attempts: 2 }\n",
            ],
        ),
        mostly(
            &["[../bin/ok.sh, \"{args.path}\"]", "[/bin/true]"],
            &[
                "[no-such-program-here]",
                "[../bin/plain.txt]",
                "[/bin/echo, \"{args.note}\"]",
                "[/bin/echo, { when: args.note, argv: [\"{args.note}\"] }]",
            ],
        ),
        mostly(
            &[
                "",
                "sandbox: false\n",
                "sandbox: { allowFS: { readOnly: [\"{workspace}\"] } }\n",
                "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n",
                "sandbox: { timeout: 2s, maxMemoryMB: 64 }\n",
            ],
            &[
                "sandbox: { allowFS: { readOnly: [\"{workspace}/missing\"] } }\n",
                "sandbox: { env: { forward: [SECRET_NAME] } }\n",
            ],
        ),
        mostly(&[Trust::AsItIs, Trust::Author], &[Trust::Never, Trust::Outdated]),
    );
    let call = (
        prop::bool::weighted(0.2),
        mostly(
            &[
                r#"{"path":"src/a"}"#,
                r#"{"path":"src/a","mode":"look"}"#,
                r#"{"path":"other","mode":"change","n":1}"#,
                r#"{"path":"../outside","note":"x"}"#,
                r#"{"path":"policies/main.yaml"}"#,
            ],
            &[
                r#"{"path":"src/a","note":"-rf"}"#,
                r#"{"path":"src/a","n":"5"}"#,
                r#"{"n":5}"#,
                r#"{"path":"src/a","more":1}"#,
                r#"{"path":"#,
            ],
        ),
        any::<bool>(),
        mostly(&["probe"], &["prope", "read_file"]),
    );
    (policy, project, call).prop_map(|(policy, project, call)| {
        let (effects, default, rules, second, user) = policy;
        let (settings, approval, command, sandbox, trust) = project;
        let (plan_mode, args, by_stdin, tool) = call;
        Case {
            effects,
            default,
            rules,
            second,
            user,
            settings,
            approval,
            command,
            sandbox,
            trust,
            plan_mode,
            args,
            by_stdin,
            tool,
        }
    })
}

impl Case {
    fn policy(&self) -> String {
        let mut text = format!("policy: main\nformat: 1\nrole: host\ndefault: {}\n", self.default);
        if let Some(effects) = self.effects {
            text.push_str("effects: { probe: ");
            text.push_str(effects);
            text.push_str(" }\n");
        }
        if !self.rules.is_empty() {
            text.push_str("rules:\n");
        }
        let rules = self.rules.iter().enumerate().map(|(number, rule)| {
            let grant = matches!(rule.action, "allow" | "ask");
            let when = match rule.when {
                "" if grant => ", always: true".to_owned(),
                "" => String::new(),
                when => format!(", when: {{ {when} }}"),
            };
            format!("  - {{ id: r{number}, {}{when}, action: {} }}\n", rule.selects, rule.action)
        });
        text.extend(rules);
        text
    }

    fn project(&self, who: &crate::harness::Who) -> Project {
        let probe = format!("{PARAMETERS}command: {}\n{}{}", self.command, self.approval, self.sandbox);
        let project = untrusted(who, &[("probe", &probe)], &self.policy());
        project
            .script("bin/ok.sh", "#!/bin/sh\necho ran\n")
            .file("bin/plain.txt", "no program")
            .file("src/a", "a");
        if !self.second.is_empty() {
            project.file("policies/second.yaml", self.second);
        }
        if !self.user.is_empty() {
            project.file_at(&project.outside().join("home/config/policies/own.yaml"), self.user);
        }
        match self.trust {
            Trust::Never => {}
            Trust::AsItIs => drop(project.run(["trust"])),
            Trust::Author => drop(project.run(["trust", "--author"])),
            Trust::Outdated => {
                project.run(["trust"]);
                project.file("policies/main.yaml", self.policy() + "# changed\n");
            }
        }
        // Broken settings come last: nobody could trust such a project.
        project.file("toolctl.yaml", self.settings);
        project
    }

    fn call(&self, project: &Project, command: &[&str]) -> Ran {
        let mut words = command.to_vec();
        words.extend([self.tool, "--format", "json", "--no-prompt", "--call-id", "c", "--args"]);
        words.push(if self.by_stdin { "-" } else { self.args });
        if self.plan_mode {
            words.extend(["--mode", "plan"]);
        }
        project.run_with(words, self.args.as_bytes())
    }
}

/// The decision of a document: action, rule, effects.
fn decision(json: &Value) -> Value {
    let decision = &json["decision"];
    json!([decision["action"], decision["rule"], decision["effects"], decision["at"]])
}

fn agree(case: &Case, who: &crate::harness::Who) -> Result<i32, TestCaseError> {
    let project = case.project(who);
    let before = snapshot(&project.outside());
    let plan = case.call(&project, &["plan"]);
    let explained = case.call(&project, &["policy", "explain"]);
    prop_assert!(snapshot(&project.outside()) == before, "the plan left a trace");
    let run = case.call(&project, &["run"]);
    let (planned, ran) = (plan.code.unwrap_or(-1), run.code.unwrap_or(-1));
    let shown =
        format!("plan {planned}, run {ran}\n{}\n{}\n{}\n{}", plan.out(), plan.stderr, run.out(), run.stderr);
    if planned == 0 {
        let before_the_start = [2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 16, 70, 74];
        prop_assert!(!before_the_start.contains(&ran) && ran >= 0, "{}", shown);
    } else {
        prop_assert_eq!(planned, ran, "{}", shown);
    }
    let (plan, run, explained) = (plan.json(), run.json(), explained.json());
    if !plan["decision"].is_null() && !run["decision"].is_null() {
        prop_assert_eq!(decision(&plan), decision(&run), "{}", shown);
        prop_assert_eq!(decision(&plan), decision(&explained), "{}", shown);
        prop_assert_eq!(&plan["callDigest"], &run["callDigest"], "{}", shown);
    }
    Ok(planned)
}

#[test]
fn plan_ends_as_run_would() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let who = everybody();
    let seen = std::cell::RefCell::new(std::collections::BTreeMap::<i32, u32>::new());
    let turn = std::cell::Cell::new(0);
    TestRunner::new(config)
        .run(&case(), |case| {
            turn.set(turn.get() + 1);
            let planned = agree(&case, &who[turn.get() % who.len()])?;
            *seen.borrow_mut().entry(planned).or_default() += 1;
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    eprintln!("plans ended with {seen:?}");
    assert!(seen.len() >= 3, "the projects are all alike: {seen:?}");
}

/// The same comparison on projects picked by hand, so that each code is there whatever chance does.
#[test]
fn each_code_of_a_plan_is_runs() {
    let base = Case {
        effects: Some("[{ effect: read }]"),
        default: "deny",
        rules: vec![Rule { selects: "tool: probe", when: "", action: "allow" }],
        second: "",
        user: "",
        settings: "agentName: test\n",
        approval: "",
        command: "[../bin/ok.sh, \"{args.path}\"]",
        sandbox: "sandbox: { allowFS: { readOnly: [\"{workspace}\"] } }\n",
        trust: Trust::Author,
        plan_mode: false,
        args: r#"{"path":"src/a"}"#,
        by_stdin: true,
        tool: "probe",
    };
    let cases = [
        (0, base.clone()),
        (3, Case { args: r#"{"n":5}"#, ..base.clone() }),
        (
            3,
            Case {
                args: r#"{"path":"x","note":"-rf"}"#,
                command: "[/bin/echo, \"{args.note}\"]",
                ..base.clone()
            },
        ),
        (4, Case { settings: "concurrency: many\n", ..base.clone() }),
        (4, Case { trust: Trust::Never, ..base.clone() }),
        (4, Case { trust: Trust::Outdated, ..base.clone() }),
        (4, Case { command: "[no-such-program-here]", ..base.clone() }),
        (4, Case { command: "[../bin/plain.txt]", ..base.clone() }),
        (
            4,
            Case {
                sandbox: "sandbox: { allowFS: { readOnly: [\"{workspace}/missing\"] } }\n",
                ..base.clone()
            },
        ),
        (4, Case { approval: "retry: { attempts: 2 }\n", ..base.clone() }),
        (5, Case { tool: "prope", ..base.clone() }),
        (10, Case { rules: Vec::new(), ..base.clone() }),
        (10, Case { effects: Some("[{ effect: write }]"), plan_mode: true, ..base.clone() }),
        (11, Case { approval: "requiresApproval: true\n", ..base.clone() }),
        (11, Case { settings: "approval: { policy: all }\n", ..base.clone() }),
        (11, Case { effects: None, plan_mode: true, ..base.clone() }),
    ];
    for who in everybody() {
        for (code, case) in &cases {
            let planned = agree(case, &who).unwrap_or_else(|error| panic!("{case:?}: {error}"));
            assert_eq!(planned, *code, "{case:?}");
        }
    }
}

const TRACED: &str = "trace=execve,?execveat,?clone,?clone3,?fork,?vfork,?open,?creat,openat,?openat2,?unlink,unlinkat,?rename,?renameat,renameat2,?mkdir,mkdirat,?symlink,symlinkat,?link,linkat,truncate,ftruncate,?chmod,fchmodat,?chown,fchownat,mount,socket,connect,bind";

/// The system calls of a command that could start or change something.
fn traced(project: &Project, words: &[&str]) -> Option<Vec<String>> {
    let dir = tempfile::TempDir::with_prefix("toolctl-trace-").unwrap();
    crate::harness::give(dir.path(), &project.who);
    let trace = dir.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-e", TRACED, "-o"]).arg(&trace).arg(binary()).args(words);
    command
        .current_dir(project.dir())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TOOLCTL_HOME", project.outside().join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if started_by_root() && project.who.uid != 0 {
        command.uid(project.who.uid).gid(project.who.gid);
    }
    let ran = finish(command, None);
    let Ok(text) = std::fs::read_to_string(&trace) else {
        assert!(std::env::var_os("CI").is_none(), "strace does not work here: {}", ran.stderr);
        eprintln!("skipped: strace does not work here: {}", ran.stderr);
        return None;
    };
    Some(text.lines().map(str::to_owned).collect())
}

fn is_harmless(call: &str) -> bool {
    let call = call.split_once(' ').map_or(call, |(_, rest)| rest.trim_start());
    if call.starts_with("open") {
        return !["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_TMPFILE"]
            .iter()
            .any(|flag| call.contains(flag));
    }
    call.starts_with("+++") || call.starts_with("---")
}

#[test]
fn a_plan_starts_and_writes_nothing() {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        assert!(std::env::var_os("CI").is_none(), "strace is missing");
        eprintln!("skipped: strace is missing");
        return;
    }
    for who in everybody() {
        let asking = kit::host(
            "asks: [{ effect: external }]",
            &[
                "{ id: ask, tool: asks, always: true, action: ask }",
                "{ id: rest, tool: [writes, read_file, run_command], always: true, action: allow }",
            ],
        );
        let tools = [("writes", sh("touch x", WRITES)), ("asks", sh("touch y", WRITES))];
        let tools: Vec<(&str, &str)> = tools.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let project = kit::project(&who, &tools, &asking);
        project.file("a.txt", "a");
        let before = snapshot(&project.outside());
        let plans: [&[&str]; 8] = [
            &["plan", "writes"],
            &["plan", "asks", "--format", "json"],
            &["plan", "read_file", "-a", "path=a.txt"],
            &["plan", "run_command", "-a", "argv:=[\"touch\",\"z\"]"],
            &["plan", "read_file"],
            &["plan", "nothing"],
            &["policy", "explain", "writes"],
            &["validate", "read_file", "-a", "path=a.txt"],
        ];
        for words in plans {
            let Some(calls) = traced(&project, words) else { return };
            assert!(calls.first().is_some_and(|call| call.contains("execve(")), "{calls:?}");
            let harm: Vec<&String> = calls.iter().skip(1).filter(|call| !is_harmless(call)).collect();
            assert!(harm.is_empty(), "{words:?}: {harm:#?}");
        }
        assert!(snapshot(&project.outside()) == before);
        // The control: the same eyes see what a run does.
        let Some(calls) = traced(&project, &["run", "read_file", "-a", "path=a.txt"]) else { return };
        assert!(calls.iter().skip(1).any(|call| !is_harmless(call) && call.contains("clone")), "{calls:#?}");
    }
    // Both views of the same words: the helper that tells calls apart is no rubber stamp.
    for call in ["12 openat(AT_FDCWD, \"x\", O_RDONLY|O_CLOEXEC) = 3", "12 +++ exited with 0 +++"] {
        assert!(is_harmless(call), "{call}");
    }
    for call in [
        "12 openat(AT_FDCWD, \"x\", O_WRONLY|O_CREAT, 0666) = 3",
        "12 clone(x) = 3",
        "12 socket(AF_UNIX, SOCK_STREAM, 0) = 3",
    ] {
        assert!(!is_harmless(call), "{call}");
    }
}
