//! Completion, as each shell asks for it: through the environment, and in a real bash where there is one.

use crate::harness::{Project, Who, everybody, finish};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];
/// What a shell without descriptions gets between two candidates.
const SEPARATOR: char = '\u{b}';

fn manifest(name: &str, rest: &str) -> String {
    format!("name: {name}\ndescription: Does {name} well. And more.\ncommand: [echo]\n{rest}")
}

const ARGUMENTS: &str = "parameters:
  type: object
  properties:
    mode: { enum: [fast, faster, 'x;touch pwned', '$(touch pwned)', \"a b\"], description: How fast. }
    dry: { type: boolean }
    from: { type: string, format: path }
    list: { type: array }
    '$(id)': { type: string }
  additionalProperties: false
";

fn project(who: &Who) -> Project {
    let project = Project::of(who);
    project
        .file("tools.d/git_log.yaml", manifest("git_log", ARGUMENTS))
        .file("tools.d/git_show.yaml", manifest("git_show", "parameters: { type: object }\n"))
        .file("src/main.rs", "")
        .file("src/$(touch pwned).rs", "")
        .file("sub/x", "");
    project
}

/// Asks as a shell does; the last word is the one that is completed.
fn asked(project: &Project, shell: &str, words: &[&str]) -> Vec<(String, String)> {
    let mut command = project.command(["--", "toolctl"].iter().chain(words));
    command.env("TOOLCTL_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command.env("_CLAP_IFS", if shell == "bash" { SEPARATOR.to_string() } else { "\n".to_owned() });
    let ran = finish(command, None).expect(0);
    assert_eq!(ran.stderr, "", "{shell} {words:?}");
    let out = ran.out();
    let lines = out.split(if shell == "bash" { SEPARATOR } else { '\n' });
    lines.filter(|line| !line.is_empty()).map(|line| split(shell, line)).collect()
}

fn split(shell: &str, line: &str) -> (String, String) {
    let both = match shell {
        // A colon of the value itself has a backslash in front.
        "zsh" => {
            let colon = |(at, _): &(usize, &str)| !line.get(..*at).unwrap_or_default().ends_with('\\');
            let at = line.match_indices(':').find(colon).map(|(at, _)| at);
            at.and_then(|at| Some((line.get(..at)?, line.get(at + 1..)?)))
        }
        "fish" | "powershell" => line.split_once('\t'),
        _ => None,
    };
    let (value, help) = both.unwrap_or((line, ""));
    (value.replace("\\:", ":"), help.to_owned())
}

fn values(project: &Project, shell: &str, words: &[&str]) -> Vec<String> {
    asked(project, shell, words)
        .into_iter()
        .map(|(value, _)| value)
        .filter(|value| !value.starts_with('-'))
        .collect()
}

#[test]
fn every_shell_gets_commands_tools_arguments_values_and_codes() {
    for who in everybody() {
        let project = project(&who);
        for shell in SHELLS {
            let values = |words: &[&str]| values(&project, shell, words);
            assert_eq!(values(&["pol"]), ["policy"], "{shell}");
            assert_eq!(values(&["policy", "exp"]), ["explain"], "{shell}");
            assert_eq!(values(&["run", "git_"]), ["git_log", "git_show"], "{shell}");
            assert_eq!(values(&["--format", "json", "policy", "explain", "git_l"]), ["git_log"], "{shell}");
            assert_eq!(
                values(&["run", "git_log", "-a", ""]),
                ["dry=", "from=", "list:=", "mode="],
                "{shell}"
            );
            assert_eq!(values(&["run", "git_log", "-a", "dry=true", "-a", ""]).len(), 3, "{shell}");
            assert_eq!(values(&["run", "git_log", "-a", "mode="]), ["mode=fast", "mode=faster"], "{shell}");
            assert_eq!(values(&["plan", "git_log", "-a", "mode=faste"]), ["mode=faster"], "{shell}");
            assert_eq!(values(&["run", "git_log", "-a", "dry=t"]), ["dry=true"], "{shell}");
            assert_eq!(values(&["run", "git_log", "-a", "from=src/"]), ["from=src/main.rs"], "{shell}");
            assert_eq!(values(&["explain", "policy/den"]), ["policy/denied"], "{shell}");
            assert_eq!(values(&["schema", "pol"]), ["policy", "policies"], "{shell}");
            assert_eq!(values(&["completions", "z"]), ["zsh"], "{shell}");
            assert_eq!(values(&["check", "src/m"]), ["src/main.rs"], "{shell}");
            assert!(values(&["run", "no_such"]).is_empty(), "{shell}");
            assert!(values(&["run", "no_such", "-a", ""]).is_empty(), "{shell}");
            let options: Vec<String> =
                asked(&project, shell, &["run", "--no-p"]).into_iter().map(|(value, _)| value).collect();
            assert_eq!(options, ["--no-prompt"], "{shell}");
        }
        for shell in ["zsh", "fish", "powershell"] {
            let found = asked(&project, shell, &["run", "git_log"]);
            assert_eq!(found, [("git_log".to_owned(), "Does git_log well. And more.".to_owned())], "{shell}");
            let found = asked(&project, shell, &["run", "git_log", "-a", "mod"]);
            assert_eq!(found, [("mode=".to_owned(), "How fast.".to_owned())], "{shell}");
        }
    }
}

/// `-C` counts, and the project is found from a folder below it.
#[test]
fn the_folder_is_the_one_of_the_line() {
    for who in everybody() {
        let project = project(&who);
        let inside = project.dir().join("sub");
        let mut command = project.command(["--", "toolctl", "run", "git_l"]);
        command.env("TOOLCTL_COMPLETE", "fish").current_dir(&inside);
        assert!(finish(command, None).expect(0).out().starts_with("git_log\t"));
        let mut command = project.command(["--", "toolctl", "-C", "project/sub", "run", "git_l"]);
        command.env("TOOLCTL_COMPLETE", "fish").current_dir(project.outside());
        assert!(finish(command, None).expect(0).out().starts_with("git_log\t"));
    }
}

/// A folder that came from somewhere else: nothing is said, nothing runs, and nothing gets into the line that a shell
/// would act on.
#[test]
fn a_hostile_folder_gets_nothing_into_the_line() {
    for who in everybody() {
        let project = project(&who);
        let evil =
            "description: \"\\e[2Jgone\\tx\\r\\n\\u202ey\"\nparameters: { type: object }\ncommand: [echo]\n";
        project
            .file("tools.d/evil.yaml", format!("name: evil\n{evil}"))
            .file("tools.d/$(touch pwned).yaml", evil)
            .file("tools.d/a b.yaml", evil)
            .file("tools.d/broken.yaml", "command: [\n")
            .file("tools.d/big.yaml", vec![b'#'; 3 << 20]);
        std::fs::create_dir(project.dir().join("tools.d/folder.yaml")).unwrap();
        for shell in SHELLS {
            let tools = values(&project, shell, &["run", ""]);
            for expected in ["big", "broken", "evil", "folder", "git_log", "read_file"] {
                assert!(tools.iter().any(|tool| tool == expected), "{shell}: {tools:?}");
            }
            let all = ["$", "`", ";", " ", "|", "&", "<", "\u{1b}", "\u{202e}"];
            let clean = |text: &str, among: &[&str]| among.iter().all(|bad| !text.contains(bad));
            assert!(tools.iter().all(|tool| clean(tool, &all)), "{shell}: {tools:?}");
            for (_, help) in asked(&project, shell, &["run", "evil"]) {
                assert!(
                    !help.chars().any(char::is_control) && clean(&help, &["\u{202e}"]),
                    "{shell}: {help:?}"
                );
            }
            for words in
                [&["run", "broken", "-a", ""][..], &["run", "folder", "-a", ""], &["run", "big", "-a", "x="]]
            {
                assert!(values(&project, shell, words).is_empty(), "{shell} {words:?}");
            }
            assert_eq!(values(&project, shell, &["check", "src/"]), ["src/main.rs"], "{shell}");
        }
        // Settings that cannot be read, a variable that is not known, a shell that is not known: silence.
        project.file("toolctl.yaml", "nonsense: [\n");
        for shell in SHELLS {
            assert!(values(&project, shell, &["run", "git"]).is_empty(), "{shell}");
            assert_eq!(values(&project, shell, &["explain", "policy/den"]), ["policy/denied"], "{shell}");
        }
        assert!(asked(&project, "tcsh", &["run", ""]).is_empty());
        assert!(!project.dir().join("pwned").exists());
    }
}

#[test]
fn thousands_of_manifests_do_not_make_a_person_wait() {
    let who = &everybody()[0];
    let project = project(who);
    for at in 0..4000 {
        project.file(
            &format!("tools.d/tool_{at}.yaml"),
            manifest(&format!("tool_{at}"), "parameters: { type: object }\n"),
        );
    }
    for shell in ["bash", "fish"] {
        let started = Instant::now();
        assert_eq!(values(&project, shell, &["run", "tool_"]).len(), 4000, "{shell}");
        assert!(started.elapsed() < Duration::from_secs(3), "{shell}: {:?}", started.elapsed());
    }
}

/// The variable makes a command of nothing else, and completing does not need it to be allowed by anybody.
#[test]
fn the_variable_changes_no_command() {
    for who in everybody() {
        let project = project(&who);
        let mut command = project.command(["run", "read_file", "-a", "path=src/main.rs"]);
        command.env("TOOLCTL_COMPLETE", "bash");
        assert_eq!(finish(command, None).expect(0).out(), "");
        project.run(["--", "toolctl", "run", ""]).expect(2);
        assert!(project.run(["help", "environment"]).expect(0).out().contains("TOOLCTL_COMPLETE"));
    }
}

#[test]
fn registrations_name_the_variable_and_stubs_ask_for_them() {
    let project = project(&everybody()[0]);
    for (shell, stub) in
        [("bash", "bash"), ("elvish", "elv"), ("fish", "fish"), ("powershell", "ps1"), ("zsh", "zsh")]
    {
        let script = project.run(["completions", shell]).expect(0).out();
        assert!(script.contains("TOOLCTL_COMPLETE") && script.contains("toolctl"), "{shell}: {script}");
        let mut command = project.command([""; 0]);
        command.env("TOOLCTL_COMPLETE", shell);
        assert_eq!(finish(command, None).expect(0).out().trim(), script.trim(), "{shell}");
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("completions/toolctl.{stub}"));
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(
            matches!(lines.as_slice(), [line] if line.contains(&format!("toolctl completions {shell}"))),
            "{text}"
        );
    }
    project.run(["completions", "tcsh"]).expect(2).says("possible values");
}

/// A real bash: the stub is read, a line is completed as a key press would, and what stands there then is compared.
#[test]
fn a_real_bash_completes() {
    let Some(bash) = ["/usr/bin/bash", "/bin/bash"].into_iter().find(|path| Path::new(path).exists()) else {
        assert!(std::env::var_os("CI").is_none(), "bash is not installed");
        eprintln!("skipped: bash is not installed");
        return;
    };
    let stub = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("completions/toolctl.bash");
    let stub = std::fs::read_to_string(stub).unwrap();
    for who in everybody() {
        let project = project(&who);
        project.file("stub.bash", &stub);
        for (line, expected) in [
            ("toolctl pol", "policy"),
            ("toolctl run git_", "git_log git_show"),
            ("toolctl run git_log -a mo", "mode="),
            ("toolctl run git_log -a mode=", "fast faster"),
            ("toolctl run git_log -a mode=fast", "fast faster"),
            ("toolctl run git_log -a list:=", ""),
            ("toolctl run git_log -a dry=true -a mode=faste", "faster"),
            ("toolctl run   git_log   -a from=src/m", "src/main.rs"),
            ("toolctl explain policy/deni", "policy/denied"),
            ("toolctl run git_log --mode=", "execute plan"),
        ] {
            // bash sets these before it calls the function; readline is not there without a terminal.
            let script = "source ./stub.bash
line=$1
COMP_LINE=$line COMP_POINT=${#line}
words=()
rest=$line
while [[ -n $rest ]]; do
    case $rest in
        [[:blank:]]*) rest=${rest#?}; [[ -n $rest ]] || words+=('') ;;
        [=:]*) part=${rest%%[!=:]*}; words+=(\"$part\"); rest=${rest#\"$part\"} ;;
        *) part=${rest%%[=:[:blank:]]*}; words+=(\"$part\"); rest=${rest#\"$part\"} ;;
    esac
done
COMP_WORDS=(\"${words[@]}\") COMP_CWORD=$((${#words[@]} - 1))
current=${COMP_WORDS[COMP_CWORD]}
[[ $current == [=:]* ]] && current=
compopt() { :; }
_toolctl_complete toolctl \"$current\" ''
echo \"${COMPREPLY[*]}\"";
            let mut command = project.shell("exec \"$@\"");
            command.args(["sh", bash, "-c", script, "bash", line]);
            let ran = finish(command, None).expect(0);
            assert_eq!(ran.stderr, "", "{line}");
            assert_eq!(ran.out().trim_end_matches('\n'), expected, "{line}");
        }
        assert!(!project.dir().join("pwned").exists());
    }
}
