//! Finds placeholders inside text that a shell or another interpreter parses.
//!
//! Argv needs no quoting, but `[sh, -c, "grep {args.q}"]` brings the quoting problem back: the shell parses what the
//! call supplied. Such a manifest is refused. Positional parameters after the code (`[sh, -c, 'grep "$1"', sh,
//! "{args.q}"]`) are data and fine.
//!
//! Two rules work together. Code flags of interpreters are looked for anywhere in the argv, so that no wrapper
//! (`docker run`, `timeout`, `env`) hides them. Programs whose plain operands are code (awk, sed, find, ssh …) are
//! recognised in program position only, behind the usual prefixes.

use super::tool::{ArgvElement, Exec, Template, TemplatePart};
use crate::diag::{Code, Diagnostic};
use crate::text::{Span, escape};

/// One `manifest/shell-template` error for each element that mixes code with text from the call.
pub(super) fn shell_templates(exec: &Exec) -> Vec<Diagnostic> {
    let Exec::Command(elements) = exec else { return Vec::new() };
    let mut argv = Vec::new();
    flatten(elements, &mut argv);
    let mut hits = Vec::new();
    for at in 0..argv.len() {
        code_flags(argv.get(at..).unwrap_or_default(), &mut hits);
    }
    operands(&argv, &mut hits);
    let mut findings: Vec<Diagnostic> = Vec::new();
    for hit in hits {
        let finding = hit.diagnostic();
        if !findings.iter().any(|known| known.primary == finding.primary) {
            findings.push(finding);
        }
    }
    findings
}

/// An element of the argv, as far as it is known before the call.
#[derive(Debug)]
struct Element {
    /// Text in front of the first placeholder; all of it if there is none.
    head: String,
    /// Holds text of the call or of its context.
    foreign: bool,
    span: Option<Span>,
}

impl Element {
    fn of(template: &Template) -> Self {
        let head = match template.parts.first() {
            Some(TemplatePart::Text(text)) => text.clone(),
            Some(
                TemplatePart::Arg(_)
                | TemplatePart::Workspace
                | TemplatePart::WorkspaceGit
                | TemplatePart::ToolDir
                | TemplatePart::Ctx(_),
            )
            | None => String::new(),
        };
        // `{tool.dir}/run.awk` is the author's text: for a program's base name the last part counts.
        let head = match (template.has_foreign_text(), template.parts.last()) {
            (false, Some(TemplatePart::Text(last))) => last.clone(),
            _ => head,
        };
        Self { head, foreign: template.has_foreign_text(), span: template.span }
    }

    fn literal(&self) -> Option<&str> {
        (!self.foreign).then_some(self.head.as_str())
    }
}

fn flatten(elements: &[ArgvElement], out: &mut Vec<Element>) {
    for element in elements {
        match element {
            ArgvElement::One(template) => out.push(Element::of(template)),
            ArgvElement::Splice { span, .. } => {
                out.push(Element { head: String::new(), foreign: true, span: *span });
            }
            // A group is taken as there: that is when its elements do harm.
            ArgvElement::Group { argv, .. } => flatten(argv, out),
        }
    }
}

struct Hit {
    span: Option<Span>,
    program: String,
    what: &'static str,
}

impl Hit {
    fn diagnostic(&self) -> Diagnostic {
        let program = escape(&self.program);
        let diagnostic = Diagnostic::error(
            Code::ManifestShellTemplate,
            format!("a placeholder stands in {} that `{program}` parses", self.what),
        )
        .help("pass the value as data: a positional parameter, an environment-free option, or stdin; see `toolctl explain manifest/shell-template`");
        match self.span {
            Some(span) => diagnostic.at(span, "parsed again after it is filled in"),
            None => diagnostic,
        }
    }
}

/// The program's name without folder, version and suffix: `/usr/bin/python3.11` is `python`.
fn base_name(text: &str) -> String {
    let name = text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

/// Shells: `-c` may stand anywhere in a cluster, and the code is the first operand after all options.
const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "ksh", "mksh", "pdksh", "ash", "csh", "tcsh", "yash", "rbash", "fish"];

/// An interpreter, or a program with a command language, whose options can carry code.
struct Interpreter {
    names: &'static [&'static str],
    /// Options of one letter: the code is attached, or next where the letter ends a cluster.
    letters: &'static str,
    /// Long options, and subcommands.
    words: &'static [&'static str],
    /// Other options whose value stands in the next element.
    values: &'static [&'static str],
    /// Options still count behind an operand.
    operands: bool,
}

const fn interpreter(
    names: &'static [&'static str],
    letters: &'static str,
    words: &'static [&'static str],
    values: &'static [&'static str],
) -> Interpreter {
    Interpreter { names, letters, words, values, operands: false }
}

const fn client(
    names: &'static [&'static str],
    letters: &'static str,
    words: &'static [&'static str],
) -> Interpreter {
    Interpreter { names, letters, words, values: &[], operands: true }
}

const INTERPRETERS: &[Interpreter] = &[
    interpreter(&["python", "pypy", "ipython"], "c", &[], &["-W", "-X", "--check-hash-based-pycs"]),
    interpreter(&["perl"], "eE", &[], &["-I"]),
    interpreter(&["ruby", "jruby"], "e", &[], &["-I", "-r", "-C", "-E"]),
    interpreter(
        &["node", "nodejs", "bun"],
        "ep",
        &["--eval", "--print"],
        &["-r", "--require", "--import", "--loader", "-C", "--conditions"],
    ),
    interpreter(&["deno"], "", &["eval"], &[]),
    interpreter(&["php"], "rBRE", &["--run"], &["-d", "-c", "-z"]),
    interpreter(
        &["lua", "luajit", "tclsh", "guile", "elixir", "julia", "osascript", "groovy", "rscript", "r"],
        "eE",
        &["--eval", "--print"],
        &["-l"],
    ),
    interpreter(&["pwsh", "powershell"], "cC", &["-command", "-Command", "-EncodedCommand"], &["-File"]),
    client(&["su", "runuser", "script", "flock"], "c", &["--command"]),
    client(&["env"], "S", &["--split-string"]),
    client(&["psql"], "c", &["--command"]),
    client(&["mysql", "mariadb"], "e", &["--execute", "--init-command"]),
    client(&["rsync"], "e", &["--rsh", "--rsync-path"]),
    client(&["vim", "vi", "nvim", "ex"], "c", &["--cmd"]),
    client(&["emacs"], "", &["--eval", "-eval", "--execute"]),
    client(&["gdb"], "", &["-ex", "-iex", "--eval-command"]),
];

/// `argv` starts at an element that may be an interpreter.
fn code_flags(argv: &[Element], hits: &mut Vec<Hit>) {
    let Some((program, rest)) = argv.split_first() else { return };
    let Some(name) = program.literal().map(base_name) else { return };
    if SHELLS.contains(&name.as_str()) {
        shell_code(&name, rest, hits);
    } else if let Some(known) = INTERPRETERS.iter().find(|known| known.names.contains(&name.as_str())) {
        known.code(&name, rest, hits);
    }
}

/// Whether this program runs code that it reads from standard input if it has no operand.
pub fn is_interpreter(program: &str) -> bool {
    let name = base_name(program);
    SHELLS.contains(&name.as_str())
        || INTERPRETERS.iter().any(|known| !known.operands && known.names.contains(&name.as_str()))
}

fn shell_code(name: &str, rest: &[Element], hits: &mut Vec<Hit>) {
    let mut wanted = false;
    let mut rest = rest.iter();
    while let Some(element) = rest.next() {
        let head = element.head.as_str();
        let Some(cluster) = head.strip_prefix(['-', '+']).filter(|rest| !rest.is_empty()) else {
            if wanted {
                push(element, name, "code", hits);
            }
            return;
        };
        let long = cluster.strip_prefix('-');
        match long {
            Some("command" | "init-command") => wanted = true,
            Some("rcfile" | "init-file") => {
                rest.next();
            }
            Some(word) => {
                if word.starts_with("command=") || word.starts_with("init-command=") {
                    push(element, name, "code", hits);
                }
            }
            None => {
                wanted |= cluster.contains(['c', 'C']);
                // An option with text of the call attached: `-c{args.x}` in a shell that allows it.
                push(element, name, "an option", hits);
                if cluster.ends_with(['o', 'O']) {
                    rest.next();
                }
            }
        }
    }
}

impl Interpreter {
    fn code(&self, name: &str, rest: &[Element], hits: &mut Vec<Hit>) {
        let mut rest = rest.iter();
        while let Some(element) = rest.next() {
            let head = element.head.as_str();
            let word = head.split_once('=').map_or(head, |(word, _)| word);
            if self.words.contains(&head) {
                if let Some(code) = rest.next() {
                    push(code, name, "code", hits);
                }
            } else if self.words.contains(&word) {
                push(element, name, "code", hits);
            } else if self.values.contains(&head) {
                rest.next();
            } else if head == "--" || head == "-m" {
                // Behind these, an interpreter's options are those of the script or module.
                return;
            } else if let Some(cluster) = head.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                if cluster.starts_with('-') || !cluster.contains(|c| self.letters.contains(c)) {
                    continue;
                }
                push(element, name, "code", hits);
                if cluster.ends_with(|c| self.letters.contains(c))
                    && let Some(code) = rest.next()
                {
                    push(code, name, "code", hits);
                }
            } else if !self.operands {
                return;
            }
        }
    }
}

fn push(element: &Element, program: &str, what: &'static str, hits: &mut Vec<Hit>) {
    if element.foreign {
        hits.push(Hit { span: element.span, program: program.to_owned(), what });
    }
}

/// Programs that run the command behind them: options that take a value, and operands in front of the command.
struct Prefix {
    names: &'static [&'static str],
    with_value: &'static [&'static str],
    operands: usize,
}

const PREFIXES: &[Prefix] = &[
    Prefix { names: &["env"], with_value: &["-u", "-C", "--unset", "--chdir"], operands: 0 },
    Prefix { names: &["timeout"], with_value: &["-s", "-k", "--signal", "--kill-after"], operands: 1 },
    Prefix { names: &["nice"], with_value: &["-n", "--adjustment"], operands: 0 },
    Prefix { names: &["ionice"], with_value: &["-c", "-n", "--class", "--classdata"], operands: 0 },
    Prefix { names: &["stdbuf"], with_value: &["-i", "-o", "-e"], operands: 0 },
    Prefix { names: &["sudo", "doas"], with_value: &["-u", "-g", "-C", "-D", "-h", "-p"], operands: 0 },
    Prefix {
        names: &["busybox", "toybox", "nohup", "setsid", "exec", "command", "time"],
        with_value: &["-f", "-o"],
        operands: 0,
    },
    Prefix { names: &["chroot", "chrt", "taskset"], with_value: &["-p"], operands: 1 },
    Prefix { names: &["strace", "ltrace"], with_value: &["-e", "-o", "-s", "-u", "-E"], operands: 0 },
    Prefix { names: &["unshare", "setpriv", "prlimit"], with_value: &[], operands: 0 },
];

/// Checks the program that is really run, behind any prefixes.
fn operands(argv: &[Element], hits: &mut Vec<Hit>) {
    let mut argv = argv;
    while let Some((first, rest)) = argv.split_first() {
        let Some(name) = first.literal().map(base_name) else {
            push(first, "the command in front of it", "the name of a program", hits);
            return;
        };
        let Some(prefix) = PREFIXES.iter().find(|prefix| prefix.names.contains(&name.as_str())) else {
            return program_operands(&name, rest, hits);
        };
        argv = behind_prefix(prefix, &name, rest);
    }
}

fn behind_prefix<'a>(prefix: &Prefix, name: &str, rest: &'a [Element]) -> &'a [Element] {
    let mut rest = rest;
    let mut operands = prefix.operands;
    while let Some((element, tail)) = rest.split_first() {
        let head = element.head.as_str();
        let assignment = name == "env" && head.contains('=');
        if head.starts_with('-') && head.len() > 1 {
            let skip = usize::from(prefix.with_value.contains(&head));
            rest = tail.get(skip..).unwrap_or_default();
        } else if assignment {
            rest = tail;
        } else if operands > 0 {
            operands -= 1;
            rest = tail;
        } else {
            break;
        }
    }
    rest
}

fn program_operands(name: &str, rest: &[Element], hits: &mut Vec<Hit>) {
    match name {
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => {
            script_operand(name, rest, &AWK, hits);
        }
        "sed" | "gsed" | "ssed" => script_operand(name, rest, &SED, hits),
        "find" | "fd" | "fdfind" | "bfs" => find_exec(name, rest, hits),
        "xargs" | "parallel" | "watch" | "eval" | "source" | "entr" => {
            for element in rest {
                push(element, name, "a command line", hits);
            }
        }
        "ssh" | "slogin" | "rsh" | "mosh" | "autossh" => remote_command(name, rest, hits),
        "git" => git_config(rest, hits),
        "sqlite" | "duckdb" => sql(name, rest, hits),
        _ => {}
    }
}

/// A program whose first operand is code unless an option gave the code.
struct Script {
    /// Options whose value is code.
    code: &'static [&'static str],
    /// Options whose value is a file of code: no operand is code then.
    file: &'static [&'static str],
    /// Other options with a value.
    value: &'static [&'static str],
}

const AWK: Script = Script {
    code: &["-e", "--source"],
    file: &["-f", "--file", "-E", "--exec"],
    value: &["-v", "--assign", "-F", "--field-separator", "-i", "--include", "-l", "--load"],
};
const SED: Script =
    Script { code: &["-e", "--expression"], file: &["-f", "--file"], value: &["-l", "--line-length"] };

fn script_operand(name: &str, rest: &[Element], script: &Script, hits: &mut Vec<Hit>) {
    let mut given = false;
    let mut rest = rest.iter();
    while let Some(element) = rest.next() {
        let head = element.head.as_str();
        let long = head.split_once('=').map_or(head, |(word, _)| word);
        let short = head.get(..2).unwrap_or(head);
        if script.code.contains(&head) {
            given = true;
            if let Some(code) = rest.next() {
                push(code, name, "code", hits);
            }
        } else if script.file.contains(&head) || script.value.contains(&head) {
            given |= script.file.contains(&head);
            rest.next();
        } else if script.code.contains(&long) || (script.code.contains(&short) && !head.starts_with("--")) {
            given = true;
            push(element, name, "code", hits);
        } else if script.file.contains(&long) || script.file.contains(&short) {
            given = true;
        } else if head.len() > 1 && head.starts_with('-') && head != "--" {
            // `-ne CODE`: a cluster that ends in the letter of a code option.
            let ends = |flag: &&str| flag.len() == 2 && head.ends_with(flag.trim_start_matches('-'));
            let cluster = !head.starts_with("--") && !script.value.contains(&short);
            if cluster && script.code.iter().any(ends) {
                given = true;
                if let Some(code) = rest.next() {
                    push(code, name, "code", hits);
                }
            }
        } else if head != "--" || element.foreign {
            if !given {
                push(element, name, "code", hits);
            }
            return;
        }
    }
}

fn find_exec(name: &str, rest: &[Element], hits: &mut Vec<Hit>) {
    const START: [&str; 9] =
        ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch", "-fprintf"];
    let mut inside = false;
    for element in rest {
        let head = element.head.as_str();
        if inside {
            push(element, name, "a command line", hits);
            inside = !(element.literal() == Some(";") || element.literal() == Some("+"));
        } else {
            inside = START.contains(&head);
        }
    }
}

fn remote_command(name: &str, rest: &[Element], hits: &mut Vec<Hit>) {
    const VALUE: [&str; 20] = [
        "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-p", "-Q", "-R",
        "-S", "-W", "-w",
    ];
    let mut host = false;
    let mut rest = rest.iter();
    while let Some(element) = rest.next() {
        let head = element.head.as_str();
        if host {
            push(element, name, "a remote command line", hits);
        } else if head == "-o" {
            if let Some(option) = rest.next() {
                push(option, name, "an option that can name a command", hits);
            }
        } else if head.starts_with("-o") {
            push(element, name, "an option that can name a command", hits);
        } else if VALUE.contains(&head) {
            rest.next();
        } else if !(head.len() > 1 && head.starts_with('-')) {
            host = true;
        }
    }
}

/// Configuration given in front of git's subcommand can name programs to run.
fn git_config(rest: &[Element], hits: &mut Vec<Hit>) {
    let mut rest = rest.iter();
    while let Some(element) = rest.next() {
        let head = element.head.as_str();
        match head {
            "-c" | "--config-env" | "--exec-path" => {
                if let Some(value) = rest.next() {
                    push(value, "git", "configuration", hits);
                }
            }
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => {
                rest.next();
            }
            _ if head.starts_with("-c")
                || head.starts_with("--config-env=")
                || head.starts_with("--exec-path=") =>
            {
                push(element, "git", "configuration", hits);
            }
            _ if head.starts_with('-') => {}
            // The subcommand; one that the call names could be an alias or a helper program.
            _ => {
                push(element, "git", "a subcommand", hits);
                return;
            }
        }
    }
}

fn sql(name: &str, rest: &[Element], hits: &mut Vec<Hit>) {
    const VALUE: [&str; 10] = [
        "-separator",
        "-newline",
        "-nullvalue",
        "-init",
        "-maxsize",
        "-vfs",
        "-mmap",
        "-lookaside",
        "-heap",
        "-A",
    ];
    let mut database = false;
    let mut rest = rest.iter();
    while let Some(element) = rest.next() {
        let head = element.head.as_str();
        let option = head.trim_start_matches('-');
        if head.len() > 1 && head.starts_with('-') {
            if ["cmd", "c", "s"].contains(&option) {
                if let Some(code) = rest.next() {
                    push(code, name, "SQL", hits);
                }
            } else if VALUE.contains(&head) {
                rest.next();
            }
        } else if database {
            push(element, name, "SQL", hits);
        } else {
            database = true;
        }
    }
}

#[cfg(test)]
mod tests;
