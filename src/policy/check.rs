//! Rules against tools: tools that exist, arguments that exist, operators that fit the types of the schema. `run` and
//! `plan` check the rules that can select the called tool, `check` and `test` check everything.

use super::condition::{Atom, Condition};
use super::decode::approval_condition;
use super::examples::check_rule_examples;
use super::facts::ToolFacts;
use super::matchers::{Operand, Test, wildcard};
use super::model::Rule;
use super::reason::Reason;
use super::set::{PolicySet, PolicySource};
use super::shape::{self, Place, Types};
use super::subject::{ArgPath, Subject};
use crate::diag::{Code, Diagnostic, Severity};
use crate::model::Layer;
use crate::source::{Decoder, Node};
use crate::text::{Span, escape, nearest};
use serde_json::Value;
use std::collections::HashSet;

/// Checks the rules and effects that can select one tool, their inline examples included.
pub fn check_for_tool(set: &PolicySet, tool: &ToolFacts) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in set.candidates(&tool.name) {
        if let Some((source, rule)) = set.rule(at) {
            let mut faults = check_rule(rule, tool);
            faults.extend(check_rule_examples(rule));
            found.extend(faults.into_iter().map(|fault| placed(source, fault)));
        }
    }
    for source in set.sources() {
        let faults = check_effects(source, tool);
        found.extend(faults.into_iter().map(|fault| placed(source, fault)));
    }
    found
}

/// Checks a whole policy against all tools there are: names of tools, arguments, types. Inline examples are
/// [`super::check_examples`]' part. `broken` are names of tools whose manifests cannot be used: there they are.
pub fn check_file(source: &PolicySource, tools: &[ToolFacts], broken: &[String]) -> Vec<Diagnostic> {
    let mut found = unknown_tools(source, tools, broken);
    for tool in tools {
        for rule in &source.file.rules {
            if rule.tools.as_ref().is_none_or(|names| names.selects(&tool.name)) {
                found.extend(check_rule(rule, tool));
            }
        }
        found.extend(check_effects(source, tool));
    }
    found.into_iter().map(|fault| placed(source, fault)).collect()
}

/// Checks a manifest's `requiresApproval.when`.
pub fn check_approval(node: &Node, tool: &ToolFacts) -> Vec<Diagnostic> {
    let mut decoder = Decoder::new();
    let when = approval_condition(&mut decoder, node);
    let mut found = decoder.into_diagnostics();
    if let Some(when) = when {
        check_condition(&when, tool, true, &mut found);
    }
    found
}

/// The built-in policy is in no file that a person could open.
pub(super) fn placed(source: &PolicySource, fault: Diagnostic) -> Diagnostic {
    if source.layer == Layer::Builtin {
        Diagnostic { primary: None, related: Vec::new(), ..fault }
    } else {
        fault
    }
}

fn check_effects(source: &PolicySource, tool: &ToolFacts) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for entry in source.file.effects.get(&tool.name).into_iter().flatten() {
        if let Some(when) = &entry.when {
            check_condition(when, tool, true, &mut found);
        }
    }
    found
}

pub(super) fn check_rule(rule: &Rule, tool: &ToolFacts) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let named = rule.tools.as_ref().is_some_and(|names| !names.negated && names.names.contains(&tool.name));
    for condition in [&rule.when, &rule.unless].into_iter().flatten() {
        check_condition(condition, tool, named, &mut found);
    }
    for path in rule.reason.iter().flat_map(Reason::arguments).filter(|_| named) {
        check_declared(path, tool, rule.reason_span.unwrap_or(rule.span), &mut found);
    }
    found
}

/// `named`: the tool was named, so an argument that it does not have is a mistake.
fn check_condition(condition: &Condition, tool: &ToolFacts, named: bool, found: &mut Vec<Diagnostic>) {
    let atoms = condition.atoms();
    // Parts of such a condition may be meant for other tools.
    let splits = atoms.iter().any(|atom| atom.subject == Subject::Tool);
    if splits && !named {
        return;
    }
    for atom in atoms {
        if named && !splits {
            for path in arguments_of(atom) {
                let at = if matches!(&atom.subject, Subject::Args(own) if own == path) {
                    atom.key
                } else {
                    atom.value
                };
                check_declared(path, tool, at, found);
            }
        }
        if let Subject::Args(path) = &atom.subject {
            check_types(path.segments(), &atom.test, tool, atom, found);
        }
    }
}

/// The arguments that an atom speaks of, references included.
fn arguments_of(atom: &Atom) -> Vec<&ArgPath> {
    let mut all = Vec::new();
    if let Subject::Args(path) = &atom.subject {
        all.push(path);
    }
    for operand in operands(&atom.test) {
        if let Operand::Ref(Subject::Args(path)) = operand {
            all.push(path);
        }
    }
    all
}

pub(super) fn operands(test: &Test) -> Vec<&Operand> {
    match test {
        Test::Equal(test) => vec![&test.operand],
        Test::OneOf(test) => test.operands.iter().collect(),
        Test::Compare(test) => vec![&test.operand],
        Test::Text(test) => test.parts.iter().collect(),
        Test::Under(test) => test.refs.iter().collect(),
        Test::Quantifier(test) => test.tests.iter().flat_map(operands).collect(),
        Test::Exists(_)
        | Test::Size(_)
        | Test::Glob(_)
        | Test::Regular(_)
        | Test::Path(_)
        | Test::Ext(_)
        | Test::Tool(_)
        | Test::Effect { .. } => Vec::new(),
    }
}

fn check_declared(path: &ArgPath, tool: &ToolFacts, span: Span, found: &mut Vec<Diagnostic>) {
    let Place::Undeclared(names) = shape::place(&tool.parameters, path.segments()) else { return };
    let last = path.segments().last().map_or("", String::as_str);
    let message = format!("the tool `{}` has no argument `{}`", escape(&tool.name), path);
    let mut diagnostic = Diagnostic::error(Code::PolicyUnknownArgument, message).at(span, "no such argument");
    diagnostic = match nearest(last, names.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{}`?", escape(near))),
        None if names.is_empty() => diagnostic,
        None => diagnostic.help(format!("it has {}", escape(&names.join(", ")))),
    };
    found.push(diagnostic);
}

fn check_types(at: &[String], test: &Test, tool: &ToolFacts, atom: &Atom, found: &mut Vec<Diagnostic>) {
    let (Place::Named(schemas) | Place::Free(schemas)) = shape::place(&tool.parameters, at) else { return };
    let types = shape::types(&tool.parameters, &schemas);
    let mut report = |why: String| {
        let message = format!("{} of the tool `{}` {why}", escape(&name_of(at)), escape(&tool.name));
        found.push(
            Diagnostic::error(Code::PolicyTypeMismatch, message)
                .at(atom.value, "does not fit the schema")
                .help("compare with a value of the type that the tool's `parameters` give"),
        );
    };
    if !types.meets(test.needs()) {
        report(format!("is {}, and this needs {}", types.describe(), test.needs().describe()));
        return;
    }
    match test {
        Test::Equal(_) | Test::OneOf(_) => {
            let choices = shape::choices(&schemas);
            for operand in operands(test) {
                let Operand::Literal(value) = operand else { continue };
                if !types.meets(Types::of(value)) {
                    report(format!("is {}, never {}", types.describe(), Types::of(value).describe()));
                } else if let Some(choices) = &choices
                    && value.is_string()
                    && !choices.iter().any(|choice| same_text(choice, value))
                {
                    let all: Vec<String> = choices.iter().map(ToString::to_string).collect();
                    report(format!(
                        "is one of {}, never {}",
                        escape(&all.join(", ")),
                        escape(&value.to_string())
                    ));
                }
            }
        }
        Test::Quantifier(quantifier) => {
            let mut item = at.to_vec();
            item.push("0".to_owned());
            for test in &quantifier.tests {
                check_types(&item, test, tool, atom, found);
            }
        }
        Test::Compare(_)
        | Test::Exists(_)
        | Test::Size(_)
        | Test::Text(_)
        | Test::Glob(_)
        | Test::Regular(_)
        | Test::Under(_)
        | Test::Path(_)
        | Test::Ext(_)
        | Test::Tool(_)
        | Test::Effect { .. } => {}
    }
}

/// Equal but for case, which `case: fold` may take away.
fn same_text(a: &Value, b: &Value) -> bool {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a.to_lowercase() == b.to_lowercase(),
        _ => a == b,
    }
}

fn name_of(segments: &[String]) -> String {
    format!("args.{}", segments.join("."))
}

/// Names that no tool has. An outer layer speaks of the tools of many projects, so there it is a warning.
fn unknown_tools(source: &PolicySource, tools: &[ToolFacts], broken: &[String]) -> Vec<Diagnostic> {
    let names: Vec<&str> =
        tools.iter().map(|tool| tool.name.as_str()).chain(broken.iter().map(String::as_str)).collect();
    let exact: HashSet<&str> = names.iter().copied().collect();
    let mut found = Vec::new();
    let mut check = |name: &str, span: Option<Span>| {
        if exact.contains(name) || (name.contains('*') && names.iter().any(|known| wildcard(name, known))) {
            return;
        }
        let message = if name.contains('*') {
            format!("the pattern `{}` matches no tool", escape(name))
        } else {
            format!("there is no tool `{}`", escape(name))
        };
        let mut diagnostic = Diagnostic::error(Code::PolicyUnknownTool, message);
        if source.layer < Layer::Project {
            diagnostic.severity = Severity::Warning;
        }
        if let Some(span) = span {
            diagnostic = diagnostic.at(span, "no such tool");
        }
        diagnostic = match nearest(name, names.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{}`?", escape(near))),
            None => diagnostic.help("see what tools there are: toolctl tools list"),
        };
        found.push(diagnostic);
    };
    for rule in &source.file.rules {
        let conditions = [&rule.when, &rule.unless].into_iter().flatten().flat_map(Condition::atoms);
        let tests =
            conditions.filter_map(|atom| if let Test::Tool(names) = &atom.test { Some(names) } else { None });
        for names in rule.tools.iter().chain(tests) {
            names.names.iter().zip(&names.spans).for_each(|(name, span)| check(name, Some(*span)));
        }
    }
    for (name, entries) in &source.file.effects {
        check(name, entries.first().map(|entry| entry.tool_span));
    }
    let hints = source.file.trust_hints.iter().zip(&source.file.hint_spans);
    hints.for_each(|(name, span)| check(name, Some(*span)));
    found
}
