//! `run_command`.

use super::{BuiltinExit, Tree, starting_programs};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn script(tree: &Tree, path: &str, text: &str, mode: u32) {
    tree.put(path, text);
    fs::set_permissions(tree.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn the_program_gets_its_arguments_input_and_folder() {
    let _alone = starting_programs();
    let tree = Tree::new();
    tree.put("sub/x", "");
    script(&tree, "sub/tool", "#!/bin/sh\necho \"$0 $1\"\n", 0o755);
    let here = fs::canonicalize(tree.root()).unwrap();
    for (args, out) in [
        (
            json!({"argv": ["printf", "%s|", "a b", "$HOME", "; ls", "*", "-n"]}),
            "a b|$HOME|; ls|*|-n|".to_owned(),
        ),
        (json!({"argv": ["cat"]}), String::new()),
        (json!({"argv": ["cat"], "stdin": "in\u{0}put"}), "in\u{0}put".to_owned()),
        (json!({"argv": ["wc", "-c"], "stdin": "x".repeat(300_000)}), "300000\n".to_owned()),
        (json!({"argv": ["pwd", "-P"]}), format!("{}\n", here.display())),
        (json!({"argv": ["pwd", "-P"], "cwd": "sub"}), format!("{}/sub\n", here.display())),
        (json!({"argv": ["sub/tool", "arg"]}), format!("{}/sub/tool arg\n", tree.root().display())),
        (
            json!({"argv": ["./tool", "arg"], "cwd": "sub"}),
            format!("{}/sub/tool arg\n", tree.root().display()),
        ),
        (json!({"argv": ["/bin/echo", "abs"]}), "abs\n".to_owned()),
    ] {
        assert_eq!(tree.call("run_command", &args).done(), out, "{args}");
    }
}

#[test]
fn exit_code_and_stderr_are_the_programs() {
    let _alone = starting_programs();
    let tree = Tree::new();
    let outcome = tree.call("run_command", &json!({"argv": ["sh", "-c", "echo out; echo err >&2; exit 42"]}));
    assert_eq!(
        (outcome.exit, outcome.text(), outcome.err.as_str()),
        (BuiltinExit::Code(42), "out\n", "err\n")
    );
    let killed = tree.call("run_command", &json!({"argv": ["sh", "-c", "kill -TERM $$"]}));
    assert_eq!(killed.exit, BuiltinExit::Code(143));
}

#[test]
fn what_cannot_be_run_is_explained() {
    let _alone = starting_programs();
    let tree = Tree::new();
    script(&tree, "plain", "#!/bin/sh\n", 0o644);
    script(&tree, "lost", "#!/no/such/interpreter -x\n", 0o755);
    script(&tree, "ls", "#!/bin/sh\necho mine\n", 0o755);
    fs::create_dir(tree.root().join("folder")).unwrap();
    for (program, code, why) in [
        ("no-such-program-here", 127, "/usr/local/bin, /usr/bin, /bin"),
        ("ls -l", 127, "not a shell line"),
        ("./none", 127, "no such file"),
        ("./folder", 127, "no such file"),
        ("./plain", 126, "not one that may be executed"),
        ("./lost", 127, "`/no/such/interpreter` is not there"),
        ("plain", 127, "it is not in"),
    ] {
        let outcome = tree.call("run_command", &json!({"argv": [program]}));
        assert_eq!(outcome.exit, BuiltinExit::Code(code), "{program}");
        assert!(outcome.err.contains(why), "{program}: {}", outcome.err);
    }
    // A bare name never means a file of the working folder.
    assert_ne!(tree.call("run_command", &json!({"argv": ["ls"]})).done(), "mine\n");
    for cwd in ["none", "plain", "../w"] {
        tree.call("run_command", &json!({"argv": ["true"], "cwd": cwd})).failed(cwd);
    }
}
