//! `toolctl policy explain` and `show`: which rule decides a call, and which rules there are.

use crate::cli::args::{CallArgs, PolicyCommand};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::prepare::{load_policies, prepare_whole};
use crate::cli::session::Session;
use crate::cli::verdict::{decision_exit, decision_info, origin_line, place, rule_line};
use crate::model::Effect;
use crate::policy::{Action, AtomTrace, Explanation, RuleTrace, Truth, UnitTrace, explain};
use crate::term::{Format, Table, Text};
use crate::text::{Span, escape};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, command: &PolicyCommand) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::Explain(args) => explain_call(session, args),
        PolicyCommand::Show => show(session),
    }
}

fn explain_call(session: &mut Session<'_>, args: &CallArgs) -> Result<Exit, Failure> {
    let prepared = prepare_whole(session, args)?;
    let ready = prepared.ready(session, args)?;
    let secrets = prepared.tool.schema.secrets(&Value::Object(ready.call.args().clone()));
    let classified = prepared.classify(session, ready.call);
    let mut explanation = explain(&classified, &prepared.policies, &prepared.ctx);
    explanation.paths.retain(|path| !secrets.contains(&path.argument));
    let exit = decision_exit(&explanation.decision);
    if session.ui.format() == Format::Human {
        for line in human(session, &args.tool, &explanation) {
            session.ui.line(&line)?;
        }
    } else {
        let document = document(session, &args.tool, &explanation, exit);
        session.ui.document(&document)?;
    }
    Ok(exit)
}

fn human(session: &Session<'_>, tool: &str, explanation: &Explanation) -> Vec<Text> {
    let decision = &explanation.decision;
    let effects: Vec<&str> = decision.effects.iter().map(Effect::as_str).collect();
    let verdict = match decision.action {
        Action::Allow => Text::new().good("ALLOW"),
        Action::Ask => Text::new().warning("ASK"),
        Action::Deny => Text::new().bad("DENY"),
    };
    let mut lines = vec![
        verdict.plain("  ").escaped(&escape(tool)).plain("  effects ").escaped(&escape(&effects.join(", "))),
        Text::new().plain("  by       ").escaped(&escape(&rule_line(&session.files, decision))),
    ];
    if let Some(reason) = &decision.reason {
        lines.push(Text::new().plain("  reason   ").escaped(&escape(reason)));
    }
    for origin in &explanation.origins {
        lines.push(Text::new().plain("  effect   from ").escaped(&escape(&origin_line(&origin.source))));
    }
    for path in &explanation.paths {
        let arrow = match &path.canonical {
            Ok(canonical) => format!("{} -> {canonical}", path.original),
            Err(fault) => format!("{}: {fault}", path.original),
        };
        let mut line = Text::new()
            .plain("  fact     ")
            .escaped(&escape(&path.argument))
            .plain(" ")
            .escaped(&escape(&arrow));
        line = line.plain(if path.inside { " (inside the workspace" } else { " (outside the workspace" });
        lines.push(line.plain(if path.via_symlink { ", through a symlink)" } else { ")" }));
    }
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
    if let Some(near) = &explanation.nearest {
        let line = Text::new()
            .plain("  nearest  ")
            .escaped(&escape(&near.rule))
            .plain(" would ")
            .escaped(&escape(near.action.as_str()));
        lines.push(line.plain(" if ").escaped(&escape(&near.failing.join(" and "))));
    }
    lines
}

fn unit_lines(session: &Session<'_>, unit: &UnitTrace, lines: &mut Vec<Text>) {
    let mut head =
        Text::new().plain("  ").plain(unit.role).plain(" ").escaped(&escape(&unit.policies.join(", ")));
    head = head.plain(" (").escaped(&escape(unit.layer.as_str())).plain("), default ");
    head = head.escaped(&escape(unit.default.map_or("inherit", Action::as_str)));
    lines.push(if unit.active { head } else { head.plain(", not for this agent") });
    for rule in &unit.rules {
        lines.push(rule_text(session, rule));
        for atom in &rule.atoms {
            lines.push(atom_text(atom));
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
    if let Some(span) = rule.span {
        line = line.plain("  ").escaped(&escape(&shown(session, span)));
    }
    match rule.set_aside {
        Some(why) => line.plain("  ").plain(why),
        None => line,
    }
}

fn atom_text(atom: &AtomTrace) -> Text {
    let value = match atom.truth {
        Truth::True => Text::new().plain("             true     "),
        Truth::False => Text::new().plain("             false    "),
        Truth::Unknown(_) => Text::new().plain("             unknown  "),
        Truth::Error(_) => Text::new().plain("             error    "),
    };
    let value = if atom.negated { value.plain("not: ") } else { value };
    value.escaped(&escape(&atom.text))
}

fn shown(session: &Session<'_>, span: Span) -> String {
    let at = place(&session.files, span);
    format!("{}:{}:{}", at.file, at.line, at.column)
}

fn document(session: &Session<'_>, tool: &str, explanation: &Explanation, exit: Exit) -> Value {
    let files = &session.files;
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
        "schema": "toolctl.explanation/v1", "toolName": tool,
        "decision": decision_info(files, &explanation.decision),
        "origins": explanation.origins.iter().map(|origin| json!({
            "effects": origin.effects.iter().map(Effect::as_str).collect::<Vec<_>>(), "from": origin_line(&origin.source),
        })).collect::<Vec<_>>(),
        "paths": explanation.paths.iter().map(|path| json!({
            "argument": path.argument, "original": path.original, "canonical": path.canonical.as_ref().ok(),
            "error": path.canonical.as_ref().err(), "viaSymlink": path.via_symlink, "inside": path.inside,
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
        "exit": exit.code(),
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

fn show(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let project = session.project()?;
    let set = load_policies(session, &project, None)?;
    if session.ui.format() == Format::Human {
        let mut table = Table::new(&["policy", "layer", "counts", "file", "rules"]);
        for source in set.sources() {
            let counts = if source.trusted { "fully" } else { "guards only: needs trust" };
            let rules: Vec<&str> = source.file.rule_ids().collect();
            table.row([
                escape(source.file.name()),
                escape(source.layer.as_str()),
                escape(counts),
                escape(&source.path.to_string_lossy()),
                escape(&rules.join(" ")),
            ]);
        }
        session.ui.table(&table)?;
        session.ui.line(&Text::new().plain("digest ").escaped(&escape(&set.digest())))?;
    } else {
        let policies: Vec<Value> = set
            .sources()
            .iter()
            .map(|source| {
                json!({
                    "policy": source.file.name(), "layer": source.layer.as_str(), "trusted": source.trusted,
                    "file": source.path.to_string_lossy(), "digest": source.text_digest,
                    "rules": source.file.rule_ids().collect::<Vec<_>>(),
                })
            })
            .collect();
        let document = json!({"schema": "toolctl.policies/v1", "digest": set.digest(), "policies": policies});
        session.ui.document(&document)?;
    }
    Ok(Exit::Ok)
}
