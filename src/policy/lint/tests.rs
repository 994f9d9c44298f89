//! Which rules are reported, and which are not.

use super::lint_policies;
use crate::diag::{Code, Severity};
use crate::manifest::RequiresApproval;
use crate::model::{AllowFs, AllowNetwork, Layer, SandboxConfig};
use crate::policy::tests::{Lab, host, set, source};
use crate::policy::{LegacyApproval, ToolFacts};
use serde_json::{Value, json};

const EFFECTS: &str =
    "effects:\n  pay: [{effect: external}]\n  read: [{effect: read}]\n  find: [{effect: read}]\n";

fn tool(name: &str, parameters: Value) -> ToolFacts {
    let mut tool = Lab::new(name, json!({})).tool;
    tool.parameters = parameters;
    tool
}

fn tools() -> Vec<ToolFacts> {
    vec![
        tool(
            "pay",
            json!({"type": "object", "properties": {
                "amount": {"type": "integer", "minimum": 0, "maximum": 1000},
                "exact": {"type": "number"},
                "currency": {"enum": ["EUR", "USD"]},
                "to": {"type": "string", "maxLength": 10},
                "urgent": {"type": "boolean"},
                "pin": {"type": "string", "format": "password"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "memo": {"type": "string"},
            }, "required": ["amount", "exact", "currency", "to", "urgent", "pin", "tags"], "additionalProperties": false}),
        ),
        tool(
            "read",
            json!({"type": "object", "properties": {
                "path": {"type": "string", "format": "path"}, "from": {"type": "string", "format": "path"}
            }, "required": ["path"], "additionalProperties": false}),
        ),
        tool(
            "find",
            json!({"type": "object", "properties": {"path": {"type": "string", "format": "path"}, "q": {"type": "string"}},
                "required": ["path", "q"], "additionalProperties": false}),
        ),
    ]
}

fn lint_of(text: &str, tools: &[ToolFacts]) -> Vec<(Code, Severity)> {
    let set = set(vec![source(text, Layer::Project, true)]);
    let found = lint_policies(&set, tools, &LegacyApproval::None, &|_| None);
    let mut codes: Vec<_> = found
        .into_iter()
        .filter(|finding| finding.code != Code::PolicyMissingReason)
        .map(|finding| (finding.code, finding.severity))
        .collect();
    codes.dedup();
    codes
}

/// The one finding about these rules; `None`: there is none.
fn lint_rules(rules: &str) -> Option<Code> {
    let text = host(rules).replace("rules:\n", &format!("{EFFECTS}rules:\n"));
    match lint_of(&text, &tools()).as_slice() {
        [] => None,
        [(code, _)] => Some(*code),
        more => panic!("{more:?}\n{rules}"),
    }
}

/// A guard on `pay` with this condition.
fn pay(when: &str) -> Option<Code> {
    lint_rules(&format!("- {{id: a, tool: pay, when: {{{when}}}, action: deny}}"))
}

#[test]
fn conditions_that_never_hold() {
    let (never, value) = (Some(Code::PolicyUnsatisfiable), Some(Code::PolicyImpossibleValue));
    let table = [
        ("args.amount: {gt: 10, lt: 20}", None),
        ("args.amount: {gt: 10, lt: 10}", never),
        ("args.amount: {gt: 10, lt: 11}", never),
        ("args.exact: {gt: 10, lt: 11}", None),
        ("args.exact: {ge: 10, le: 10}", None),
        ("args.exact: {ge: 10, le: 10, not_in: [10.0]}", never),
        ("args.amount: {gt: 1000}", value),
        ("args.amount: {ge: 1000}", None),
        ("args.amount: 2000", value),
        ("args.amount: {in: [2000, 5]}", None),
        ("args.amount: 1.5", value),
        ("args.currency: EUR, any: [{args.currency: USD}, {args.urgent: true}]", None),
        ("args.currency: EUR, any: [{args.currency: USD}, {args.currency: {not_in: [EUR]}}]", never),
        ("args.currency: {not_in: [EUR, USD]}", value),
        ("not: {args.currency: {in: [EUR, USD]}}", never),
        ("args.urgent: {not_in: [true, false]}", value),
        ("args.to: {prefix: ab, suffix: bc}", None),
        ("args.to: {prefix: ab, eq: ba}", never),
        ("args.to: {prefix: [ab, ac], glob: \"b*\"}", never),
        ("args.to: {glob: \"a*\", contains: /}", never),
        ("args.to: {glob: \"a**\", contains: /}", None),
        ("args.to: {glob: \"**/a\", contains: /}", None),
        ("args.to: {prefix: AB, case: fold}, any: [{args.to: {prefix: ab}}]", None),
        ("args.to: {prefix: AB}, any: [{args.to: {prefix: ab}}]", never),
        ("args.to: {minBytes: 41}", value),
        ("args.to: {minBytes: 40}", None),
        ("args.to: {minBytes: 5, maxBytes: 4}", value.and(never)),
        ("args.to: {regex: \"a+\", in: [b, c]}", never),
        ("args.to: {regex: \"a+\", in: [b, aa]}", None),
        ("args.to: {regex: \"a+\"}, not: {args.to: {regex: \"a+\"}}", never),
        ("args.to: {regex: \"a+\"}, not: {args.to: {regex: \"a+\", case: fold}}", None),
        ("args.tags: {minItems: 4}", value),
        ("args.tags: {some: {prefix: a}, each: {prefix: b}}", never),
        ("args.tags: {some: {prefix: a}, each: {suffix: b}}", None),
        ("args.tags: {each: {prefix: b}}, not: {args.tags: {each: {prefix: b}}}", never),
        ("args.memo: {exists: false}, not: {args.memo: {exists: false}}", never),
        ("args.memo: {exists: true}, any: [{args.memo: a}, {args.memo: b}]", None),
        ("args.amount: {exists: false}", value),
        ("ctx.runMode: {not_in: [plan, execute]}", never),
        ("ctx.userId: a, any: [{ctx.userId: b}]", never),
        ("args.to: {ref: args.pin}, any: [{args.to: a}]", None),
        ("effect: read, not: {effect: read}", never),
        ("effect: [read, write]", None),
        ("tool: read", None),
    ];
    for (when, expected) in table {
        assert_eq!(pay(when), expected, "{when}");
    }
}

#[test]
fn paths_that_no_path_matches() {
    let never = Some(Code::PolicyUnsatisfiable);
    let table = [
        ("{under: [src], path: [\"src/**/*.rs\"]}", None),
        ("{under: [src], path: [\"docs/**\"]}", never),
        ("{under: [src], ext: [rs], path: [\"**/*.md\"]}", never),
        ("{under: [src], ext: [rs], path: [\"**/*.*\"]}", None),
        ("{under: [/etc], path: [\"src/**\"]}", None),
        ("{under: [/etc], path: [\"/usr/**\"]}", never),
        ("{under: [SRC], path: [\"src/**\"], case: fold}", None),
        ("{under: [SRC], path: [\"src/**\"]}", never),
    ];
    for (test, expected) in table {
        let rule = format!("- {{id: a, tool: read, when: {{args.path: {test}}}, action: allow}}");
        assert_eq!(lint_rules(&rule), expected, "{test}");
    }
}

#[test]
fn exceptions_of_nothing_and_of_everything() {
    let idle = Some(Code::PolicyIdleUnless);
    let table = [
        ("deny", "[a/**]", "[a/b/**]", None),
        ("deny", "[a/**]", "[b/**]", idle),
        ("deny", "[a/b/**]", "[a/**]", idle),
        ("allow", "[a/**]", "[a/b/**]", None),
        ("allow", "[a/**]", "[b/**]", idle),
        ("allow", "[a/b/**]", "[a/**]", idle),
    ];
    for (action, when, unless, expected) in table {
        let rule = format!(
            "- {{id: a, tool: read, when: {{args.path: {{path: {when}}}}}, unless: {{args.path: {{path: {unless}}}}}, action: {action}, reason: x, {}}}",
            if action == "deny" { "mask: true" } else { "from: project" }
        );
        assert_eq!(lint_rules(&rule), expected, "{action} {when} {unless}");
    }
    // Without the argument the guard is in doubt, and `exists: false` is what lifts it then.
    let rule = "- {id: a, tool: read, when: {args.from: {under: [a]}}, unless: {args.from: {exists: false}}, action: deny}";
    assert_eq!(lint_rules(rule), None);
}

#[test]
fn grants_that_change_nothing() {
    let (redundant, shadowed) = (Some(Code::PolicyRedundant), Some(Code::PolicyShadowedGrant));
    let table = [
        ("allow", "{under: [src]}", "allow", "{under: [docs]}", None),
        ("allow", "{under: [src]}", "allow", "{under: [src/a]}", redundant),
        ("allow", "{under: [src]}", "allow", "{under: [src]}", redundant),
        ("ask", "{under: [src]}", "allow", "{under: [src/a]}", redundant),
        ("allow", "{under: [src]}", "ask", "{under: [src/a]}", None),
        ("deny", "{under: [src]}", "allow", "{under: [src/a]}", shadowed),
        ("deny", "{under: [src]}", "ask", "{under: [src/a]}", shadowed),
        ("deny", "{under: [src/a]}", "allow", "{under: [src]}", None),
        ("{atLeast: ask}", "{under: [src]}", "allow", "{under: [src/a]}", None),
        ("deny", "{under: [src]}", "deny", "{under: [src/a]}", None),
        ("allow", "{path: [\"src/*\"]}", "allow", "{path: [\"src/*.rs\"]}", redundant),
        ("allow", "{path: [\"src/*.rs\"]}", "allow", "{path: [\"src/*\"]}", redundant),
        ("allow", "{path: [\"src/*\"]}", "allow", "{path: [\"src/*.rs\", \"b/c\"]}", None),
        // The wording of such a grant lifts a rule of the engine.
        ("allow", "{under: [.]}", "allow", "{path: [.git/hooks]}", None),
    ];
    for (first, one, second, other, expected) in table {
        let rule = |id: &str, action: &str, when: &str| {
            format!(
                "- {{id: {id}, tool: [read, find], when: {{args.path: {when}}}, action: {action}, reason: x}}\n"
            )
        };
        let rules = format!("{}{}", rule("a", first, one), rule("b", second, other));
        assert_eq!(lint_rules(&rules), expected, "{first} {one} {second} {other}");
    }
    let table = [
        // One of the two tools is not covered.
        (
            "tool: read, when: {args.path: {under: [src]}}",
            "tool: [read, find], when: {args.path: {under: [src]}}",
            None,
        ),
        // An absent argument: the guard matches in doubt, the grant does not.
        (
            "tool: read, when: {args.from: {exists: true, under: [a]}}",
            "tool: read, when: {args.path: {under: [a]}}",
            None,
        ),
        ("tool: read", "tool: read, when: {args.path: {under: [a]}}", shadowed),
        ("effect: external", "tool: read, when: {args.path: {under: [a]}}", None),
    ];
    for (guard, grant, expected) in table {
        let rules = format!(
            "- {{id: a, {guard}, action: deny, reason: x}}\n- {{id: b, {grant}, action: allow, reason: x}}"
        );
        assert_eq!(lint_rules(&rules), expected, "{guard} {grant}");
    }
    let limited = "- {id: a, tool: read, when: {args.path: {under: [a]}}, action: allow}\n\
                   - {id: b, tool: read, when: {args.path: {under: [a/b]}}, action: allow, limits: {timeout: 1s}}";
    assert_eq!(lint_rules(limited), None, "limits count for every grant that matches");
}

#[test]
fn grants_that_give_much() {
    let (broad, claim) = (Some(Code::PolicyOverBroad), Some(Code::PolicyClaim));
    let table = [
        ("tool: pay, always: true, action: allow", broad),
        ("tool: pay, always: true, action: ask", None),
        ("tool: read, always: true, action: allow", None),
        ("tool: pay, when: {effect: read}, action: allow", None),
        ("tool: pay, when: {args.amount: {lt: 5}}, action: allow", None),
        ("tool: read, when: {ctx.userId: root}, action: allow", claim),
        ("tool: read, when: {ctx.runMode: plan}, action: allow", None),
        ("tool: read, when: {ctx.userId: root}, action: deny", None),
    ];
    for (rule, expected) in table {
        assert_eq!(lint_rules(&format!("- {{id: a, {rule}, reason: x}}")), expected, "{rule}");
    }
    let guarded =
        "- {id: a, tool: pay, always: true, action: allow}\n- {id: b, tool: pay, action: {atLeast: ask}}";
    assert_eq!(lint_rules(guarded), None);
    let allow = "policy: h\nformat: 1\nrole: host\neffects: {pay: {effect: external}}\nrules: [{id: a, tool: pay, when: {args.amount: {lt: 5}}, action: allow}]";
    let with = |sandbox: Option<SandboxConfig>| {
        let mut tools = tools();
        tools[0].sandbox = sandbox;
        lint_of(allow, &tools)
    };
    let network = SandboxConfig { allow_network: Some(AllowNetwork::Yes), ..SandboxConfig::default() };
    assert_eq!(with(Some(network)), [(Code::PolicyUnconfined, Severity::Warning)]);
    assert_eq!(with(None), [(Code::PolicyUnconfined, Severity::Warning)]);
    assert_eq!(with(Some(SandboxConfig::default())), []);
}

#[test]
fn wording() {
    let regex = Some(Code::PolicyLooseRegex);
    for (source, expected) in [
        ("a.*", None),
        ("^a", regex),
        ("a$", regex),
        ("^a$", regex),
        ("a\\$", None),
        ("api.corp.test", regex),
        ("api\\.corp\\.test", None),
        ("https://api.example.com/.*", regex),
        ("[example.com]", regex),
        ("[a-z.]+", None),
        ("v1.2", None),
        (".*test", None),
    ] {
        assert_eq!(pay(&format!("args.to: {{regex: '{source}'}}")), expected, "{source}");
    }
    let path = Some(Code::PolicyTextOfPath);
    for (test, expected) in [
        ("{prefix: a}", path),
        ("{glob: \"a*\"}", path),
        ("{regex: \"a.*\"}", path),
        ("{eq: a}", None),
        ("{under: [a]}", None),
    ] {
        let rule = format!("- {{id: a, tool: read, when: {{args.path: {test}}}, action: allow}}");
        assert_eq!(lint_rules(&rule), expected, "{test}");
    }
    let optional = Some(Code::PolicyOptionalArgument);
    for (when, expected) in [
        ("args.memo: a", optional),
        ("args.memo: {exists: true, eq: a}", None),
        ("any: [{args.memo: {exists: false}}, {args.memo: a}]", None),
        ("args.to: {ref: args.memo}", optional),
        ("args.to: a", None),
    ] {
        assert_eq!(pay(when), expected, "{when}");
    }
    let secret = "- {id: a, tool: pay, action: deny, reason: \"{args.pin}\"}";
    assert_eq!(lint_rules(secret), Some(Code::PolicySecretReason));
}

#[test]
fn guards_that_miss_files() {
    let (glob, door) = (Some(Code::PolicyLooseGlob), Some(Code::PolicyOtherDoor));
    for (globs, more, expected) in [
        ("[\"**/.env\", \"**/.env.*\"], case: fold", "mask: true", None),
        ("[\"**/.env\"], case: fold", "mask: true", glob),
        ("[\"**/.env\", \"**/.env.*\"]", "mask: true", glob),
        ("[\"*/secret\"]", "mask: true", glob),
        ("[\"*/secret\", \"**/secret\"]", "mask: true", None),
        ("[\"**/secret\"]", "mask: true", None),
        ("[\"**/secret\"]", "reason: x", door),
    ] {
        let rules = format!(
            "- {{id: a, tool: read, when: {{args.path: {{path: {globs}}}}}, action: deny, {more}}}\n\
             - {{id: b, tool: find, when: {{args.path: {{under: [.]}}}}, action: allow}}"
        );
        assert_eq!(lint_rules(&rules), expected, "{globs} {more}");
    }
    let both = "- {id: a, tool: [read, find], when: {args.path: {path: [\"**/secret\"]}}, action: deny}\n\
                - {id: b, tool: find, when: {args.path: {under: [.]}}, action: allow}";
    assert_eq!(lint_rules(both), None);
}

#[test]
fn command_lines_that_are_judged_as_text() {
    let (flags, glob) = (Some(Code::PolicyTextOfCommand), Some(Code::PolicyLooseGlob));
    for (when, expected) in [
        ("args.to: {contains: \"rm -rf\"}", flags),
        ("args.to: {glob: \"rm --force *\"}", flags),
        ("args.to: {regex: \".*rm -r.*\"}", flags),
        ("args.to: \"ls -la\"", flags),
        ("args.to: {in: [ls, \"ls -l\"]}", flags),
        ("args.tags: {some: {prefix: \"rm -r\"}}", flags),
        ("args.to: {not_in: [\"ls -l\"]}", None),
        ("args.to: {prefix: \"rm \"}", None),
        ("args.to: {contains: \"a - b\"}", None),
        ("args.to: {contains: \"-v\"}", None),
        ("args.to: {glob: \"*rm*\"}", glob),
        ("args.to: {glob: \"rm *\"}", glob),
        ("args.to: {glob: \"release-*\"}", None),
        ("args.to: {glob: \"**\"}", None),
        ("args.to: {glob: \"a/*\"}", None),
        ("args.currency: {glob: \"E*\"}", None),
    ] {
        assert_eq!(pay(when), expected, "{when}");
    }
    // Grants: what they miss is denied, so nothing gets past.
    assert_eq!(lint_rules("- {id: a, tool: pay, when: {args.to: {glob: \"ls -l*\"}}, action: ask}"), None);
    let text = host("- {id: a, tool: pay, when: {args.to: {contains: \"rm -rf\"}}, action: deny, reason: x}");
    let found = lint_policies(
        &set(vec![source(&text, Layer::Project, true)]),
        &tools(),
        &LegacyApproval::None,
        &|_| None,
    );
    assert!(found.iter().any(|one| one.message.contains("`rm -r -f` means the same")), "{found:?}");
}

#[test]
fn effects_that_are_missing_or_wrong() {
    let grant = "rules: [{id: a, tool: NAME, when: {effect: read}, action: allow}]";
    let table = [
        ("pay", "{effect: external}", None),
        ("pay", "[{when: {args.urgent: true}, effect: external}]", Some(Code::PolicyMissingEffects)),
        (
            "pay",
            "[{when: {args.urgent: true}, effect: external}, {when: {args.urgent: false}, effect: write}]",
            None,
        ),
        (
            "pay",
            "[{effect: read}, {when: {args.urgent: true}, effect: external}]",
            Some(Code::PolicyUnreachableEffect),
        ),
        (
            "pay",
            "[{when: {args.memo: a}, effect: read}, {when: {args.memo: a}, effect: write}, {effect: write}]",
            None,
        ),
        ("delete_note", "{effect: read}", Some(Code::PolicyReadThatWrites)),
        ("delete_note", "{effect: write}", None),
        ("list_deploy", "{effect: read}", None),
    ];
    for (name, entries, expected) in table {
        let mut tools = tools();
        tools[0].name = name.to_owned();
        let text = format!(
            "policy: h\nformat: 1\nrole: host\neffects:\n  {name}: {entries}\n{}",
            grant.replace("NAME", name)
        );
        let found = lint_of(&text, &tools);
        assert_eq!(found.first().map(|(code, _)| *code), expected, "{name} {entries}");
    }
    let bare = format!("policy: h\nformat: 1\nrole: host\n{}", grant.replace("NAME", "pay"));
    assert_eq!(lint_of(&bare, &tools()), [(Code::PolicyMissingEffects, Severity::Warning)]);
    let mut hinted = tools();
    hinted[0].read_only = true;
    assert_eq!(lint_of(&bare.replace("rules", "trustHints: [pay]\nrules"), &hinted), []);
}

#[test]
fn delegates_and_exemptions() {
    let delegate = |default: &str, action: &str| {
        let text = format!(
            "policy: d\nformat: 1\nrole: delegate\nfor: {{ctx.agentName: a}}\ndefault: {default}\nrules: [{{id: a, tool: read, when: {{args.path: {{under: [a]}}}}, action: {action}, reason: x}}]"
        );
        lint_of(&text, &tools()).first().map(|(code, _)| *code)
    };
    assert_eq!(delegate("inherit", "allow"), Some(Code::PolicyIdleDelegate));
    assert_eq!(delegate("inherit", "ask"), None);
    assert_eq!(delegate("deny", "allow"), None);

    let exempt = |action: &str, legacy: LegacyApproval| {
        let mut tools = tools();
        tools[0].requires_approval = Some(RequiresApproval::Always(false));
        let text =
            host(&format!("- {{id: a, tool: pay, when: {{effect: read}}, action: {action}, reason: x}}"));
        let set = set(vec![source(&text, Layer::Project, true)]);
        let found = lint_policies(&set, &tools, &legacy, &|_| None);
        found.iter().any(|finding| finding.code == Code::PolicyIdleExemption)
    };
    assert!(exempt("ask", LegacyApproval::All));
    assert!(exempt("ask", LegacyApproval::Names(vec!["pay".to_owned()])));
    assert!(!exempt("allow", LegacyApproval::All));
    assert!(!exempt("ask", LegacyApproval::None));
}

#[test]
fn a_missing_reason_is_a_note() {
    let lint = |rule: &str| {
        let set = set(vec![source(&host(rule), Layer::Project, true)]);
        let found = lint_policies(&set, &[], &LegacyApproval::None, &|_| None);
        found.iter().map(|finding| (finding.code, finding.severity)).collect::<Vec<_>>()
    };
    assert_eq!(lint("- {id: a, action: deny}"), [(Code::PolicyMissingReason, Severity::Note)]);
    assert_eq!(lint("- {id: a, action: deny, reason: x}"), []);
}

/// The built-in policy is what people copy from.
#[test]
fn the_built_in_policy_is_clean() {
    let names = crate::manifest::BUILTIN_NAMES;
    let mut tools: Vec<ToolFacts> = names.iter().map(|name| Lab::builtin(name).tool).collect();
    tools[0].sandbox = Some(SandboxConfig {
        allow_fs: Some(AllowFs::Paths { read_only: vec!["{args.path}".to_owned()], read_write: Vec::new() }),
        ..SandboxConfig::default()
    });
    assert_eq!(lint_of(crate::policy::builtin_text(), &tools), []);
}

/// Nothing is compared without end, and what was not compared is said once and not guessed.
#[test]
fn what_would_take_too_long_is_left_out_and_said() {
    let note = (Code::PolicyRedundant, Severity::Note);
    let text = |count: usize| {
        let rules: Vec<String> = (0..count)
            .map(|at| {
                let action = ["allow", "ask", "deny"][at % 3];
                format!("- {{id: r{at}, tool: pay, when: {{args.to: {{prefix: p{at}}}, args.amount: {{gt: {at}}}, args.urgent: true}}, action: {action}, reason: x}}")
            })
            .collect();
        host(&rules.join("\n")).replace("rules:\n", &format!("{EFFECTS}rules:\n"))
    };
    let mut tools = tools();
    tools[0].sandbox =
        Some(SandboxConfig { allow_network: Some(AllowNetwork::Yes), ..SandboxConfig::default() });
    assert_eq!(lint_of(&text(10), &tools), [(Code::PolicyUnconfined, Severity::Warning)]);
    let many = lint_of(&text(700), &tools);
    assert_eq!(many.last(), Some(&note), "{many:?}");
    assert_eq!(many.iter().filter(|one| **one == note).count(), 1);

    let words: Vec<String> = (0..3000).map(|at| format!("w{at}")).collect();
    let long = format!(
        "- {{id: a, tool: pay, when: {{args.to: {{in: [{0}]}}}}, unless: {{args.to: {{in: [{0}]}}}}, action: deny, reason: x}}",
        words.join(", ")
    );
    let long = host(&[long.clone(), long.replace("id: a", "id: b")].join("\n"));
    assert_eq!(lint_of(&long, &tools).last(), Some(&note));
}
