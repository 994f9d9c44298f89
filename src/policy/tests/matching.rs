//! Every matcher: what it accepts, what it refuses, and what it cannot judge.

use super::{Action, Code, Lab, brief, host, one};
use serde_json::{Value, json};

fn properties() -> Value {
    json!({
        "s": {"type": "string"},
        "n": {"type": "number"},
        "b": {"type": "boolean"},
        "list": {"type": "array", "items": {"type": "string"}},
        "path": {"type": "string", "format": "path"},
        "gone": {"type": "string", "format": "path", "x-path": "nofollow"},
        "raw": {"type": "string"},
        "maybe": {"type": ["string", "null"]},
        "either": {"type": ["string", "integer"]},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
    })
}

fn lab() -> Lab {
    let mut lab = Lab::new("t", properties());
    lab.world = std::mem::take(&mut lab.world)
        .with_link("/ws/out", "/etc")
        .with_file("/ws/src/a.rs", "x")
        .with_dir("/ws2");
    lab
}

/// The decision of a grant and of a guard with this condition: `granted`, `denied`, or an error.
fn sides(when: &str, args: &Value) -> (bool, bool) {
    let lab = lab();
    let grant = lab.under(&format!("- {{ id: g, tool: t, when: {when}, action: allow }}"), args);
    let guard = lab.under(
        &format!(
            "- {{ id: g, tool: t, always: true, action: allow }}\n- {{ id: d, tool: t, when: {when}, action: deny }}"
        ),
        args,
    );
    for decision in [&grant, &guard] {
        assert_ne!(decision.code, Some(Code::PolicyError), "{when} {args}: {decision:?}");
    }
    (grant.action == Action::Allow, guard.action == Action::Deny)
}

#[test]
fn matchers_hold_and_do_not_hold() {
    let rows: &[(&str, Value, bool)] = &[
        ("{ args.s: GET }", json!({"s": "GET"}), true),
        ("{ args.s: GET }", json!({"s": "get"}), false),
        ("{ args.s: { eq: GET, case: fold } }", json!({"s": "get"}), true),
        ("{ args.b: true }", json!({"b": true}), true),
        ("{ args.b: true }", json!({"b": false}), false),
        ("{ args.n: 1 }", json!({"n": 1.0}), true),
        ("{ args.s: { in: [a, b] } }", json!({"s": "b"}), true),
        ("{ args.s: { in: [a, b] } }", json!({"s": "c"}), false),
        ("{ args.s: { not_in: [a, b] } }", json!({"s": "c"}), true),
        ("{ args.s: { not_in: [a, b] } }", json!({"s": "a"}), false),
        ("{ args.n: { gt: 0, le: 50 } }", json!({"n": 50}), true),
        ("{ args.n: { gt: 0, le: 50 } }", json!({"n": 50.01}), false),
        ("{ args.n: { gt: 0, le: 50 } }", json!({"n": 0}), false),
        ("{ args.n: { ge: 0, lt: 50 } }", json!({"n": 0}), true),
        ("{ args.n: { ge: 0, lt: 50 } }", json!({"n": 50}), false),
        ("{ args.s: { exists: true } }", json!({"s": "x"}), true),
        ("{ args.s: { exists: true } }", json!({}), false),
        ("{ args.s: { exists: false } }", json!({}), true),
        ("{ args.headers.auth: { exists: true } }", json!({"headers": {"auth": "x"}}), true),
        ("{ args.headers.auth: { exists: true } }", json!({"headers": {}}), false),
        ("{ args.headers.auth: { exists: true } }", json!({}), false),
        ("{ args.s: { maxBytes: 3 } }", json!({"s": "äa"}), true),
        ("{ args.s: { maxBytes: 3 } }", json!({"s": "ää"}), false),
        ("{ args.s: { minBytes: 4 } }", json!({"s": "ää"}), true),
        ("{ args.list: { minItems: 1, maxItems: 2 } }", json!({"list": ["a"]}), true),
        ("{ args.list: { minItems: 1, maxItems: 2 } }", json!({"list": []}), false),
        ("{ args.list: { each: { prefix: a } } }", json!({"list": ["a", "ab"]}), true),
        ("{ args.list: { each: { prefix: a } } }", json!({"list": ["a", "b"]}), false),
        ("{ args.list: { each: { prefix: a } } }", json!({"list": []}), true),
        ("{ args.list: { some: b } }", json!({"list": ["a", "b"]}), true),
        ("{ args.list: { some: b } }", json!({"list": []}), false),
        ("{ args.list: { each: { under: src } } }", json!({"list": ["src/a", "src/../src/b"]}), true),
        ("{ args.list: { each: { under: src } } }", json!({"list": ["src/a", "out/b"]}), false),
        ("{ args.s: { prefix: [x, ab] } }", json!({"s": "abc"}), true),
        ("{ args.s: { suffix: .corp.test } }", json!({"s": "a.corp.test"}), true),
        ("{ args.s: { suffix: .corp.test } }", json!({"s": "evilcorp.test"}), false),
        ("{ args.s: { contains: BC, case: fold } }", json!({"s": "abcd"}), true),
        ("{ args.s: { contains: bc } }", json!({"s": "aBCd"}), false),
        ("{ args.s: { glob: \"a/*\" } }", json!({"s": "a/b"}), true),
        ("{ args.s: { glob: \"a/*\" } }", json!({"s": "a/b/c"}), false),
        ("{ args.s: { glob: \"a/**\" } }", json!({"s": "a/b/c"}), true),
        ("{ args.s: { regex: \"[a-z]+\" } }", json!({"s": "abc"}), true),
        ("{ args.s: { regex: \"[a-z]+\" } }", json!({"s": "abc1"}), false),
        ("{ args.s: { regex: \"a|b\" } }", json!({"s": "bx"}), false),
        ("{ args.path: { under: [\"${workspace}\"] } }", json!({"path": "a/b"}), true),
        ("{ args.path: { under: [\"${workspace}\"] } }", json!({"path": "."}), true),
        ("{ args.path: { under: [\"${workspace}\"] } }", json!({"path": "out/passwd"}), false),
        ("{ args.path: { under: [\"${workspace}\"] } }", json!({"path": "../ws2/a"}), false),
        ("{ args.path: { under: [\"${workspace}\"] } }", json!({"path": "/ws2"}), false),
        ("{ args.path: { under: [/etc] } }", json!({"path": "out/passwd"}), true),
        ("{ args.path: { under: [src] } }", json!({"path": "src/../b"}), false),
        ("{ args.path: { under: [src] } }", json!({"path": "src2/b"}), false),
        ("{ args.path: { under: [SRC], case: fold } }", json!({"path": "src/b"}), true),
        ("{ args.path: { path: [\"**/.env\"] } }", json!({"path": ".env"}), true),
        ("{ args.path: { path: [\"**/.env\"] } }", json!({"path": "a/b/.env"}), true),
        ("{ args.path: { path: [\"**/.env\"] } }", json!({"path": "a/.ENV"}), false),
        ("{ args.path: { path: [\"**/.env\"], case: fold } }", json!({"path": "a/.ENV"}), true),
        ("{ args.path: { path: [\"**/.env\"] } }", json!({"path": "/srv/.env"}), false),
        ("{ args.path: { path: [\"/**/.env\"] } }", json!({"path": "/srv/.env"}), true),
        ("{ args.path: { path: [\"/**/.env\"] } }", json!({"path": "a/.env"}), true),
        ("{ args.path: { path: [\"src/*\"] } }", json!({"path": "src/a/b"}), false),
        ("{ args.path: { path: [\"${workspace}/src/*\"] } }", json!({"path": "src/a"}), true),
        ("{ args.path: { ext: [rs, md] } }", json!({"path": "src/a.rs"}), true),
        ("{ args.path: { ext: rs } }", json!({"path": "src/.rs"}), false),
        ("{ args.path: { ext: rs } }", json!({"path": "src/a.RS"}), false),
        ("{ args.path: { ext: rs, case: fold } }", json!({"path": "src/a.RS"}), true),
        ("{ args.raw: { under: src } }", json!({"raw": "src/../src/a"}), true),
        ("{ args.raw: { under: [\"${workspace}\"] } }", json!({"raw": "out/a"}), false),
        ("{ args.s: { ref: args.raw } }", json!({"s": "x", "raw": "x"}), true),
        ("{ args.s: { eq: { ref: args.raw } } }", json!({"s": "x", "raw": "y"}), false),
        ("{ args.s: { in: { ref: args.list } } }", json!({"s": "x", "list": ["y", "x"]}), true),
        ("{ args.raw: { under: [{ ref: args.path }] } }", json!({"raw": "src/a", "path": "src"}), true),
        ("{ args.raw: { under: [{ ref: args.path }] } }", json!({"raw": "a", "path": "src"}), false),
        ("{ args.maybe: { not_in: [x] } }", json!({"maybe": null}), true),
        ("{ args.maybe: null }", json!({"maybe": null}), true),
        ("{ args.either: 5 }", json!({"either": "x"}), false),
        ("{ any: [{ args.s: a }, { args.n: 1 }] }", json!({"s": "b", "n": 1}), true),
        ("{ not: { args.s: a } }", json!({"s": "b"}), true),
        ("{ all: [{ args.s: a }, { not: { args.n: 1 } }] }", json!({"s": "a", "n": 1}), false),
        ("{ tool: t }", json!({}), true),
        ("{ tool: \"x*\" }", json!({}), false),
        ("{ tool: { not_in: [t] } }", json!({}), false),
        ("{ effect: unknown }", json!({}), true),
        ("{ effect: [read, write] }", json!({}), false),
        ("{ tool.sandbox.enabled: true, tool.sandbox.allowNetwork: false }", json!({}), true),
        ("{ tool.sandbox.timeout: { le: 10000 } }", json!({}), false),
        ("{ ctx.runMode: execute }", json!({}), true),
    ];
    for (when, args, holds) in rows {
        assert_eq!(sides(when, args), (*holds, *holds), "{when} {args}");
    }
}

#[test]
fn doubt_keeps_a_grant_shut_and_a_guard_on() {
    for (when, args) in [
        // An optional argument that the schema names and the call leaves out.
        ("{ args.s: a }", json!({})),
        ("{ args.n: { le: 5 } }", json!({})),
        ("{ not: { args.s: a } }", json!({})),
        ("{ args.maybe: { prefix: a } }", json!({"maybe": null})),
        // A claim that the caller does not make.
        ("{ ctx.userId: u1 }", json!({})),
        ("{ ctx.userId: { not_in: [u1] } }", json!({})),
        ("{ args.s: { ref: ctx.userId } }", json!({"s": "x"})),
        // A link that is not followed lies inside and leads outside.
        ("{ args.gone: { under: [\"${workspace}\"] } }", json!({"gone": "out"})),
        ("{ args.gone: { path: [\"/etc\"] } }", json!({"gone": "out"})),
        ("{ tool.sandbox.cpuSeconds: { le: 5 } }", json!({})),
    ] {
        assert_eq!(sides(when, &args), (false, true), "{when} {args}");
    }
    assert_eq!(sides("{ ctx.userId: { exists: false } }", &json!({})), (true, true));
    // `exists` beside the test makes absence a plain no.
    assert_eq!(sides("{ args.s: { exists: true, prefix: a } }", &json!({})), (false, false));
}

#[test]
fn what_cannot_be_judged_denies_even_beside_a_grant() {
    let lab = lab();
    for (when, args) in [
        ("{ args.either: { prefix: a } }", json!({"either": 5})),
        ("{ args.raw: { under: src } }", json!({"raw": "a\u{0}b"})),
        ("{ args.s: { eq: { ref: args.n } } }", json!({"s": "5", "n": 5})),
    ] {
        let rules = format!(
            "- {{ id: ok, tool: t, always: true, action: allow }}\n- {{ id: bad, tool: t, when: {when}, action: allow }}"
        );
        let decision = lab.under(&rules, &args);
        assert_eq!(brief(&decision), (Action::Deny, "host/bad"), "{when}");
        assert_eq!(decision.code, Some(Code::PolicyError));
        let control = lab.under(&rules, &json!({"s": "x", "raw": "src", "either": "b"}));
        assert_ne!(control.code, Some(Code::PolicyError), "{when}");
    }
}

#[test]
fn an_effect_set_is_one_of_its_members() {
    let mut lab = lab();
    lab.tool.layer = crate::model::Layer::Builtin;
    lab.tool.builtin_effects = Some(super::effects(&["read", "write"]));
    let both = |when: &str| {
        let rule = format!("- {{ id: g, tool: t, when: {when}, action: allow }}");
        lab.under(&rule, &json!({})).action == Action::Allow
    };
    assert!(both("{ effect: [read, write] }"));
    assert!(!both("{ effect: read }"), "a grant for reads may not cover a call that also writes");
    let rules = "- { id: g, tool: t, always: true, action: allow }\n- { id: d, effect: write, action: deny }";
    assert_eq!(brief(&lab.under(rules, &json!({}))), (Action::Deny, "host/d"));
    let rules =
        "- { id: g, tool: t, always: true, action: allow }\n- { id: d, effect: execute, action: deny }";
    assert_eq!(brief(&lab.under(rules, &json!({}))), (Action::Allow, "host/g"));
}

#[test]
fn rules_are_checked_against_the_schema_of_the_tool() {
    let lab = lab();
    let check =
        |when: &str| lab.check(&host(&format!("- {{ id: g, tool: t, when: {when}, action: allow }}")));
    for (when, code) in [
        ("{ args.pth: { under: src } }", Code::PolicyUnknownArgument),
        ("{ args.s: { ref: args.nope } }", Code::PolicyUnknownArgument),
        ("{ args.s: { gt: 5 } }", Code::PolicyTypeMismatch),
        ("{ args.s: 5 }", Code::PolicyTypeMismatch),
        ("{ args.list: { prefix: a } }", Code::PolicyTypeMismatch),
        ("{ args.list: { each: { gt: 1 } } }", Code::PolicyTypeMismatch),
        ("{ args.n: { under: src } }", Code::PolicyTypeMismatch),
    ] {
        assert_eq!(check(when), [code], "{when}");
    }
    for when in [
        "{ args.s: a }",
        "{ args.headers.x: a }",
        "{ args.list: { each: { prefix: a } } }",
        "{ args.n: { gt: 1 } }",
    ] {
        assert!(check(when).is_empty(), "{when}");
    }
    let reason = "- { id: g, tool: t, always: true, action: ask, reason: \"{args.nope}\" }";
    assert_eq!(lab.check(&host(reason)), [Code::PolicyUnknownArgument]);
    let anywhere = "- { id: g, when: { args.nope: { exists: true } }, action: deny }";
    assert!(
        lab.check(&host(anywhere)).is_empty(),
        "a rule of all tools may speak of arguments that some lack"
    );
}

#[test]
fn a_rule_of_all_tools_is_false_where_the_tool_has_no_such_argument() {
    let lab = lab();
    let rules = "- { id: g, tool: t, always: true, action: allow }\n- { id: d, when: { args.nope: a }, action: deny }";
    assert_eq!(lab.under(rules, &json!({})).action, Action::Allow);
    let rules =
        "- { id: g, tool: t, always: true, action: allow }\n- { id: d, when: { args.s: a }, action: deny }";
    assert_eq!(lab.under(rules, &json!({"s": "a"})).action, Action::Deny);
}

#[test]
fn f077_a_missing_field_keeps_an_allow_shut() {
    let mut lab = Lab::new(
        "http_request",
        json!({"method": {"type": "string"}, "host": {"type": "string"},
               "headers": {"type": "object", "additionalProperties": {"type": "string"}, "default": {}}}),
    );
    lab.tool.cwd = "/ws".into();
    let set = one(&host(
        "- { id: get, tool: http_request, when: { args.method: GET, args.host: { suffix: .corp.test } }, action: allow }
- { id: post, tool: http_request, when: { args.method: POST, args.host: { suffix: .corp.test } }, action: ask }
- { id: auth, tool: http_request, when: { args.headers.authorization: { exists: true } }, action: deny }",
    ));
    for (args, action) in [
        (json!({"method": "GET", "host": "a.corp.test"}), Action::Allow),
        (json!({"method": "POST", "host": "a.corp.test"}), Action::Ask),
        (json!({"method": "GET", "host": "a.corp.test", "headers": {"authorization": "x"}}), Action::Deny),
        (json!({"method": "GET", "host": "evilcorp.test"}), Action::Deny),
        (json!({"method": "get", "host": "a.corp.test"}), Action::Deny),
        (json!({"host": "a.corp.test"}), Action::Deny),
    ] {
        assert_eq!(lab.decide(&set, &args).action, action, "{args}");
    }
}
