//! What holds for every set of policies: order means nothing, what tightens never loosens.

use super::{Action, Decision, Lab, source};
use crate::model::Layer;
use crate::policy::{PolicySet, PolicySource};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn lab() -> Lab {
    let mut lab = Lab::new(
        "t",
        json!({"s": {"type": "string"}, "n": {"type": "integer"}, "p": {"type": "string", "format": "path"}}),
    );
    lab.world = std::mem::take(&mut lab.world).with_link("/ws/out", "/etc");
    lab
}

fn condition() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "{ args.s: a }",
        "{ args.s: { prefix: [a, b] } }",
        "{ args.s: { under: src } }",
        "{ args.s: { exists: true } }",
        "{ args.n: { gt: 3 } }",
        "{ args.n: { in: [1, 5] } }",
        "{ args.p: { under: [\"${workspace}\"] } }",
        "{ args.p: { path: [\"**/.env\"] } }",
        "{ ctx.userId: u }",
        "{ effect: [read, write] }",
        "{ tool: t }",
    ])
    .prop_map(str::to_owned);
    atom.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|all| format!("{{ all: [{}] }}", all.join(", "))),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|all| format!("{{ any: [{}] }}", all.join(", "))),
            inner.prop_map(|one| format!("{{ not: {one} }}")),
        ]
    })
}

pub(super) fn rule(actions: &'static [&'static str]) -> impl Strategy<Value = String> {
    let tool = prop::sample::select(vec!["", "tool: t, ", "tool: other, ", "tool: \"*\", "]);
    (tool, condition(), prop::option::of(condition()), prop::sample::select(actions)).prop_map(
        |(tool, when, unless, action)| {
            let unless = unless.map(|unless| format!("unless: {unless}, ")).unwrap_or_default();
            format!("{tool}when: {when}, {unless}action: {action}")
        },
    )
}

pub(super) const ALL: &[&str] = &["allow", "allow", "ask", "deny", "{ atLeast: ask }"];
const GUARDS: &[&str] = &["deny", "{ atLeast: ask }"];

pub(super) fn args() -> impl Strategy<Value = Value> {
    let s = prop::sample::select(vec![None, Some("a"), Some("b"), Some("src/x"), Some("\u{0}")]);
    let p = prop::sample::select(vec![None, Some("src/a"), Some(".env"), Some("out/x"), Some("/srv/.env")]);
    (s, prop::option::of(0i64..7), p).prop_map(|(s, n, p)| {
        let mut args = json!({});
        if let Some(s) = s {
            args["s"] = json!(s);
        }
        if let Some(n) = n {
            args["n"] = json!(n);
        }
        if let Some(p) = p {
            args["p"] = json!(p);
        }
        args
    })
}

/// A file with these rules; ids are made of the rules' texts, so that they do not depend on their order.
fn file(name: &str, role: &str, default: &str, rules: &[String]) -> PolicySource {
    let mut text = format!("policy: {name}\nformat: 1\nrole: {role}\n");
    if role != "guard" {
        writeln!(text, "default: {default}").unwrap();
    }
    text.push_str("rules:\n");
    for (at, rule) in rules.iter().enumerate() {
        let id: String = crate::canon::sha256(rule.as_bytes()).chars().skip(7).take(20).collect();
        let copy = rules[..at].iter().filter(|other| *other == rule).count();
        writeln!(text, "  - {{ id: r{id}-{copy}, {rule} }}").unwrap();
    }
    if rules.is_empty() {
        text = text.replace("rules:\n", "");
    }
    source(&text, Layer::Project, true)
}

fn decide(lab: &Lab, sources: Vec<PolicySource>, args: &Value) -> Decision {
    let (set, _) = PolicySet::new(sources);
    lab.decide(&set, args)
}

pub(super) fn same(a: &Decision, b: &Decision) -> bool {
    let matched = |d: &Decision| {
        let mut all: Vec<_> = d.matched.iter().map(|m| (m.rule.clone(), m.action, m.decisive)).collect();
        all.sort();
        all
    };
    a.action == b.action
        && a.rule.id == b.rule.id
        && a.reason == b.reason
        && a.code == b.code
        && a.effects == b.effects
        && matched(a) == matched(b)
}

pub(super) fn defaults() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["allow", "ask", "deny"])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn order_of_rules_and_files_means_nothing(
        rules in prop::collection::vec(rule(ALL), 0..6).prop_shuffle(),
        default in defaults(),
        args in args(),
        split in 0usize..6,
    ) {
        let lab = lab();
        let split = split.min(rules.len());
        let (a, b) = rules.split_at(split);
        let (a, b) = (a.to_vec(), b.to_vec());
        let reversed = |rules: &[String]| rules.iter().rev().cloned().collect::<Vec<_>>();
        let first = decide(&lab, vec![file("x", "host", default, &a), file("y", "host", default, &b)], &args);
        let second = decide(
            &lab,
            vec![file("y", "host", default, &reversed(&b)), file("x", "host", default, &reversed(&a))],
            &args,
        );
        prop_assert!(same(&first, &second), "{first:#?}\n{second:#?}");
    }

    #[test]
    fn a_guard_and_a_delegate_never_loosen(
        rules in prop::collection::vec(rule(ALL), 0..5),
        guards in prop::collection::vec(rule(GUARDS), 1..3),
        delegated in prop::collection::vec(rule(ALL), 0..3),
        default in defaults(),
        inner in prop::sample::select(vec!["inherit", "allow", "ask", "deny"]),
        args in args(),
    ) {
        let lab = lab();
        let host = || file("h", "host", default, &rules);
        let guard = || file("g", "guard", "", &guards);
        let delegate = || file("d", "delegate", inner, &delegated);
        let alone = decide(&lab, vec![host()], &args).action;
        let guarded = decide(&lab, vec![host(), guard()], &args).action;
        let delegate_too = decide(&lab, vec![host(), delegate()], &args).action;
        let all = decide(&lab, vec![host(), guard(), delegate()], &args).action;
        prop_assert!(alone <= guarded && alone <= delegate_too);
        // Removing the delegate never tightens, removing the guard neither.
        prop_assert!(guarded <= all && delegate_too <= all);
    }

    #[test]
    fn a_plan_decides_as_each_mode_alone(
        rules in prop::collection::vec(rule(ALL), 0..5),
        default in defaults(),
        args in args(),
    ) {
        let mut lab = lab();
        let (set, _) = PolicySet::new(vec![file("h", "host", default, &rules)]);
        let (decision, plan) = lab.plan(&set, &args);
        prop_assert_eq!(decision, lab.decide(&set, &args));
        lab.ctx.mode = crate::model::RunMode::Plan;
        prop_assert_eq!(plan, lab.decide(&set, &args));
    }

    #[test]
    fn an_untrusted_project_never_loosens(
        rules in prop::collection::vec(rule(ALL), 0..5),
        default in defaults(),
        args in args(),
    ) {
        let lab = lab();
        let mut repo = file("r", "host", default, &rules);
        repo.trusted = false;
        let alone = decide(&lab, Vec::new(), &args).action;
        prop_assert!(decide(&lab, vec![repo], &args).action >= alone);
    }

    #[test]
    fn plan_mode_and_requires_approval_never_loosen(
        rules in prop::collection::vec(rule(ALL), 0..5),
        default in defaults(),
        args in args(),
    ) {
        let mut lab = lab();
        let host = || file("h", "host", default, &rules);
        let plain = decide(&lab, vec![host()], &args).action;
        lab.tool.requires_approval = Some(crate::manifest::RequiresApproval::Always(true));
        let floored = decide(&lab, vec![host()], &args).action;
        prop_assert!(floored >= plain && floored >= Action::Ask);
        lab.ctx.mode = crate::model::RunMode::Plan;
        prop_assert!(decide(&lab, vec![host()], &args).action >= floored);
    }
}
