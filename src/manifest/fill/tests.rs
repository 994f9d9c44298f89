use super::{FillEnv, FillError, fill_command, fill_paths};
use crate::diag::Code;
use crate::manifest::testing::node;
use crate::manifest::{Origin, Template, Tool, decode};
use crate::model::Context;
use crate::source::Decoder;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn tool(command: &Value, more: &Value) -> Tool {
    let mut manifest = json!({
        "name": "t", "description": "d", "command": command,
        "parameters": {"type": "object", "properties": {"x": {}, "y": {}, "n": {"type": "number"}}}
    });
    for (key, value) in more.as_object().unwrap() {
        manifest[key] = value.clone();
    }
    let origin = Origin { file: None, dir: None, stem: None, bytes_digest: String::new() };
    let mut decoder = Decoder::new();
    let tool = decode(&mut decoder, &node(&manifest), origin);
    tool.unwrap_or_else(|| panic!("{:#?}", decoder.into_diagnostics()))
}

fn filled(tool: &Tool, args: &Value) -> Result<Vec<String>, FillError> {
    let ctx = Context { user_id: Some("-u".to_owned()), run_id: Some("r1".to_owned()), ..Context::default() };
    let env = FillEnv {
        workspace: Path::new("/ws"),
        git: &[],
        tool_dir: Some(Path::new("/ws/tools.d")),
        ctx: &ctx,
    };
    let elements = fill_command(tool, args.as_object().unwrap(), &env)?;
    Ok(elements.into_iter().map(|element| element.into_string().unwrap()).collect())
}

#[test]
fn fills_splices_and_leaves_out() {
    let t = tool(
        &json!(["p", "{args.x}", "a={args.x}", {"when": "args.y", "argv": ["-y", "{args.y}"]}, "{workspace}/w",
            "{tool.dir}", "{ctx.runId}"]),
        &json!({}),
    );
    let tail = ["/ws/w", "/ws/tools.d", "r1"];
    let table = [
        (json!({"x": "v"}), vec!["p", "v", "a=v"]),
        (json!({"x": ""}), vec!["p", "", "a="]),
        (json!({"x": 1.0}), vec!["p", "1", "a=1"]),
        (json!({"x": true}), vec!["p", "true", "a=true"]),
        (json!({"x": "{args.y}", "y": "z"}), vec!["p", "{args.y}", "a={args.y}", "-y", "z"]),
        (json!({"x": "$(id) ; *", "y": null}), vec!["p", "$(id) ; *", "a=$(id) ; *"]),
        (json!({"x": "v", "y": ["a", "b"]}), vec!["p", "v", "a=v", "-y", "a", "b"]),
        (json!({"x": "v", "y": []}), vec!["p", "v", "a=v", "-y"]),
        (json!({"x": "v", "y": false}), vec!["p", "v", "a=v", "-y", "false"]),
    ];
    for (args, head) in table {
        let wanted: Vec<&str> = head.into_iter().chain(tail).collect();
        assert_eq!(filled(&t, &args).unwrap(), wanted, "{args}");
    }
}

#[test]
fn a_false_switch_is_off() {
    let t = tool(&json!(["ls", {"when": "args.x", "argv": ["-a"]}]), &json!({}));
    assert_eq!(filled(&t, &json!({"x": true})).unwrap(), ["ls", "-a"]);
    assert_eq!(filled(&t, &json!({"x": 0})).unwrap(), ["ls", "-a"]);
    for off in [json!({"x": false}), json!({"x": null}), json!({})] {
        assert_eq!(filled(&t, &off).unwrap(), ["ls"], "{off}");
    }
}

#[test]
fn numbers_keep_their_digits() {
    let t = tool(&json!(["p", "{args.n}"]), &json!({}));
    for (given, wanted) in [
        ("9007199254740993", "9007199254740993"),
        ("1.50", "1.5"),
        ("1e3", "1000"),
        ("0.1", "0.1"),
        ("-0", "0"),
    ] {
        let args: Value = serde_json::from_str(&format!("{{\"n\": {given}}}")).unwrap();
        assert_eq!(filled(&t, &args).unwrap(), ["p", wanted], "{given}");
    }
}

#[test]
fn what_has_no_text_is_refused() {
    let t = tool(&json!(["p", "{args.x}"]), &json!({}));
    let table = [
        (json!({}), "argument `x` is needed for the command and is not there"),
        (json!({"x": null}), "argument `x` is null, which cannot be an argument of a program"),
        (json!({"x": {}}), "argument `x` is an object, which cannot be an argument of a program"),
        (json!({"x": [[]]}), "argument `x` is a list, which cannot be an argument of a program"),
        (json!({"x": "a\u{0}b"}), "argument `x` contains a NUL character"),
    ];
    for (args, message) in table {
        assert_eq!(filled(&t, &args).unwrap_err().to_string(), message, "{args}");
    }
    let list = tool(&json!(["p", "a{args.x}"]), &json!({}));
    assert!(matches!(filled(&list, &json!({"x": ["a"]})), Err(FillError::NotText { kind: "a list", .. })));
}

/// F131: a value that begins with a dash is taken as an option by the program.
#[test]
fn leading_dashes_are_refused() {
    let plain = tool(&json!(["git", "log", "{args.x}"]), &json!({}));
    for bad in [
        json!("--output=/tmp/x"),
        json!("-"),
        json!("-rf"),
        json!("@f"),
        json!(-5),
        json!(["a", "-rf"]),
        json!(["@f"]),
    ] {
        let error = filled(&plain, &json!({"x": bad})).unwrap_err();
        assert!(matches!(error, FillError::LeadingDash { .. }), "{bad}");
        assert_eq!(error.to_diagnostic().code, Code::CallUnsafeArgument);
    }
    assert_eq!(filled(&plain, &json!({"x": ""})).unwrap(), ["git", "log", ""]);
    assert_eq!(filled(&plain, &json!({"x": "a-b"})).unwrap(), ["git", "log", "a-b"]);

    let prefixed = tool(&json!(["git", "--file={args.x}"]), &json!({}));
    assert_eq!(filled(&prefixed, &json!({"x": "-rf"})).unwrap(), ["git", "--file=-rf"]);
}

#[test]
fn an_empty_value_in_front_hides_nothing() {
    let two = tool(&json!(["p", "{args.x}{args.y}"]), &json!({"allowLeadingDash": ["y"]}));
    assert!(filled(&two, &json!({"x": "", "y": "-rf"})).is_err());
    assert!(filled(&two, &json!({"x": "a", "y": "-rf"})).is_ok());
    let literal = tool(&json!(["p", "{args.x}-rf"]), &json!({}));
    assert!(filled(&literal, &json!({"x": ""})).is_err());
    assert!(filled(&literal, &json!({"x": "a"})).is_ok());
    let both = tool(&json!(["p", "{args.x}{args.y}"]), &json!({"allowLeadingDash": ["x", "y"]}));
    assert_eq!(filled(&both, &json!({"x": "", "y": "-rf"})).unwrap(), ["p", "-rf"]);
    // What the caller claims about itself is not the manifest's text either.
    let ctx = tool(&json!(["p", "{ctx.userId}"]), &json!({}));
    assert!(matches!(filled(&ctx, &json!({})), Err(FillError::LeadingDash { .. })));
    let absent = tool(&json!(["p", "{ctx.tenantId}"]), &json!({}));
    assert!(matches!(filled(&absent, &json!({})), Err(FillError::NoContext { .. })));
}

#[test]
fn a_dash_is_fine_where_the_manifest_says_so() {
    let args = json!({"x": "-rf"});
    let named = tool(&json!(["p", "{args.x}"]), &json!({"allowLeadingDash": ["x"]}));
    assert_eq!(filled(&named, &args).unwrap(), ["p", "-rf"]);

    let honoured = json!({"endOfOptions": true});
    assert!(filled(&tool(&json!(["p", "--", "{args.x}"]), &honoured), &args).is_ok());
    assert!(filled(&tool(&json!(["p", "{args.x}", "--"]), &honoured), &args).is_err());
    assert!(filled(&tool(&json!(["p", "--", "{args.x}"]), &json!({})), &args).is_err());
    // A `--` that is not there in this call, or that the call supplied, ends nothing.
    let group = json!(["p", {"when": "args.y", "argv": ["--"]}, "{args.x}"]);
    assert!(filled(&tool(&group, &honoured), &args).is_err());
    assert!(filled(&tool(&group, &honoured), &json!({"x": "-rf", "y": 1})).is_ok());
    let supplied = tool(
        &json!(["p", "{args.y}", "{args.x}"]),
        &json!({"endOfOptions": true, "allowLeadingDash": ["y"]}),
    );
    assert!(filled(&supplied, &json!({"x": "-rf", "y": "--"})).is_err());
}

#[test]
fn paths_are_absolute_and_optional() {
    let ctx = Context::default();
    let git = [PathBuf::from("/main/.git/worktrees/ws"), PathBuf::from("/main/.git")];
    let env = FillEnv { workspace: Path::new("/ws"), git: &git, tool_dir: None, ctx: &ctx };
    let paths = |text: &str, args: Value| {
        fill_paths(&Template::parse(text, None).unwrap(), args.as_object().unwrap(), &env)
    };
    let list = |items: &[&str]| Ok(items.iter().map(PathBuf::from).collect());
    assert_eq!(paths("{args.p}", json!({"p": "src/a"})), list(&["/ws/src/a"]));
    assert_eq!(paths("{args.p}", json!({"p": "/etc/x"})), list(&["/etc/x"]));
    assert_eq!(paths("{args.p}", json!({"p": ["a", "/b"]})), list(&["/ws/a", "/b"]));
    assert_eq!(paths("{args.p}", json!({})), list(&[]));
    assert_eq!(paths("{workspace}/out", json!({})), list(&["/ws/out"]));
    assert_eq!(paths("{workspace.git}", json!({})), list(&["/main/.git/worktrees/ws", "/main/.git"]));
    assert!(paths("{workspace.git}/hooks", json!({})).is_err());
    assert!(paths("{args.p}", json!({"p": 5})).is_ok());
    assert!(paths("{tool.dir}", json!({})).is_err());
    assert!(paths("{args.p}", json!({"p": "a\u{0}"})).is_err());
}

proptest! {
    #[test]
    fn a_string_arrives_as_it_is_or_not_at_all(text in any::<String>()) {
        let t = tool(&json!(["p", "{args.x}", "k={args.x}"]), &json!({}));
        match filled(&t, &json!({"x": text})) {
            Ok(argv) => {
                prop_assert_eq!(&argv, &["p".to_owned(), text.clone(), format!("k={text}")]);
                prop_assert!(!text.starts_with(['-', '@']) && !text.contains('\0'));
            }
            Err(_) => prop_assert!(text.starts_with(['-', '@']) || text.contains('\0')),
        }
    }
}
