//! `toolctl policy explain`: which rule decides a call, and what every other one says of it.

use crate::cli::args::{Milder, PolicyExplainArgs};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::prepare;
use crate::cli::session::Session;
use crate::cli::verdict::{decision_exit, decision_info, origin_line, place, rule_line};
use crate::model::{Effect, RunMode};
use crate::policy::{
    Action, AtomTrace, Explanation, NearMiss, PathNote, RuleTrace, Truth, UnitTrace, WhyNot, explain, why_not,
};
use crate::source::Files;
use crate::term::{Format, Text};
use crate::text::{Span, escape};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, options: &PolicyExplainArgs) -> Result<Exit, Failure> {
    let args = &options.call;
    let prepared = prepare(session, args)?;
    let ready = prepared.ready(session, args)?;
    let secrets = prepared.tool.schema.secrets(&Value::Object(ready.call.args().clone()));
    let classified = prepared.classify(session, ready.call);
    let mut explanation = explain(&classified, &prepared.policies, &prepared.ctx);
    explanation.paths.retain(|path| !secrets.contains(&path.argument));
    let exit = decision_exit(&explanation.decision);
    let milder = options.why_not.map(|milder| match milder {
        Milder::Allow => why_not(&explanation, Action::Allow),
        Milder::Ask => why_not(&explanation, Action::Ask),
    });
    let shown = Shown {
        tool: &args.tool,
        mode: prepared.ctx.mode,
        explanation: &explanation,
        milder: milder.as_ref(),
    };
    if session.ui.format() == Format::Human {
        for line in human(session, &shown) {
            session.ui.line(&line)?;
        }
    } else {
        let document = document(session, &shown, &prepared.policies.digest(), exit);
        session.ui.document(&document)?;
    }
    Ok(exit)
}

/// What is shown of one call.
struct Shown<'s> {
    tool: &'s str,
    mode: RunMode,
    explanation: &'s Explanation,
    milder: Option<&'s WhyNot>,
}

fn human(session: &Session<'_>, shown: &Shown<'_>) -> Vec<Text> {
    let explanation = shown.explanation;
    let decision = &explanation.decision;
    let effects: Vec<&str> = decision.effects.iter().map(Effect::as_str).collect();
    let verdict = match decision.action {
        Action::Allow => Text::new().good("ALLOW"),
        Action::Ask => Text::new().warning("ASK"),
        Action::Deny => Text::new().bad("DENY"),
    };
    let mut lines = vec![
        verdict
            .plain("  ")
            .escaped(&escape(shown.tool))
            .plain("  effects ")
            .escaped(&escape(&effects.join(", ")))
            .plain("  mode ")
            .plain(shown.mode.as_str()),
        Text::new().plain("  by       ").escaped(&escape(&rule_line(&session.files, decision))),
    ];
    if let Some(reason) = &decision.reason {
        lines.push(Text::new().plain("  reason   ").escaped(&escape(reason)));
    }
    for origin in &explanation.origins {
        lines.push(Text::new().plain("  effect   from ").escaped(&escape(&origin_line(&origin.source))));
    }
    lines.extend(explanation.paths.iter().map(path_text));
    for unit in &explanation.units {
        unit_lines(session, unit, &mut lines);
    }
    for floor in &decision.floors {
        lines.push(
            Text::new()
                .plain("  floor    ")
                .escaped(&escape(&floor.rule.id))
                .plain(" demands ")
                .escaped(&escape(floor.action.as_str()))
                .plain(": ")
                .escaped(&escape(&floor.reason)),
        );
    }
    for note in &explanation.notes {
        lines.push(Text::new().plain("  note     ").escaped(&escape(note)));
    }
    match shown.milder {
        Some(milder) => why_not_lines(session, milder, &mut lines),
        None => lines.extend(explanation.nearest.as_ref().map(nearest_text)),
    }
    lines
}

/// `fact     /path "out/passwd" -> /etc/passwd (outside the workspace, through the symlink /ws/out)`.
fn path_text(path: &PathNote) -> Text {
    let arrow = match &path.canonical {
        Ok(canonical) => format!("{} -> {canonical}", path.original),
        Err(fault) => format!("{}: {fault}", path.original),
    };
    let line =
        Text::new().plain("  fact     ").escaped(&escape(&path.argument)).plain(" ").escaped(&escape(&arrow));
    let line = line.plain(if path.inside { " (inside the workspace" } else { " (outside the workspace" });
    match &path.via {
        Some(symlink) => line.plain(", through the symlink ").escaped(&escape(symlink)).plain(")"),
        None => line.plain(")"),
    }
}

fn nearest_text(near: &NearMiss) -> Text {
    let line = Text::new()
        .plain("  nearest  ")
        .escaped(&escape(&near.rule))
        .plain(" would ")
        .escaped(&escape(near.action.as_str()));
    line.plain(" if ").escaped(&escape(&near.failing.join(" and ")))
}

fn why_not_lines(session: &Session<'_>, milder: &WhyNot, lines: &mut Vec<Text>) {
    let head = Text::new().plain("  why not ").escaped(&escape(milder.target.as_str()));
    if milder.holds {
        lines.push(head.plain(": it is decided so"));
        return;
    }
    let atoms: usize = milder.changes.iter().map(|change| change.atoms.len()).sum();
    let count = atoms + milder.fixed.len();
    lines.push(head.plain(": ").number(count).plain(if count == 1 { " obstacle" } else { " obstacles" }));
    for change in &milder.changes {
        let wanted = if change.to_match { " would have to match: " } else { " may not match: " };
        for (wish, atom) in &change.atoms {
            let line = Text::new().plain("    ").strong_escaped(&escape(&change.rule)).plain(wanted);
            lines.push(at(session, line.escaped(&escape(wish)), atom.span));
        }
    }
    for fixed in &milder.fixed {
        lines.push(Text::new().plain("    no condition changes it: ").escaped(&escape(fixed)));
    }
}

/// The line with a place behind it.
fn at(session: &Session<'_>, line: Text, span: Option<Span>) -> Text {
    match span {
        Some(span) => line.plain("  ").escaped(&escape(&place_of(session, span))),
        None => line,
    }
}

fn unit_lines(session: &Session<'_>, unit: &UnitTrace, lines: &mut Vec<Text>) {
    let mut head =
        Text::new().plain("  ").plain(unit.role).plain(" ").escaped(&escape(&unit.policies.join(", ")));
    head = head.plain(" (").escaped(&escape(unit.layer.as_str())).plain(")");
    if unit.role != "guard" {
        head = head.plain(", default ").escaped(&escape(unit.default.map_or("inherit", Action::as_str)));
    }
    lines.push(if unit.active { head } else { head.plain(", not for this agent") });
    for rule in &unit.rules {
        lines.push(rule_text(session, rule));
        for atom in &rule.atoms {
            lines.push(at(session, atom_text(atom), atom.span));
        }
    }
}

fn rule_text(session: &Session<'_>, rule: &RuleTrace) -> Text {
    let mark = if rule.set_aside.is_some() {
        "    ignored  "
    } else if rule.matched {
        "    matches  "
    } else {
        "    no       "
    };
    let mut line = Text::new().plain(mark).strong_escaped(&escape(&rule.rule)).plain(" ");
    line = line.escaped(&escape(rule.action.as_str())).plain(if rule.grant { "" } else { " (guard)" });
    line = at(session, line, rule.span);
    match rule.set_aside {
        Some(why) => line.plain("  ").plain(why),
        None => line,
    }
}

/// An atom as the rule wants it: behind `not:` stands the value of the whole.
fn atom_text(atom: &AtomTrace) -> Text {
    let truth = if atom.negated { atom.truth.clone().negate() } else { atom.truth.clone() };
    let value = match truth {
        Truth::True => Text::new().plain("             true     "),
        Truth::False => Text::new().plain("             false    "),
        Truth::Unknown(_) => Text::new().plain("             unknown  "),
        Truth::Error(_) => Text::new().plain("             error    "),
    };
    let value = if atom.negated { value.plain("not: ") } else { value };
    let value = value.escaped(&escape(&atom.text));
    match atom.truth.why() {
        Some(why) => value.plain(" (").escaped(&escape(why)).plain(")"),
        None => value,
    }
}

fn place_of(session: &Session<'_>, span: Span) -> String {
    let at = place(&session.files, span);
    format!("{}:{}:{}", at.file, at.line, at.column)
}

fn document(session: &Session<'_>, shown: &Shown<'_>, digest: &str, exit: Exit) -> Value {
    let files = &session.files;
    let explanation = shown.explanation;
    let rule = |rule: &RuleTrace| {
        json!({
            "rule": rule.rule, "action": rule.action.as_str(), "grant": rule.grant, "truth": truth(&rule.truth),
            "matched": rule.matched, "setAside": rule.set_aside, "at": rule.span.map(|span| place(files, span)),
            "atoms": rule.atoms.iter().map(|atom| json!({
                "text": atom.text, "truth": truth(&atom.truth), "negated": atom.negated,
                "at": atom.span.map(|span| place(files, span)),
            })).collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": "toolctl.explanation/v1", "toolName": shown.tool, "mode": shown.mode.as_str(), "policyDigest": digest,
        "decision": decision_info(files, &explanation.decision),
        "origins": explanation.origins.iter().map(|origin| json!({
            "effects": origin.effects.iter().map(Effect::as_str).collect::<Vec<_>>(), "from": origin_line(&origin.source),
        })).collect::<Vec<_>>(),
        "paths": explanation.paths.iter().map(|path| json!({
            "argument": path.argument, "original": path.original, "canonical": path.canonical.as_ref().ok(),
            "error": path.canonical.as_ref().err(), "viaSymlink": path.via.is_some(), "via": path.via,
            "inside": path.inside,
        })).collect::<Vec<_>>(),
        "policies": explanation.units.iter().map(|unit| json!({
            "policies": unit.policies, "role": unit.role, "layer": unit.layer.as_str(), "active": unit.active,
            "default": unit.default.map(Action::as_str), "rules": unit.rules.iter().map(rule).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "floors": explanation.decision.floors.iter().map(|floor| json!({
            "rule": floor.rule.id, "action": floor.action.as_str(), "reason": floor.reason,
        })).collect::<Vec<_>>(),
        "nearest": explanation.nearest.as_ref().map(|near| json!({
            "rule": near.rule, "action": near.action.as_str(), "failing": near.failing,
        })),
        "notes": explanation.notes,
        "whyNot": shown.milder.map(|milder| why_not_document(files, milder)),
        "exit": exit.code(),
    })
}

fn why_not_document(files: &Files, milder: &WhyNot) -> Value {
    let changes = milder.changes.iter().map(|change| {
        json!({
            "rule": change.rule, "toMatch": change.to_match, "at": change.span.map(|span| place(files, span)),
            "atoms": change.atoms.iter().map(|(wish, atom)| json!({
                "wanted": wish, "truth": truth(&atom.truth), "at": atom.span.map(|span| place(files, span)),
            })).collect::<Vec<_>>(),
        })
    });
    json!({
        "target": milder.target.as_str(), "holds": milder.holds, "changes": changes.collect::<Vec<_>>(),
        "fixed": milder.fixed,
    })
}

fn truth(truth: &Truth) -> Value {
    match truth {
        Truth::True => json!(true),
        Truth::False => json!(false),
        Truth::Unknown(why) => json!({"unknown": why}),
        Truth::Error(why) => json!({"error": why}),
    }
}
