//! Leaving out the rules of other tools changes nothing: not what is reported, not what is decided.

use super::properties::{ALL, args, defaults, lab, rule, same};
use super::{Lab, PolicySet, PolicySource};
use crate::diag::Diagnostic;
use crate::model::Layer;
use crate::policy::{PolicyFile, decode, decode_for};
use crate::source::{Decoder, Files, JsonLimits, parse_json, parse_outline, parse_yaml};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

type Loaded = (Option<PolicyFile>, Vec<Diagnostic>);

/// The policy decoded whole, and for some tools.
fn both(policy: &Value, tools: &[&str]) -> (Loaded, Loaded) {
    let mut files = Files::new();
    let id = files.add("p.json", policy.to_string());
    let mut decoder = Decoder::new();
    let node = parse_json(&files, id, JsonLimits::FILE).unwrap();
    let whole = decode(&mut decoder, &node);
    let whole = (whole, decoder.into_diagnostics());
    let mut decoder = Decoder::new();
    let outline = parse_outline(&files, id, JsonLimits::FILE).unwrap();
    let part = decode_for(&mut decoder, outline.root(&files), tools);
    (whole, (part, decoder.into_diagnostics()))
}

fn ids(file: &PolicyFile) -> Vec<&str> {
    let mut ids: Vec<&str> = file.rule_ids().collect();
    ids.sort_unstable();
    ids
}

fn assert_same(policy: &Value) -> Result<(), TestCaseError> {
    let (whole, part) = both(policy, &["t"]);
    prop_assert_eq!(&whole.1, &part.1, "{}", policy);
    prop_assert_eq!(whole.0.as_ref().map(ids), part.0.as_ref().map(ids), "{}", policy);
    Ok(())
}

fn policy(role: &str, rules: &[Value]) -> Value {
    json!({"policy": "p", "format": 1, "role": role, "rules": rules})
}

/// Rules of another tool in every form that is known at a glance.
fn plain_rules() -> Vec<Value> {
    let conditions = [
        json!({"args.p": {"under": ["src", "/srv"]}}),
        json!({"args.p": {"path": ["**/.env", "/etc/**"], "case": "fold"}, "args.q.r": {"ext": "rs"}}),
        json!({"args.n": {"gt": 0, "le": 50}, "args.c": {"in": ["EUR", 1, true]}}),
        json!({"any": [{"args.s": "x"}, {"not": {"ctx.userId": {"eq": "u"}}}, {"all": [{"tool": "o*"}]}]}),
        json!({"args.s": {"prefix": "a", "suffix": ["b"], "contains": "c", "glob": "a*"}}),
        json!({"args.l": {"each": {"minBytes": 1, "maxBytes": 5}, "maxItems": 3}, "args.x": {"exists": true}}),
        json!({"effect": ["read", "write"]}),
    ];
    let mut rules: Vec<Value> = conditions
        .iter()
        .enumerate()
        .map(|(at, when)| {
            let action = [json!("allow"), json!("ask"), json!("deny"), json!({"atLeast": "ask"})];
            json!({"id": format!("r{at}"), "tool": "other", "when": when, "action": action[at % 4]})
        })
        .collect();
    rules.push(json!({"id": "always", "tool": ["other", "more"], "always": true, "action": "allow", "from": "project"}));
    rules.push(
        json!({"id": "bare", "tool": "other", "action": "deny", "reason": "no", "unless": {"args.s": 1},
        "effect": "read", "match": [{"s": 2}], "notMatch": []}),
    );
    rules
}

#[test]
fn plain_rules_of_other_tools_are_left_out_and_the_called_tools_are_not() {
    let all = policy("host", &plain_rules());
    let (whole, part) = both(&all, &["t"]);
    let (whole, part) = (whole.0.unwrap(), part.0.unwrap());
    assert_eq!((whole.rules.len(), part.rules.len()), (plain_rules().len(), 0));
    assert_eq!(ids(&whole), ids(&part));
    let places = |file: &PolicyFile| {
        let mut all: Vec<_> = file.ids().map(|(id, span)| (id.to_owned(), span)).collect();
        all.sort();
        all
    };
    assert_eq!(places(&whole), places(&part));
    assert_eq!(both(&all, &["x", "other"]).1.0.unwrap().rules.len(), plain_rules().len());
    assert_eq!(both(&all, &["more"]).1.0.unwrap().rules.len(), 1);
}

#[test]
fn rules_that_could_matter_or_are_faulty_are_decoded() {
    let kept = |rule: Value| both(&policy("host", &[rule]), &["t"]).1;
    for rule in [
        json!({"id": "a", "action": "deny"}),
        json!({"id": "a", "tool": "*", "action": "deny"}),
        json!({"id": "a", "tool": ["other", "t"], "action": "deny"}),
        json!({"id": "a", "tool": {"not_in": ["other"]}, "action": "deny"}),
        // A mask hides files from every tool.
        json!({"id": "a", "tool": "other", "when": {"args.p": {"path": ".env"}}, "action": "deny", "mask": true}),
    ] {
        assert_eq!(kept(rule.clone()).0.unwrap().rules.len(), 1, "{rule}");
    }
    for rule in [
        json!({"id": "a", "tool": "other", "action": "deny", "wen": {}}),
        json!({"id": "a", "tool": "other", "action": "allow"}),
        json!({"id": "a", "tool": "other", "action": "allow", "when": {"args.p": {"undr": "x"}}}),
        json!({"id": "a", "tool": "other", "action": "deny", "always": true}),
        json!({"id": "a", "tool": "other", "action": "deny", "when": {"args.s": {"regex": "("}}}),
        json!({"id": "a", "tool": "other", "action": "deny", "when": {"args.s": "${vars.none}"}}),
        json!("a"),
    ] {
        let (file, faults) = kept(rule.clone());
        assert!(file.is_none() && !faults.is_empty(), "{rule}");
    }
    let grant = plain_rules().swap_remove(0);
    assert!(both(&policy("guard", std::slice::from_ref(&grant)), &["t"]).1.0.is_none());
    let twice = policy("host", &[grant.clone(), grant]);
    let faults = both(&twice, &["t"]).1.1;
    assert_eq!(faults.len(), 1, "{faults:#?}");
}

#[test]
fn an_id_of_two_files_is_found_if_its_rules_were_left_out() {
    let source = |path: &str| PolicySource {
        file: both(&policy("host", &plain_rules()), &["t"]).1.0.unwrap(),
        layer: Layer::Project,
        trusted: true,
        path: PathBuf::from(path),
        text_digest: path.to_owned(),
    };
    assert!(PolicySet::new(vec![source("a")]).1.is_empty());
    assert_eq!(PolicySet::new(vec![source("a"), source("b")]).1.len(), plain_rules().len());
}

/// Values and keys that are right in one place and wrong in most.
fn misfits() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1.5),
        json!(""),
        json!("x"),
        json!("t"),
        json!("a b"),
        json!("${vars.v}"),
        json!("${vars.none}"),
        json!("${workspace}"),
        json!("${workspace}/a"),
        json!("a/../b"),
        json!("~/x"),
        json!("./a"),
        json!("a/"),
        json!("a//b"),
        json!("*"),
        json!("a[b"),
        json!("{a,b"),
        json!("**"),
        json!("{args.s}"),
        json!("a } b"),
        json!([]),
        json!({}),
        json!(["a", "b/c"]),
        json!(["a", 1]),
        json!([["a"]]),
        json!([{}]),
        json!({"in": ["a"]}),
        json!({"gt": 1}),
        json!({"ref": "args.s"}),
        json!({"atLeast": "deny"}),
        json!({"atLeast": "allow"}),
        json!({"not_in": ["other"]}),
        json!("read"),
        json!("allow"),
        json!("deny"),
        json!("project"),
        json!("fold"),
        json!(1e300),
        json!(12_345_678_901_234_567_890_u64),
        json!({"under": "a"}),
        json!({"case": "fold"}),
        json!({"args.s": 1}),
        json!({"effect": "read"}),
        json!("ſ[K"),
    ])
}

fn keys() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "id",
        "tool",
        "when",
        "unless",
        "action",
        "always",
        "from",
        "reason",
        "match",
        "notMatch",
        "mask",
        "mode",
        "effect",
        "limits",
        "remember",
        "strength",
        "all",
        "any",
        "not",
        "args.s",
        "args.",
        "args.a..b",
        "args.a b",
        "args.\"a.b\"",
        "ctx.userId",
        "ctx.user",
        "tool.sandbox.timeout",
        "eq",
        "in",
        "not_in",
        "gt",
        "exists",
        "minBytes",
        "each",
        "some",
        "prefix",
        "glob",
        "regex",
        "under",
        "path",
        "ext",
        "case",
        "ref",
        "url",
        "nope",
    ])
}

/// Where and how a value is changed.
#[derive(Debug, Clone)]
enum Change {
    Replace(Value),
    Insert(&'static str, Value),
    Rename(&'static str),
}

fn change() -> impl Strategy<Value = (prop::sample::Index, Change)> {
    let change = prop_oneof![
        misfits().prop_map(Change::Replace),
        (keys(), misfits()).prop_map(|(key, value)| Change::Insert(key, value)),
        keys().prop_map(Change::Rename),
    ];
    (any::<prop::sample::Index>(), change)
}

fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), all));
        }
        Value::Object(map) => {
            for (key, value) in map {
                pointers(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        _ => {}
    }
}

fn apply(value: &mut Value, (at, change): &(prop::sample::Index, Change)) {
    let mut all = Vec::new();
    pointers(value, "", &mut all);
    let place: &String = at.get(&all);
    let Some(target) = value.pointer_mut(place) else { return };
    match (change, target) {
        (Change::Replace(new), target) => *target = new.clone(),
        (Change::Insert(key, new), Value::Object(map)) => {
            map.insert((*key).to_owned(), new.clone());
        }
        (Change::Rename(key), Value::Object(map)) => {
            if let Some(first) = map.keys().next().cloned()
                && let Some(value) = map.remove(&first)
            {
                map.insert((*key).to_owned(), value);
            }
        }
        (Change::Insert(..) | Change::Rename(_), _) => {}
    }
}

/// The same policy read whole and in part, for a tool of the lab.
fn decide(lab: &Lab, policy: &Value, args: &Value) -> Vec<crate::policy::Decision> {
    let (whole, part) = both(policy, &["t"]);
    let set = |file: Option<PolicyFile>| {
        let source = PolicySource {
            file: file.unwrap(),
            layer: Layer::Project,
            trusted: true,
            path: PathBuf::from("p.json"),
            text_digest: String::new(),
        };
        PolicySet::new(vec![source]).0
    };
    vec![lab.decide(&set(whole.0), args), lab.decide(&set(part.0), args)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever is wrong with a rule of another tool is said, as if it had been decoded.
    #[test]
    fn the_same_is_reported(
        rules in prop::collection::vec((prop::sample::select(plain_rules()), prop::collection::vec(change(), 0..3)), 1..4),
        role in prop::sample::select(vec!["host", "delegate", "guard"]),
        evaluate in prop::bool::weighted(0.1),
    ) {
        let rules: Vec<Value> = rules.into_iter().map(|(mut rule, changes)| {
            for change in &changes {
                apply(&mut rule, change);
            }
            rule
        }).collect();
        let mut policy = policy(role, &rules);
        policy["vars"] = json!({"v": "a"});
        if evaluate {
            policy["mode"] = json!("evaluate");
        }
        assert_same(&policy)?;
    }

    #[test]
    fn the_same_is_reported_of_effects(
        entry in prop::sample::select(vec![
            json!([{"effect": "read"}]), json!({"effect": ["write", "external"], "from": "project"}),
            json!([{"when": {"args.s": {"prefix": "a"}}, "effect": "read"}, {"effect": "write"}]),
        ]),
        changes in prop::collection::vec(change(), 0..3),
        tool in prop::sample::select(vec!["other", "t", "a b", "*", ""]),
        role in prop::sample::select(vec!["host", "delegate"]),
    ) {
        let mut policy = policy(role, &[]);
        let mut effects = json!({tool: entry});
        for change in &changes {
            apply(&mut effects, change);
        }
        policy["effects"] = effects;
        assert_same(&policy)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_same_is_decided(
        rules in prop::collection::vec(rule(ALL), 0..6), default in defaults(), args in args(),
        effects in prop::collection::btree_map(prop::sample::select(vec!["t", "other"]), prop::sample::select(vec!["read", "write"]), 0..3),
    ) {
        let mut text = format!("policy: p\nformat: 1\nrole: host\ndefault: {default}\nrules:\n");
        for (at, rule) in rules.iter().enumerate() {
            writeln!(text, "  - {{ id: r{at}, {rule} }}").unwrap();
        }
        let mut files = Files::new();
        if rules.is_empty() {
            text = text.replace("rules:\n", "");
        }
        let id = files.add("p.yaml", text);
        let mut policy = parse_yaml(&files, id).unwrap().to_value();
        policy["effects"] = effects.iter().map(|(tool, effect)| ((*tool).to_owned(), json!({"effect": effect}))).collect();
        let decisions = decide(&lab(), &policy, &args);
        prop_assert!(same(&decisions[0], &decisions[1]), "{decisions:#?}");
        prop_assert_eq!(&decisions[0].rule, &decisions[1].rule);
    }
}
