//! What is proved of rules is so: random rules and random calls, judged by the real evaluator.

use super::lint_policies;
use crate::diag::Code;
use crate::model::Layer;
use crate::policy::tests::{Lab, host, source};
use crate::policy::{LegacyApproval, PolicySet};
use proptest::prelude::*;
use serde_json::{Value, json};

fn lab() -> Lab {
    let mut lab = Lab::new(
        "t",
        json!({
            "s": {"type": "string", "maxLength": 4},
            "n": {"type": "integer", "minimum": 0, "maximum": 9},
            "p": {"type": "string", "format": "path"},
            "e": {"enum": ["a", "b"]},
            "l": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "o": {"type": ["string", "null"]},
        }),
    );
    lab.tool.parameters["required"] = json!(["s", "n", "p"]);
    lab
}

fn atom() -> impl Strategy<Value = String> {
    let word = "[ab/]{1,2}";
    let path = prop::sample::select(vec![
        "under: [a]",
        "under: [a/b]",
        "under: [/a]",
        "under: [\".\"]",
        "path: [\"**/a\"]",
        "path: [\"a/*\"]",
        "path: [\"a/**\"]",
        "path: [\"/**/b\"]",
        "path: [\"*\"]",
        "path: [A/*], case: fold",
        "ext: [a]",
    ]);
    prop_oneof![
        (prop::sample::select(vec!["gt", "ge", "lt", "le", "eq"]), 0..11)
            .prop_map(|(op, n)| format!("{{ args.n: {{ {op}: {n} }} }}")),
        (prop::sample::select(vec!["in", "not_in"]), prop::collection::vec(0..4, 1..3))
            .prop_map(|(op, all)| format!("{{ args.n: {{ {op}: {all:?} }} }}")),
        (
            prop::sample::select(vec!["s", "o"]),
            prop::sample::select(vec!["prefix", "suffix", "contains", "eq"]),
            word
        )
            .prop_map(|(name, op, text)| format!("{{ args.{name}: {{ {op}: \"{text}\" }} }}")),
        "[ab*/]{1,3}".prop_map(|text| format!("{{ args.s: {{ glob: \"{text}\" }} }}")),
        (prop::sample::select(vec!["minBytes", "maxBytes"]), 0..4)
            .prop_map(|(op, n)| format!("{{ args.s: {{ {op}: {n} }} }}")),
        path.prop_map(|test| format!("{{ args.p: {{ {test} }} }}")),
        prop::sample::select(vec!["a", "b"]).prop_map(|e| format!("{{ args.e: {e} }}")),
        any::<bool>().prop_map(|there| format!("{{ args.e: {{ exists: {there} }} }}")),
        any::<bool>().prop_map(|there| format!("{{ args.o: {{ exists: {there} }} }}")),
        (prop::sample::select(vec!["each", "some"]), prop::sample::select(vec!["prefix", "suffix"]), "[ab]")
            .prop_map(|(each, op, text)| format!("{{ args.l: {{ {each}: {{ {op}: {text} }} }} }}")),
        (prop::sample::select(vec!["minItems", "maxItems"]), 0..3)
            .prop_map(|(op, n)| format!("{{ args.l: {{ {op}: {n} }} }}")),
        Just("{ ctx.userId: u }".to_owned()),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    atom().prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("{{ all: [{}] }}", all.join(", "))),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|all| format!("{{ any: [{}] }}", all.join(", "))),
            inner.prop_map(|one| format!("{{ not: {one} }}")),
        ]
    })
}

fn rule(id: usize) -> impl Strategy<Value = String> {
    let action = prop::sample::select(vec!["allow", "allow", "ask", "deny"]);
    (condition(), prop::option::of(condition()), action).prop_map(move |(when, unless, action)| {
        let unless = unless.map(|unless| format!("unless: {unless}, ")).unwrap_or_default();
        format!("- {{ id: r{id}, tool: t, when: {when}, {unless}action: {action}, reason: x }}")
    })
}

fn call() -> impl Strategy<Value = Value> {
    let paths = vec!["a", "b", "a/b", "a/b/a", "x.a", "/a", "/a/b", ".", "A/x"];
    let text = "[ab/]{0,3}";
    (
        text,
        0..10,
        prop::sample::select(paths),
        prop::option::of(prop::sample::select(vec!["a", "b"])),
        prop::option::of(prop::collection::vec("[ab]{1,2}", 0..3)),
        prop::option::of(prop::option::of(text)),
    )
        .prop_map(|(s, n, p, e, l, o)| {
            let mut call = json!({"s": s, "n": n, "p": p});
            if let Some(e) = e {
                call["e"] = e.into();
            }
            if let Some(l) = l {
                call["l"] = l.into();
            }
            if let Some(o) = o {
                call["o"] = o.into();
            }
            call
        })
}

fn set_of(rules: &[String]) -> PolicySet {
    PolicySet::new(vec![source(&host(&rules.join("\n")), Layer::Project, true)]).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A rule of which is said that it never matches never does; a grant that changes nothing can be taken away.
    #[test]
    fn what_is_proved_is_so(
        rules in (rule(0), rule(1)).prop_map(|(a, b)| vec![a, b]),
        calls in prop::collection::vec(call(), 20),
    ) {
        let lab = lab();
        let set = set_of(&rules);
        let found = lint_policies(&set, std::slice::from_ref(&lab.tool), &LegacyApproval::None, &|_| None);
        for finding in found {
            // The first id of a message is that of the rule at fault.
            let named = (0..rules.len()).filter_map(|at| Some((finding.message.find(&format!("`host/r{at}`"))?, at)));
            let Some((_, at)) = named.min() else { continue };
            let id = format!("host/r{at}");
            for call in &calls {
                let explained = lab.explain(&set, call);
                let trace = explained.units.iter().flat_map(|unit| &unit.rules).find(|rule| rule.rule == id);
                let truth = trace.map(|trace| trace.truth.clone());
                let matched = truth == Some(crate::policy::Truth::True);
                match finding.code {
                    Code::PolicyUnsatisfiable => prop_assert!(!matched, "{call} {rules:#?}"),
                    Code::PolicyIdleUnless if finding.message.contains("excepts all") => {
                        prop_assert!(!trace.is_some_and(|trace| trace.matched), "{call} {rules:#?}");
                    }
                    Code::PolicyRedundant | Code::PolicyShadowedGrant => {
                        let rest: Vec<String> =
                            rules.iter().filter(|rule| !rule.contains(&format!("id: r{at},"))).cloned().collect();
                        let without = lab.decide(&set_of(&rest), call).action;
                        prop_assert_eq!(lab.decide(&set, call).action, without, "{} {:#?}", call, rules);
                    }
                    _ => {}
                }
            }
        }
    }
}
