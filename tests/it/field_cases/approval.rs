//! Asking a person, and what becomes of the answer.

use super::kit::{allow, holds, host, project, sh, untrusted};
use crate::harness::{Project, Who, everybody, finish};
use crate::prompt::{QUESTION, exit_of, terminal, wait_for_question};
use expectrl::Expect as _;
use serde_json::json;
use std::time::{Duration, Instant};

const CALL: &str = "$TOOLCTL run deploy";

/// A project whose tool `deploy` leaves a mark as its first act, and whose policy asks before it runs.
fn asking(who: &Who, effect: &str, approval: &str) -> Project {
    let policy = host(
        &format!("deploy: [{{ effect: {effect} }}]"),
        &["{ id: ask-first, tool: deploy, always: true, action: ask, reason: \"a deployment\" }"],
    );
    let script = "touch ran.txt 2>/dev/null; echo done";
    let project = untrusted(who, &[("deploy", &sh(script, super::kit::WRITES))], &policy);
    project.file("toolctl.yaml", format!("approval: {{ {approval} }}\n"));
    project.trusted();
    project
}

fn ran(project: &Project) -> bool {
    project.dir().join("ran.txt").exists()
}

/// No terminal: an answer at once, the rule and the ways out. Parking the request for later comes with the queue.
#[test]
fn f005_nobody_to_ask_ends_at_once() {
    for who in everybody() {
        let project = asking(&who, "write", "timeout: 300s");
        let out = project.run(["run", "deploy"]).expect(11).says("main/ask-first").says("help:");
        assert!(out.took < Duration::from_secs(2), "{:?}", out.took);
        assert!(out.stderr.contains("policies/main.yaml"), "{}", out.stderr);
        assert!(!ran(&project));
        let mut session = terminal(&project, CALL);
        wait_for_question(&mut session);
        session.send_line("yes").unwrap();
        assert_eq!(exit_of(session).0, 0);
        assert!(ran(&project));
    }
}

/// The three things that can happen when nobody answers. `approve` is only for calls whose effect is read, whatever the
/// settings say; who decided is recorded as the clock. Absent means deny.
#[test]
fn f013_no_answer_is_no_unless_said_otherwise() {
    for who in everybody() {
        for (effect, action, code, runs) in [
            ("write", "", 13, false),
            ("write", ", timeoutAction: deny", 13, false),
            ("write", ", timeoutAction: throw", 16, false),
            ("write", ", timeoutAction: approve", 13, false),
            ("unknown", ", timeoutAction: approve", 13, false),
            ("read", ", timeoutAction: approve", 0, true),
            ("read", "", 13, false),
        ] {
            let project = asking(&who, effect, &format!("timeout: 1s{action}"));
            let started = Instant::now();
            let mut session = terminal(&project, &format!("{CALL} --format json >out.json"));
            session.expect(QUESTION).expect("the question");
            let (got, text) = exit_of(session);
            assert_eq!(got, code, "{effect}{action}: {text}");
            assert!(started.elapsed() < Duration::from_secs(10));
            let text = std::fs::read_to_string(project.dir().join("out.json")).unwrap();
            let result: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(result.get("execution").is_some(), runs, "{effect}{action}: {text}");
            if runs {
                assert_eq!(result["approval"]["decidedBy"], "timeout");
            } else {
                assert_eq!(result["code"], "approval/timeout", "{text}");
                assert!(!ran(&project));
            }
        }
    }
}

/// Nothing of the tool happens before a yes; a no is not remembered as anything else, and neither is a yes.
#[test]
fn f023_a_no_runs_nothing() {
    for who in everybody() {
        let project = asking(&who, "write", "timeout: 15s");
        for _ in 0..2 {
            let mut session = terminal(&project, CALL);
            wait_for_question(&mut session);
            assert!(!ran(&project), "something ran before the answer");
            session.send_line("no").unwrap();
            assert_eq!(exit_of(session).0, 12);
            assert!(!ran(&project));
        }
        let mut session = terminal(&project, CALL);
        wait_for_question(&mut session);
        assert!(!ran(&project), "something ran before the answer");
        session.send_line("yes").unwrap();
        assert_eq!(exit_of(session).0, 0);
        assert!(ran(&project));
        // The yes was for that one call.
        project.run(["run", "deploy"]).expect(11);
    }
}

/// What is invalid is refused before anybody is asked.
#[test]
fn f027_nobody_is_asked_about_an_invalid_call() {
    for who in everybody() {
        let manifest = "parameters: { type: object, properties: { amount: { type: integer } }, required: [amount], additionalProperties: false }\ncommand: [/bin/cat]\n";
        let policy = host("", &["{ id: ask-first, tool: invoice, always: true, action: ask }"]);
        let project = project(&who, &[("invoice", manifest)], &policy);
        for args in ["{}", r#"{"amount":"5"}"#, "{"] {
            let session = terminal(&project, &format!("$TOOLCTL run invoice --args '{args}'"));
            let (code, text) = exit_of(session);
            assert_eq!(code, 3, "{text}");
            assert!(!text.contains(QUESTION), "{text}");
        }
        let mut session = terminal(&project, "$TOOLCTL run invoice -a amount=5");
        wait_for_question(&mut session);
        session.send_line("yes").unwrap();
        assert_eq!(exit_of(session).0, 0);
    }
}

/// Whatever is hidden in a value is shown as an escape on one line, with a warning; the tool gets the bytes.
#[test]
fn f031_hidden_characters_are_shown() {
    for who in everybody() {
        let manifest = "parameters: { type: object, properties: { v: { type: string } }, required: [v], additionalProperties: false }\ncommand: [/bin/cat]\nstdin: \"{args.v}\"\n";
        let policy = host(
            "show: [{ effect: read }]",
            &["{ id: ask-first, tool: show, always: true, action: ask, reason: \"{args.v}\" }"],
        );
        let project = project(&who, &[("show", manifest)], &policy);
        for (value, shown) in [
            ("rm x\u{1b}[2K\rls", "rm x\\u{1b}[2K\\rls"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("ho\u{200b}st", "ho\\u{200b}st"),
            ("x\nApprove? [y] y", "x\\nApprove? [y] y"),
            ("\u{1b}]8;;http://evil\u{7}text", "\\u{1b}]8;;http://evil\\u{7}text"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            project.file("call.json", json!({"v": value}).to_string());
            let mut session = terminal(&project, "$TOOLCTL run show --args - <call.json >out.txt");
            let prompt = wait_for_question(&mut session);
            assert!(prompt.contains(shown), "{shown} is not in:\n{prompt}");
            assert!(prompt.contains("hidden character"), "{prompt}");
            for raw in ['\u{202e}', '\u{200b}', '\u{7}', '\u{e0041}'] {
                assert!(!prompt.contains(raw), "{prompt:?}");
            }
            session.send_line("yes").unwrap();
            assert_eq!(exit_of(session).0, 0);
            assert_eq!(std::fs::read(project.dir().join("out.txt")).unwrap(), value.as_bytes());
            // Where nobody is asked, the error and the plan show the same.
            let out =
                project.run_with(["run", "show", "--args", "-"], json!({"v": value}).to_string().as_bytes());
            let out = out.expect(11);
            assert!(!out.stderr.contains(value), "{}", out.stderr);
            let plan =
                project.run_with(["plan", "show", "--args", "-"], json!({"v": value}).to_string().as_bytes());
            assert!(!plan.expect(11).out().contains(value));
        }
    }
}

/// Keys typed ahead, Enter, end of file, several lines at once, pipes and terminals that are not ours approve nothing.
#[test]
fn f119_only_the_word_on_the_terminal_approves() {
    for who in everybody() {
        // `""` is Enter alone; two lines at once are no answer even if the first is the word.
        for answer in ["", "y", "yes\nyes", "\x04"] {
            let project = asking(&who, "write", "timeout: 15s");
            let mut session = terminal(&project, CALL);
            wait_for_question(&mut session);
            if answer == "\x04" {
                session.send(answer).unwrap();
            } else {
                session.send_line(answer).unwrap();
            }
            assert_eq!(exit_of(session).0, 12, "{answer:?}");
            assert!(!ran(&project));
        }
        let project = asking(&who, "write", "timeout: 1500ms");
        let mut session = terminal(&project, &format!("sleep 1; {CALL}"));
        session.send_line("yes").unwrap();
        session.send_line("yes").unwrap();
        session.expect(QUESTION).expect("the question");
        assert_eq!(exit_of(session).0, 13);
        assert!(!ran(&project));
        // A pipe is no terminal, whatever it says.
        project.run_with(["run", "deploy"], b"yes\nyes\nyes\n").expect(11);
        // /dev/tty is there and cannot be opened: that is the session without a terminal of every other test. A
        // terminal whose foreground is another job is not ours either.
        let session = terminal(&project, &format!("set -m; {CALL} & wait $!"));
        assert_eq!(exit_of(session).0, 11);
        assert!(!ran(&project));
    }
}

/// The terminal's settings are the same before and after, however the prompt ends.
#[test]
fn f123_the_terminal_is_left_as_it_was() {
    for who in everybody() {
        for (what, code) in
            [("timeout", 13), ("answer", 12), ("interrupt", 130), ("terminate", 143), ("stop", 0)]
        {
            let timeout = if what == "timeout" { "1s" } else { "15s" };
            let project = asking(&who, "write", &format!("timeout: {timeout}"));
            let script = match what {
                "terminate" => format!(
                    "stty -a >before; {CALL} & pid=$!; wait $pid; code=$?; stty -a >after; cmp before after && (exit $code)"
                ),
                _ => format!(
                    "stty -a >before; trap '' INT; ( trap - INT; {CALL} ); code=$?; stty -a >after; cmp before after && (exit $code)"
                ),
            };
            let mut session = terminal(&project, &script);
            wait_for_question(&mut session);
            let toolctl = |signal: &str| {
                let pid = crate::field_cases::kit::process_in(&project.dir(), "toolctl run deploy");
                std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
            };
            match what {
                "answer" => session.send_line("no").unwrap(),
                "interrupt" => session.send("\x03").unwrap(),
                "terminate" => toolctl("-TERM"),
                "stop" => {
                    toolctl("-STOP");
                    std::thread::sleep(Duration::from_millis(100));
                    toolctl("-CONT");
                    std::thread::sleep(Duration::from_millis(500));
                    session.send_line("yes").unwrap();
                }
                _ => {}
            }
            let (got, text) = exit_of(session);
            assert_eq!(got, code, "{what}: {text}");
            assert!(!text.contains("\x1b[?25l"), "the cursor was hidden: {text:?}");
            assert_eq!(ran(&project), what == "stop");
        }
    }
}

/// Ctrl-Z and `fg`: the question is still there, and so are the terminal's settings.
#[test]
fn f123_a_suspended_prompt_comes_back() {
    for who in everybody() {
        let project = asking(&who, "write", "timeout: 15s");
        let script = format!(
            "stty -a >before; set -m; {CALL}; echo SUSPENDED; fg >/dev/null; code=$?; stty -a >after; cmp before after && (exit $code)"
        );
        let mut session = terminal(&project, &script);
        wait_for_question(&mut session);
        session.send("\x1a").unwrap();
        session.expect("SUSPENDED").expect("the shell goes on");
        assert!(!ran(&project));
        std::thread::sleep(Duration::from_millis(500));
        session.send_line("yes").unwrap();
        let (code, text) = exit_of(session);
        assert_eq!(code, 0, "{text}");
        assert!(ran(&project));
    }
}

/// What is approved is what runs. Here the script changes while the question is open; a queue, in which more time
/// passes, comes later.
#[test]
fn f021_a_script_that_changes_while_asking_does_not_run() {
    for who in everybody() {
        let none = super::kit::NO_ARGS;
        let direct = format!("{none}command: [./fix.sh]\n{}", super::kit::WRITES);
        let script = format!("{none}command: [/bin/bash, \"{{tool.dir}}/fix.sh\"]\n{}", super::kit::WRITES);
        let bare = format!("{none}command: [./fix.sh]\nsandbox: false\n");
        let policy = host(
            "fix: [{ effect: [write, execute] }]",
            &["{ id: ask-first, tool: fix, always: true, action: ask }"],
        );
        let all = [&direct, &script, &bare];
        for (manifest, change) in all.iter().flat_map(|m| ["script", "link", "manifest", ""].map(|c| (*m, c)))
        {
            let project = untrusted(&who, &[("fix", manifest)], &policy);
            project
                .script("tools.d/fix.sh", "#!/bin/sh\ntouch ran.txt\n")
                .script("tools.d/evil.sh", "#!/bin/sh\ntouch evil.txt\n");
            project.trusted();
            let mut session = terminal(&project, "$TOOLCTL run fix --format json >out.json");
            let prompt = wait_for_question(&mut session);
            match change {
                "script" => drop(project.script("tools.d/fix.sh", "#!/bin/sh\ntouch evil.txt\n")),
                "link" => {
                    std::fs::remove_file(project.dir().join("tools.d/fix.sh")).unwrap();
                    std::os::unix::fs::symlink("evil.sh", project.dir().join("tools.d/fix.sh")).unwrap();
                }
                "manifest" => super::kit::tool(&project, "fix", &manifest.replace("fix.sh", "evil.sh")),
                _ => {}
            }
            session.send_line("yes").unwrap();
            let (code, text) = exit_of(session);
            assert!(!project.dir().join("evil.txt").exists(), "{change}: {prompt}{text}");
            let out = std::fs::read_to_string(project.dir().join("out.json")).unwrap();
            let json: serde_json::Value = serde_json::from_str(&out).unwrap();
            if change.is_empty() {
                assert_eq!((code, ran(&project)), (0, true), "{change}: {text}");
            } else {
                assert_eq!((code, ran(&project)), (14, false), "{change}: {text} {json}");
                assert_eq!(json["code"], "approval/stale", "{json}");
            }
        }
    }
}

const SECRET: &str = "s3cr3t-VALUE-of-the-case";

/// A secret argument is in no prompt, plan, error or state; the tool gets it. Audit, queue and cache come later.
#[test]
fn f049_secrets_are_not_shown() {
    for who in everybody() {
        let manifest = "parameters: { type: object, properties: { token: { type: string, minLength: 4, writeOnly: true }, n: { type: integer } }, required: [token], additionalProperties: false }\ncommand: [/usr/bin/wc, -c]\nstdin: \"{args.token}\"\n";
        let ask = host(
            "login: [{ effect: external }]",
            &[
                "{ id: ask-first, tool: login, always: true, action: ask, reason: \"log in with {args.token}\" }",
            ],
        );
        let project = project(&who, &[("login", manifest)], &ask);
        project.file("call.json", json!({"token": SECRET}).to_string());
        let mut session = terminal(&project, "$TOOLCTL run login --args - <call.json");
        let prompt = wait_for_question(&mut session);
        assert!(!prompt.contains(SECRET), "{prompt}");
        assert!(prompt.contains("token"), "{prompt}");
        session.send_line("yes").unwrap();
        let (code, text) = exit_of(session);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains(&SECRET.len().to_string()), "the tool did not get it: {text}");
        assert!(!text.contains(SECRET));

        let silent = |args: &[&str], stdin: &str, code: i32| {
            for format in ["human", "json"] {
                let args: Vec<&str> =
                    args.iter().copied().chain(["--format", format, "--args", "-"]).collect();
                let out = project.run_with(&args, stdin.as_bytes()).expect(code);
                assert!(
                    !out.out().contains(SECRET) && !out.stderr.contains(SECRET),
                    "{args:?}\n{}\n{}",
                    out.out(),
                    out.stderr
                );
            }
        };
        let valid = json!({"token": SECRET}).to_string();
        silent(&["run", "login"], &valid, 11);
        silent(&["run", "login", "-v", "-v"], &valid, 11);
        silent(&["plan", "login"], &valid, 11);
        silent(&["policy", "explain", "login"], &valid, 11);
        silent(&["run", "login"], &json!({"token": SECRET, "n": "five"}).to_string(), 3);
        silent(&["run", "login"], &json!({"token": [SECRET]}).to_string(), 3);
        silent(&["run", "login"], &json!({"token": {"x": SECRET}}).to_string(), 3);
        silent(&["validate", "login"], &json!({"token": SECRET, "n": 1.5}).to_string(), 3);
        silent(&["validate", "login"], &valid, 0);
        silent(&["run", "login"], valid.trim_end_matches("\"}"), 3);
        silent(&["run", "login"], &valid.replace('}', &format!(",\"token\":\"{SECRET}\"}}")), 3);
        for flag in [format!("token:={SECRET}"), format!("token:=[\"{SECRET}\"]"), format!("token=@{SECRET}")]
        {
            for format in ["human", "json"] {
                let out = project.run(["run", "login", "--format", format, "-a", &flag]).expect(3);
                let named = flag.contains('@') || !out.stderr.contains(SECRET) && !out.out().contains(SECRET);
                assert!(named, "{flag}\n{}\n{}", out.out(), out.stderr);
            }
        }
        assert!(!holds(&project.outside().join("home"), SECRET));
        // In the command line too it is shown to nobody but the program.
        let argv = manifest
            .replace("[/usr/bin/wc, -c]", "[/usr/bin/printf, \"%s|\", \"{args.token}\", \"t={args.token}\"]")
            .replace("stdin: \"{args.token}\"", "stdin: none");
        super::kit::tool(&project, "login", &argv);
        silent(&["plan", "login"], &valid, 11);
        let mut session = terminal(&project, "$TOOLCTL run login --args - <call.json >out.txt");
        let prompt = wait_for_question(&mut session);
        assert!(!prompt.contains(SECRET) && prompt.contains("t=(secret)"), "{prompt}");
        session.send_line("yes").unwrap();
        assert_eq!(exit_of(session).0, 0);
        assert_eq!(
            std::fs::read_to_string(project.dir().join("out.txt")).unwrap(),
            format!("{SECRET}|t={SECRET}|")
        );
        super::kit::tool(&project, "login", manifest);
        // An address with a secret in it takes a canonical form, and what was written is not shown either.
        for format in ["uri", "path"] {
            let place = format!(
                "parameters: {{ type: object, properties: {{ token: {{ type: string, format: {format}, writeOnly: true }} }}, required: [token], additionalProperties: false }}\ncommand: [/bin/cat]\nstdin: \"{{args.token}}\"\n"
            );
            super::kit::tool(&project, "login", &place);
            let written = |text: &str| json!({"token": text}).to_string();
            for (text, code) in [
                (format!("HTTPS://Hooks.test/a/../{SECRET}"), 11),
                (format!("./a/../{SECRET}"), if format == "uri" { 3 } else { 11 }),
                (format!("http://[{SECRET}"), if format == "uri" { 3 } else { 11 }),
                (format!("{SECRET}\0"), 3),
            ] {
                silent(&["plan", "login"], &written(&text), code);
                silent(&["run", "login"], &written(&text), code);
                silent(&["policy", "explain", "login"], &written(&text), code);
                silent(&["validate", "login"], &written(&text), if code == 3 { 3 } else { 0 });
            }
        }
        super::kit::tool(&project, "login", manifest);
        // A guard that looks at it does not quote it either.
        project.file("policies/main.yaml", host("", &["{ id: no, tool: login, when: { args.token: { contains: s3 } }, action: deny, reason: \"not {args.token}\" }"]));
        silent(&["run", "login"], &valid, 10);
        silent(&["policy", "explain", "login"], &valid, 10);
        project.file("policies/main.yaml", allow("login", "external"));
        let mut command = project.command(["run", "login", "--args", "-"]);
        command.stdin(std::process::Stdio::piped());
        assert_eq!(
            finish(command, Some(valid.clone().into_bytes())).expect(0).out().trim(),
            SECRET.len().to_string()
        );
    }
}

/// There is an end by default, and the person sees it.
#[test]
fn f015_every_question_has_an_end() {
    for who in everybody() {
        let project = asking(&who, "write", "timeoutAction: deny");
        let mut session = terminal(&project, CALL);
        let prompt = wait_for_question(&mut session);
        assert!(prompt.contains("300 s left, then it is denied"), "{prompt}");
        session.send_line("no").unwrap();
        assert_eq!(exit_of(session).0, 12);
    }
}

/// A yes is for one call. There is no word that saves a rule, and none is saved.
#[test]
fn f033_there_is_no_always() {
    for who in everybody() {
        let project = asking(&who, "write", "timeout: 15s");
        let state = super::kit::snapshot(&project.outside().join("home"));
        for answer in ["always", "yes always", "a", "Yes", "yes; always"] {
            let mut session = terminal(&project, CALL);
            let prompt = wait_for_question(&mut session);
            assert!(!prompt.to_lowercase().contains("always"), "{prompt}");
            session.send_line(answer).unwrap();
            assert_eq!(exit_of(session).0, 12, "{answer}");
            assert!(!ran(&project), "{answer}");
        }
        let mut session = terminal(&project, CALL);
        wait_for_question(&mut session);
        session.send_line("yes").unwrap();
        assert_eq!(exit_of(session).0, 0);
        project.run(["run", "deploy"]).expect(11);
        let now = super::kit::snapshot(&project.outside().join("home"));
        let names = |all: &[(std::path::PathBuf, u32, i64, i64, Vec<u8>)]| {
            all.iter().map(|one| (one.0.clone(), one.4.clone())).collect::<Vec<_>>()
        };
        assert_eq!(names(&state), names(&now), "something was saved");
    }
}

/// A rule, a person, the clock, the schema, the sandbox and a name that is not there: six refusals, six codes, each with
/// whether trying again helps.
#[test]
fn f071_six_refusals_have_six_codes() {
    for who in everybody() {
        let mut seen = std::collections::BTreeMap::new();
        let mut note = |json: serde_json::Value, code: &str| {
            assert_eq!(json["code"], code, "{json}");
            assert_eq!(json["retryable"], false, "{json}");
            assert!(json["result"].as_str().is_some_and(|text| !text.is_empty()), "{json}");
            assert!(seen.insert(code.to_owned(), json).is_none(), "{code} twice");
        };
        let project = asking(&who, "write", "timeout: 1s");
        let asked = |answer: Option<&str>, code: i32| {
            let mut session = terminal(&project, &format!("{CALL} --format json >out.json"));
            if let Some(answer) = answer {
                wait_for_question(&mut session);
                session.send_line(answer).unwrap();
            }
            assert_eq!(exit_of(session).0, code);
            let text = std::fs::read_to_string(project.dir().join("out.json")).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        note(asked(Some("no"), 12), "approval/refused");
        note(asked(None, 13), "approval/timeout");
        note(super::kit::call(&project, "deploy", r#"{"x":1}"#, 3), "call/schema");
        note(super::kit::result(&project, "deplyo", 5), "call/unknown-tool");
        let deny = "{ id: never, tool: deploy, action: deny, reason: use the pipeline }";
        project.file("policies/main.yaml", host("", &[deny]));
        let denied = super::kit::result(&project, "deploy", 10);
        assert!(denied["result"].as_str().unwrap().contains("use the pipeline"), "{denied}");
        note(denied, "policy/denied");
        // A sandbox that would need a folder which is not there.
        let more = "sandbox: { allowFS: { readOnly: [\"{workspace}/not-there\"] } }\n";
        super::kit::tool(&project, "deploy", &sh("true", more));
        project.file("policies/main.yaml", allow("deploy", "write"));
        note(super::kit::result(&project, "deploy", 4), "sandbox/bad-request");
        assert_eq!(seen.len(), 6);
        assert!(!ran(&project));
    }
}

/// A letter of another alphabet in a word: the word is repeated with that letter spelt out, for arguments and programs.
#[test]
fn f031_letters_that_look_alike_are_spelt_out() {
    for who in everybody() {
        let manifest = "parameters: { type: object, properties: { v: { type: string } }, required: [v], additionalProperties: false }\ncommand: [\"./\u{440}ip.sh\", \"{args.v}\"]\nstdin: none\n";
        let policy = host(
            "show: [{ effect: execute }]",
            &["{ id: ask-first, tool: show, always: true, action: ask }"],
        );
        let project = untrusted(&who, &[("show", manifest)], &policy);
        project.script("tools.d/\u{440}ip.sh", "#!/bin/sh\nprintf '%s' \"$1\"\n");
        project.trusted();
        for (value, words) in [
            ("\u{430}pt install x", &["\\u{440}ip", "\\u{430}pt"][..]),
            ("привет мир", &["\\u{440}ip"]),
            ("apt install", &["\\u{440}ip"]),
        ] {
            project.file("call.json", json!({"v": value}).to_string());
            let mut session = terminal(&project, "$TOOLCTL run show --args - <call.json >out.txt");
            let prompt = wait_for_question(&mut session);
            for word in words {
                assert!(
                    prompt.contains(&format!("{word}` mixes")) || prompt.contains(&format!("{word} mixes")),
                    "{word}: {prompt}"
                );
            }
            assert_eq!(prompt.contains("\\u{430}pt"), words.len() == 2, "{prompt}");
            session.send_line("yes").unwrap();
            assert_eq!(exit_of(session).0, 0);
            assert_eq!(std::fs::read_to_string(project.dir().join("out.txt")).unwrap(), value);
        }
    }
}
