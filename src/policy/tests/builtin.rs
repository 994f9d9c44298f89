//! The built-in policy.

use super::{Action, Lab, PolicySet, brief, load};
use crate::policy::{builtin_text, check_examples};
use serde_json::json;

fn builtin() -> PolicySet {
    let (set, faults) = PolicySet::new(Vec::new());
    assert!(faults.is_empty(), "{faults:#?}");
    set
}

#[test]
fn is_valid_and_its_examples_hold() {
    let file = load(builtin_text()).unwrap();
    let failed = check_examples(&file);
    assert!(failed.is_empty(), "{failed:#?}");
    for name in crate::manifest::BUILTIN_NAMES {
        let faults = super::check_for_tool(&builtin(), &Lab::builtin(name).tool);
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
}

#[test]
fn reads_are_allowed_secrets_denied_and_the_rest_asks() {
    for (tool, args, action, rule) in [
        ("read_file", json!({"path": "README.md"}), Action::Allow, "builtin/read-workspace"),
        ("read_file", json!({"path": "/etc/passwd"}), Action::Deny, "default"),
        ("read_file", json!({"path": "../x"}), Action::Deny, "default"),
        ("read_file", json!({"path": ".env"}), Action::Deny, "builtin/secrets"),
        ("read_file", json!({"path": "a/.ENV.Local"}), Action::Deny, "builtin/secrets"),
        ("read_file", json!({"path": "a/.env.example"}), Action::Allow, "builtin/read-workspace"),
        ("read_file", json!({"path": "/home/u/.ssh/id_rsa"}), Action::Deny, "builtin/secrets"),
        ("read_file", json!({"path": "deploy/prod.PEM"}), Action::Deny, "builtin/secrets"),
        ("list_dir", json!({}), Action::Allow, "builtin/read-workspace"),
        ("list_dir", json!({"path": ".ssh"}), Action::Deny, "builtin/secrets"),
        ("search_text", json!({"pattern": "x"}), Action::Allow, "builtin/read-workspace"),
        ("write_file", json!({"path": "a", "content": "x"}), Action::Ask, "builtin/write-workspace"),
        ("write_file", json!({"path": "/tmp/a", "content": "x"}), Action::Deny, "default"),
        ("write_file", json!({"path": ".env", "content": "x"}), Action::Deny, "builtin/secrets"),
        ("run_command", json!({"argv": ["ls"]}), Action::Ask, "builtin/run-command"),
    ] {
        let decision = Lab::builtin(tool).decide(&builtin(), &args);
        assert_eq!(brief(&decision), (action, rule), "{tool} {args}");
        assert_eq!(decision.rule.span, None);
        assert!(decision.action == Action::Allow || decision.reason.is_some());
    }
}

#[test]
fn f139_a_tool_that_no_policy_speaks_of_asks_whatever_it_says_of_itself() {
    let mut lab = Lab::new("may_delete_files", json!({}));
    for read_only in [false, true] {
        lab.tool.read_only = read_only;
        let decision = lab.decide(&builtin(), &json!({}));
        assert_eq!(brief(&decision), (Action::Ask, "builtin/other-tools"));
        assert_eq!(decision.effect.as_str(), "unknown");
    }
}

#[test]
fn secrets_are_masked_for_every_tool() {
    let decision = Lab::builtin("run_command").decide(&builtin(), &json!({"argv": ["ls"]}));
    let [mask] = decision.masks.as_slice() else { panic!("{:?}", decision.masks) };
    assert_eq!(mask.rule, "builtin/secrets");
    assert!(mask.fold);
    assert!(
        mask.globs.contains(&"/**/.env".to_owned()) && mask.except.contains(&"/**/.env.example".to_owned())
    );
}
