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
        ("find_files", json!({"glob": "*.rs"}), Action::Allow, "builtin/read-workspace"),
        ("find_files", json!({"path": "/etc"}), Action::Deny, "default"),
        ("find_files", json!({"path": "x/.aws"}), Action::Deny, "builtin/secrets"),
        ("file_info", json!({"path": "a"}), Action::Allow, "builtin/read-workspace"),
        ("file_info", json!({"path": "../a"}), Action::Deny, "default"),
        ("file_info", json!({"path": "a.pem", "sha256": true}), Action::Deny, "builtin/secrets"),
        ("edit_file", edits("a"), Action::Ask, "builtin/edit-workspace"),
        ("edit_file", edits("/etc/hosts"), Action::Deny, "default"),
        ("edit_file", edits("A/.Env"), Action::Deny, "builtin/secrets"),
        ("edit_file", edits(".git/config"), Action::Deny, "engine/control-files"),
        ("edit_file", edits("toolctl.yaml"), Action::Deny, "engine/control-files"),
        ("move_file", json!({"path": "a", "to": "b/a"}), Action::Ask, "builtin/move-workspace"),
        ("move_file", json!({"path": "a", "to": "/tmp/a"}), Action::Deny, "default"),
        ("move_file", json!({"path": "/etc/passwd", "to": "a"}), Action::Deny, "default"),
        ("move_file", json!({"path": ".env", "to": "a"}), Action::Deny, "builtin/secrets"),
        ("move_file", json!({"path": ".ssh", "to": "a"}), Action::Deny, "builtin/secrets"),
        ("move_file", json!({"path": "a", "to": "x/.ENV"}), Action::Deny, "builtin/secrets-replaced"),
        ("move_file", json!({"path": "a", "to": ".env.example"}), Action::Ask, "builtin/move-workspace"),
        ("move_file", json!({"path": "a", "to": ".git/hooks/x"}), Action::Deny, "engine/control-files"),
        ("move_file", json!({"path": ".GIT", "to": "a"}), Action::Deny, "engine/control-files"),
        ("move_file", json!({"path": "a", "to": "policies/a"}), Action::Deny, "engine/control-files"),
        ("delete_file", json!({"path": "a"}), Action::Ask, "builtin/delete-workspace"),
        ("delete_file", json!({"path": "a", "recursive": true}), Action::Ask, "builtin/delete-tree"),
        ("delete_file", json!({"path": "../a"}), Action::Deny, "default"),
        ("delete_file", json!({"path": "id_rsa"}), Action::Deny, "builtin/secrets"),
        ("delete_file", json!({"path": ".vscode", "recursive": true}), Action::Deny, "engine/control-files"),
        ("delete_file", json!({"path": ".", "recursive": true}), Action::Deny, "engine/control-files"),
    ] {
        let decision = Lab::builtin(tool).decide(&builtin(), &args);
        assert_eq!(brief(&decision), (action, rule), "{tool} {args}");
        assert_eq!(decision.rule.span, None);
        assert!(decision.action == Action::Allow || decision.reason.is_some());
    }
}

fn edits(path: &str) -> serde_json::Value {
    json!({"path": path, "edits": [{"old": "a", "new": "b"}]})
}

/// Rules judge a link that is not followed and what it leads to: a grant needs both, a guard is content with one.
#[test]
fn links_are_judged_with_their_targets() {
    for (target, action, rule) in [
        ("inside", Action::Ask, "builtin/delete-workspace"),
        ("/etc/passwd", Action::Deny, "default"),
        (".env", Action::Deny, "builtin/secrets"),
        ("toolctl.yaml", Action::Deny, "engine/control-files"),
    ] {
        let mut lab = Lab::builtin("delete_file");
        lab.world = std::mem::take(&mut lab.world).with_link("/ws/link", target);
        let decision = lab.decide(&builtin(), &json!({"path": "link"}));
        assert_eq!(brief(&decision), (action, rule), "{target}");
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
