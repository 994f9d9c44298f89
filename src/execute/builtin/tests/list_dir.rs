//! `list_dir`.

use super::{Tree, fifo};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

#[test]
fn entries_are_sorted_with_kind_and_size() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("b.txt", "12345");
    tree.put("a/x", "1");
    tree.put("a/y/z", "");
    tree.put(".hidden", "h");
    symlink("../secret", root.join("c")).unwrap();
    fifo(&root.join("p"));
    let plain = tree.call("list_dir", &json!({}));
    assert_eq!(
        plain.done(),
        "dir\t-\ta\nfile\t5\tb.txt\nlink\t-\tc -> ../secret\npipe\t-\tp\n# 1 names that start with a dot are left out; all shows them\n"
    );
    let deep = tree.call("list_dir", &json!({"depth": 20, "all": true}));
    assert_eq!(
        deep.done(),
        "file\t1\t.hidden\ndir\t-\ta\nfile\t1\ta/x\ndir\t-\ta/y\nfile\t0\ta/y/z\nfile\t5\tb.txt\nlink\t-\tc -> ../secret\npipe\t-\tp\n"
    );
    assert_eq!(tree.call("list_dir", &json!({"path": "a/y"})).done(), "file\t0\tz\n");
    tree.call("list_dir", &json!({"path": "b.txt"})).failed("not a folder");
    tree.call("list_dir", &json!({"path": "c"})).failed("symbolic link");
}

#[test]
fn an_empty_folder_is_an_empty_list() {
    assert_eq!(Tree::new().call("list_dir", &json!({})).done(), "");
}

#[test]
fn names_are_one_line_each_whatever_they_hold() {
    let tree = Tree::new();
    for name in [&b"a\nfile\t9\tfake"[..], b"bad\xff", "bi\u{202e}di".as_bytes(), b"# note"] {
        fs::write(tree.root().join(OsStr::from_bytes(name)), "").unwrap();
    }
    let outcome = tree.call("list_dir", &json!({}));
    let lines: Vec<_> = outcome.done().lines().collect();
    assert_eq!(
        lines[..4],
        [
            "file\t0\t\"# note\"",
            "file\t0\t\"a\\nfile\\t9\\tfake\"",
            "file\t0\t\"bad\\xff\"",
            "file\t0\t\"bi\\u{202e}di\"",
        ]
    );
    assert!(lines[4].starts_with("# 4 paths are in quotes"), "{lines:?}");
}

#[test]
fn a_cut_list_says_so_and_is_the_beginning_of_the_whole() {
    let tree = Tree::new();
    for name in ["d/1", "d/2", "e", "f"] {
        tree.put(name, "");
    }
    let whole = tree.call("list_dir", &json!({"depth": 2}));
    let whole: Vec<_> = whole.done().lines().map(str::to_owned).collect();
    assert_eq!(whole.len(), 5);
    for limit in 1..5 {
        let cut = tree.call("list_dir", &json!({"depth": 2, "limit": limit}));
        let lines: Vec<_> = cut.done().lines().collect();
        assert_eq!(lines[..limit], whole[..limit]);
        assert!(lines[limit].starts_with(&format!("# cut off: {limit} entries shown")), "{lines:?}");
    }
}

#[test]
fn parts_put_together_are_the_whole() {
    let tree = Tree::new();
    for name in ["a/1", "a/2/x", "a/2/y", "a/3", "a.b", "b", "c/1", "d", "e/f/g/h"] {
        tree.put(name, "");
    }
    for tool in ["list_dir", "find_files"] {
        let args = |more: serde_json::Value| {
            let mut args = if tool == "list_dir" { json!({"depth": 20}) } else { json!({"kind": "any"}) };
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            args
        };
        let lines = |outcome: &super::Outcome| -> Vec<String> {
            outcome.done().lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
        };
        let whole = lines(&tree.call(tool, &args(json!({}))));
        assert_eq!(whole.len(), 15, "{whole:?}");
        for limit in 1..16 {
            let (mut parts, mut after) = (Vec::new(), None);
            loop {
                let mut more = json!({"limit": limit});
                if let Some(after) = &after {
                    more["after"] = json!(after);
                }
                let part = tree.call(tool, &args(more));
                parts.extend(lines(&part));
                let note = part.done().split("pass after=").nth(1).and_then(|rest| rest.split(',').next());
                after = note.map(str::to_owned);
                if after.is_none() {
                    assert!(!part.done().contains('#'), "{}", part.text());
                    break;
                }
            }
            assert_eq!(parts, whole, "{tool} by {limit}");
        }
    }
}

#[test]
fn a_huge_folder_is_bounded() {
    let tree = Tree::new();
    let root = tree.root();
    fs::write(root.join("0"), "").unwrap();
    for number in 1..100_000 {
        // Hard links are several times cheaper to make than files.
        if fs::hard_link(root.join("0"), root.join(number.to_string())).is_err() {
            fs::write(root.join(number.to_string()), "").unwrap();
        }
    }
    let outcome = tree.call("list_dir", &json!({"limit": 3}));
    assert_eq!(
        outcome.done().lines().take(4).collect::<Vec<_>>(),
        [
            "file\t0\t0",
            "file\t0\t1",
            "file\t0\t10",
            "# cut off: 3 entries shown of at least 100000; for the next part pass after=10, raise limit (at most 10000) or list a folder below"
        ]
    );
    let most = tree.call("list_dir", &json!({"limit": 10_000}));
    assert_eq!(most.done().lines().count(), 10_001);
}
