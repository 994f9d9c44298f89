//! Layers, roles and trust: who decides and who can only tighten.

use super::{Action, Code, Lab, brief, effects, set, source};
use crate::model::Layer;
use crate::policy::PolicySet;
use serde_json::json;

fn lab() -> Lab {
    Lab::new("t", json!({"s": {"type": "string"}}))
}

fn policy(name: &str, role: &str, rest: &str) -> String {
    format!("policy: {name}\nformat: 1\nrole: {role}\n{rest}\n")
}

const ALLOW: &str = "rules: [ { id: a, tool: t, always: true, action: allow } ]";
const FROM: &str = "rules: [ { id: a, tool: t, always: true, action: allow, from: project } ]";
const DENY: &str = "rules: [ { id: d, tool: t, action: deny } ]";

#[test]
fn the_outermost_host_decides_and_inner_hosts_tighten() {
    let lab = lab();
    for (name, sources, action, rule) in [
        ("project alone", vec![(Layer::Project, "host", ALLOW)], Action::Allow, "p0/a"),
        (
            "an outer grant does not speak of a project's tool",
            vec![(Layer::User, "host", ALLOW), (Layer::Project, "host", ALLOW)],
            Action::Deny,
            "default",
        ),
        (
            "unless it says so",
            vec![(Layer::User, "host", FROM), (Layer::Project, "host", ALLOW)],
            Action::Allow,
            "p0/a",
        ),
        (
            "the inner host's default tightens",
            vec![(Layer::User, "host", FROM), (Layer::Project, "host", "default: deny")],
            Action::Deny,
            "p1/default",
        ),
        (
            "an inner guard tightens",
            vec![(Layer::User, "host", FROM), (Layer::Project, "guard", DENY)],
            Action::Deny,
            "p1/d",
        ),
        (
            "an outer guard does not make its layer the host",
            vec![
                (Layer::System, "guard", "rules: [ { id: d, tool: x, action: deny } ]"),
                (Layer::Project, "host", ALLOW),
            ],
            Action::Allow,
            "p1/a",
        ),
        (
            "a delegate tightens",
            vec![
                (Layer::Project, "host", ALLOW),
                (Layer::Project, "delegate", &format!("default: inherit\n{DENY}")),
            ],
            Action::Deny,
            "p1/d",
        ),
        (
            "a delegate grants nothing",
            vec![
                (Layer::Project, "host", "default: deny"),
                (Layer::Project, "delegate", &format!("default: inherit\n{ALLOW}")),
            ],
            Action::Deny,
            "default",
        ),
    ] {
        let all = sources
            .iter()
            .enumerate()
            .map(|(at, (layer, role, rest))| source(&policy(&format!("p{at}"), role, rest), *layer, true))
            .collect();
        assert_eq!(brief(&lab.decide(&set(all), &json!({}))), (action, rule), "{name}");
    }
}

#[test]
fn two_defaults_of_one_layer_are_the_stricter_one_and_a_warning() {
    let sources = |order: [&str; 2]| {
        order
            .iter()
            .map(|default| {
                source(&policy(default, "host", &format!("default: {default}")), Layer::Project, true)
            })
            .collect()
    };
    for order in [["allow", "ask"], ["ask", "allow"]] {
        let (set, warnings) = PolicySet::new(sources(order));
        assert_eq!(warnings.len(), 1);
        assert_eq!(lab().decide(&set, &json!({})).action, Action::Ask);
    }
}

#[test]
fn a_delegate_is_for_the_agents_it_names_at_any_depth() {
    let host = || source(&policy("h", "host", ALLOW), Layer::Project, true);
    let delegate = || {
        let rest = format!("for: {{ ctx.agentName: researcher }}\ndefault: inherit\n{DENY}");
        source(&policy("d", "delegate", &rest), Layer::Project, true)
    };
    for (agents, action) in [
        (vec![], Action::Allow),
        (vec!["main"], Action::Allow),
        (vec!["researcher"], Action::Deny),
        (vec!["main", "researcher"], Action::Deny),
        (vec!["researcher", "helper"], Action::Deny),
    ] {
        let mut lab = lab();
        lab.ctx.agents = agents.iter().map(|&agent| agent.to_owned()).collect();
        let decision = lab.decide(&set(vec![host(), delegate()]), &json!({}));
        assert_eq!(decision.action, action, "{agents:?}");
    }
    let rest = format!("for: {{ ctx.tenantId: acme }}\ndefault: inherit\n{DENY}");
    let tenant = source(&policy("d", "delegate", &rest), Layer::Project, true);
    // Whether the tenant is acme is not known, and a delegate can only tighten.
    assert_eq!(lab().decide(&set(vec![host(), tenant]), &json!({})).action, Action::Deny);
}

#[test]
fn f011_an_untrusted_project_only_tightens() {
    let mut lab = Lab::builtin("read_file");
    lab.untrusted = true;
    let text = policy(
        "repo",
        "host",
        "default: allow
effects: { t: [ { effect: read } ] }
rules:
  - { id: all, tool: \"*\", always: true, action: allow }
  - { id: docs, when: { args.path: { under: docs } }, action: deny }",
    );
    let with = |trusted| set(vec![source(&text, Layer::Project, trusted)]);
    let (untrusted, trusted) = (with(false), with(true));
    assert_eq!(brief(&lab.decide(&untrusted, &json!({"path": "docs/a"}))), (Action::Deny, "repo/docs"));
    assert_eq!(brief(&lab.decide(&untrusted, &json!({"path": "/etc/passwd"}))), (Action::Deny, "default"));
    assert_eq!(
        brief(&lab.decide(&untrusted, &json!({"path": "a"}))),
        (Action::Allow, "builtin/read-workspace")
    );
    let ignored: Vec<_> = untrusted.ignored().iter().map(|d| (d.code, d.message.clone())).collect();
    assert_eq!(ignored.len(), 3, "{ignored:?}");
    assert!(
        ignored.iter().all(|(code, text)| *code == Code::ConfigNeedsTrust && text.contains("needs trust"))
    );
    assert!(trusted.ignored().is_empty());
    lab.untrusted = false;
    assert_eq!(lab.decide(&trusted, &json!({"path": "/etc/passwd"})).action, Action::Allow);
}

#[test]
fn an_untrusted_project_runs_nothing_but_built_in_reads() {
    let (set, _) = PolicySet::new(Vec::new());
    for (name, args, code) in [
        ("read_file", json!({"path": "a"}), None),
        ("write_file", json!({"path": "a", "content": "x"}), Some(Code::ConfigNeedsTrust)),
        ("run_command", json!({"argv": ["ls"]}), Some(Code::ConfigNeedsTrust)),
    ] {
        let mut lab = Lab::builtin(name);
        lab.untrusted = true;
        let decision = lab.decide(&set, &args);
        assert_eq!(decision.code, code, "{name}");
        if code.is_some() {
            assert_eq!(brief(&decision), (Action::Deny, "engine/untrusted"));
            lab.untrusted = false;
            assert_eq!(lab.decide(&set, &args).action, Action::Ask, "{name}");
        }
    }
    let mut lab = lab();
    assert_eq!(brief(&lab.decide(&set, &json!({}))), (Action::Ask, "builtin/other-tools"));
    lab.untrusted = true;
    assert_eq!(brief(&lab.decide(&set, &json!({}))), (Action::Deny, "engine/untrusted"));
}

#[test]
fn effects_of_a_trusted_project_count_where_the_host_says_nothing() {
    let lab = lab();
    let user =
        |rest: &str| source(&policy("u", "host", &format!("default: allow\n{rest}")), Layer::User, true);
    let project = |trusted| {
        let rest = "default: allow\neffects: { t: [ { effect: read } ] }";
        source(&policy("p", "host", rest), Layer::Project, trusted)
    };
    let says = |sources| lab.decide(&set(sources), &json!({})).effects;
    assert_eq!(says(vec![user(""), project(true)]), effects(&["read"]));
    assert_eq!(says(vec![user(""), project(false)]), effects(&["unknown"]));
    let other = "effects: { t: [ { effect: write, from: project } ] }";
    assert_eq!(says(vec![user(other), project(true)]), effects(&["write"]));
    // Without `from: project` the outer entry speaks of a tool of its own layer, which this is not.
    let own = "effects: { t: [ { effect: write } ] }";
    assert_eq!(says(vec![user(own), project(true)]), effects(&["read"]));
}

#[test]
fn several_files_of_one_layer_add_up_their_effects() {
    let lab = lab();
    let file = |name: &str, effect: &str| {
        let rest = format!("default: allow\neffects: {{ t: [ {{ effect: {effect} }} ] }}");
        source(&policy(name, "host", &rest), Layer::Project, true)
    };
    let decision = lab.decide(&set(vec![file("a", "read"), file("b", "external")]), &json!({}));
    assert_eq!(decision.effects, effects(&["read", "external"]));
}

#[test]
fn two_policies_with_one_rule_id_are_an_error() {
    let (_, faults) = PolicySet::new(vec![
        source(&policy("p", "host", ALLOW), Layer::Project, true),
        source(&policy("p", "guard", "rules: [ { id: a, tool: t, action: deny } ]"), Layer::User, true),
    ]);
    assert_eq!(faults.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::PolicyDuplicateRule]);
}

#[test]
fn the_digest_depends_on_text_layer_and_trust_and_not_on_order() {
    let a = || source(&policy("a", "host", ALLOW), Layer::Project, true);
    let b = |trusted| source(&policy("b", "guard", DENY), Layer::Project, trusted);
    let digest = |sources| set(sources).digest();
    assert_eq!(digest(vec![a(), b(true)]), digest(vec![b(true), a()]));
    assert_ne!(digest(vec![a(), b(true)]), digest(vec![a(), b(false)]));
    assert_ne!(digest(vec![a()]), digest(vec![a(), b(true)]));
    assert!(digest(vec![a()]).starts_with("sha256:"));
}
