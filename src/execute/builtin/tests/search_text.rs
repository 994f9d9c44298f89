//! `search_text`.

use super::Tree;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

fn tree() -> Tree {
    let tree = Tree::new();
    tree.put("b.rs", "fn main() {}\n// Fn\n");
    tree.put("a/x.rs", "one\ntwo fn\nthree\nfour\nfive\nsix fn\n");
    tree.put("a/notes.md", "fn in notes\n");
    tree.put(".gitignore", "target\n");
    tree.put("target/out.rs", "fn ignored\n");
    tree.put(".hidden.rs", "fn hidden\n");
    tree.put("c.bin", b"fn early\n\0binary fn\n");
    tree
}

#[test]
fn matches_come_in_order_with_path_and_line() {
    let tree = tree();
    for (args, expected) in [
        (
            json!({"pattern": r"\bfn\b"}),
            "a/notes.md:1:fn in notes\na/x.rs:2:two fn\na/x.rs:6:six fn\nb.rs:1:fn main() {}\n",
        ),
        (json!({"pattern": "fn", "glob": "*.rs"}), "a/x.rs:2:two fn\na/x.rs:6:six fn\nb.rs:1:fn main() {}\n"),
        (json!({"pattern": "fn", "glob": "/*.rs"}), "b.rs:1:fn main() {}\n"),
        (json!({"pattern": "fn", "path": "a", "glob": "*.{md,txt}"}), "a/notes.md:1:fn in notes\n"),
        (json!({"pattern": "fn", "path": "a/x.rs"}), "a/x.rs:2:two fn\na/x.rs:6:six fn\n"),
        (
            json!({"pattern": "FN", "ignore_case": true, "path": "b.rs"}),
            "b.rs:1:fn main() {}\nb.rs:2:// Fn\n",
        ),
        (json!({"pattern": "main()", "fixed": true}), "b.rs:1:fn main() {}\n"),
        (json!({"pattern": "fn ", "path": "target"}), "target/out.rs:1:fn ignored\n"),
        (
            json!({"pattern": "^fn [ih]", "all": true}),
            ".hidden.rs:1:fn hidden\na/notes.md:1:fn in notes\ntarget/out.rs:1:fn ignored\n",
        ),
        (
            json!({"pattern": "fn", "glob": "x.rs", "context": 1}),
            "a/x.rs-1-one\na/x.rs:2:two fn\na/x.rs-3-three\n--\na/x.rs-5-five\na/x.rs:6:six fn\n",
        ),
    ] {
        let outcome = tree.call("search_text", &args);
        assert_eq!(outcome.done(), expected, "{args}");
    }
}

#[test]
fn binary_files_are_skipped_whole_and_counted() {
    let outcome = tree().call("search_text", &json!({"pattern": "early|ignored"}));
    assert_eq!(outcome.done(), "# no match in 4 files\n");
    assert!(outcome.err.contains("1 binary files were skipped"), "{}", outcome.err);
}

#[test]
fn the_search_stops_and_says_so() {
    let tree = Tree::new();
    tree.put("f", "x\n".repeat(50));
    let outcome = tree.call("search_text", &json!({"pattern": "x", "max_results": 3}));
    let lines: Vec<_> = outcome.done().lines().collect();
    assert_eq!(lines[..3], ["f:1:x", "f:2:x", "f:3:x"]);
    assert!(lines[3].starts_with("# stopped after 3 matching lines"), "{lines:?}");
    let all = tree.call("search_text", &json!({"pattern": "x"}));
    assert_eq!(all.done().lines().count(), 50);
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let tree = Tree::new();
    tree.put("f", format!("{}needle{}\n", "ä".repeat(5000), "b".repeat(5000)));
    let outcome = tree.call("search_text", &json!({"pattern": "needle"}));
    let line = outcome.done();
    assert!(line.contains("needle") && line.len() < 700, "{line}");
    assert!(line.starts_with("f:1:[9900 bytes cut]ä") && line.ends_with("[4606 bytes cut]\n"), "{line}");
    assert!(!line.contains('\u{fffd}'), "{line}");
}

#[test]
fn output_and_memory_are_bounded_by_huge_files() {
    let tree = Tree::new();
    tree.put("one-line", vec![b'x'; 20 << 20]);
    tree.put("many", format!("{}\n", "x".repeat(400)).repeat(5000));
    let outcome = tree.call("search_text", &json!({"pattern": "x", "max_results": 5000}));
    let text = outcome.done();
    assert!(text.len() < 1_000_200, "{}", text.len());
    assert!(text.lines().last().unwrap().starts_with("# stopped"), "{:?}", text.lines().last());
    let alone = tree.call("search_text", &json!({"pattern": "x", "glob": "one-line"}));
    assert_eq!(alone.done(), "# no match in 1 files\n");
    assert!(alone.err.contains("a line is longer than 16 MiB"), "{}", alone.err);
}

#[test]
fn links_are_not_followed() {
    let tree = Tree::new();
    let root = tree.root();
    symlink(tree.secret(), root.join("link")).unwrap();
    symlink("..", root.join("up")).unwrap();
    tree.put("in", "outside? no\n");
    let outcome = tree.call("search_text", &json!({"pattern": "outside"}));
    assert_eq!(outcome.done(), "in:1:outside? no\n");
    tree.call("search_text", &json!({"pattern": "outside", "path": "up"})).failed("symbolic link");
}

#[test]
fn what_cannot_be_read_is_counted() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new();
    tree.put("closed", "x\n");
    tree.put("open", "x\n");
    fs::set_permissions(tree.root().join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    let root_reads_all = fs::read(tree.root().join("closed")).is_ok();
    let outcome = tree.call("search_text", &json!({"pattern": "x"}));
    if root_reads_all {
        assert_eq!(outcome.done(), "closed:1:x\nopen:1:x\n");
    } else {
        assert_eq!(outcome.done(), "open:1:x\n");
        assert!(outcome.err.contains("1 files or folders could not be read"), "{}", outcome.err);
    }
}

#[test]
fn bad_patterns_are_explained() {
    let tree = Tree::new();
    tree.call("search_text", &json!({"pattern": "("})).failed("the pattern is not usable");
    tree.call("search_text", &json!({"pattern": "a\nb"})).failed("the pattern is not usable");
    tree.call("search_text", &json!({"pattern": "x", "glob": "{"})).failed("the glob is not usable");
    tree.call("search_text", &json!({"pattern": "x", "glob": "!a"})).failed("starts with `!`");
    assert_eq!(
        tree.call("search_text", &json!({"pattern": "(", "fixed": true})).done(),
        "# no match in 0 files\n"
    );
}
