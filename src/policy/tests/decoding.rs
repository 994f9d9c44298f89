//! What a policy file may not say, and that all of it is said at once.

use super::{Code, Lab, host, load, one};
use crate::policy::{Role, ToolFacts, check_file};
use serde_json::json;

fn codes(text: &str) -> Vec<Code> {
    load(text).err().unwrap_or_default().into_iter().map(|fault| fault.code).collect()
}

#[test]
fn faults_of_rules_are_load_errors() {
    for (rule, code) in [
        ("{ id: a, tool: t, action: allow }", Code::PolicyEmptyWhen),
        ("{ id: a, tool: t, when: {}, action: allow }", Code::PolicyEmptyWhen),
        ("{ id: a, tool: t, always: true, action: alow }", Code::SourceBadValue),
        ("{ id: a, tool: t, always: true }", Code::SourceMissingKey),
        ("{ tool: t, action: deny }", Code::SourceMissingKey),
        ("{ id: a b, tool: t, action: deny }", Code::SourceBadValue),
        ("{ id: a, tools: t, action: deny }", Code::SourceUnknownKey),
        ("{ id: a, tool: \"a b\", action: deny }", Code::PolicyBadPattern),
        ("{ id: a, tool: [], action: deny }", Code::SourceBadValue),
        ("{ id: a, effect: wirte, action: deny }", Code::PolicyBadEffect),
        ("{ id: a, when: { arg.x: 1 }, action: deny }", Code::SourceUnknownKey),
        ("{ id: a, when: { ctx.user: 1 }, action: deny }", Code::SourceUnknownKey),
        ("{ id: a, when: { args.x: { prefx: a } }, action: deny }", Code::PolicyUnknownOperator),
        ("{ id: a, when: { args.x: {} }, action: deny }", Code::SourceBadValue),
        ("{ id: a, when: { args.x: [a] }, action: deny }", Code::SourceWrongType),
        ("{ id: a, when: { args.x: { in: a } }, action: deny }", Code::SourceWrongType),
        ("{ id: a, when: { args.x: { in: [] } }, action: deny }", Code::SourceBadValue),
        ("{ id: a, when: { args.x: { gt: a } }, action: deny }", Code::SourceWrongType),
        ("{ id: a, when: { args.x: { prefix: \"\" } }, action: deny }", Code::SourceBadValue),
        ("{ id: a, when: { args.x: { exists: 1 } }, action: deny }", Code::SourceWrongType),
        ("{ id: a, when: { args.x: { glob: \"a[\" } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { args.x: { path: \"a[\" } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { args.x: { path: \"../a\" } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { args.x: { path: \"~/a\" } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { args.x: { under: \"a/*\" } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { args.x: { ext: .rs } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { args.x: { regex: \"a(\" } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { args.x: { regex: \"(?=a)\" } }, action: deny }", Code::PolicyBadPattern),
        ("{ id: a, when: { ctx.userId: { under: src } }, action: deny }", Code::SourceBadValue),
        ("{ id: a, when: { args.x: \"${vars.nope}\" }, action: deny }", Code::PolicyUnknownVariable),
        ("{ id: a, when: { args.x: \"${workspace}/a\" }, action: deny }", Code::SourceBadValue),
        ("{ id: a, when: { args.x: { ref: vars.x } }, action: deny }", Code::SourceBadValue),
        ("{ id: a, when: { any: [] }, action: deny }", Code::SourceBadValue),
        ("{ id: a, when: { not: {} }, action: deny }", Code::SourceBadValue),
        ("{ id: a, unless: {}, action: deny }", Code::SourceBadValue),
        ("{ id: a, action: deny, reason: \"{args}\" }", Code::PolicyBadReason),
        ("{ id: a, action: deny, reason: \"{vars.x}\" }", Code::PolicyBadReason),
        ("{ id: a, action: deny, reason: \"{bytes(ctx.userId)}\" }", Code::PolicyBadReason),
        ("{ id: a, action: deny, reason: \"a } b\" }", Code::PolicyBadReason),
        ("{ id: a, action: deny, mask: true }", Code::SourceBadValue),
        (
            "{ id: a, action: deny, when: { args.p: { path: a }, ctx.userId: u }, mask: true }",
            Code::SourceBadValue,
        ),
        ("{ id: a, action: ask, always: true, mask: true }", Code::SourceBadValue),
        ("{ id: a, action: deny, limits: { timeout: 5s } }", Code::PolicyBadRole),
        ("{ id: a, action: deny, from: project }", Code::PolicyBadRole),
        ("{ id: a, action: deny, always: true }", Code::PolicyBadRole),
        ("{ id: a, action: allow, always: true, strength: presence }", Code::PolicyBadRole),
        ("{ id: a, action: allow, always: true, remember: true }", Code::PolicyBadRole),
        ("{ id: a, action: allow, always: true, mode: evaluate }", Code::PolicyBadRole),
        ("{ id: a, action: ask, always: true, strength: strong }", Code::SourceBadValue),
        ("{ id: a, action: { atLeast: allow } }", Code::SourceBadValue),
        ("{ id: a, action: deny, match: [a] }", Code::SourceWrongType),
        ("{ id: a, when: { args.x: { url: { host: a } } }, action: deny }", Code::PolicyUnsupported),
        ("{ id: a, when: { args.x: { sql: { readOnly: true } } }, action: deny }", Code::PolicyUnsupported),
        ("{ id: a, when: { args.x: { argv: [a] } }, action: deny }", Code::PolicyUnsupported),
        ("{ id: a, when: { args.x: { shell: { every: [] } } }, action: deny }", Code::PolicyUnsupported),
        ("{ id: a, when: { args.x: { schema: {} } }, action: deny }", Code::PolicyUnsupported),
    ] {
        assert_eq!(codes(&host(&format!("- {rule}"))), [code], "{rule}");
    }
    for rule in [
        "{ id: a, tool: t, always: true, action: allow }",
        "{ id: a, action: deny }",
        "{ id: a, action: { atLeast: ask }, remember: true, strength: same-user }",
        "{ id: a, when: { args.p: { path: a, exists: true } }, action: deny, mask: true }",
    ] {
        assert_eq!(codes(&host(&format!("- {rule}"))), [], "{rule}");
    }
}

#[test]
fn faults_of_files_are_load_errors() {
    let file = |role: &str, rest: &str| format!("policy: p\nformat: 1\nrole: {role}\n{rest}\n");
    for (text, code) in [
        (file("boss", ""), Code::SourceBadValue),
        (file("host", "default: inherit"), Code::PolicyBadRole),
        (file("host", "defualt: deny"), Code::SourceUnknownKey),
        (file("host", "for: { ctx.userId: u }"), Code::PolicyBadRole),
        (file("delegate", "effects: { t: [ { effect: read } ] }"), Code::PolicyBadRole),
        (file("delegate", "trustHints: [t]"), Code::PolicyBadRole),
        (file("delegate", "for: { args.x: 1 }"), Code::SourceBadValue),
        (file("delegate", "for: {}"), Code::SourceBadValue),
        (file("guard", "default: deny"), Code::PolicyBadRole),
        (file("guard", "rules: [ { id: a, always: true, action: ask } ]"), Code::PolicyBadRole),
        (file("host", "decide: { command: [./check.py] }"), Code::PolicyUnsupported),
        (file("host", "prove: []"), Code::PolicyUnsupported),
        (file("host", "effects: { t: [ { effect: raed } ] }"), Code::PolicyBadEffect),
        (file("host", "effects: { t: [ { when: { effect: read }, effect: read } ] }"), Code::SourceBadValue),
        (file("host", "effects: { \"t*\": [ { effect: read } ] }"), Code::SourceBadValue),
        (file("host", "effects: { t: [] }"), Code::SourceBadValue),
        (file("host", "vars: { x: { a: 1 } }"), Code::SourceWrongType),
        (file("host", "vars: { x: \"${vars.y}\" }"), Code::SourceBadValue),
        (
            file("host", "rules: [ { id: a, action: deny }, { id: a, action: deny } ]"),
            Code::PolicyDuplicateRule,
        ),
        (
            file("host", "mode: evaluate\nrules: [ { id: a, always: true, action: ask } ]"),
            Code::PolicyBadRole,
        ),
        (file("host", "").replace("format: 1", "format: 2"), Code::SourceBadValue),
        (file("host", "").replace("policy: p", "policy: engine"), Code::SourceBadValue),
        (file("host", "").replace("policy: p\n", ""), Code::SourceMissingKey),
    ] {
        assert_eq!(codes(&text), [code], "{text}");
    }
    assert_eq!(load(&file("guard", "")).unwrap().role(), Role::Guard);
    assert_eq!(load(&file("delegate", "default: inherit\nfor: { ctx.agentName: a }")).unwrap().name(), "p");
}

#[test]
fn all_faults_are_reported_at_once_with_their_places() {
    let text = host(
        "- { id: a, tool: t, always: true, action: alow }
- { id: b, when: { args.x: { prefx: a, regex: \"(\" } }, action: deny }
- { id: c, when: { any: [{ ctx.user: 1 }, { args.y: \"${vars.no}\" }] }, reson: x, action: deny }",
    );
    let faults = load(&text).unwrap_err();
    assert_eq!(
        faults.iter().map(|fault| fault.code).collect::<Vec<_>>(),
        [
            Code::SourceBadValue,
            Code::PolicyUnknownOperator,
            Code::PolicyBadPattern,
            Code::PolicyUnknownVariable,
            Code::SourceUnknownKey,
            Code::SourceUnknownKey,
        ]
    );
    for fault in &faults {
        let span = fault.primary.as_ref().unwrap().span;
        let place = text.get(span.start as usize..span.end as usize).unwrap();
        assert!(!place.is_empty() && !place.contains('\n'), "{}: {place:?}", fault.message);
    }
    assert!(faults[1].help[0].contains("`prefix`"));
}

#[test]
fn no_text_of_a_policy_reaches_a_message_unescaped() {
    let text = host("- { id: a, when: { \"args.\\u202Ex.\": 1, \"x\\u202E\": 2 }, action: deny }");
    for fault in load(&text).unwrap_err() {
        let all = [vec![fault.message], fault.help, fault.notes].concat().concat();
        assert!(!crate::text::has_hidden(&all), "{all:?}");
    }
}

#[test]
fn rule_ids_carry_the_name_of_the_policy() {
    let set = one(&host("- { id: a, action: deny }\n- { id: b, action: deny }"));
    assert_eq!(set.rule_ids().collect::<Vec<_>>(), ["host/a", "host/b"]);
}

#[test]
fn check_knows_tools_that_do_not_exist() {
    let tools: Vec<ToolFacts> = vec![Lab::new("git_log", json!({})).tool, Lab::new("pay", json!({})).tool];
    let check = |rest: &str| {
        let text = format!("policy: p\nformat: 1\nrole: host\n{rest}");
        let source = super::source(&text, crate::model::Layer::Project, true);
        check_file(&source, &tools, &[])
            .into_iter()
            .map(|fault| (fault.code, fault.help.concat()))
            .collect::<Vec<_>>()
    };
    let unknown = |help: &str| vec![(Code::PolicyUnknownTool, help.to_owned())];
    assert_eq!(
        check("rules: [ { id: a, tool: [git_lgo, pay], action: deny } ]"),
        unknown("did you mean `git_log`?")
    );
    assert_eq!(
        check("rules: [ { id: a, tool: \"svn_*\", action: deny } ]"),
        unknown("see what tools there are: toolctl tools list")
    );
    assert_eq!(
        check("rules: [ { id: a, when: { tool: payy }, action: deny } ]"),
        unknown("did you mean `pay`?")
    );
    assert_eq!(check("effects: { payy: [ { effect: read } ] }"), unknown("did you mean `pay`?"));
    assert_eq!(check("trustHints: [git-log]"), unknown("did you mean `git_log`?"));
    assert_eq!(check("rules: [ { id: a, tool: [\"git_*\", pay], action: deny } ]"), []);
}
