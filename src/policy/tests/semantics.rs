//! The decision: grants, guards, reasons, limits, examples.

use super::{Action, Code, Lab, brief, effects, host, indent, load, one};
use crate::policy::{Remember, Strength, check_examples, why_not};
use serde_json::{Value, json};

fn pay() -> Lab {
    Lab::new(
        "pay",
        json!({"amount": {"type": "number"}, "currency": {"type": "string"}, "to": {"type": "string"},
               "key": {"type": "string", "writeOnly": true}}),
    )
}

const PAY: &str = "
policy: host
format: 1
role: host
default: deny
vars: { ask_over: 50, hard_cap: 1000, money: [EUR, USD] }
rules:
  - id: small
    tool: pay
    when: { args.amount: { gt: 0, le: \"${vars.ask_over}\" }, args.currency: { in: \"${vars.money}\" } }
    action: allow
  - id: mid
    tool: pay
    when: { args.amount: { gt: \"${vars.ask_over}\", le: \"${vars.hard_cap}\" }, args.currency: { in: [\"${vars.money}\", GBP] } }
    action: ask
    reason: \"{args.amount} {args.currency} to {args.to} is above {vars.ask_over}, key {args.key}, {ctx.userId}, {bytes(args.to)}\"
";

#[test]
fn amounts_are_exact() {
    let set = one(PAY);
    for (amount, currency, action, rule) in [
        ("0", "EUR", Action::Deny, "default"),
        ("50", "EUR", Action::Allow, "host/small"),
        ("50.00000000000000000001", "EUR", Action::Ask, "host/mid"),
        ("50.01", "GBP", Action::Ask, "host/mid"),
        ("50", "GBP", Action::Deny, "default"),
        ("1000.01", "EUR", Action::Deny, "default"),
    ] {
        let args: Value =
            serde_json::from_str(&format!(r#"{{"amount":{amount},"currency":"{currency}"}}"#)).unwrap();
        let decision = pay().decide(&set, &args);
        assert_eq!(brief(&decision), (action, rule), "{amount} {currency}");
    }
}

#[test]
fn reasons_quote_cut_escape_and_mask() {
    let to = format!("bob\u{202e}\n{}", "x".repeat(200));
    let args = json!({"amount": 60, "currency": "EUR", "to": to, "key": "s3cret"});
    let decision = pay().decide(&one(PAY), &args);
    let reason = decision.reason.unwrap();
    assert!(reason.starts_with("60 \"EUR\" to \"bob"), "{reason}");
    assert!(reason.contains("\"… is above 50, key (secret), (absent), 207"), "{reason}");
    assert!(!reason.contains("s3cret") && !reason.contains('\u{202e}') && !reason.contains('\n'), "{reason}");
    assert!(reason.len() < 300);
}

#[test]
fn grants_open_and_guards_tighten() {
    let lab = pay();
    let args = json!({"amount": 5});
    let allow = "- { id: a, tool: pay, always: true, action: allow }";
    let ask = "- { id: k, tool: pay, always: true, action: ask }";
    let floor = "- { id: f, tool: pay, action: { atLeast: ask } }";
    let deny = "- { id: d, tool: pay, action: deny }";
    for (rules, action, rule) in [
        (vec![], Action::Deny, "default"),
        (vec![allow], Action::Allow, "host/a"),
        (vec![allow, ask], Action::Ask, "host/k"),
        (vec![allow, floor], Action::Ask, "host/f"),
        (vec![floor], Action::Deny, "default"),
        (vec![allow, ask, deny], Action::Deny, "host/d"),
    ] {
        let text = if rules.is_empty() {
            "policy: host\nformat: 1\nrole: host".to_owned()
        } else {
            host(&rules.join("\n"))
        };
        assert_eq!(brief(&lab.decide(&one(&text), &args)), (action, rule), "{rules:?}");
    }
    let decision = lab.under(&[allow, ask, deny].join("\n"), &args);
    let matched: Vec<_> = decision.matched.iter().map(|m| (m.rule.as_str(), m.decisive)).collect();
    assert_eq!(matched, [("host/d", true), ("host/k", false), ("host/a", false)]);
    assert_eq!(decision.code, Some(Code::PolicyDenied));
}

#[test]
fn a_rule_selects_tools_by_name_list_pattern_and_exclusion() {
    for (tool, selected) in [
        ("pay", true),
        ("[a, pay]", true),
        ("\"p*\"", true),
        ("{ in: [pay] }", true),
        ("{ not_in: [a, \"b*\"] }", true),
        ("other", false),
        ("\"*x\"", false),
        ("{ not_in: [\"p*\"] }", false),
    ] {
        let rule = format!("- {{ id: a, tool: {tool}, always: true, action: allow }}");
        assert_eq!(pay().under(&rule, &json!({})).action == Action::Allow, selected, "{tool}");
    }
}

#[test]
fn an_exception_is_written_on_the_rule() {
    let lab = pay();
    let rules = "- { id: a, tool: pay, always: true, action: allow }
- { id: d, tool: pay, when: { args.amount: { gt: 10 } }, unless: { args.to: bob }, action: deny }";
    for (args, action) in [
        (json!({"amount": 11, "to": "eve"}), Action::Deny),
        (json!({"amount": 11, "to": "bob"}), Action::Allow),
        (json!({"amount": 10, "to": "eve"}), Action::Allow),
        // It is not known whether the exception holds, so the guard does.
        (json!({"amount": 11}), Action::Deny),
    ] {
        assert_eq!(lab.under(rules, &args).action, action, "{args}");
    }
}

#[test]
fn a_guard_that_is_only_evaluated_is_reported() {
    let rules = "- { id: a, tool: pay, always: true, action: allow }
- { id: d, tool: pay, mode: evaluate, action: deny }";
    let decision = pay().under(rules, &json!({}));
    assert_eq!(decision.action, Action::Allow);
    assert!(decision.matched.iter().any(|m| m.rule == "host/d" && m.evaluate && !m.decisive));
    let enforced = rules.replace("evaluate", "enforce");
    assert_eq!(pay().under(&enforced, &json!({})).action, Action::Deny);
}

#[test]
fn limits_of_every_matching_grant_and_what_an_ask_demands() {
    let rules = "- { id: a, tool: pay, always: true, action: allow, limits: { timeout: 5s } }
- { id: b, tool: pay, when: { args.amount: 1 }, action: ask, limits: { maxMemoryMB: 64 }, strength: presence, remember: 1h }
- { id: c, tool: pay, when: { args.amount: 2 }, action: ask, limits: { maxMemoryMB: 32 } }";
    let decision = pay().under(rules, &json!({"amount": 1}));
    assert_eq!(decision.limits.len(), 2);
    assert_eq!(decision.strength, Some(Strength::Presence));
    assert_eq!(decision.remember, Some(Remember::For(std::time::Duration::from_secs(3600))));
    assert!(!decision.from_approval_floor);
    let decision = pay().under(rules, &json!({"amount": 2}));
    assert_eq!((decision.limits.len(), decision.strength, decision.remember), (2, None, None));
}

#[test]
fn effects_are_the_first_entry_that_holds() {
    let set = one("
policy: host
format: 1
role: host
default: allow
effects:
  pay:
    - { when: { args.amount: 0 }, effect: read }
    - { when: { args.amount: { lt: 10 } }, effect: [write, external] }
    - { when: { args.to: bob }, effect: execute }
");
    let lab = pay();
    for (args, expected) in [
        (json!({"amount": 0}), vec!["read"]),
        (json!({"amount": 5}), vec!["write", "external"]),
        (json!({"amount": 50, "to": "bob"}), vec!["execute"]),
        (json!({"amount": 50, "to": "eve"}), vec!["unknown"]),
        // It is not known which entry holds, so the call has the effects of all that may.
        (json!({"to": "bob"}), vec!["read", "write", "external", "execute"]),
        (json!({}), vec!["read", "write", "external", "execute", "unknown"]),
    ] {
        assert_eq!(lab.decide(&set, &args).effects, effects(&expected), "{args}");
    }
    let decided = lab.decided(&set, &json!({"amount": 5}));
    assert_eq!(decided.origins().len(), 1);
    assert!(decided.origins()[0].span.is_some());
    assert_eq!((decided.call().tool_name(), decided.tool().name.as_str()), ("pay", "pay"));
    assert_eq!(decided.into_call().args().len(), 1);
}

#[test]
fn an_effect_that_cannot_be_evaluated_denies() {
    let text = "
policy: host
format: 1
role: host
default: allow
effects:
  pay: [ { when: { args.to: { under: src } }, effect: read }, { effect: write } ]
";
    let decision = pay().decide(&one(text), &json!({"to": "a\u{0}"}));
    assert_eq!(brief(&decision), (Action::Deny, "host/effects/pay/1"));
    assert_eq!(decision.code, Some(Code::PolicyError));
    assert_eq!(pay().decide(&one(text), &json!({"to": "src/a"})).action, Action::Allow);
}

#[test]
fn hints_are_believed_only_where_the_host_says_so() {
    let mut lab = pay();
    lab.tool.read_only = true;
    let plain = "policy: host\nformat: 1\nrole: host\ndefault: allow\n";
    let trusting = format!("{plain}trustHints: [pay]\n");
    assert_eq!(lab.decide(&one(plain), &json!({})).effects, effects(&["unknown"]));
    assert_eq!(lab.decide(&one(&trusting), &json!({})).effects, effects(&["read"]));
    let classified = format!("{trusting}effects: {{ pay: [ {{ effect: write }} ] }}\n");
    assert_eq!(lab.decide(&one(&classified), &json!({})).effects, effects(&["write"]));
    lab.tool.destructive = true;
    assert_eq!(lab.decide(&one(&trusting), &json!({})).effects, effects(&["unknown"]));
}

#[test]
fn inline_examples_are_tried() {
    let rule = |rows: &str| {
        host(&format!(
            "- id: p\n  tool: [read_file, write_file]\n  when: {{ args.path: {{ path: [\"**/.env\"], case: fold }} }}\n  action: deny\n{}",
            indent(rows)
        ))
    };
    for (rows, failed) in [
        ("match: [{ path: .env }, { path: \"a/../.ENV\" }]\nnotMatch: [{ path: src/env.rs }]", 0),
        ("match: [{ path: env }]", 1),
        ("notMatch: [{ path: .env }, { path: x/.env }]", 2),
        ("match: [{ pth: .env }]", 1),
    ] {
        let file = load(&rule(rows)).unwrap();
        let found = check_examples(&file);
        assert_eq!(found.len(), failed, "{rows}: {found:#?}");
        assert!(found.iter().all(|fault| fault.code == Code::PolicyExampleFailed));
    }
}

#[test]
fn an_explanation_names_what_stood_in_the_way() {
    let set = one(PAY);
    let explanation = pay().explain(&set, &json!({"amount": 50, "currency": "GBP"}));
    let near = explanation.nearest.unwrap();
    assert_eq!(near.rule, "host/small");
    assert_eq!(near.failing, ["args.currency in [\"EUR\", \"USD\"]"]);
    let unit = &explanation.units[0];
    assert_eq!((unit.role, unit.active, unit.rules.len()), ("host", true, 2));
    let values: Vec<_> = unit.rules[0].atoms.iter().map(|atom| atom.truth.as_str()).collect();
    assert_eq!(values, ["true", "true", "false"]);
    assert!(unit.rules[0].atoms.iter().all(|atom| atom.span.is_some()));
}

#[test]
fn an_explanation_shows_what_a_path_became() {
    let mut lab = Lab::builtin("read_file");
    lab.world = std::mem::take(&mut lab.world).with_link("/ws/out", "/etc").with_file("/etc/passwd", "x");
    let (set, _) = super::PolicySet::new(Vec::new());
    let explanation = lab.explain(&set, &json!({"path": "out/passwd"}));
    let path = &explanation.paths[0];
    assert_eq!((path.original.as_str(), path.canonical.as_deref()), ("out/passwd", Ok("/etc/passwd")));
    assert!(path.via.as_deref() == Some("/ws/out") && !path.inside);
    assert_eq!(brief(&explanation.decision), (Action::Deny, "default"));
    assert_eq!(explanation.nearest.unwrap().rule, "builtin/read-workspace");
}

/// The rules, the arguments, the wanted decision; each obstacle as `rule +atom` (to match) or `rule -atom` (not to).
#[test]
fn what_stands_in_the_way_is_named_and_no_more() {
    let rules = "
- { id: small, tool: pay, when: { args.amount: { gt: 0, le: 50 }, args.currency: { in: [EUR, USD] } }, action: allow }
- { id: big, tool: pay, when: { args.amount: { gt: 50, le: 1000 } }, action: ask }
- { id: huge, tool: pay, when: { args.amount: { gt: 1000 } }, unless: { args.currency: { eq: EUR } }, action: deny }
";
    let set = one(&host(rules));
    for (args, target, expected) in [
        (json!({"amount": 5, "currency": "EUR"}), Action::Allow, &[][..]),
        (
            json!({"amount": 5, "currency": "GBP"}),
            Action::Allow,
            &["host/small +args.currency in [\"EUR\", \"USD\"]"],
        ),
        (json!({"amount": 60, "currency": "GBP"}), Action::Ask, &[]),
        (
            json!({"amount": 60, "currency": "GBP"}),
            Action::Allow,
            &[
                "host/big -not (args.amount gt 50)",
                "host/small +args.amount le 50",
                "host/small +args.currency in [\"EUR\", \"USD\"]",
            ],
        ),
        (
            json!({"amount": 2000, "currency": "GBP"}),
            Action::Ask,
            &["host/huge -not (args.amount gt 1000)", "host/big +args.amount le 1000"],
        ),
        (json!({"amount": 2000, "currency": "EUR"}), Action::Ask, &["host/big +args.amount le 1000"]),
    ] {
        let answer = why_not(&pay().explain(&set, &args), target);
        let found: Vec<String> = answer
            .changes
            .iter()
            .flat_map(|change| {
                let sign = if change.to_match { '+' } else { '-' };
                change.atoms.iter().map(move |(wish, _)| format!("{} {sign}{wish}", change.rule))
            })
            .collect();
        assert_eq!(found, expected, "{args} {target}");
        assert_eq!(answer.holds, expected.is_empty(), "{args} {target}");
        assert!(answer.fixed.is_empty(), "{answer:#?}");
    }
}

#[test]
fn what_no_condition_changes_is_said() {
    let set = one(&host(
        "- { id: no, tool: pay, action: deny }\n- { id: yes, tool: pay, always: true, action: allow }",
    ));
    let mut lab = pay();
    lab.ctx.mode = crate::model::RunMode::Plan;
    let answer = why_not(&lab.explain(&set, &json!({})), Action::Allow);
    assert!(answer.changes.is_empty() && !answer.holds);
    assert_eq!(answer.fixed[0], "host/no says deny of every such call");
    assert!(answer.fixed[1].starts_with("engine/plan-mode: "), "{answer:#?}");
    let none = one(&host("- { id: other, tool: other, always: true, action: allow }"));
    let answer = why_not(&pay().explain(&none, &json!({})), Action::Ask);
    assert_eq!(answer.fixed, ["no rule of host could ask about this call, and its default is deny"]);
}
