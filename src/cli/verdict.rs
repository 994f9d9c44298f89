//! A decision as it is shown: the rule with its place, the diagnostic of a refusal with its ways out.

use super::args::Global;
use super::exit::Exit;
use crate::diag::{Code, Diagnostic};
use crate::model::Effect;
use crate::policy::{Action, Decided, Decision, EffectSource};
use crate::project::{Project, TrustState};
use crate::result::{DecisionInfo, Place};
use crate::source::Files;
use crate::term::quote_argv;
use crate::text::{Span, escape};
use std::ffi::OsStr;

/// A span as a place in a file.
pub(crate) fn place(files: &Files, span: Span) -> Place {
    let at = files.location(span);
    Place { file: escape(&at.file.to_string_lossy()).to_string(), line: at.line, column: at.column }
}

/// `main/writes (policies/main.yaml:6:5)`.
pub(crate) fn rule_line(files: &Files, decision: &Decision) -> String {
    decision.rule.span.map_or_else(
        || decision.rule.id.clone(),
        |span| {
            let at = place(files, span);
            format!("{} ({}:{}:{})", decision.rule.id, at.file, at.line, at.column)
        },
    )
}

/// Who says that a call has an effect, in words.
pub(crate) fn origin_line(source: &EffectSource) -> String {
    match source {
        EffectSource::Engine => "toolctl itself: a built-in tool".to_owned(),
        EffectSource::Entry(rule) => rule.id.clone(),
        EffectSource::Hint => "the manifest's hint, which the host trusts".to_owned(),
        EffectSource::Nobody => "nobody classified it".to_owned(),
    }
}

/// The decision for the result document.
pub(crate) fn decision_info(files: &Files, decision: &Decision) -> DecisionInfo {
    DecisionInfo {
        action: decision.action.as_str(),
        rule: decision.rule.id.clone(),
        effect: decision.effect.as_str(),
        effects: decision.effects.iter().map(Effect::as_str).collect(),
        reason: decision.reason.clone(),
        at: decision.rule.span.map(|span| place(files, span)),
    }
}

/// The code of a denial; every denial has one.
pub(crate) fn denial_code(decision: &Decision) -> Code {
    decision.code.unwrap_or(Code::PolicyDenied)
}

/// The exit code that the decision alone leads to when nobody can be asked.
pub(crate) fn decision_exit(decision: &Decision) -> Exit {
    match decision.action {
        Action::Allow => Exit::Ok,
        Action::Ask => Exit::ApprovalUnavailable,
        Action::Deny if decision.code == Some(Code::ConfigNeedsTrust) => Exit::Config,
        Action::Deny => Exit::Denied,
    }
}

/// Which project is not trusted, and what has changed in it if it once was. Empty for a trusted one and without a project.
pub(crate) fn trust_notes(project: &Project) -> Vec<String> {
    const SHOWN: usize = 5;
    let mut notes = Vec::new();
    if project.trust.is_trusted() {
        return notes;
    }
    if let Some(root) = &project.root {
        notes.push(format!("the project is {}", escape(&root.to_string_lossy())));
    }
    if let TrustState::Changed(changes) = &project.trust {
        let mut files: Vec<String> = changes
            .iter()
            .take(SHOWN)
            .map(|change| format!("{} ({})", escape(&change.path.to_string_lossy()), change.kind.as_str()))
            .collect();
        if changes.len() > SHOWN {
            files.push(format!("{} more", changes.len() - SHOWN));
        }
        notes.push(format!("changed since it was trusted: {}", files.join(", ")));
    }
    notes
}

/// `toolctl trust`, of the folder that the call was made in.
fn trust(global: &Global) -> String {
    let mut words = vec![OsStr::new("toolctl"), OsStr::new("trust")];
    words.extend(global.directory.as_ref().map(|directory| directory.as_os_str()));
    quote_argv(&words).to_string()
}

/// What is said of a denied call; `explain` is the command that shows why.
pub(crate) fn denied(decided: &Decided, project: &Project, global: &Global, explain: &str) -> Diagnostic {
    let decision = decided.decision();
    let tool = escape(decided.call().tool_name());
    let code = denial_code(decision);
    let mut diagnostic = Diagnostic::error(code, format!("`{tool}` is denied by {}", decision.rule.id));
    if let Some(span) = decision.rule.span {
        let by_default = decision.rule.id == "default" || decision.rule.id.ends_with("/default");
        diagnostic = diagnostic.at(span, if by_default { "by this default" } else { "this rule denies it" });
    }
    if let Some(reason) = &decision.reason {
        diagnostic = diagnostic.note(reason.clone());
    }
    if code == Code::ConfigNeedsTrust {
        for note in trust_notes(project) {
            diagnostic = diagnostic.note(note);
        }
        diagnostic.help(format!("look at the project, then trust it: {}", trust(global)))
    } else {
        diagnostic.help(format!("see every rule and why: {explain}"))
    }
}

/// What is said of a call that needs an approval when nobody can be asked. `why` says why nobody can.
pub(crate) fn nobody_to_ask(decided: &Decided, why: &str) -> Diagnostic {
    let decision = decided.decision();
    let tool = escape(decided.call().tool_name());
    let mut diagnostic = Diagnostic::error(
        Code::ApprovalRequired,
        format!("`{tool}` needs an approval, asked for by {}", decision.rule.id),
    );
    if let Some(span) = decision.rule.span {
        diagnostic = diagnostic.at(span, "this rule asks");
    }
    if let Some(reason) = &decision.reason {
        diagnostic = diagnostic.note(reason.clone());
    }
    diagnostic
        .note(why.to_owned())
        .help("run it from a terminal, where a person can answer")
        .help("or allow exactly such calls with a rule in a policy file, where it is reviewed")
}
