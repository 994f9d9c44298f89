//! Every way to end: its exit code, its one JSON document, and a next step for whoever reads the message.

use crate::field_cases::kit::{WRITES, allow, host, process_in, project, quoted, sh, tool, wait_for};
use crate::harness::{Project, Ran, Who, binary, everybody, finish, probe, processes_with, started_by_root};
use crate::prompt::{QUESTION, exit_of, terminal, wait_for_question};
use expectrl::Expect as _;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

const NO_ARGS: &str = crate::field_cases::kit::NO_ARGS;

/// A project in which each way to end has a tool of its own.
fn workshop(who: &Who) -> Project {
    let eat = quoted(probe("eat").to_str().unwrap());
    let tools = [
        ("good", sh("echo out; echo messages >&2", "")),
        ("fails", sh("echo partly; exit 3", "")),
        ("killed", sh("echo partly; kill -SEGV $$", "")),
        ("slow", sh("echo partly; sleep 61.5", "sandbox: { timeout: 500 }\n")),
        ("eats", format!("{NO_ARGS}command: [{eat}, '1024']\nsandbox: {{ maxMemoryMB: 256 }}\n")),
        ("promises", sh("echo no JSON", "output: json\n")),
        ("needs", format!("{NO_ARGS}command: [no-such-program-at-all]\n")),
        ("hooks", sh("echo x > .envrc", WRITES)),
        ("strict", "parameters: { type: object, properties: { n: { type: integer } }, required: [n], additionalProperties: false }\ncommand: [/bin/true]\n".to_owned()),
        ("asks", sh("echo asked", "")),
        ("denied", sh("echo denied", "")),
        ("future", sh("true", "cache: { ttl: 1000 }\n")),
        ("group", sh("true", "sandbox: { required: [cgroup] }\n")),
        ("broken", "command: [\n".to_owned()),
    ];
    let tools: Vec<(&str, &str)> = tools.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let reads: Vec<String> = tools
        .iter()
        .filter(|(name, _)| !["hooks", "unknown"].contains(name))
        .map(|(name, _)| format!("{name}: [{{ effect: read }}]"))
        .collect();
    let effects = format!("{}\n  hooks: [{{ effect: write }}]", reads.join("\n  "));
    let names: Vec<&str> =
        tools.iter().map(|(name, _)| *name).filter(|name| !["asks", "denied"].contains(name)).collect();
    let policy = host(
        &effects,
        &[
            &format!(
                "{{ id: rest, tool: [{}, read_file, write_file], always: true, action: allow }}",
                names.join(", ")
            ),
            "{ id: ask, tool: asks, always: true, action: ask }",
            "{ id: no, tool: denied, action: deny, reason: \"not here\" }",
        ],
    );
    let project = crate::field_cases::kit::untrusted(who, &tools, &policy);
    // A broken manifest keeps the others from being trusted as a whole, so it comes afterwards.
    let broken = std::fs::read(project.dir().join("tools.d/broken.yaml")).unwrap();
    std::fs::remove_file(project.dir().join("tools.d/broken.yaml")).unwrap();
    project.trusted();
    project.file("tools.d/broken.yaml", broken);
    project
}

/// The exit code, the command line, and the code in the document (empty: none).
const SESSIONS: &[(i32, &[&str], &str)] = &[
    (0, &["run", "good"], ""),
    (0, &["plan", "good"], ""),
    (0, &["validate", "good"], ""),
    (0, &["policy", "explain", "good"], ""),
    (0, &["policy", "show"], ""),
    (0, &["tools", "show", "good"], ""),
    (0, &["explain", "policy/denied"], "policy/denied"),
    (0, &["explain"], ""),
    (0, &["environment"], ""),
    (0, &["schema"], ""),
    (0, &["schema", "policy"], ""),
    (0, &["completions", "fish"], ""),
    (0, &["man", "run"], ""),
    (0, &["policy", "show", "--sources"], ""),
    (0, &["policy", "explain", "good", "--why-not", "allow"], ""),
    (1, &["check"], ""),
    (2, &["run"], "usage/error"),
    (2, &["run", "good", "--bogus"], "usage/error"),
    (2, &["frobnicate"], "usage/error"),
    (2, &["explain", "no/such-code"], "usage/error"),
    (2, &["explain", "polcy/denied"], "usage/error"),
    (2, &["schema", "polciy"], "usage/error"),
    (2, &["man", "rnu"], "usage/error"),
    (2, &["completions", "tcsh"], "usage/error"),
    (2, &["policy", "explain", "good", "--why-not", "deny"], "usage/error"),
    (2, &["run", "good", "--mode", "exeucte"], "usage/error"),
    (2, &["-C", "no-such-folder", "run", "good"], "usage/error"),
    (2, &["check", "no-such-folder"], "usage/error"),
    (3, &["run", "strict"], "call/schema"),
    (3, &["run", "strict", "--args", "{"], "call/not-json"),
    (3, &["run", "strict", "--args", "{\"n\":1,\"n\":2}"], "call/duplicate-key"),
    (3, &["run", "strict", "--args", "{\"n\":1e400}"], "call/number-range"),
    (3, &["run", "strict", "-a", "n"], "call/bad-flag"),
    (3, &["run", "strict", "-a", "m=1"], "call/schema"),
    (3, &["run", "strict", "-a", "n=x"], "call/bad-flag"),
    (3, &["run", "strict", "-a", "n=@../../etc/passwd"], "call/bad-flag"),
    (3, &["run", "strict", "--args", "@missing"], "call/bad-flag"),
    (3, &["validate", "strict"], "call/schema"),
    (3, &["plan", "strict"], "call/schema"),
    (3, &["policy", "explain", "strict"], "call/schema"),
    (4, &["run", "broken"], "source/yaml"),
    (4, &["plan", "broken"], "source/yaml"),
    (4, &["tools", "list"], ""),
    (4, &["run", "needs"], "run/program-missing"),
    (4, &["run", "future"], "manifest/unsupported"),
    (5, &["run", "goood"], "call/unknown-tool"),
    (5, &["plan", "something-else-entirely"], "call/unknown-tool"),
    (5, &["tools", "show", "goood"], "call/unknown-tool"),
    (10, &["run", "denied"], "policy/denied"),
    (10, &["plan", "denied"], "policy/denied"),
    (10, &["policy", "explain", "denied"], ""),
    (10, &["run", "hooks", "--mode", "plan"], "policy/plan-mode"),
    (10, &["run", "write_file", "-a", "path=toolctl.yaml", "-a", "content=x"], "policy/control-files"),
    (11, &["run", "asks"], "approval/required"),
    (11, &["plan", "asks"], "approval/required"),
    (20, &["run", "fails"], "run/tool-failed"),
    (20, &["run", "read_file", "-a", "path=missing"], "run/tool-failed"),
    (21, &["run", "killed"], "run/signal"),
    (22, &["run", "slow"], "run/timeout"),
    (23, &["run", "eats"], "run/limit"),
    (24, &["run", "promises"], "run/bad-result"),
];

/// The first code in a document of any command.
fn code_of(json: &Value) -> String {
    let places = [&json["code"], &json["error"]["code"], &json["diagnostics"][0]["code"]];
    places.iter().find_map(|code| code.as_str()).unwrap_or("").to_owned()
}

#[track_caller]
fn one_document(ran: &Ran, what: &str) -> Value {
    let json = ran.json();
    assert_eq!(ran.out().matches('\n').count(), 1, "{what}: more than one line\n{}", ran.out());
    let schema = json["schema"].as_str().unwrap_or_default();
    assert!(schema.starts_with("toolctl.") && schema.contains("/v"), "{what}: no schema in {json}");
    json
}

/// How a line of help that is no command begins: with what is to be edited.
const EDITS: [&str; 29] = [
    "add",
    "allow",
    "build",
    "change",
    "compare",
    "correct",
    "declare",
    "define",
    "did you mean",
    "give",
    "install",
    "keep",
    "let",
    "list",
    "look at",
    "make",
    "move",
    "put",
    "raise",
    "read",
    "remove",
    "rename",
    "run",
    "save",
    "set",
    "split",
    "unset",
    "use",
    "write",
];

/// Whether an error on stderr ends with what to do next: a command that can be typed, or an edit. A command that a line
/// names has to be one.
fn says_what_next(stderr: &str) -> bool {
    if stderr.contains("try '--help'") {
        return true;
    }
    let helps: Vec<&str> =
        stderr.lines().filter_map(|line| line.split_once("help: ")).map(|(_, help)| help).collect();
    for help in &helps {
        for command in help.split("toolctl ").skip(1) {
            let word = command.split(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
            assert!(word.starts_with('-') || commands().contains(word), "`{word}` is no command: {help}");
        }
    }
    let Some(last) = helps.last() else { return false };
    last.contains("toolctl ")
        || EDITS.iter().any(|edit| last.starts_with(edit))
        || last.contains(" with a rule in ")
}

/// The commands that `--help` lists.
fn commands() -> &'static BTreeSet<String> {
    static COMMANDS: std::sync::OnceLock<BTreeSet<String>> = std::sync::OnceLock::new();
    COMMANDS.get_or_init(|| {
        let help = Project::of(&everybody()[0]).run(["--help"]).expect(0).out();
        let listed = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
        let words = listed.lines().filter_map(|line| line.split_whitespace().next());
        let all: BTreeSet<String> = words.map(str::to_owned).collect();
        assert!(all.contains("run") && all.contains("explain") && all.len() > 10, "{all:?}");
        all
    })
}

#[test]
fn every_exit_code_is_reached_in_both_formats() {
    for who in everybody() {
        let project = workshop(&who);
        for (code, words, expected) in SESSIONS {
            let human = project.run(*words).expect(*code);
            if *code != 0 && !words.starts_with(&["policy", "explain"]) && *words != ["check"] {
                assert!(says_what_next(&human.stderr), "{words:?} leaves one alone:\n{}", human.stderr);
            }
            let ran = project.run(words.iter().copied().chain(["--format", "json"])).expect(*code);
            let json = one_document(&ran, &format!("{words:?}"));
            if words.first() != Some(&"plan") || *code < 10 {
                assert_eq!(code_of(&json), *expected, "{words:?}: {json}");
            }
            if *code != 0
                && !words.starts_with(&["policy", "explain"])
                && *words != ["check"]
                && words.first() != Some(&"plan")
            {
                assert!(says_what_next(&ran.stderr), "{words:?}:\n{}", ran.stderr);
            }
            // One line of JSON, for a stream of them too.
            let ran = project.run(words.iter().copied().chain(["--format", "ndjson"])).expect(*code);
            one_document(&ran, &format!("{words:?}"));
            // Quiet is quiet, and still one document.
            let ran = project.run(words.iter().copied().chain(["--format", "json", "-q"])).expect(*code);
            one_document(&ran, &format!("{words:?}"));
        }
    }
}

#[test]
fn tool_output_stays_out_of_the_other_stream() {
    for who in everybody() {
        let project = workshop(&who);
        let json = project.run(["run", "good", "--format", "json"]).expect(0);
        assert!(!json.stderr.contains("messages"), "{}", json.stderr);
        let json = json.json();
        assert_eq!((&json["result"], &json["execution"]["stderr"]), (&"out\n".into(), &"messages\n".into()));
        let human = project.run(["run", "good"]).expect(0);
        assert_eq!((human.out().as_str(), human.stderr.as_str()), ("out\n", "messages\n"));
        // What was refused is not shown as a result.
        assert_eq!(project.run(["run", "promises"]).expect(24).out(), "");
    }
}

#[test]
fn a_created_control_file_ends_in_24() {
    for who in everybody() {
        let project = workshop(&who);
        let ran = project.run(["run", "hooks", "--format", "json"]).expect(24).says("help: ");
        assert_eq!(one_document(&ran, "hooks")["code"], "run/control-file-created");
        let ran = project.run(["run", "good", "--format", "json"]).expect(4).says("toolctl trust");
        assert_eq!(one_document(&ran, "good")["code"], "config/needs-trust");
    }
}

#[test]
fn broken_settings_policies_and_environments_end_in_4_and_2() {
    for who in everybody() {
        let project = project(&who, &[("good", &sh("echo out", ""))], &allow("good", "read"));
        project.run(["run", "good"]).expect(0);
        let commands: [&[&str]; 8] = [
            &["run", "good"],
            &["plan", "good"],
            &["validate", "good"],
            &["policy", "explain", "good"],
            &["policy", "show"],
            &["tools", "show", "good"],
            &["tools", "list"],
            &["check"],
        ];
        let everywhere = |code: i32, only: &[&str]| {
            for words in commands.iter().filter(|words| only.is_empty() || only.contains(&words[0])) {
                // `check` reports what it can as findings.
                let code = if words[0] == "check" { 1 } else { code };
                let ran = project.run(words.iter().copied().chain(["--format", "json"])).expect(code);
                one_document(&ran, &format!("{words:?}"));
                assert!(words[0] == "check" || says_what_next(&ran.stderr), "{words:?}:\n{}", ran.stderr);
                let ran = project.run(words.iter().copied()).expect(code);
                assert!(words[0] == "check" || says_what_next(&ran.stderr), "{words:?}:\n{}", ran.stderr);
            }
        };
        project.file("policies/main.yaml", "policy: main\nformat: 1\nroles: host\n");
        everywhere(4, &["run", "plan", "policy", "check"]);
        // Arguments are judged by the schema alone, whatever the policies are worth.
        project.run(["validate", "good"]).expect(0);
        project.file("policies/main.yaml", allow("good", "read"));
        project.file("toolctl.yaml", "agentName: [\n");
        everywhere(4, &[]);
        project.file("toolctl.yaml", "agentNaem: test\n");
        everywhere(4, &[]);
        project.file("toolctl.yaml", b"\xff\xfe");
        everywhere(4, &[]);
        std::fs::remove_file(project.dir().join("toolctl.yaml")).unwrap();
        std::fs::create_dir(project.dir().join("toolctl.yaml")).unwrap();
        crate::harness::give(&project.dir().join("toolctl.yaml"), &who);
        everywhere(4, &[]);
        std::fs::remove_dir(project.dir().join("toolctl.yaml")).unwrap();
        project.file("toolctl.yaml", "agentName: test\n");
        project.run(["run", "good"]).expect(0);
        for (name, value, code) in [("TOOLCTL_HOEM", "x", 2), ("TOOLCTL_HOME", "relative", 4)] {
            for words in commands {
                let mut command = project.command(words.iter().copied().chain(["--format", "json"]));
                command.env(name, value);
                let ran = finish(command, None);
                assert!(
                    ran.code == Some(code) || ran.code == Some(2),
                    "{name}: {:?} {}",
                    ran.code,
                    ran.stderr
                );
                one_document(&ran, &format!("{words:?}"));
                assert!(says_what_next(&ran.stderr), "{}", ran.stderr);
            }
        }
    }
}

#[test]
fn answers_of_a_person_have_their_codes() {
    for who in everybody() {
        let project = workshop(&who);
        for (settings, answer, code, document) in [
            ("timeout: 15s", Some("no"), 12, "approval/refused"),
            ("timeout: 1s", None, 13, "approval/timeout"),
            ("timeout: 1s, timeoutAction: throw", None, 16, "approval/timeout"),
            ("timeout: 15s", Some("yes"), 0, ""),
        ] {
            project.file("toolctl.yaml", format!("approval: {{ {settings} }}\n"));
            let mut session = terminal(&project, "$TOOLCTL run asks --format json >out.json 2>err.txt");
            if let Some(answer) = answer {
                wait_for_question(&mut session);
                session.send_line(answer).unwrap();
            } else {
                session.expect(QUESTION).expect("the question");
            }
            let (got, text) = exit_of(session);
            assert_eq!(got, code, "{text}");
            let text = std::fs::read_to_string(project.dir().join("out.json")).unwrap();
            let json: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(code_of(&json), document, "{json}");
            let said = std::fs::read_to_string(project.dir().join("err.txt")).unwrap();
            assert!(code == 0 || says_what_next(&said), "{said}");
        }
    }
}

/// `--exit-status tool`: the tool's own code, or what a shell would say of its end; 125 if it did not run.
#[test]
fn the_tools_own_status() {
    for who in everybody() {
        let project = workshop(&who);
        tool(&project, "high", &sh("exit 200", ""));
        for (name, text, mode) in [
            ("plain", "", 0o644),
            ("nonsense", "no program\n", 0o755),
            ("widow", "#!/no/such/interpreter\n", 0o755),
        ] {
            tool(&project, name, &format!("{NO_ARGS}command: [./{name}.sh]\n"));
            project.file(&format!("tools.d/{name}.sh"), text);
            let path = project.dir().join(format!("tools.d/{name}.sh"));
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let policy = std::fs::read_to_string(project.dir().join("policies/main.yaml")).unwrap();
        project
            .file("policies/main.yaml", policy.replace("tool: [good", "tool: [plain, nonsense, widow, good"));
        for (words, code) in [
            (&["good"][..], 0),
            (&["fails"], 3),
            (&["killed"], 128 + 11),
            (&["slow"], 124),
            (&["eats"], 137),
            (&["promises"], 125),
            (&["denied"], 125),
            (&["asks"], 125),
            (&["strict"], 125),
            (&["goood"], 125),
            (&["broken"], 125),
            (&["needs"], 127),
            (&["plain"], 126),
            (&["nonsense"], 126),
            (&["widow"], 127),
        ] {
            let all: Vec<&str> =
                ["run"].iter().chain(words).copied().chain(["--exit-status", "tool"]).collect();
            project.run(&all).expect(code);
            one_document(
                &project.run(all.iter().copied().chain(["--format", "json"])).expect(code),
                words[0],
            );
        }
        project.file("policies/main.yaml", allow("high", "read"));
        project.run(["run", "high", "--exit-status", "tool"]).expect(123);
    }
}

/// A disk that is full and streams that are closed: said as 74, and never a wrong result.
#[test]
fn output_that_cannot_be_written() {
    for who in everybody() {
        let project = workshop(&who);
        let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap());
        for words in [
            &["run", "good"][..],
            &["run", "good", "--format", "json"],
            &["plan", "good"],
            &["tools", "list", "--format", "json"],
            &["policy", "show"],
            &["explain"],
            &["--help"],
            &["run", "--format", "json"],
            &["run", "denied", "--format", "json"],
            &["validate", "good"],
        ] {
            let mut command = project.command(words.iter().copied());
            command.stdout(full());
            let ran = finish(command, None).expect(74);
            assert!(
                words == ["--help"] || words[0] == "run" && words.len() == 3 || says_what_next(&ran.stderr),
                "{words:?}: {}",
                ran.stderr
            );
        }
        // Standard error is for people: that it is full does not turn a success into another exit code.
        let mut command = project.command(["run", "read_file", "-a", "path=toolctl.yaml"]);
        command.stderr(full());
        assert_eq!(finish(command, None).expect(0).out(), "agentName: test\n");
        // Closed streams: a file that is opened later must not become one of them.
        for streams in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"] {
            let script = format!("exec \"$@\" {streams}");
            let mut command = Command::new("/bin/sh");
            let inner = project.command(["run", "write_file", "-a", "path=new.txt", "-a", "content=text"]);
            command.args(["-c", &script, "sh"]).arg(inner.get_program()).args(inner.get_args());
            command.current_dir(project.dir()).env("TOOLCTL_HOME", project.outside().join("home"));
            if who.uid != 0 && started_by_root() {
                use std::os::unix::process::CommandExt as _;
                command.uid(who.uid).gid(who.gid);
            }
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            finish(command, None).expect(0);
            assert_eq!(std::fs::read_to_string(project.dir().join("new.txt")).unwrap(), "text", "{streams}");
        }
        let ran = project.run(["run", "strict", "--args", "-"]).expect(3);
        assert!(says_what_next(&ran.stderr), "{}", ran.stderr);
    }
}

#[test]
fn an_interrupt_is_raised_again() {
    for who in everybody() {
        let project = workshop(&who);
        let mark = format!("61.6{}{}", who.uid, std::process::id());
        tool(&project, "good", &sh(&format!("echo partly; sleep {mark}"), ""));
        for (signal, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
            let command = project.command(["run", "good", "--format", "json"]);
            let dir = project.dir();
            let killer = std::thread::spawn({
                let mark = mark.clone();
                move || {
                    wait_for("the tool", || processes_with(&format!("sleep\0{mark}")) > 0);
                    let pid = process_in(&dir, "toolctl run good --format json");
                    Command::new("kill").args([signal, &pid]).status().unwrap();
                }
            });
            let ran = finish(command, None);
            killer.join().unwrap();
            assert_eq!(ran.signal, Some(number), "{:?} {}", ran.code, ran.stderr);
            assert_eq!(one_document(&ran, signal)["code"], "internal/interrupted");
            assert!(says_what_next(&ran.stderr), "{}", ran.stderr);
            assert_eq!(processes_with(&mark), 0);
        }
        // What a shell makes of it is 130.
        let mut session =
            terminal(&project, "trap '' INT; ( trap - INT; $TOOLCTL run good --format json >out.json )");
        wait_for("the tool", || processes_with(&format!("sleep\0{mark}")) > 0);
        session.send("\x03").unwrap();
        assert_eq!(exit_of(session).0, 130);
    }
}

#[test]
fn a_sandbox_that_cannot_be_ends_in_30() {
    for who in everybody() {
        let project = workshop(&who);
        let probed = project.run(["doctor", "--format", "json"]).expect(0).json().to_string();
        if !probed.contains("\"works\":false") {
            eprintln!("skipped: this machine has every layer");
            continue;
        }
        let ran = project.run(["run", "group", "--format", "json"]).expect(30).says("help: ");
        assert_eq!(one_document(&ran, "group")["code"], "sandbox/unavailable");
        project.run(["run", "group"]).expect(30).says("help: ");
        project.run(["run", "group", "--exit-status", "tool"]).expect(125);
    }
}

/// Words that people know from other programs lead to ours, and no option is proposed as a value.
#[test]
fn words_of_other_programs_are_known() {
    let project = project(&everybody()[0], &[("good", &sh("echo out", ""))], &allow("good", "read"));
    for (words, hint) in [
        (&["call", "good"][..], "toolctl run TOOL"),
        (&["run", "good", "--yes"], "answered on the terminal"),
        (&["run", "good", "-y"], "answered on the terminal"),
        (&["run", "good", "--dry-run"], "toolctl plan TOOL"),
        (&["plan", "good", "--json"], "--format json"),
        (&["run", "good", "--timeout", "5s"], "sandbox.timeout"),
        (&["tool", "list"], "'tools'"),
        (&["run", "good", "--args=1", "--formt", "json"], "--format"),
    ] {
        let ran = project.run(words).expect(2).says(hint);
        assert!(!ran.stderr.contains("as a value"), "{}", ran.stderr);
    }
    project.run(["run", "good"]).expect(0);
    // Arguments on stdin that nobody asked for are pointed at, and never read.
    let needs = "parameters: { type: object, properties: { a: { type: string } }, required: [a], additionalProperties: false }\ncommand: [/bin/cat]\n";
    project.file("tools.d/good.yaml", format!("name: good\ndescription: A tool.\n{needs}"));
    project.run_with(["run", "good"], b"{\"a\":\"x\"}").expect(3).says("add --args -");
    project.run_with(["run", "good", "--args", "-"], b"{\"a\":\"x\"}").expect(0);
    for words in [&["run", "good"][..], &["run", "good", "--args", "{}"]] {
        let ran = project.run(words).expect(3);
        assert!(!ran.stderr.contains("--args -"), "{}", ran.stderr);
    }
}

#[test]
fn nothing_to_do() {
    for who in everybody() {
        let project = Project::of(&who);
        let ran = project.run(["trust", "--format", "json"]).expect(6).says("help: ");
        assert_eq!(code_of(&one_document(&ran, "trust")), "usage/nothing-to-do");
        let ran = project.run(["check", "--format", "json"]).expect(6).says("help: ");
        assert_eq!(code_of(&one_document(&ran, "check")), "usage/nothing-to-do");
        project.file("toolctl.yaml", "agentName: test\n");
        one_document(&project.run(["trust", "--format", "json"]).expect(0), "trust");
        one_document(&project.run(["check", "--format", "json"]).expect(0), "check");
        one_document(&project.run(["trust", "--revoke", "--format", "json"]).expect(0), "revoke");
    }
}

/// The record of trust: one that cannot be written is 74, one that is damaged is no trust, is named, and can be renewed.
#[test]
fn a_record_of_trust_that_cannot_be_used() {
    for who in everybody() {
        let project = project(&who, &[("good", &sh("echo out", ""))], &allow("good", "read"));
        let dir = project.outside().join("home/state/trust");
        let record = std::fs::read_dir(&dir).unwrap().next().unwrap().unwrap().path();
        let intact = std::fs::read(&record).unwrap();
        for damage in [&b""[..], b"garbage", b"\xff", intact.split_at(intact.len() / 2).0] {
            std::fs::write(&record, damage).unwrap();
            let ran = project.run(["run", "good", "--format", "json"]).expect(4).says("help: ");
            assert!(ran.stderr.contains(record.to_str().unwrap()), "{}", ran.stderr);
            assert_eq!(one_document(&ran, "good")["code"], "config/needs-trust");
        }
        project.run(["trust"]).expect(0);
        project.run(["run", "good"]).expect(0);
        let mut command = project.command(["trust", "--format", "json"]);
        project.file_at(&project.outside().join("file"), "");
        command.env("TOOLCTL_HOME", project.outside().join("file"));
        let ran = finish(command, None).expect(74).says("help: ");
        assert_eq!(code_of(&one_document(&ran, "trust")), "output/error");
    }
}

/// Each code of the page is reached by this file, or stands here with the reason why a test cannot.
#[test]
fn the_table_of_codes_is_covered() {
    const ELSEWHERE: [(i32, &str); 10] = [
        (6, "nothing_to_do"),
        (12, "answers_of_a_person_have_their_codes"),
        (13, "answers_of_a_person_have_their_codes"),
        (14, "field_cases::approval::f021_a_script_that_changes_while_asking_does_not_run"),
        (16, "answers_of_a_person_have_their_codes"),
        (30, "a_sandbox_that_cannot_be_ends_in_30"),
        (70, "only a fault of toolctl ends so"),
        (74, "output_that_cannot_be_written"),
        (130, "an_interrupt_is_raised_again"),
        (24, "a_created_control_file_ends_in_24 too"),
    ];
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/exit-codes.md")).unwrap();
    let documented: BTreeSet<i32> =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()?.parse().ok()).collect();
    let here: BTreeSet<i32> =
        SESSIONS.iter().map(|(code, ..)| *code).chain(ELSEWHERE.iter().map(|(code, _)| *code)).collect();
    assert_eq!(documented, here);
    assert!(binary().exists());
}
