//! The approval prompt on a real pseudo-terminal, whatever stdin, stdout and stderr are.

use crate::harness::{Project, Who, binary, everybody};
use expectrl::session::OsSession;
use expectrl::{Eof, Expect as _, Session};
use std::process::Command;
use std::time::{Duration, Instant};

const POLICY: &str = "policy: main\nformat: 1\nrole: host\ndefault: deny\neffects:\n  note: [{ effect: write }]\nrules:\n  - id: ask-first\n    tool: [note, write_file]\n    always: true\n    action: ask\n    reason: \"writes {args.path}\"\n";

/// Writes its text into a file of the workspace.
const NOTE: &str = "name: note\ndescription: Writes a note.\nparameters:\n  type: object\n  properties: { path: { type: string, format: path }, content: { type: string } }\n  required: [path, content]\n  additionalProperties: false\ncommand: [/usr/bin/tee, --, \"{args.path}\"]\nendOfOptions: true\nstdin: \"{args.content}\"\nsandbox: { allowFS: { readWrite: [\"{workspace}\"] } }\n";

/// A project in which writing asks, and the prompt waits for at most `timeout` milliseconds.
fn project(who: &Who, timeout: u32) -> Project {
    let project = Project::of(who);
    project.file("toolctl.yaml", format!("approval: {{ timeout: {timeout} }}\n"));
    project.file("tools.d/note.yaml", NOTE);
    project.file("policies/main.yaml", POLICY);
    project.trusted();
    project
}

/// Starts a shell on a new terminal that runs `script`, in which `$TOOLCTL` runs toolctl as the project's user.
pub(crate) fn terminal(project: &Project, script: &str) -> OsSession {
    let mut command = Command::new("/bin/sh");
    let who = &project.who;
    let mut toolctl = binary().display().to_string();
    if who.uid == 0 {
        toolctl = format!("env {toolctl}");
    } else if crate::harness::started_by_root() {
        toolctl = format!("setpriv --reuid {} --regid {} --clear-groups {toolctl}", who.uid, who.gid);
    }
    command
        .args(["-c", &format!("{script}; echo EXIT:$?")])
        .current_dir(project.dir())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TERM", "dumb")
        .env("TOOLCTL", toolctl)
        .env("TOOLCTL_HOME", project.outside().join("home"));
    let mut session = Session::spawn(command).expect("a pseudo-terminal");
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session
}

const CALL: &str = "$TOOLCTL run note -a path=new.txt -a content=hello";
/// What the prompt ends with.
pub(crate) const QUESTION: &str = "anything else refuses: ";

/// Waits for the prompt and for the time in which keys are ignored.
pub(crate) fn wait_for_question(session: &mut OsSession) -> String {
    let seen = session.expect(QUESTION).expect("the question");
    std::thread::sleep(Duration::from_millis(450));
    String::from_utf8_lossy(seen.before()).into_owned()
}

/// The exit code that the shell printed, and everything before it.
pub(crate) fn exit_of(mut session: OsSession) -> (i32, String) {
    let rest = session.expect(Eof).expect("the end");
    let text = String::from_utf8_lossy(rest.as_bytes()).into_owned();
    let code = text.rsplit("EXIT:").next().and_then(|code| code.trim().parse().ok());
    (code.unwrap_or_else(|| panic!("no exit code in {text:?}")), text)
}

fn written(project: &Project) -> bool {
    project.dir().join("new.txt").exists()
}

#[test]
fn yes_runs_it_and_everything_else_does_not() {
    for who in everybody() {
        for (answer, code) in [
            ("yes", 0),
            ("no", 12),
            ("", 12),
            ("y", 12),
            ("YES", 12),
            ("yes please", 12),
            (" yes", 12),
            ("note", 12),
            ("all", 12),
        ] {
            let project = project(&who, 15_000);
            let mut session = terminal(&project, CALL);
            let prompt = wait_for_question(&mut session);
            for text in ["note", "main/ask-first", "policies/main.yaml:8", "new.txt", "write", "sha256:"] {
                assert!(prompt.contains(text), "the prompt does not show {text}:\n{prompt}");
            }
            session.send_line(answer).unwrap();
            let (got, text) = exit_of(session);
            assert_eq!(got, code, "{answer:?}: {text}");
            assert_eq!(written(&project), code == 0, "{answer:?}");
        }
    }
}

#[test]
fn a_destructive_tool_wants_its_name() {
    for who in everybody() {
        for (answer, code) in [("yes", 12), ("write_file", 0)] {
            let project = project(&who, 15_000);
            let mut session = terminal(&project, &CALL.replace("note", "write_file"));
            wait_for_question(&mut session);
            session.send_line(answer).unwrap();
            let (got, text) = exit_of(session);
            assert_eq!(got, code, "{answer:?}: {text}");
            assert_eq!(written(&project), code == 0);
        }
    }
}

#[test]
fn stdin_may_be_a_pipe_and_stderr_a_file() {
    for who in everybody() {
        let args = r#"printf '%s' '{"path":"new.txt","content":"hello"}'"#;
        for script in [
            format!("{args} | $TOOLCTL run note --args -"),
            format!("{args} | $TOOLCTL run note --args - 2>err.txt"),
            format!("{args} | $TOOLCTL run note --args - >out.txt 2>err.txt"),
            format!("yes | {CALL}"),
        ] {
            let project = project(&who, 15_000);
            let mut session = terminal(&project, &script);
            wait_for_question(&mut session);
            session.send_line("yes").unwrap();
            let (code, text) = exit_of(session);
            assert_eq!(code, 0, "{script}: {text}");
            assert!(written(&project));
        }
        // The answers of `yes` on stdin are not a person's.
        let project = project(&who, 15_000);
        let mut session = terminal(&project, &format!("yes | {CALL}"));
        wait_for_question(&mut session);
        session.send_line("no").unwrap();
        assert_eq!(exit_of(session).0, 12);
    }
}

#[test]
fn what_was_typed_before_the_prompt_is_not_an_answer() {
    for who in everybody() {
        let project = project(&who, 2_000);
        let mut session = terminal(&project, &format!("sleep 1; {CALL}"));
        session.send_line("yes").unwrap();
        session.send_line("yes").unwrap();
        wait_for_question(&mut session);
        let (code, text) = exit_of(session);
        assert_eq!(code, 13, "{text}");
        assert!(!written(&project));
    }
}

#[test]
fn no_answer_is_a_denial_in_time() {
    for who in everybody() {
        let project = project(&who, 1_500);
        let started = Instant::now();
        let mut session = terminal(&project, CALL);
        wait_for_question(&mut session);
        let (code, text) = exit_of(session);
        assert_eq!(code, 13, "{text}");
        assert!(started.elapsed() < Duration::from_secs(8));
        assert!(!written(&project));
    }
}

#[test]
fn end_of_file_is_no() {
    for who in everybody() {
        let project = project(&who, 15_000);
        let mut session = terminal(&project, CALL);
        wait_for_question(&mut session);
        session.send("\x04").unwrap();
        let (code, text) = exit_of(session);
        assert_eq!(code, 12, "{text}");
        assert!(!written(&project));
    }
}

#[test]
fn an_interrupt_ends_it_and_leaves_the_terminal_alone() {
    for who in everybody() {
        let project = project(&who, 15_000);
        let script = format!(
            "stty -a >before; trap '' INT; ( trap - INT; {CALL} ); code=$?; stty -a >after; cmp before after && (exit $code)"
        );
        let mut session = terminal(&project, &script);
        wait_for_question(&mut session);
        session.send("\x03").unwrap();
        let (code, text) = exit_of(session);
        assert_eq!(code, 130, "{text}");
        assert!(!written(&project));
    }
}

#[test]
fn no_prompt_asks_nobody() {
    for who in everybody() {
        let project = project(&who, 15_000);
        let session = terminal(&project, &format!("{CALL} --no-prompt"));
        let (code, text) = exit_of(session);
        assert_eq!(code, 11, "{text}");
        assert!(!text.contains(QUESTION));
        // A job in the background must not touch the terminal either: it would be stopped.
        let session = terminal(&project, &format!("set -m; {CALL} & wait $!"));
        let (code, text) = exit_of(session);
        assert_eq!(code, 11, "{text}");
    }
}

#[test]
fn hidden_characters_are_visible() {
    for who in everybody() {
        let project = project(&who, 15_000);
        let args = r#"{"path":"new.txt","content":"ma\u202ein\u001b[2K\rharmless\nApprove? [y]"}"#;
        project.file("call.json", args);
        let mut session = terminal(&project, "$TOOLCTL run note --args - <call.json");
        let prompt = wait_for_question(&mut session);
        assert!(
            prompt.contains("\\u{202e}") && prompt.contains("\\u{1b}[2K\\rharmless\\nApprove"),
            "{prompt}"
        );
        assert!(prompt.contains("4 hidden characters"), "{prompt}");
        assert!(!prompt.contains('\u{202e}') && !prompt.contains("\x1b[2K"), "{prompt}");
        session.send_line("yes").unwrap();
        assert_eq!(exit_of(session).0, 0);
        let content = std::fs::read_to_string(project.dir().join("new.txt")).unwrap();
        assert_eq!(content, "ma\u{202e}in\x1b[2K\rharmless\nApprove? [y]", "the tool gets the exact bytes");
    }
}

#[test]
fn nothing_is_cut_off_unseen() {
    for who in everybody() {
        let project = project(&who, 15_000);
        let content = format!("{}TAIL-OF-IT", "x".repeat(5000));
        project.file("call.json", serde_json::json!({"path": "new.txt", "content": content}).to_string());
        let mut session = terminal(&project, "$TOOLCTL run note --args - <call.json");
        let prompt = wait_for_question(&mut session);
        assert!(prompt.contains("more characters are not shown"), "{prompt}");
        assert!(!prompt.contains("TAIL-OF-IT"));
        session.send_line("all").unwrap();
        let prompt = wait_for_question(&mut session);
        assert!(prompt.contains("TAIL-OF-IT"));
        session.send_line("yes").unwrap();
        assert_eq!(exit_of(session).0, 0);
    }
}
