//! `edit_file`.

use super::super::edit_file::MAX_FILE;
use super::{BuiltinExit, Tree, fifo, names};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

fn edit(tree: &Tree, edits: &Value) -> super::Outcome {
    tree.call("edit_file", &json!({"path": "f", "edits": edits}))
}

#[test]
fn what_fits_is_replaced_and_nothing_else() {
    let tree = Tree::new();
    for (before, edits, after, said) in [
        (
            &b"a\nb\nc\n"[..],
            json!([{"old": "b", "new": "BB"}]),
            &b"a\nBB\nc\n"[..],
            "edited f (6 -> 7 bytes)\nreplaced once (line 2)\n",
        ),
        (
            b"x\ny\nx",
            json!([{"old": "x", "new": "", "replace_all": true}]),
            b"\ny\n",
            "replaced 2 times (lines 1, 3)\n",
        ),
        (
            b"x\ny\nx",
            json!([{"old": "x", "new": "z", "count": 2}]),
            b"z\ny\nz",
            "replaced 2 times (lines 1, 3)\n",
        ),
        (
            b"x",
            json!([{"old": "x", "new": "yy", "count": 1, "replace_all": true}]),
            b"yy",
            "replaced once (line 1)\n",
        ),
        // Each edit sees the result of those before it.
        (
            b"one",
            json!([{"old": "one", "new": "two two"}, {"old": "two two", "new": "three"}]),
            b"three",
            "once",
        ),
        (
            b"\xff\x00old\r\n\xfe",
            json!([{"old": "old\r\n", "new": "n\u{fc}w"}]),
            b"\xff\x00n\xc3\xbcw\xfe",
            "once (line 1)",
        ),
        (b"aaaa", json!([{"old": "aa", "new": "b", "replace_all": true}]), b"bb", "2 times (lines 1, 1)"),
        (b"{{a}} $1 \\1", json!([{"old": "{{a}} $1 \\1", "new": "$0 \\0 {}"}]), b"$0 \\0 {}", "once"),
    ] {
        tree.put("f", before);
        let outcome = edit(&tree, &edits);
        assert!(outcome.done().contains(said), "{}", outcome.text());
        assert_eq!(tree.get("f"), after, "{edits}");
        assert_eq!(names(&tree), ["f"]);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let tree = Tree::new();
    for (before, edits, why) in [
        (&b"a\nb\n"[..], json!([{"old": "z", "new": "y"}]), "`old` is not in it; read the part again"),
        (b"x\ny\nx\n", json!([{"old": "x", "new": "z"}]), "is in it 2 times (lines 1, 3), not 1; put more"),
        (
            b"x\ny\nx\n",
            json!([{"old": "x", "new": "z", "count": 3}]),
            "2 times (lines 1, 3), not 3; set count: 2",
        ),
        (
            b"x\n",
            json!([{"old": "x", "new": "z", "count": 2, "replace_all": true}]),
            "1 times (line 1), not 2",
        ),
        (b"aaa", json!([{"old": "aa", "new": "z"}]), "overlaps itself"),
        (b"aaa", json!([{"old": "a", "new": "a"}]), "`old` and `new` are the same"),
        (b"a", json!([{"old": "", "new": "b"}]), "`old` is empty"),
        (b"a", json!([{"old": "a", "new": "b"}, {"old": "b", "new": "a"}]), "leave it as it is"),
        (b"a\r\nb\r\n", json!([{"old": "a\nb", "new": "c"}]), "with CRLF line ends"),
        (b"a\nb\n", json!([{"old": "a\r\nb", "new": "c"}]), "with LF line ends"),
        (b"x\n  if a {\n", json!([{"old": "\tif a {\n", "new": "c"}]), "line 2 is like its first line"),
        (b"a b", json!([{"old": "a", "new": "c"}, {"old": "a", "new": "d"}]), "edit 2: `old` is not in it"),
        (b"", json!([{"old": "a", "new": "b"}]), "not in it"),
    ] {
        tree.put("f", before);
        let before_ino = fs::metadata(tree.root().join("f")).unwrap().ino();
        edit(&tree, &edits).failed(why);
        assert_eq!(tree.get("f"), before, "{edits}");
        assert_eq!(fs::metadata(tree.root().join("f")).unwrap().ino(), before_ino);
        assert_eq!(names(&tree), ["f"]);
    }
    tree.put("f", "x\n".repeat(20));
    edit(&tree, &json!([{"old": "x", "new": "z"}]))
        .failed("20 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)");
}

#[test]
fn permissions_and_hard_links_are_kept() {
    let tree = Tree::new();
    let path = tree.root().join("f");
    tree.put("f", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let mut reader = fs::File::open(&path).unwrap();
    assert!(edit(&tree, &json!([{"old": "old", "new": "new"}])).done().starts_with("edited f"));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o751);
    let mut seen = String::new();
    std::io::Read::read_to_string(&mut reader, &mut seen).unwrap();
    assert_eq!(seen, "old", "a reader sees the old content to its end");
    fs::hard_link(&path, tree.root().join("g")).unwrap();
    let outcome = edit(&tree, &json!([{"old": "new", "new": "both"}]));
    assert!(outcome.done().starts_with("edited in place f (3 -> 4 bytes)"), "{}", outcome.text());
    assert_eq!((tree.get("f"), tree.get("g")), (b"both".to_vec(), b"both".to_vec()));
}

#[test]
fn links_folders_special_and_large_files_are_refused() {
    let tree = Tree::new();
    let root = tree.root();
    symlink(tree.secret(), root.join("out")).unwrap();
    symlink("..", root.join("up")).unwrap();
    fs::create_dir(root.join("d")).unwrap();
    fifo(&root.join("pipe"));
    fs::File::create(root.join("large")).unwrap().set_len(MAX_FILE as u64 + 1).unwrap();
    for (path, why) in [
        ("out", "symbolic link"),
        ("up/secret", "symbolic link"),
        ("d", "is a folder"),
        (".", "is a folder"),
        ("pipe", "named pipe"),
        ("/dev/null", "outside the workspace"),
        ("none", "not there"),
        ("../secret", "`..`"),
        ("large", "larger than 16 MiB"),
    ] {
        let args = json!({"path": path, "edits": [{"old": "outside", "new": "bad"}]});
        tree.call("edit_file", &args).failed(why);
    }
    assert_eq!(fs::read(tree.secret()).unwrap(), b"outside");
    tree.put("f", vec![b'x'; 1_000_002]);
    edit(&tree, &json!([{"old": "x", "new": "y", "replace_all": true}])).failed("more than 1000000 times");
    tree.put("f", vec![b'x'; 1000]);
    let long = "y".repeat(20_000);
    edit(&tree, &json!([{"old": "x", "new": long, "replace_all": true}])).failed("would become larger");
}

/// Calls that edit one file at the same time wait for each other: no edit is lost.
#[test]
fn no_edit_is_lost_among_many() {
    let tree = Tree::new();
    let tokens: Vec<String> = (0..40).map(|number| format!("[{number}]\n")).collect();
    tree.put("f", tokens.concat());
    std::thread::scope(|scope| {
        for first in 0..8 {
            let tree = &tree;
            scope.spawn(move || {
                for number in (first..40).step_by(8) {
                    edit(tree, &json!([{"old": format!("[{number}]"), "new": format!("done {number}.")}]))
                        .done();
                }
            });
        }
    });
    let text = String::from_utf8(tree.get("f")).unwrap();
    for number in 0..40 {
        assert!(text.contains(&format!("done {number}.")), "{text}");
    }
    assert_eq!(names(&tree), ["f"]);
}

/// Who holds the file's lock and puts another file in its place is seen to have done so.
#[test]
fn a_file_that_was_replaced_meanwhile_is_read_again() {
    use rustix::fs::{FlockOperation, flock};
    let tree = Tree::new();
    tree.put("f", "old");
    let held = fs::File::open(tree.root().join("f")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| edit(&tree, &json!([{"old": "new", "new": "newer"}])));
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!waiting.is_finished());
        tree.put("g", "new");
        fs::rename(tree.root().join("g"), tree.root().join("f")).unwrap();
        flock(&held, FlockOperation::Unlock).unwrap();
        waiting.join().unwrap().done();
    });
    assert_eq!(tree.get("f"), b"newer");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn bytes_outside_of_the_match_stay(before in prop::collection::vec(any::<u8>(), 0..80), after in prop::collection::vec(any::<u8>(), 0..80), new in "[a-z\u{e9}\n]{0,9}") {
        let old = "\u{1}ONLY ONE\u{1}";
        prop_assume!(new != old);
        let tree = Tree::new();
        tree.put("f", [before.as_slice(), old.as_bytes(), after.as_slice()].concat());
        let outcome = edit(&tree, &json!([{"old": old, "new": new}]));
        prop_assert_eq!(outcome.exit, BuiltinExit::Done, "{}", outcome.err);
        prop_assert_eq!(tree.get("f"), [before.as_slice(), new.as_bytes(), after.as_slice()].concat());
    }
}
