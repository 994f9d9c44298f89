//! `toolctl run`: decides a call and, if it may, executes it.

use crate::call::ValidatedCall;
use crate::cli::args::{ExitStatus, Global, RunArgs};
use crate::cli::confine::confine;
use crate::cli::document;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::{Prepared, new_id, prepare};
use crate::cli::session::Session;
use crate::cli::verdict::{decision_exit, denied, nobody_to_ask, rule_line};
use crate::cli::withheld::{with_withheld, withheld};
use crate::diag::{Code, Diagnostic};
use crate::execute::{self, Authorization, Outcome, OutcomeKind, Terms};
use crate::gate::{
    Answered, Approval, ApprovalRequest, Asked, ChangedPolicy, GateError, approval_digest,
    approve_by_timeout, ask, authorize,
};
use crate::model::EffectSet;
use crate::policy::{Action, Decided, Strength};
use crate::project::TimeoutAction;
use crate::result::{Denial, ToolCallResult};
use crate::sandbox::{Cancel, Early, EndCause, Plan, Stdin};
use crate::term::Format;
use crate::text::escape;

/// How the program ends: with a code of ours, or as the tool did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// One of our own exit codes.
    Own(Exit),
    /// `--exit-status tool`.
    Tool(u8),
    /// A signal that is raised again, so that the shell sees it.
    Signal(i32),
}

/// Runs the command. `early` is a helper that was started before the command line was read.
pub(crate) fn run(session: &mut Session<'_>, args: &RunArgs, early: Option<Early>) -> Result<End, Failure> {
    // Every result has an id by which its caller knows it, also one that fails before the call is read.
    let mut args = args.clone();
    let id = args.call.context.call_id.get_or_insert_with(|| new_id(session.world.now())).clone();
    match attempt(session, &args, early) {
        Ok(end) => Ok(end),
        Err(failure) => {
            if session.ui.format() != Format::Human {
                session.ui.document(&document::of_failure(&id, &args.call.tool, &failure))?;
            }
            let exit = session.fail(&failure);
            Ok(match args.exit_status {
                ExitStatus::Toolctl => End::Own(exit),
                ExitStatus::Tool => End::Tool(failure.tool_status()),
            })
        }
    }
}

fn attempt(session: &mut Session<'_>, args: &RunArgs, mut early: Option<Early>) -> Result<End, Failure> {
    let mut case = weigh(session, args, None)?;
    let mut approval = None;
    if case.decided.decision().action == Action::Ask {
        let Some(plan) = &case.plan else { return Err(Failure::Gate(GateError::Denied)) };
        // A person may take minutes; nothing is kept waiting for the answer.
        early = None;
        let given = match consent(session, &case.prepared, &case.decided, plan, &case.digest) {
            Consent::Given(approval) => approval,
            Consent::Withheld { diagnostic, exit, denial } => {
                return refuse(session, args, &case.decided, &diagnostic, exit, denial);
            }
        };
        let (now, still) = once_more(session, args, &case, given)?;
        case = now;
        approval = Some(still);
    }
    let Case { prepared, decided, plan, stdin, digest } = case;
    let Some(plan) = plan else {
        let diagnostic = denied(&decided, &prepared.project);
        let exit = decision_exit(decided.decision());
        return refuse(session, args, &decided, &diagnostic, exit, Denial::Policy);
    };
    let withheld = withheld(session.world, || plan.report());
    let call = authorize(decided, plan, stdin, approval, &digest).map_err(Failure::Gate)?;
    let cancel = Cancel::on_signals().map_err(|error| Failure::Internal(error.into()))?;
    let quarantine = prepared.project.state_dir().map_or_else(
        |_| prepared.project.workspace.join(".toolctl-quarantine"),
        |state| state.join("quarantine"),
    );
    let terms =
        Terms { output: prepared.tool.tool.output, quarantine: &quarantine, cancel: Some(&cancel), early };
    let (authorization, outcome) = execute::run(call, terms)?;
    if let OutcomeKind::ControlFiles { moved } = &outcome.kind {
        let created: Vec<String> =
            moved.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        prepared
            .project
            .suspend_trust(session.world, &created.join(", "))
            .map_err(|fault| Failure::of(vec![fault]))?;
    }
    let signal = cancel.signal();
    drop(cancel);
    show(session, &authorization, &outcome, &withheld)?;
    prepared.project.spare_the_next(session.world);
    Ok(end(args.exit_status, &outcome, signal))
}

/// A decided call, and what would run if it may.
struct Case {
    prepared: Prepared,
    decided: Decided,
    /// `None`: the call is denied.
    plan: Option<Plan>,
    stdin: Stdin,
    digest: String,
}

/// Reads all files and decides. With `known`, for a call whose arguments were read before.
fn weigh(session: &mut Session<'_>, args: &RunArgs, known: Option<&ValidatedCall>) -> Result<Case, Failure> {
    let prepared = prepare(session, &args.call)?;
    let ready = match known {
        None => prepared.ready(session, &args.call)?,
        Some(call) => prepared.ready_with(session, &args.call, call.args().clone())?,
    };
    let (call, command, stdin) = ready.split();
    let decided = prepared.decide(session, call);
    if decided.decision().action == Action::Deny {
        return Ok(Case { prepared, decided, plan: None, stdin, digest: String::new() });
    }
    let plan = confine(session, &prepared, &decided, command)?;
    let digest = approval_digest(&decided, &plan, &prepared.tool.tool.digest, &prepared.policies.digest());
    Ok(Case { prepared, decided, plan: Some(plan), stdin, digest })
}

/// Reads and decides again after somebody had time to answer, and much could change. An approval stands if everything is
/// the same but the policy, and the policy says the same; else its digest is not that of what would run any more.
fn once_more(
    session: &mut Session<'_>,
    args: &RunArgs,
    asked: &Case,
    approval: Approval,
) -> Result<(Case, Approval), Failure> {
    session.world.look_again();
    // What has to be said of the files was said.
    let mut again = Session::new(session.world, Global { quiet: true, ..session.global.clone() });
    let case = weigh(&mut again, args, Some(asked.decided.call()))?;
    session.files = again.files;
    let Some(plan) = &case.plan else { return Ok((case, approval)) };
    let policies =
        ChangedPolicy { asked: &asked.prepared.policies.digest(), now: &case.prepared.policies.digest() };
    let approval = approval.under(&case.decided, plan, &case.prepared.tool.tool.digest, policies);
    Ok((case, approval))
}

enum Consent {
    Given(Approval),
    Withheld { diagnostic: Diagnostic, exit: Exit, denial: Denial },
}

fn consent(
    session: &Session<'_>,
    prepared: &Prepared,
    decided: &Decided,
    plan: &Plan,
    digest: &str,
) -> Consent {
    let approval = &prepared.project.settings.approval;
    let unavailable = |why: &str| Consent::Withheld {
        diagnostic: nobody_to_ask(decided, why)
            .help("or try it out without effects: toolctl plan with the same arguments"),
        exit: Exit::ApprovalUnavailable,
        denial: Denial::ApprovalRequired,
    };
    if decided.decision().strength == Some(Strength::Presence) {
        return unavailable(
            "the rule asks for an approval of strength presence, which this version cannot check",
        );
    }
    if session.no_prompt() {
        return unavailable("prompts are switched off");
    }
    let report = prepared.shown_report(decided.call(), plan.report());
    let secrets = prepared.tool.schema.secrets(&serde_json::Value::Object(decided.call().args().clone()));
    let request = ApprovalRequest::new(Asked {
        decided,
        report: &report,
        ctx: &prepared.ctx,
        digest,
        rule: &rule_line(&session.files, decided.decision()),
        secrets: &secrets,
    });
    let color = session.ui.err_color();
    match ask(&request, approval.timeout, color) {
        Ok(Answered::Approved(approval)) => Consent::Given(approval),
        Ok(Answered::Refused) => Consent::Withheld {
            diagnostic: Diagnostic::error(Code::ApprovalRefused, "a person refused the call"),
            exit: Exit::Refused,
            denial: Denial::ApprovalDenied,
        },
        Ok(Answered::TimedOut) => timed_out(approval.timeout_action, &request, decided.effects()),
        Err(error) => unavailable(escape(&error.to_string()).as_str()),
    }
}

fn timed_out(action: TimeoutAction, request: &ApprovalRequest, effects: EffectSet) -> Consent {
    let exit = match action {
        TimeoutAction::Approve => match approve_by_timeout(request, effects) {
            Some(approval) => return Consent::Given(approval),
            None => Exit::ApprovalTimeout,
        },
        TimeoutAction::Deny => Exit::ApprovalTimeout,
        TimeoutAction::Throw => Exit::ApprovalTimeoutThrown,
    };
    Consent::Withheld {
        diagnostic: Diagnostic::error(
            Code::ApprovalTimeout,
            "nobody answered in time, so the call is denied",
        )
        .help("make the call again when somebody is there, or raise `approval.timeout` in your settings"),
        exit,
        denial: Denial::ApprovalDenied,
    }
}

fn refuse(
    session: &mut Session<'_>,
    args: &RunArgs,
    decided: &Decided,
    diagnostic: &Diagnostic,
    exit: Exit,
    denial: Denial,
) -> Result<End, Failure> {
    if session.ui.format() != Format::Human {
        session.ui.document(&document::of_refusal(&session.files, decided, diagnostic, Some(denial)))?;
    }
    session.ui.diagnostics(&session.files, std::slice::from_ref(diagnostic))?;
    Ok(match args.exit_status {
        ExitStatus::Toolctl => End::Own(exit),
        ExitStatus::Tool => End::Tool(125),
    })
}

fn show(
    session: &mut Session<'_>,
    authorization: &Authorization,
    outcome: &Outcome,
    withheld: &[&str],
) -> Result<(), Failure> {
    // People see the tool's own messages above; a document has them in another field.
    let heard = session.ui.format() == Format::Human && !outcome.ended.stderr.is_empty();
    let diagnostic = outcome_diagnostic(authorization, outcome, heard, withheld);
    if session.ui.format() == Format::Human {
        if !matches!(outcome.kind, OutcomeKind::ControlFiles { .. } | OutcomeKind::BadResult { .. }) {
            session.ui.tool_output(&outcome.ended.stdout)?;
        }
        session.ui.tool_messages(&outcome.ended.stderr)?;
    } else {
        let document: ToolCallResult =
            document::of_outcome(&session.files, authorization, outcome, diagnostic.as_ref());
        session.ui.document(&document)?;
    }
    if let Some(diagnostic) = diagnostic {
        session.ui.diagnostics(&session.files, &[diagnostic])?;
    }
    Ok(())
}

fn outcome_diagnostic(
    authorization: &Authorization,
    outcome: &Outcome,
    heard: bool,
    withheld: &[&str],
) -> Option<Diagnostic> {
    let tool = escape(authorization.decided.call().tool_name());
    let ended = &outcome.ended;
    let seconds = ended.duration.as_secs_f64();
    Some(match &outcome.kind {
        OutcomeKind::Done => return None,
        OutcomeKind::ToolFailed { message, .. } => {
            let code = ended.exit_code.map(|code| format!("exit code {code}"));
            let message = match code {
                Some(code) if heard && message.starts_with(&code) => code,
                Some(_) | None => message.clone(),
            };
            with_withheld(
                Diagnostic::error(Code::RunToolFailed, format!("`{tool}` failed: {message}")),
                withheld,
            )
        }
        OutcomeKind::Signal => {
            let signal = ended.signal.unwrap_or(0);
            Diagnostic::error(Code::RunSignal, format!("`{tool}` was ended by signal {signal}"))
        }
        OutcomeKind::Timeout => Diagnostic::error(
            Code::RunTimeout,
            format!("`{tool}` outlived its timeout and was ended after {seconds:.1} s"),
        )
        .note("every process of it is gone; what it printed until then is above")
        .help("raise `sandbox.timeout` in its manifest if it needs longer"),
        OutcomeKind::Limit => limit_diagnostic(tool.as_str(), ended.cause),
        OutcomeKind::BadResult { message } => {
            Diagnostic::error(Code::RunBadResult, format!("the result of `{tool}` is not used: {message}"))
        }
        OutcomeKind::ControlFiles { moved } => {
            let mut diagnostic = Diagnostic::error(
                Code::RunControlFileCreated,
                format!("`{tool}` created files that toolctl or other programs would obey"),
            );
            for (path, kept) in moved {
                let path = escape(&path.to_string_lossy());
                diagnostic = diagnostic.note(kept.as_ref().map_or_else(
                    || format!("{path} could not be moved away: remove it yourself, now"),
                    |kept| format!("{path} was moved to {}", escape(&kept.to_string_lossy())),
                ));
            }
            diagnostic.help("look at them, then trust the project again: toolctl trust")
        }
        OutcomeKind::Cancelled => Diagnostic::error(
            Code::Interrupted,
            format!("`{tool}` was interrupted; every process of it is gone"),
        ),
    })
}

fn limit_diagnostic(tool: &str, cause: EndCause) -> Diagnostic {
    let (what, key) = match cause {
        EndCause::Memory => ("it used more memory than allowed", "maxMemoryMB"),
        EndCause::Output => ("it printed more than allowed", "maxOutputBytes"),
        EndCause::Processes => ("it started more processes than allowed", "maxProcesses"),
        EndCause::FileSize => ("it wrote a larger file than allowed", "maxFileSizeMB"),
        EndCause::Cpu => ("it used more processor time than allowed", "cpuSeconds"),
        EndCause::ForeignAbi => {
            return Diagnostic::error(
                Code::RunLimit,
                format!("`{tool}` was ended: it used a foreign system-call interface"),
            )
            .help("build it for this machine: programs for another architecture cannot run in the sandbox");
        }
        EndCause::Exit | EndCause::Timeout | EndCause::Signal | EndCause::Cancelled => {
            ("a limit was reached", "sandbox")
        }
    };
    Diagnostic::error(Code::RunLimit, format!("`{tool}` was ended: {what}"))
        .help(format!("raise `sandbox.{key}` in its manifest if it needs more"))
}

fn end(status: ExitStatus, outcome: &Outcome, signal: Option<i32>) -> End {
    if let (OutcomeKind::Cancelled, Some(signal)) = (&outcome.kind, signal) {
        return End::Signal(signal);
    }
    match status {
        ExitStatus::Toolctl => End::Own(document::outcome_exit(&outcome.kind)),
        ExitStatus::Tool => End::Tool(tool_status(outcome)),
    }
}

/// The tool's own code as timeout(1) and shells give it: over 123 shown as 123, 124 timeout, 125 toolctl, 128+n signal.
fn tool_status(outcome: &Outcome) -> u8 {
    let ended = &outcome.ended;
    match ended.cause {
        EndCause::Timeout => 124,
        EndCause::Exit => match &outcome.kind {
            OutcomeKind::ControlFiles { .. } | OutcomeKind::BadResult { .. } => 125,
            OutcomeKind::Done
            | OutcomeKind::ToolFailed { .. }
            | OutcomeKind::Signal
            | OutcomeKind::Timeout
            | OutcomeKind::Limit
            | OutcomeKind::Cancelled => {
                u8::try_from(ended.exit_code.unwrap_or(125).clamp(0, 123)).unwrap_or(123)
            }
        },
        EndCause::Signal
        | EndCause::Memory
        | EndCause::Output
        | EndCause::Processes
        | EndCause::FileSize
        | EndCause::Cpu
        | EndCause::ForeignAbi
        | EndCause::Cancelled => u8::try_from(128 + ended.signal.unwrap_or(9)).unwrap_or(137),
    }
}

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        Self::Gate(error)
    }
}
