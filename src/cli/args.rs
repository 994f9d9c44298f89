//! The command line as it is typed. What it means is decided in `commands/`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs, plans and decides the tool calls of language-model agents.
#[derive(Debug, Parser)]
#[command(name = "toolctl", version, disable_help_subcommand = false, propagate_version = false)]
#[command(
    after_help = "Exit codes: docs/exit-codes.md. More on a message's code: toolctl explain CODE. Variables: toolctl help environment."
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

/// Whether the command is `run`, told from the words alone: the first that is neither an option nor an option's value.
/// A guess that costs nothing but time where clap reads the line differently.
pub(crate) fn looks_like_run(mut words: impl Iterator<Item = OsString>) -> bool {
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        if ["-C", "--format", "--color"].contains(&word.as_ref()) {
            words.next();
        } else if !word.starts_with('-') {
            return word == "run";
        }
    }
    false
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
    Validate(CallArgs),
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
    /// Explain a diagnostic code.
    Explain(ExplainArgs),
    /// List the environment variables that toolctl knows.
    Environment,
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
    /// The call.
    #[command(flatten)]
    pub(crate) call: CallArgs,
    /// Also try whether this machine can enforce the sandbox; starts a throw-away process, not the tool.
    #[arg(long)]
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
    Explain(Box<CallArgs>),
    /// List the policy files and rules in force.
    Show,
}

/// `trust`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TrustArgs {
    /// The project's folder; the project of the working folder by default.
    pub(crate) dir: Option<PathBuf>,
    /// You write this project: trust follows your edits.
    #[arg(long)]
    pub(crate) author: bool,
    /// Withdraw the trust.
    #[arg(long, conflicts_with = "author")]
    pub(crate) revoke: bool,
}

/// `explain`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArgs {
    /// The code, such as policy/denied; all codes if absent.
    pub(crate) code: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::{Cli, OutputFormat, wanted_format};
    use clap::CommandFactory as _;

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

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
