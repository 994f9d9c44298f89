use super::{lint, unsupported};
use crate::diag::{Code, Severity};
use crate::manifest::testing::node;
use crate::manifest::{Origin, Tool, decode};
use crate::source::Decoder;
use serde_json::{Value, json};

fn tool(changes: &Value) -> Tool {
    let mut manifest = json!({
        "name": "t", "description": "d", "command": ["p", "{args.x}"],
        "parameters": {
            "type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
            "required": ["x"], "additionalProperties": false
        }
    });
    for (key, value) in changes.as_object().unwrap() {
        manifest[key] = value.clone();
    }
    let origin = Origin { file: None, dir: None, stem: None, bytes_digest: String::new() };
    decode(&mut Decoder::new(), &node(&manifest), origin).unwrap()
}

#[test]
fn warns_of_what_is_hardly_meant() {
    use Code::{
        ManifestCodeFromArgument as FreeCode, ManifestContradiction as Contradiction,
        ManifestNoSandbox as NoSandbox, ManifestOpenArguments as Open,
        ManifestOptionalPlaceholder as Optional,
    };
    let table = [
        (json!({}), None),
        (json!({"parameters": {"type": "object", "properties": {"x": {}}, "required": ["x"]}}), Some(Open)),
        (
            json!({"parameters": {"type": "object", "properties": {"x": {}}, "required": ["x"], "additionalProperties": true}}),
            None,
        ),
        (json!({"sandbox": false}), Some(NoSandbox)),
        (json!({"sandbox": {"enabled": false}}), Some(NoSandbox)),
        (json!({"sandbox": true, "readOnly": true}), None),
        (json!({"readOnly": true, "destructive": true}), Some(Contradiction)),
        (json!({"readOnly": true, "sandbox": {"allowFS": {"readOnly": ["/x"]}}}), None),
        (json!({"readOnly": true, "sandbox": {"allowFS": {"readWrite": ["/x"]}}}), Some(Contradiction)),
        (json!({"readOnly": true, "sandbox": {"allowNetwork": true}}), Some(Contradiction)),
        (json!({"readOnly": true, "sandbox": {"allowNetwork": "loopback"}}), None),
        (json!({"sandbox": {"allowNetwork": true}}), None),
        (json!({"cache": {"ttl": 5}, "destructive": true}), Some(Contradiction)),
        (json!({"cache": {"ttl": 5}}), None),
        (json!({"command": ["p", "{args.y}"]}), Some(Optional)),
        (json!({"command": ["p", {"when": "args.y", "argv": ["{args.y}"]}]}), None),
        (json!({"command": ["bash"], "stdin": "{args.x}"}), Some(FreeCode)),
        (json!({"command": ["sh", "-s"], "stdin": "{args.x}"}), Some(FreeCode)),
        (json!({"command": ["sh", "-s"], "stdin": "{args.x}", "destructive": true}), None),
        (
            json!({"command": ["sh", "-s"], "stdin": "{args.x}", "destructive": true, "idempotent": true}),
            Some(Contradiction),
        ),
        (json!({"command": ["bash", "s.sh"], "stdin": "{args.x}"}), None),
    ];
    expect_each(&table);
}

#[track_caller]
fn expect_each(table: &[(Value, Option<Code>)]) {
    for (changes, wanted) in table {
        let found = lint(&tool(changes));
        let codes: Vec<Code> = found.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, wanted.iter().copied().collect::<Vec<_>>(), "{changes}: {found:#?}");
        assert!(
            found.iter().all(|finding| finding.severity == Severity::Warning && finding.primary.is_some())
        );
    }
}

#[test]
fn warns_of_wide_sandboxes() {
    let wide = Some(Code::ManifestWideSandbox);
    let sandbox = |sandbox: Value| json!({"sandbox": sandbox});
    let table = [
        (sandbox(json!({"allowFS": true})), wide),
        (sandbox(json!({"allowFS": {"readOnly": ["/home/me"]}})), wide),
        (sandbox(json!({"allowFS": {"readOnly": "/root/"}})), wide),
        (sandbox(json!({"allowFS": {"readOnly": ["/home/me/project", "/etc", "{workspace}"]}})), None),
        (sandbox(json!({"allowFS": {"readWrite": ["{workspace}", "/etc"]}})), wide),
        (sandbox(json!({"allowFS": {"readWrite": ["{workspace}", "/etc/my-tool"]}})), None),
        (sandbox(json!({"timeout": "2h"})), wide),
        (sandbox(json!({"timeout": "1h", "maxMemoryMB": 16384, "maxProcesses": 4096})), None),
        (sandbox(json!({"maxMemoryMB": 16385})), wide),
        (sandbox(json!({"maxOutputBytes": 100_000_000})), wide),
        (sandbox(json!({"maxProcesses": 5000})), wide),
        (json!({"command": ["/usr/bin/jq", "{args.x}"], "sandbox": {"allowNetwork": true}}), wide),
        (json!({"command": ["curl", "{args.x}"], "sandbox": {"allowNetwork": true}}), None),
    ];
    expect_each(&table);
    let found = lint(&tool(&sandbox(json!({"env": {"forward": ["LANG", "GITHUB_TOKEN"]}}))));
    assert_eq!(
        found.iter().map(|f| (f.code, f.severity)).collect::<Vec<_>>(),
        [(Code::ManifestWideSandbox, Severity::Note)]
    );
}

#[test]
fn warns_of_secrets_that_others_can_read() {
    let (command, variable) = (Some(Code::ManifestSecretInCommand), Some(Code::ManifestSecretInEnvironment));
    let parameters = |more: Value| {
        let mut x = json!({"type": "string"});
        for (key, value) in more.as_object().unwrap() {
            x[key] = value.clone();
        }
        json!({"parameters": {"type": "object", "properties": {"x": x}, "required": ["x"], "additionalProperties": false}})
    };
    let argv = |argv: Value| json!({"command": argv});
    let token = format!("ghp_{}", "a1".repeat(18));
    let table = [
        (parameters(json!({"format": "password"})), command),
        (parameters(json!({"writeOnly": true})), command),
        (parameters(json!({"x-secret": true})), command),
        (parameters(json!({"x-secret": false})), None),
        (argv(json!(["p", "--password", "hunter2"])), command),
        (argv(json!(["p", "--password=hunter2"])), command),
        (argv(json!(["p", "--password", "{args.x}"])), None),
        (argv(json!(["p", "--password-file", "hunter2"])), None),
        (argv(json!(["p", "--token", "/run/token"])), None),
        (argv(json!(["p", token])), command),
        (argv(json!(["p", "-H", format!("Authorization: Bearer {token}")])), command),
        (argv(json!(["p", "https://me:pw@host/x"])), command),
        (argv(json!(["p", "https://me@host/x:y"])), None),
        (argv(json!(["p", "task-sk-1", "risk-averse-and-long-enough-to-be-one"])), None),
        (argv(json!(["p", {"when": "args.x", "argv": ["--token", "abc"]}])), command),
        (json!({"sandbox": {"env": {"API_TOKEN": "abc"}}}), variable),
        (json!({"sandbox": {"env": {"set": {"DB_PASSWORD": "abc"}}}}), variable),
        (json!({"sandbox": {"env": {"set": {"X": token}}}}), variable),
        (
            json!({"sandbox": {"env": {"set": {"TOKEN_FILE": "abc", "PASSWORD": "", "SECRET": "/run/s"}}}}),
            None,
        ),
        (json!({"sandbox": {"env": {"set": {"PATTERN": "abc", "TOKENIZERS": "x"}}}}), None),
    ];
    expect_each(&table);
}

#[test]
fn names_what_is_not_carried_out() {
    let table = [
        (json!({"cache": {"ttl": 5}}), "cache"),
        (json!({"retry": {"attempts": 2}}), "retry"),
        (json!({"async": {"ttlSeconds": 5}}), "async"),
        (json!({"toModelOutput": ["cat"]}), "toModelOutput"),
        (json!({"process": "shared"}), "process"),
        (json!({"output": "json", "outputSchema": {}}), "outputSchema"),
        (json!({"sandbox": {"allowNetwork": ["a:1"]}}), "allowNetwork: [HOST:PORT]"),
        (json!({"sandbox": {"runAs": "1:1"}}), "runAs"),
    ];
    for (changes, key) in table {
        let found = unsupported(&tool(&changes));
        assert_eq!(found.len(), 1, "{changes}");
        assert_eq!((found[0].code, found[0].severity), (Code::ManifestUnsupported, Severity::Error));
        assert!(found[0].message.contains(&format!("`{key}`")) && found[0].primary.is_some(), "{found:#?}");
    }
    assert_eq!(unsupported(&tool(&json!({"output": "json", "sandbox": {"allowNetwork": true}}))), []);
}
