//! The rules of toolctl itself, which no policy can write away.

use super::{Action, Code, Lab, LegacyApproval, brief, effects, host, one};
use crate::manifest::RequiresApproval;
use crate::model::{Effect, EffectSet, Layer, RunMode};
use crate::source::{Files, parse_yaml};
use serde_json::json;

const ALLOW: &str = "- { id: a, always: true, action: allow, from: project }";

fn writer(path: &str) -> (Lab, serde_json::Value) {
    let mut lab = Lab::new("w", json!({"path": {"type": "string", "format": "path"}}));
    lab.tool.layer = Layer::Builtin;
    lab.tool.builtin_effects = Some(effects(&["write"]));
    (lab, json!({"path": path}))
}

#[test]
fn plan_mode_takes_the_strictest_answer() {
    let mut lab = Lab::new("t", json!({}));
    lab.tool.layer = Layer::Builtin;
    for (names, action) in [
        (vec!["read"], Action::Allow),
        (vec!["unknown"], Action::Ask),
        (vec!["read", "unknown"], Action::Ask),
        (vec!["write"], Action::Deny),
        (vec!["read", "execute"], Action::Deny),
        (vec!["external", "unknown"], Action::Deny),
    ] {
        lab.tool.builtin_effects = Some(effects(&names));
        lab.ctx.mode = RunMode::Plan;
        let decision = lab.under(ALLOW, &json!({}));
        assert_eq!(decision.action, action, "{names:?}");
        if action != Action::Allow {
            assert_eq!(decision.rule.id, "engine/plan-mode");
        }
        assert_eq!(decision.code == Some(Code::PolicyPlanMode), action == Action::Deny);
        lab.ctx.mode = RunMode::Execute;
        assert_eq!(lab.under(ALLOW, &json!({})).action, Action::Allow);
    }
}

#[test]
fn a_manifest_around_a_built_in_keeps_its_effects() {
    let (mut lab, args) = writer("a");
    lab.tool.layer = Layer::Project;
    assert_eq!(lab.under(ALLOW, &args).effects, effects(&["write"]));
    let claims = "policy: h\nformat: 1\nrole: host\ndefault: allow\neffects: { w: [ { effect: read } ] }";
    assert_eq!(lab.decide(&one(claims), &args).effects, effects(&["read", "write"]));
}

#[test]
fn plan_mode_loosens_nothing() {
    let (mut lab, args) = writer("a");
    lab.ctx.mode = RunMode::Plan;
    let decision = lab.under("- { id: d, action: deny }", &args);
    assert_eq!(brief(&decision), (Action::Deny, "host/d"));
}

#[test]
fn the_manifest_may_demand_approval_and_cannot_waive_the_policy() {
    let mut lab = Lab::new("t", json!({"n": {"type": "integer"}}));
    let ask = "- { id: k, tool: t, always: true, action: ask }";
    for (requires, rules, legacy, action, rule, floor) in [
        (None, ALLOW, false, Action::Allow, "host/a", false),
        (Some(true), ALLOW, false, Action::Ask, "engine/requires-approval", true),
        (Some(false), ALLOW, false, Action::Allow, "host/a", false),
        (Some(false), ask, false, Action::Ask, "host/k", false),
        (Some(true), ask, false, Action::Ask, "host/k", false),
        (None, ALLOW, true, Action::Ask, "engine/approval-policy", true),
        (Some(false), ALLOW, true, Action::Allow, "host/a", false),
        (Some(true), ALLOW, true, Action::Ask, "engine/requires-approval", true),
    ] {
        lab.tool.requires_approval = requires.map(RequiresApproval::Always);
        lab.legacy = if legacy { LegacyApproval::Names(vec!["t".to_owned()]) } else { LegacyApproval::None };
        let decision = lab.under(rules, &json!({}));
        assert_eq!(brief(&decision), (action, rule), "{requires:?} {legacy}");
        assert_eq!(decision.from_approval_floor, floor);
    }
    lab.tool.requires_approval = Some(RequiresApproval::Always(false));
    let notes = lab.explain(&one(&host(ask)), &json!({})).notes;
    assert!(notes[0].contains("`requiresApproval: false` has no force here"), "{notes:?}");
    lab.legacy = LegacyApproval::All;
    lab.tool.requires_approval = None;
    assert_eq!(lab.under(ALLOW, &json!({})).action, Action::Ask);
}

#[test]
fn the_manifest_may_demand_approval_of_some_calls() {
    let mut lab = Lab::new("t", json!({"n": {"type": "integer"}, "s": {"type": "string"}}));
    for (when, args, action) in [
        ("args.n: { gt: 5 }", json!({"n": 6}), Action::Ask),
        ("args.n: { gt: 5 }", json!({"n": 5}), Action::Allow),
        ("args.n: { gt: 5 }", json!({}), Action::Ask),
        ("args.s: { under: src }", json!({"s": "a\u{0}"}), Action::Deny),
        ("args.n: { gtt: 5 }", json!({"n": 5}), Action::Deny),
    ] {
        let mut files = Files::new();
        let id = files.add("m.yaml", when);
        lab.tool.requires_approval = Some(RequiresApproval::When(parse_yaml(&files, id).unwrap()));
        let decision = lab.under(ALLOW, &args);
        assert_eq!(decision.action, action, "{when}");
        assert_eq!(decision.code == Some(Code::PolicyError), action == Action::Deny);
    }
}

#[test]
fn control_files_are_no_target() {
    for (path, denied) in [
        ("policies", true),
        ("policies/a.yaml", true),
        ("sub/../policies/a.yaml", true),
        ("toolctl.yaml", true),
        ("link/a.yaml", true),
        ("policies2/a.yaml", false),
        ("src/a.rs", false),
    ] {
        let (mut lab, args) = writer(path);
        lab.world = std::mem::take(&mut lab.world).with_dir("/ws/policies").with_link("/ws/link", "policies");
        for names in [&["write"], &["execute"], &["unknown"]] {
            lab.tool.builtin_effects = Some(effects(names));
            let decision = lab.under(ALLOW, &args);
            assert_eq!(decision.code == Some(Code::PolicyControlFiles), denied, "{path} {names:?}");
            assert_eq!(decision.action == Action::Deny, denied);
        }
        lab.tool.builtin_effects = Some(EffectSet::of(Effect::Read));
        assert_eq!(lab.under(ALLOW, &args).action, Action::Allow, "reading {path}");
    }
}

/// What is moved or removed takes along all that is below it; what is only followed does not.
#[test]
fn a_folder_that_holds_control_files_is_no_target_of_a_move() {
    for tool in ["move_file", "delete_file"] {
        for (path, denied) in [
            (".", true),
            ("conf", true),
            ("conf/", true),
            ("conf/toolctl", true),
            ("conf/toolctl/tools/x", true),
            ("conf2", false),
            ("conf/other", false),
            ("link", true),
        ] {
            let mut lab = Lab::builtin(tool);
            lab.protected.push("/ws/conf/toolctl/tools".into());
            lab.world = std::mem::take(&mut lab.world)
                .with_dir("/ws/conf/toolctl/tools")
                .with_link("/ws/link", "conf");
            let mut args = json!({"path": path});
            if tool == "move_file" {
                args["to"] = json!("elsewhere");
            }
            let decision = lab.under(ALLOW, &args);
            assert_eq!(decision.code == Some(Code::PolicyControlFiles), denied, "{tool} {path}");
            assert_eq!(decision.action == Action::Deny, denied, "{tool} {path}");
            if tool == "move_file" {
                let args = json!({"path": "elsewhere", "to": path});
                assert_eq!(lab.under(ALLOW, &args).action == Action::Deny, denied, "to {path}");
            }
        }
    }
    // A formatter may be told to work on a folder in which a control file lies: it is held there.
    let (mut lab, args) = writer(".");
    lab.tool.builtin_effects = Some(effects(&["write"]));
    assert_eq!(lab.under(ALLOW, &args).action, Action::Allow);
}

#[test]
fn no_rule_lifts_control_files() {
    let (lab, args) = writer("policies/a.yaml");
    let rules = "- { id: a, when: { args.path: { path: [\"policies/**\"] } }, action: allow }";
    assert_eq!(lab.under(rules, &args).code, Some(Code::PolicyControlFiles));
}

#[test]
fn files_that_are_executed_later_need_a_rule_that_names_them() {
    for (path, name) in [
        (".git/hooks/pre-commit", ".git/hooks"),
        (".git/config", ".git/config"),
        (".envrc", ".envrc"),
        (".VSCode/tasks.json", ".vscode"),
    ] {
        let (lab, args) = writer(path);
        let decision = lab.under(ALLOW, &args);
        assert_eq!(brief(&decision), (Action::Deny, "engine/control-files"), "{path}");
        let named = format!(
            "{ALLOW}\n- {{ id: n, when: {{ args.path: {{ path: [\"{name}\", \"{name}/**\"], case: fold }} }}, action: ask }}"
        );
        assert_eq!(brief(&lab.under(&named, &args)), (Action::Ask, "host/n"), "{path}");
        let guard = format!(
            "{ALLOW}\n- {{ id: n, when: {{ args.path: {{ path: [\"{name}/**\"] }} }}, action: {{ atLeast: ask }} }}"
        );
        assert_eq!(lab.under(&guard, &args).code, Some(Code::PolicyControlFiles), "a guard lifts nothing");
        let vague = "- { id: n, when: { args.path: { path: [\"**\"] } }, action: allow }";
        assert_eq!(lab.under(vague, &args).code, Some(Code::PolicyControlFiles));
    }
}
