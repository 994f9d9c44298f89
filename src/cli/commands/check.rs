//! `toolctl check`: every manifest, policy and setting of the project, with all findings at once.

use crate::cli::args::CheckArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::machine;
use crate::cli::prepare::{is_untrusted, legacy_approval, read_policies, tool_facts};
use crate::cli::report::{Report, write_reports};
use crate::cli::session::Session;
use crate::diag::{Code, Diagnostic, Severity};
use crate::manifest::{RequiresApproval, lint, unsupported};
use crate::model::Layer;
use crate::policy::{ToolFacts, check_approval, check_examples, check_file, lint_policies};
use crate::project::{CatalogTool, Project, check_environment};
use crate::term::{Format, Text, render};
use crate::text::{escape, nearest};
use crate::world::FileKind;
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &CheckArgs) -> Result<Exit, Failure> {
    let reports = Report::parse_all(&args.report)?;
    let allowed = allowed_codes(&args.allow)?;
    if let Some(first) = check_environment(session.world).into_iter().next() {
        return Err(Failure::Usage(first));
    }
    let mut findings = Vec::new();
    let mut checked = Checked::default();
    let start = session.start()?;
    let places: Vec<_> = if args.paths.is_empty() {
        vec![start]
    } else {
        args.paths.iter().map(|path| start.join(path)).collect()
    };
    for base in places {
        if session.world.stat(&base).is_err() {
            let shown = escape(&base.to_string_lossy()).to_string();
            let fault = Diagnostic::error(Code::UsageError, format!("there is no `{shown}`"))
                .help("give files or folders that are there; for the whole project: toolctl check");
            return Err(Failure::Usage(fault));
        }
        // A file stands for its project: what one file means depends on the others.
        let file = session.world.stat(&base).is_ok_and(|stat| stat.kind == FileKind::File);
        let folder = base.parent().filter(|_| file).unwrap_or(&base);
        findings.extend(check_folder(session, folder, &mut checked)?);
    }
    if findings.is_empty() && !checked.found {
        let fault = Diagnostic::error(Code::NothingToDo, "there is no project here, so nothing was checked")
            .help("name a folder of the project: toolctl check DIR");
        return Err(Failure::NothingToDo(fault));
    }
    let mut findings = in_order(findings);
    findings.retain(|finding| {
        let stays = !allowed.contains(&finding.code)
            || (finding.severity == Severity::Error && !finding.code.is_lint());
        checked.allowed += usize::from(!stays);
        stays
    });
    report(session, args, &reports, &findings, &checked)
}

/// The codes of `--allow`.
fn allowed_codes(texts: &[String]) -> Result<Vec<Code>, Failure> {
    let one = |text: &String| {
        Code::parse(text).ok_or_else(|| {
            let fault = Diagnostic::error(
                Code::UsageError,
                format!("there is no diagnostic code `{}`", escape(text)),
            );
            Failure::Usage(match nearest(text, Code::ALL.iter().map(|code| code.as_str())) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault.help("see all codes: toolctl explain"),
            })
        })
    };
    texts.iter().map(one).collect()
}

/// How much was looked at.
#[derive(Debug, Default)]
struct Checked {
    tools: usize,
    policies: usize,
    allowed: usize,
    untrusted: Vec<String>,
    /// There was something that is not built in.
    found: bool,
}

fn check_folder(
    session: &mut Session<'_>,
    folder: &Path,
    checked: &mut Checked,
) -> Result<Vec<Diagnostic>, Failure> {
    match Project::open(session.world, &mut session.files, folder) {
        Ok(project) => Ok(check_project(session, &project, checked)),
        // The environment is no part of the project.
        Err(faults) if faults.iter().any(|fault| fault.code == Code::ConfigEnvironment) => {
            Err(Failure::Config(faults))
        }
        // Nothing else can be read then.
        Err(faults) => Ok(faults),
    }
}

fn check_project(session: &mut Session<'_>, project: &Project, checked: &mut Checked) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = project.warnings.clone();
    findings.extend(project.settings.unsupported());
    let (tools, faults) = project.catalog().all(session.world, &mut session.files);
    findings.extend(faults);
    let facts: Vec<ToolFacts> =
        tools.iter().map(|found| tool_facts(project, &found.tool, found.layer)).collect();
    for (found, facts) in tools.iter().zip(&facts) {
        findings.extend(check_tool(session, project, found, facts));
    }
    checked.tools += tools.len();
    checked.found |= project.root.is_some() || tools.iter().any(|found| found.layer != Layer::Builtin);
    if is_untrusted(project) {
        checked.untrusted.extend(project.root.iter().map(|root| escape(&root.to_string_lossy()).to_string()));
    }
    match read_policies(session, project, None) {
        Err(failure) => findings.extend(failure.diagnostics()),
        Ok((set, warnings)) => {
            findings.extend(warnings);
            // A tool whose manifest cannot be used is no tool that does not exist.
            let names = project.catalog().names(session.world).unwrap_or_default();
            let usable: HashSet<&str> = facts.iter().map(|tool| tool.name.as_str()).collect();
            let broken: Vec<String> =
                names.into_keys().filter(|name| !usable.contains(name.as_str())).collect();
            for source in set.sources() {
                findings.extend(check_file(source, &facts, &broken));
                findings.extend(check_examples(&source.file));
                checked.policies += 1;
                checked.found |= source.layer != Layer::Builtin;
            }
            let exempt = |tool: &ToolFacts| {
                let found = tools.iter().find(|found| found.tool.name == tool.name)?;
                found.tool.key_spans.get("requiresApproval").copied()
            };
            findings.extend(lint_policies(&set, &facts, &legacy_approval(project), &exempt));
        }
    }
    findings
}

fn check_tool(
    session: &Session<'_>,
    project: &Project,
    found: &CatalogTool,
    facts: &ToolFacts,
) -> Vec<Diagnostic> {
    let mut findings = found.warnings.clone();
    findings.extend(lint(&found.tool));
    findings.extend(unsupported(&found.tool));
    findings.extend(machine::lacks(session.world, project, &found.tool, facts.sandbox.as_ref()));
    findings.extend(project.check_programs(session.world, found).err().unwrap_or_default());
    if let Some(RequiresApproval::When(node)) = &found.tool.requires_approval {
        findings.extend(check_approval(node, facts));
    }
    findings
}

/// By file and place, what has no place last; a fault that several steps found is one finding.
fn in_order(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    findings.retain(|finding| seen.insert(finding.clone()));
    findings.sort_by_key(|finding| {
        let place = finding.primary.as_ref().map(|label| label.span);
        (place.is_none(), place)
    });
    findings
}

fn counted(line: Text, count: usize, one: &'static str, many: &'static str) -> Text {
    line.number(count).plain(if count == 1 { one } else { many })
}

fn report(
    session: &mut Session<'_>,
    args: &CheckArgs,
    reports: &[Report],
    findings: &[Diagnostic],
    checked: &Checked,
) -> Result<Exit, Failure> {
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    let failed = errors > 0 || (args.strict && warnings > 0);
    let document = json!({
        "schema": "toolctl.check/v1", "ok": !failed, "tools": checked.tools, "policies": checked.policies,
        "allowed": checked.allowed, "untrusted": checked.untrusted,
        "findings": render::to_json(&session.files, findings),
    });
    write_reports(session, reports, findings, &document)?;
    if session.ui.format() == Format::Human {
        session.ui.diagnostics(&session.files, findings)?;
        let line = counted(Text::new(), checked.tools, " tool, ", " tools, ");
        let line = counted(line, checked.policies, " policy: ", " policies: ");
        let mut line = if findings.is_empty() {
            line.good("no findings")
        } else {
            let line = counted(line, errors, " error, ", " errors, ");
            counted(line, warnings, " warning", " warnings")
        };
        if notes > 0 {
            line = counted(line.plain(", "), notes, " note", " notes");
        }
        if checked.allowed > 0 {
            line = line.plain(", ").number(checked.allowed).plain(" allowed");
        }
        session.ui.line(&line)?;
        for root in &checked.untrusted {
            session.ui.say(
                &Text::new()
                    .escaped(&escape(root))
                    .plain(" is not trusted, so only its guards count; to change that: toolctl trust"),
            )?;
        }
    } else {
        session.ui.document(&document)?;
    }
    Ok(if failed { Exit::Findings } else { Exit::Ok })
}
