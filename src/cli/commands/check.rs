//! `toolctl check`: every manifest, policy and setting of the project, with all findings at once.

use crate::cli::args::CheckArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::{is_untrusted, load_policies, tool_facts};
use crate::cli::session::Session;
use crate::diag::{Code, Diagnostic, Severity};
use crate::manifest::{RequiresApproval, lint, unsupported};
use crate::policy::{ToolFacts, check_approval, check_examples, check_file};
use crate::project::Project;
use crate::term::{Format, Text, render};
use crate::text::escape;
use crate::world::FileKind;
use serde_json::json;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &CheckArgs) -> Result<Exit, Failure> {
    let mut findings = Vec::new();
    let mut checked = Checked::default();
    if args.paths.is_empty() {
        let project = session.project()?;
        findings.extend(check_project(session, &project, &mut checked));
    }
    for path in &args.paths {
        let base = session.start()?.join(path);
        if session.world.stat(&base).is_err() {
            let shown = escape(&base.to_string_lossy()).to_string();
            let fault = Diagnostic::error(Code::UsageError, format!("there is no `{shown}`"));
            return Err(Failure::Usage(fault));
        }
        // A file stands for its project: what one file means depends on the others.
        let file = session.world.stat(&base).is_ok_and(|stat| stat.kind == FileKind::File);
        let folder = base.parent().filter(|_| file).unwrap_or(&base);
        let project = Project::open(session.world, &mut session.files, folder).map_err(Failure::Config)?;
        findings.extend(check_project(session, &project, &mut checked));
    }
    report(session, args, &findings, &checked)
}

/// How much was looked at.
#[derive(Debug, Default)]
struct Checked {
    tools: usize,
    policies: usize,
    untrusted: Vec<String>,
}

fn check_project(session: &mut Session<'_>, project: &Project, checked: &mut Checked) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = project.settings.unsupported();
    let (tools, faults) = project.catalog().all(session.world, &mut session.files);
    findings.extend(faults);
    let facts: Vec<ToolFacts> =
        tools.iter().map(|found| tool_facts(project, &found.tool, found.layer)).collect();
    for (found, facts) in tools.iter().zip(&facts) {
        findings.extend(found.warnings.iter().cloned());
        findings.extend(lint(&found.tool));
        findings.extend(unsupported(&found.tool));
        if let Some(RequiresApproval::When(node)) = &found.tool.requires_approval {
            findings.extend(check_approval(node, facts));
        }
    }
    checked.tools += tools.len();
    if is_untrusted(project) {
        checked.untrusted.extend(project.root.iter().map(|root| escape(&root.to_string_lossy()).to_string()));
    }
    match load_policies(session, project) {
        Err(Failure::Config(faults)) => findings.extend(faults),
        Err(other) => findings.extend(other.diagnostics()),
        Ok(set) => {
            for source in set.sources() {
                findings.extend(check_file(source, &facts, &[]));
                findings.extend(check_examples(&source.file));
                checked.policies += 1;
            }
        }
    }
    dedup(findings)
}

/// A fault that several steps found is one finding.
fn dedup(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::new();
    for finding in findings {
        if !kept.contains(&finding) {
            kept.push(finding);
        }
    }
    kept
}

fn counted(line: Text, count: usize, one: &'static str, many: &'static str) -> Text {
    line.number(count).plain(if count == 1 { one } else { many })
}

fn report(
    session: &mut Session<'_>,
    args: &CheckArgs,
    findings: &[Diagnostic],
    checked: &Checked,
) -> Result<Exit, Failure> {
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let failed = errors > 0 || (args.strict && warnings > 0);
    if session.ui.format() == Format::Human {
        session.ui.diagnostics(&session.files, findings)?;
        let line = counted(Text::new(), checked.tools, " tool, ", " tools, ");
        let line = counted(line, checked.policies, " policy: ", " policies: ");
        let line = if findings.is_empty() {
            line.good("no findings")
        } else {
            let line = counted(line, errors, " error, ", " errors, ");
            counted(line, warnings, " warning", " warnings")
        };
        session.ui.line(&line)?;
        for root in &checked.untrusted {
            session.ui.say(
                &Text::new()
                    .escaped(&escape(root))
                    .plain(" is not trusted, so only its guards count; to change that: toolctl trust"),
            )?;
        }
    } else {
        session.ui.document(&json!({
            "schema": "toolctl.check/v1", "ok": !failed, "tools": checked.tools, "policies": checked.policies,
            "untrusted": checked.untrusted,
            "findings": render::to_json(&session.files, findings),
        }))?;
    }
    Ok(if failed { Exit::Findings } else { Exit::Ok })
}
