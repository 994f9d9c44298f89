//! The command line as it is typed. What it means is decided in `commands/`.

use clap::{Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs, plans and decides the tool calls of language-model agents.
#[derive(Debug, Parser)]
#[command(name = "toolctl", version, disable_help_subcommand = false, propagate_version = false)]
#[command(
    after_help = "More on a message's code, or on an exit code: toolctl explain CODE. Variables: toolctl help environment."
)]
pub(crate) struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Work as if started in this folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// The form of the output on stdout.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, global = true)]
    pub(crate) format: OutputFormat,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, global = true)]
    pub(crate) color: ColorChoice,
    /// Print only results and errors.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print more.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// Never ask on the terminal.
    #[arg(long, global = true)]
    pub(crate) no_prompt: bool,
}

impl Default for Global {
    fn default() -> Self {
        Self {
            directory: None,
            format: OutputFormat::Human,
            color: ColorChoice::Auto,
            quiet: false,
            verbose: 0,
            no_prompt: false,
        }
    }
}

/// The command's name, told from the words alone: the first that is neither an option nor an option's value. A guess
/// that costs nothing but time where clap reads the line differently.
fn command_word(mut words: impl Iterator<Item = OsString>) -> Option<OsString> {
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if ["-C", "--format", "--color"].contains(&text.as_ref()) {
            words.next();
        } else if !text.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// Whether the command is `run`, as [`command_word`] guesses.
pub(crate) fn looks_like_run(words: impl Iterator<Item = OsString>) -> bool {
    command_word(words).is_some_and(|word| word == "run")
}

/// Reads a whole command line, the program's name first.
///
/// For the commands that agents call all the time, clap is first told of that one command alone: to describe all of them
/// takes it longer than to decide a call. Whatever is not plainly such a call, help and every mistake included, is read
/// with the whole description.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, clap::Error> {
    match parse_one(words) {
        Some(cli) => Ok(cli),
        None => Cli::try_parse_from(words),
    }
}

fn parse_one(words: &[OsString]) -> Option<Cli> {
    fn read<T: Args>(words: &[OsString], name: &'static str, wrap: fn(T) -> Command) -> Option<Cli> {
        let only = T::augment_args(clap::Command::new(name));
        let whole = Global::augment_args(clap::Command::new("toolctl")).subcommand(only);
        let matches = whole.try_get_matches_from(words).ok()?;
        let args = T::from_arg_matches(matches.subcommand_matches(name)?).ok()?;
        Some(Cli { global: Global::from_arg_matches(&matches).ok()?, command: wrap(args) })
    }
    match command_word(words.iter().skip(1).cloned())?.to_str()? {
        "run" => read(words, "run", Command::Run),
        "plan" => read(words, "plan", Command::Plan),
        "validate" => read(words, "validate", Command::Validate),
        _ => None,
    }
}

/// The JSON format that a command line asks for which as a whole is not understood; `None`: it asks for none.
pub(crate) fn wanted_format(words: impl Iterator<Item = OsString>) -> Option<OutputFormat> {
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let written = words.iter().enumerate().take_while(|(_, word)| *word != "--").filter_map(|(at, word)| {
        if word == "--format" {
            words.get(at + 1).map(String::as_str)
        } else {
            word.strip_prefix("--format=")
        }
    });
    match written.last()? {
        "json" => Some(OutputFormat::Json),
        "ndjson" => Some(OutputFormat::Ndjson),
        _ => None,
    }
}

/// `--format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Text for people.
    #[default]
    Human,
    /// One JSON document.
    Json,
    /// One JSON document a line.
    Ndjson,
}

/// `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Effects are wanted.
    Execute,
    /// Only reads may run.
    Plan,
}

/// `--exit-status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExitStatus {
    /// The codes of docs/exit-codes.md.
    Toolctl,
    /// The tool's own code; 124 timeout, 125 toolctl, 126/127 not executable/found, 128+n signal.
    Tool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Decide a call and, if it may, execute it.
    Run(RunArgs),
    /// Show what `run` would do; execute and change nothing.
    Plan(PlanArgs),
    /// Check a call's arguments against the tool's schema.
    Validate(CallsArgs),
    /// Check manifests, policies and settings.
    Check(CheckArgs),
    /// List and show tools.
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// Explain and show policies.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Trust a project's tools and policies.
    Trust(TrustArgs),
    /// Say what this machine can enforce.
    Doctor,
    /// Explain a diagnostic code or an exit code.
    Explain(ExplainArgs),
    /// List the environment variables that toolctl knows.
    Environment,
    /// Print the JSON Schema of a file or an output.
    Schema(SchemaArgs),
    /// Print what makes a shell complete commands, tools and arguments.
    Completions(CompletionsArgs),
    /// Print the manual page of toolctl or of one command; read it with: toolctl man | man -l -
    Man(ManArgs),
}

/// A call.
#[derive(Debug, Clone, Args)]
pub(crate) struct CallArgs {
    /// The tool's name.
    pub(crate) tool: String,
    /// All arguments as one JSON object: the text itself, @FILE, or - for stdin.
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "arg")]
    pub(crate) args: Option<String>,
    /// One argument: k=text, k:=JSON or k=@FILE. Repeatable.
    #[arg(short = 'a', value_name = "K=V")]
    pub(crate) arg: Vec<String>,
    /// Who calls.
    #[command(flatten)]
    pub(crate) context: ContextArgs,
}

/// One call, or a file of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct CallsArgs {
    /// The tool's name.
    #[arg(required_unless_present = "calls")]
    pub(crate) tool: Option<String>,
    /// Many calls: a file with one a line, {"toolCallId": …, "toolName": …, "args": {…}}, or - for stdin.
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["tool", "args", "arg", "call_id"])]
    pub(crate) calls: Option<String>,
    /// All arguments as one JSON object: the text itself, @FILE, or - for stdin.
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "arg")]
    pub(crate) args: Option<String>,
    /// One argument: k=text, k:=JSON or k=@FILE. Repeatable.
    #[arg(short = 'a', value_name = "K=V")]
    pub(crate) arg: Vec<String>,
    /// Who calls.
    #[command(flatten)]
    pub(crate) context: ContextArgs,
}

impl CallsArgs {
    /// The one call, where no file is named.
    pub(crate) fn one(&self) -> CallArgs {
        CallArgs {
            // Without `--calls` the command line does not parse without a tool.
            tool: self.tool.clone().unwrap_or_default(),
            args: self.args.clone(),
            arg: self.arg.clone(),
            context: self.context.clone(),
        }
    }
}

/// The caller's claims about a call.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContextArgs {
    /// Whether effects are wanted (execute) or only reads may run (plan).
    #[arg(long, value_enum, default_value_t = ModeArg::Execute)]
    pub(crate) mode: ModeArg,
    /// The id of this call in results and in the tool's environment.
    #[arg(long, value_name = "ID")]
    pub(crate) call_id: Option<String>,
    /// The run that the call belongs to.
    #[arg(long, value_name = "ID")]
    pub(crate) run_id: Option<String>,
    /// The session.
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
    /// The user on whose behalf the agent works.
    #[arg(long, value_name = "ID")]
    pub(crate) user_id: Option<String>,
    /// The tenant.
    #[arg(long, value_name = "ID")]
    pub(crate) tenant_id: Option<String>,
    /// The agent that calls; repeat for a chain of delegation, outermost first.
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Vec<String>,
}

/// `run`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// The call.
    #[command(flatten)]
    pub(crate) call: CallArgs,
    /// Which exit codes to use.
    #[arg(long, value_enum, default_value_t = ExitStatus::Toolctl)]
    pub(crate) exit_status: ExitStatus,
}

/// `plan`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlanArgs {
    /// The call or the calls.
    #[command(flatten)]
    pub(crate) calls: CallsArgs,
    /// Also try whether this machine can enforce the sandbox; starts a throw-away process, not the tool.
    #[arg(long, conflicts_with = "calls")]
    pub(crate) preflight: bool,
}

/// `check`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    /// Files or folders; the project by default.
    pub(crate) paths: Vec<PathBuf>,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Leave out findings of this code that do not keep `run` from working. Repeatable.
    #[arg(long, value_name = "CODE")]
    pub(crate) allow: Vec<String>,
    /// Also write a report: sarif=FILE, json=FILE, github or github=FILE. Repeatable.
    #[arg(long, value_name = "KIND[=FILE]")]
    pub(crate) report: Vec<String>,
}

/// `tools`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools.
    List,
    /// Show one tool.
    Show {
        /// The tool's name.
        tool: String,
    },
}

/// `policy`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show how a call is decided, rule by rule.
    Explain(Box<PolicyExplainArgs>),
    /// List the policies and rules in force, and what is ignored.
    Show(PolicyShowArgs),
}

/// `policy explain`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyExplainArgs {
    /// The call.
    #[command(flatten)]
    pub(crate) call: CallArgs,
    /// Show the fewest conditions that keep the call from being allowed, or from being asked about.
    #[arg(long, value_enum, value_name = "DECISION")]
    pub(crate) why_not: Option<Milder>,
}

/// `--why-not`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Milder {
    /// The call would run.
    Allow,
    /// The call would run, or a person would be asked.
    Ask,
}

/// `policy show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PolicyShowArgs {
    /// Also show the rank, layer and place of each rule.
    #[arg(long)]
    pub(crate) sources: bool,
}

/// `trust`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrustArgs {
    /// The project's folder; the project of the working folder by default.
    pub(crate) dir: Option<PathBuf>,
    /// You write this project: trust follows your edits.
    #[arg(long)]
    pub(crate) author: bool,
    /// Withdraw the trust; the folder need not exist any more.
    #[arg(long, conflicts_with = "author")]
    pub(crate) revoke: bool,
    /// List every project that you trust, and those of them that have gone.
    #[arg(long, conflicts_with_all = ["author", "revoke", "dir"])]
    pub(crate) list: bool,
    /// Show what the project would reach, and record nothing.
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    pub(crate) dry_run: bool,
}

/// `explain`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArgs {
    /// The code, such as policy/denied, a family of codes, such as policy, or an exit code, such as 10; all codes if absent.
    pub(crate) code: Option<String>,
}

/// `schema`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SchemaArgs {
    /// The kind, such as policy; a list of all kinds if absent.
    pub(crate) kind: Option<String>,
}

/// `completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// A shell that can complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// GNU bash 4 or later.
    Bash,
    /// Elvish.
    Elvish,
    /// fish.
    Fish,
    /// PowerShell.
    Powershell,
    /// zsh.
    Zsh,
}

/// `man`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManArgs {
    /// The command, such as run or policy explain; toolctl itself if absent.
    pub(crate) command: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::{Cli, OutputFormat, wanted_format};
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn the_format_is_found_in_a_line_that_is_not_understood() {
        let wanted = |line: &str| wanted_format(line.split_whitespace().map(Into::into));
        for line in ["run --format json", "--format=json run --bogus", "--format human --format json x"] {
            assert_eq!(wanted(line), Some(OutputFormat::Json), "{line}");
        }
        assert_eq!(wanted("plan --format ndjson"), Some(OutputFormat::Ndjson));
        for line in ["run", "--format", "--format human", "--format=xml", "run x -- --format json"] {
            assert_eq!(wanted(line), None, "{line}");
        }
    }

    #[test]
    fn the_command_is_told_from_the_words() {
        for (line, run) in [
            ("run read_file", true),
            ("-C run run x", true),
            ("--format json -q run x", true),
            ("-C run plan x", false),
            ("plan run", false),
            ("explain run", false),
            ("--version", false),
            ("", false),
        ] {
            let words = line.split_whitespace().map(std::ffi::OsString::from);
            assert_eq!(super::looks_like_run(words), run, "{line}");
        }
    }

    /// With one command described or all of them, a line means the same.
    #[test]
    fn a_call_is_read_as_with_all_commands() {
        let quick = [
            "run read_file",
            "run -a path=x read_file --format json",
            "-C dir --format json --no-prompt run read_file --args {} --exit-status tool -vv",
            "--format=ndjson plan read_file --args - --mode plan --agent a --agent b --run-id r",
            "plan --preflight -q read_file -Cdir --color never",
            "-C run plan run",
            "validate read_file -a n:=1",
            "validate --calls f",
            "plan --calls - --format ndjson --mode plan",
            "run -- -x",
        ];
        let slow = [
            "",
            "run",
            "run --help",
            "--help",
            "--version",
            "run x --bogus",
            "run x --args {} -a a=1",
            "run x --format xml",
            "plan x --exit-status tool",
            "plan x y",
            "plan",
            "plan x --calls f",
            "plan --calls f --preflight",
            "-q -- run x",
            "check",
            "trust --author",
            "help run",
            "runs x",
            "--color always",
        ];
        for (line, one) in quick.iter().map(|line| (line, true)).chain(slow.iter().map(|line| (line, false)))
        {
            let words: Vec<_> =
                std::iter::once("toolctl").chain(line.split_whitespace()).map(Into::into).collect();
            let shown = |cli: Result<Cli, clap::Error>| match cli {
                Ok(cli) => format!("{:?} {:?}", cli.global, cli.command),
                Err(error) => error.to_string(),
            };
            assert_eq!(super::parse_one(&words).is_some(), one, "{line}");
            assert_eq!(shown(super::parse(&words)), shown(Cli::try_parse_from(&words)), "{line}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
