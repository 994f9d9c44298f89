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
    let table = [
        (json!({}), None),
        (
            json!({"parameters": {"type": "object", "properties": {"x": {}}, "required": ["x"]}}),
            Some("does not know"),
        ),
        (json!({"sandbox": false}), Some("without a sandbox")),
        (json!({"sandbox": {"enabled": false}}), Some("without a sandbox")),
        (json!({"sandbox": true, "readOnly": true}), None),
        (json!({"readOnly": true, "destructive": true}), Some("cannot be destructive")),
        (json!({"readOnly": true, "sandbox": {"allowFS": true}}), Some("only reads")),
        (json!({"readOnly": true, "sandbox": {"allowFS": {"readOnly": ["/x"]}}}), None),
        (json!({"command": ["p", "{args.y}"]}), Some("optional argument `y`")),
        (json!({"command": ["p", {"when": "args.y", "argv": ["{args.y}"]}]}), None),
        (json!({"command": ["bash"], "stdin": "{args.x}"}), Some("whole program")),
        (json!({"command": ["bash", "s.sh"], "stdin": "{args.x}"}), None),
    ];
    for (changes, wanted) in table {
        let found = lint(&tool(&changes));
        match wanted {
            None => assert_eq!(found, [], "{changes}"),
            Some(text) => {
                assert_eq!(found.len(), 1, "{changes}: {found:#?}");
                assert!(found[0].message.contains(text), "{changes}: {found:#?}");
                assert_eq!(found[0].severity, Severity::Warning);
            }
        }
    }
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
