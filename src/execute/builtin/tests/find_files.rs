//! `find_files`.

use super::{Tree, fifo};
use serde_json::json;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

fn tree() -> Tree {
    let tree = Tree::new();
    for name in
        ["b.rs", "a.rs", "src/m.rs", "src/deep/x.RS", "src/deep/n.txt", ".hidden/h.rs", "out/o.rs", "z.log"]
    {
        tree.put(name, "x");
    }
    tree.put(".gitignore", "out/\n*.log\n");
    symlink("src", tree.root().join("link")).unwrap();
    tree
}

#[test]
fn globs_kinds_and_depth_choose() {
    let tree = tree();
    for (args, found) in [
        (json!({}), "a.rs\nb.rs\nsrc/deep/n.txt\nsrc/deep/x.RS\nsrc/m.rs\n"),
        (json!({"glob": "*.rs"}), "a.rs\nb.rs\nsrc/m.rs\n"),
        (json!({"glob": "*.rs", "ignore_case": true}), "a.rs\nb.rs\nsrc/deep/x.RS\nsrc/m.rs\n"),
        (json!({"glob": "src/*.rs"}), "src/m.rs\n"),
        (json!({"glob": "src/**"}), "src/deep/n.txt\nsrc/deep/x.RS\nsrc/m.rs\n"),
        (json!({"glob": "*.{txt,log}"}), "src/deep/n.txt\n"),
        (json!({"path": "src", "glob": "deep/*"}), "src/deep/n.txt\nsrc/deep/x.RS\n"),
        (json!({"path": "src", "kind": "dir"}), "src/deep/\n"),
        (json!({"kind": "link"}), "link -> src\n"),
        (json!({"kind": "any", "max_depth": 1}), "a.rs\nb.rs\nlink -> src\nsrc/\n"),
        (json!({"max_depth": 2, "glob": "*.txt"}), "# no match; all also finds hidden and ignored files\n"),
        (json!({"all": true, "glob": "*.rs"}), ".hidden/h.rs\na.rs\nb.rs\nout/o.rs\nsrc/m.rs\n"),
    ] {
        assert_eq!(tree.call("find_files", &args).done(), found, "{args}");
    }
    let limited = tree.call("find_files", &json!({"limit": 2}));
    assert!(limited.done().starts_with("a.rs\nb.rs\n# stopped after 2 paths"), "{}", limited.text());
    // Exactly as many as fit is not cut.
    assert!(!tree.call("find_files", &json!({"limit": 5})).done().contains('#'));
    tree.call("find_files", &json!({"glob": "!a"})).failed("starts with `!`");
    tree.call("find_files", &json!({"glob": "a[", "path": "src"})).failed("glob is not usable");
    tree.call("find_files", &json!({"path": "a.rs"})).failed("not a folder");
    tree.call("find_files", &json!({"path": "link"})).failed("symbolic link");
    tree.call("find_files", &json!({"path": "../"})).failed("`..`");
}

#[test]
fn one_path_is_one_line_whatever_its_name() {
    let tree = Tree::new();
    for name in [&b"a\nb"[..], b"# x", b"a -> b", "ma\u{202e}in".as_bytes(), b"\xff", b"plain"] {
        fs::write(tree.root().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    let outcome = tree.call("find_files", &json!({}));
    let text = outcome.done();
    assert!(
        text.starts_with("\"# x\"\n\"a\\nb\"\n\"a -> b\"\n\"ma\\u{202e}in\"\nplain\n\"\\xff\"\n# 5 paths"),
        "{text}"
    );
    assert!(!text.replace('\n', "").chars().any(crate::text::is_hidden), "{text}");
    fifo(&tree.root().join("pipe"));
    assert!(!tree.call("find_files", &json!({})).done().contains("pipe"));
    assert!(tree.call("find_files", &json!({"kind": "any"})).done().contains("pipe\n"));
}

#[test]
fn a_large_folder_is_cut_and_says_so() {
    let tree = Tree::new();
    for number in 0..3000 {
        fs::write(tree.root().join(format!("f{number:05}")), "").unwrap();
    }
    let first = tree.call("find_files", &json!({}));
    assert_eq!(first.done().lines().count(), 1001);
    assert!(first.text().contains("f00999\n# stopped after 1000 paths"));
    assert_eq!(tree.call("find_files", &json!({"limit": 10_000})).done().lines().count(), 3000);
}
