//! The command line as it is typed. What it means is decided in `commands/`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Runs, plans and decides the tool calls of language-model agents.
#[derive(Debug, Parser)]
#[command(name = "toolctl", version, disable_help_subcommand = false, propagate_version = false)]
#[command(after_help = "Exit codes: docs/exit-codes.md. More on a message's code: toolctl explain CODE.")]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Work as if started in this folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// The form of the output on stdout.
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, global = true)]
    pub format: OutputFormat,
    /// When to colour.
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, global = true)]
    pub color: ColorChoice,
    /// Print only results and errors.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Never ask on the terminal.
    #[arg(long, global = true)]
    pub no_prompt: bool,
}

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text for people.
    Human,
    /// One JSON document.
    Json,
    /// One JSON document a line.
    Ndjson,
}

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// Effects are wanted.
    Execute,
    /// Only reads may run.
    Plan,
}

/// `--exit-status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExitStatus {
    /// The codes of docs/exit-codes.md.
    Toolctl,
    /// The tool's own code; 124 timeout, 125 toolctl, 126/127 not executable/found, 128+n signal.
    Tool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
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
}

/// A call.
#[derive(Debug, Clone, Args)]
pub struct CallArgs {
    /// The tool's name.
    pub tool: String,
    /// All arguments as one JSON object: the text itself, @FILE, or - for stdin.
    #[arg(long, value_name = "JSON|@FILE|-", conflicts_with = "arg")]
    pub args: Option<String>,
    /// One argument: k=text, k:=JSON or k=@FILE. Repeatable.
    #[arg(short = 'a', value_name = "K=V")]
    pub arg: Vec<String>,
    /// Who calls.
    #[command(flatten)]
    pub context: ContextArgs,
}

/// The caller's claims about a call.
#[derive(Debug, Clone, Args)]
pub struct ContextArgs {
    /// Whether effects are wanted (execute) or only reads may run (plan).
    #[arg(long, value_enum, default_value_t = ModeArg::Execute)]
    pub mode: ModeArg,
    /// The id of this call in results and in the tool's environment.
    #[arg(long, value_name = "ID")]
    pub call_id: Option<String>,
    /// The run that the call belongs to.
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// The session.
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,
    /// The user on whose behalf the agent works.
    #[arg(long, value_name = "ID")]
    pub user_id: Option<String>,
    /// The tenant.
    #[arg(long, value_name = "ID")]
    pub tenant_id: Option<String>,
    /// The agent that calls; repeat for a chain of delegation, outermost first.
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
}

/// `run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// The call.
    #[command(flatten)]
    pub call: CallArgs,
    /// Which exit codes to use.
    #[arg(long, value_enum, default_value_t = ExitStatus::Toolctl)]
    pub exit_status: ExitStatus,
}

/// `plan`.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// The call.
    #[command(flatten)]
    pub call: CallArgs,
    /// Also try whether this machine can enforce the sandbox; starts a throw-away process, not the tool.
    #[arg(long)]
    pub preflight: bool,
}

/// `check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// Files or folders; the project by default.
    pub paths: Vec<PathBuf>,
    /// Treat warnings as errors.
    #[arg(long)]
    pub strict: bool,
}

/// `tools`.
#[derive(Debug, Clone, Subcommand)]
pub enum ToolsCommand {
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
pub enum PolicyCommand {
    /// Show how a call is decided, rule by rule.
    Explain(CallArgs),
    /// List the policy files and rules in force.
    Show,
}

/// `trust`.
#[derive(Debug, Clone, Args)]
pub struct TrustArgs {
    /// The project's folder; the project of the working folder by default.
    pub dir: Option<PathBuf>,
    /// You write this project: trust follows your edits.
    #[arg(long)]
    pub author: bool,
    /// Withdraw the trust.
    #[arg(long, conflicts_with = "author")]
    pub revoke: bool,
}

/// `explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The code, such as policy/denied; all codes if absent.
    pub code: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
