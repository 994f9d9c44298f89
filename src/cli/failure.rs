//! Everything that can keep a call from running, with its exit code and what is said about it.

use super::exit::Exit;
use crate::call::CallError;
use crate::diag::{Code, Diagnostic};
use crate::gate::GateError;
use crate::manifest::ProgramError;
use crate::sandbox::SandboxError;
use crate::term::OutputError;

/// A failure of a command. Every variant has one exit code, by an exhaustive match.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense.
    Usage(Diagnostic),
    /// The arguments are not JSON, break the schema or cannot be filled into the command.
    Arguments(ArgumentFault),
    /// A manifest, policy or setting cannot be loaded, is not supported yet or needs trust.
    Config(Vec<Diagnostic>),
    /// There is no such tool.
    UnknownTool(Diagnostic),
    /// There is nothing that the command could work on.
    NothingToDo(Diagnostic),
    /// A file of toolctl's own could not be written.
    Unwritten(Diagnostic),
    /// The gate did not open.
    Gate(GateError),
    /// The tool's program cannot be found or executed.
    Program(ProgramError),
    /// The sandbox could not be had, or the program is not there.
    Sandbox(SandboxError),
    /// The output could not be written.
    Output(OutputError),
    /// toolctl itself failed.
    Internal(anyhow::Error),
}

/// What is wrong with the arguments.
#[derive(Debug)]
pub(crate) enum ArgumentFault {
    /// They do not make a valid call.
    Call(CallError),
    /// Several flags are at fault.
    Flags(Vec<CallError>),
    /// They cannot be filled into the tool's command.
    Fill(Diagnostic),
}

impl Failure {
    /// Faults of the project or of what is kept about it, with the exit code that their code stands for.
    pub(crate) fn of(faults: Vec<Diagnostic>) -> Self {
        match faults.as_slice() {
            [only] if only.code == Code::NothingToDo => Self::NothingToDo(only.clone()),
            [only] if only.code == Code::OutputError => Self::Unwritten(only.clone()),
            _ => Self::Config(faults),
        }
    }

    /// The exit code.
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Arguments(_) => Exit::Arguments,
            Self::Config(_) | Self::Program(_) => Exit::Config,
            Self::UnknownTool(_) => Exit::UnknownTool,
            Self::NothingToDo(_) => Exit::NothingToDo,
            Self::Gate(GateError::Denied) => Exit::Denied,
            Self::Gate(GateError::ApprovalRequired | GateError::TooWeak) => Exit::ApprovalUnavailable,
            Self::Gate(GateError::Stale) => Exit::Stale,
            Self::Sandbox(error) => sandbox_exit(error),
            // A reader that has seen enough is no failure of ours, but what it did not read was not delivered.
            Self::Output(_) | Self::Unwritten(_) => Exit::Output,
            Self::Internal(_) => Exit::Internal,
        }
    }

    /// The code of `--exit-status tool` where the tool did not run: 127 if its program is not there, 126 if that cannot
    /// be executed, 125 for everything else.
    pub(crate) const fn tool_status(&self) -> u8 {
        match self {
            Self::Program(ProgramError::NotExecutable { .. }) | Self::Sandbox(SandboxError::Exec { .. }) => {
                126
            }
            Self::Program(
                ProgramError::NotOnPath { .. }
                | ProgramError::Missing { .. }
                | ProgramError::NoToolDir { .. }
                | ProgramError::BadName { .. },
            )
            | Self::Sandbox(SandboxError::ProgramMissing { .. }) => 127,
            Self::Usage(_)
            | Self::Arguments(_)
            | Self::Config(_)
            | Self::UnknownTool(_)
            | Self::NothingToDo(_)
            | Self::Unwritten(_)
            | Self::Gate(_)
            | Self::Sandbox(
                SandboxError::Unavailable { .. }
                | SandboxError::BadRequest(_)
                | SandboxError::Changed { .. }
                | SandboxError::Lost
                | SandboxError::Host { .. },
            )
            | Self::Output(_)
            | Self::Internal(_) => 125,
        }
    }

    /// The same for a call of a tool: faults of arguments name the command that shows what the tool takes.
    pub(crate) fn diagnostics_about(&self, tool: Option<&str>) -> Vec<Diagnostic> {
        let mut found = self.diagnostics();
        if let (Self::Arguments(_), Some(tool)) = (self, tool) {
            let about = [Code::CallSchema, Code::CallBadFlag, Code::CallBadPath, Code::CallUnsafeArgument];
            for fault in found.iter_mut().filter(|fault| about.contains(&fault.code)) {
                let tool = crate::text::escape(tool);
                fault.help.push(format!("see what the arguments may be: toolctl tools show {tool}"));
            }
        }
        found
    }

    /// What is said about it, with a way out.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::Usage(diagnostic)
            | Self::UnknownTool(diagnostic)
            | Self::NothingToDo(diagnostic)
            | Self::Unwritten(diagnostic) => {
                vec![diagnostic.clone()]
            }
            Self::Arguments(fault) => fault.diagnostics(),
            Self::Config(diagnostics) => diagnostics.clone(),
            Self::Gate(GateError::Stale) => vec![
                Diagnostic::error(Code::ApprovalStale, GateError::Stale.to_string())
                    .help("make the call again, and look at what it would run now"),
            ],
            Self::Gate(error) => vec![Diagnostic::error(Code::ApprovalRequired, error.to_string())],
            Self::Program(error) => vec![error.to_diagnostic()],
            Self::Sandbox(error) => vec![sandbox_diagnostic(error)],
            Self::Output(error) => {
                vec![Diagnostic::error(
                    Code::OutputError,
                    crate::text::escape(&error.to_string()).to_string(),
                )]
            }
            Self::Internal(error) => {
                vec![
                    Diagnostic::error(
                        Code::InternalError,
                        crate::text::escape(&format!("{error:#}")).to_string(),
                    )
                    .help("this is a fault of toolctl; please report it"),
                ]
            }
        }
    }
}

/// The exit code of a sandbox error: a plan that cannot be is a fault of the manifest, a machine that cannot is 30.
pub(crate) const fn sandbox_exit(error: &SandboxError) -> Exit {
    match error {
        SandboxError::BadRequest(_) | SandboxError::ProgramMissing { .. } => Exit::Config,
        SandboxError::Unavailable { .. } | SandboxError::Host { .. } => Exit::SandboxUnavailable,
        SandboxError::Changed { .. } => Exit::Stale,
        SandboxError::Exec { .. } => Exit::ToolFailed,
        SandboxError::Lost => Exit::Internal,
    }
}

/// What is said about a sandbox error.
pub(crate) fn sandbox_diagnostic(error: &SandboxError) -> Diagnostic {
    let code = match error {
        SandboxError::BadRequest(_) => Code::SandboxBadRequest,
        SandboxError::ProgramMissing { .. } | SandboxError::Exec { .. } => Code::RunProgramMissing,
        SandboxError::Unavailable { .. } | SandboxError::Host { .. } => Code::SandboxUnavailable,
        SandboxError::Changed { .. } => Code::ApprovalStale,
        SandboxError::Lost => Code::InternalError,
    };
    let mut diagnostic = Diagnostic::error(code, error.to_string());
    for way in error.ways_out() {
        diagnostic = diagnostic.help(way);
    }
    diagnostic
}

impl ArgumentFault {
    fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::Call(error) => vec![call_diagnostic(error)],
            Self::Flags(errors) => errors.iter().map(call_diagnostic).collect(),
            Self::Fill(diagnostic) => vec![diagnostic.clone()],
        }
    }

    /// Every issue, as the caller's model sees it.
    pub(crate) fn issues(&self) -> Vec<crate::schema::Issue> {
        match self {
            Self::Call(error) => error.issues(),
            Self::Flags(errors) => errors.iter().flat_map(CallError::issues).collect(),
            Self::Fill(diagnostic) => vec![crate::schema::Issue {
                path: String::new(),
                message: diagnostic.message.clone(),
                keyword: "command".to_owned(),
            }],
        }
    }
}

fn call_diagnostic(error: &CallError) -> Diagnostic {
    let message = match error {
        CallError::Invalid(_) => "the arguments do not satisfy the tool's schema".to_owned(),
        CallError::BadPath(_) => "an argument that names a place has no canonical form".to_owned(),
        CallError::Json(_)
        | CallError::BadFlag { .. }
        | CallError::BadShape { .. }
        | CallError::Canonical(_) => error.to_string(),
    };
    let mut diagnostic = Diagnostic::error(error.code(), message);
    if matches!(error, CallError::Invalid(_) | CallError::BadPath(_)) {
        for issue in error.issues() {
            diagnostic = diagnostic.note(issue.to_string());
        }
    }
    diagnostic
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self::Output(error)
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        Self::Sandbox(error)
    }
}
