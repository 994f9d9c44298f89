//! `write_file`.

use super::{BuiltinExit, Tree, fifo, names};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

#[test]
fn each_mode_does_its_part() {
    let tree = Tree::new();
    for (mode, content, said, left) in [
        ("create", "one\r\n\u{0}", "created f (6 bytes)\n", Some("one\r\n\u{0}")),
        ("create", "two", "", None),
        ("overwrite", "three", "replaced f (5 bytes)\n", Some("three")),
        ("overwrite", "", "replaced f (0 bytes)\n", Some("")),
        ("append", "ab", "appended to f (2 bytes)\n", Some("ab")),
        ("append", "c", "appended to f (1 bytes)\n", Some("abc")),
    ] {
        let before = fs::read(tree.root().join("f")).ok();
        let outcome = tree.call("write_file", &json!({"path": "f", "content": content, "mode": mode}));
        if let Some(left) = left {
            assert_eq!(outcome.done(), said);
            assert_eq!(tree.get("f"), left.as_bytes());
        } else {
            outcome.failed("exists; nothing was written");
            assert_eq!(fs::read(tree.root().join("f")).ok(), before);
        }
        assert_eq!(names(&tree), ["f"], "no temporary file is left");
    }
    let appended = tree.call("write_file", &json!({"path": "new", "content": "x", "mode": "append"}));
    assert_eq!(appended.done(), "created, since it was not there, new (1 bytes)\n");
}

#[test]
fn folders_are_made_only_when_asked() {
    let tree = Tree::new();
    let args = json!({"path": "a/b/c", "content": "x"});
    tree.call("write_file", &args).failed("not there");
    assert!(names(&tree).is_empty());
    tree.call("write_file", &json!({"path": "a/b/c", "content": "x", "create_dirs": true})).done();
    assert_eq!(tree.get("a/b/c"), b"x");
    tree.call("write_file", &args).done();
}

#[test]
fn permissions_are_kept_and_new_files_are_no_more_open_than_their_folder() {
    let tree = Tree::new();
    let mode = |path: &str| fs::metadata(tree.root().join(path)).unwrap().mode() & 0o7777;
    for bits in [0o600, 0o640, 0o755] {
        tree.put("f", "old");
        fs::set_permissions(tree.root().join("f"), fs::Permissions::from_mode(bits)).unwrap();
        assert!(
            tree.call("write_file", &json!({"path": "f", "content": "new"})).done().starts_with("replaced")
        );
        assert_eq!(mode("f"), bits);
        fs::remove_file(tree.root().join("f")).unwrap();
    }
    fs::set_permissions(tree.root(), fs::Permissions::from_mode(0o700)).unwrap();
    tree.call("write_file", &json!({"path": "n/f", "content": "", "create_dirs": true})).done();
    assert_eq!((mode("n"), mode("n/f")), (0o700, 0o600));
    fs::set_permissions(tree.root(), fs::Permissions::from_mode(0o755)).unwrap();
    tree.call("write_file", &json!({"path": "o/f", "content": "", "create_dirs": true})).done();
    assert_eq!((mode("o"), mode("o/f")), (0o755, 0o644));
}

#[test]
fn replacing_is_one_step_and_hard_links_are_kept() {
    let tree = Tree::new();
    tree.put("f", "old content");
    let before = fs::metadata(tree.root().join("f")).unwrap().ino();
    let mut reader = fs::File::open(tree.root().join("f")).unwrap();
    tree.call("write_file", &json!({"path": "f", "content": "new"})).done();
    assert_ne!(fs::metadata(tree.root().join("f")).unwrap().ino(), before);
    let mut seen = String::new();
    std::io::Read::read_to_string(&mut reader, &mut seen).unwrap();
    assert_eq!(seen, "old content");

    fs::hard_link(tree.root().join("f"), tree.root().join("g")).unwrap();
    let outcome = tree.call("write_file", &json!({"path": "f", "content": "both"}));
    assert_eq!(outcome.done(), "rewrote in place f (4 bytes)\n");
    assert_eq!((tree.get("f"), tree.get("g")), (b"both".to_vec(), b"both".to_vec()));
}

#[test]
fn links_folders_and_special_files_are_refused() {
    let tree = Tree::new();
    let root = tree.root();
    symlink(tree.secret(), root.join("out")).unwrap();
    symlink("none", root.join("dangling")).unwrap();
    symlink("..", root.join("up")).unwrap();
    fs::create_dir(root.join("d")).unwrap();
    fifo(&root.join("pipe"));
    let before = names(&tree);
    for mode in ["create", "overwrite", "append"] {
        for (path, why) in [
            ("out", "symbolic link"),
            ("dangling", "symbolic link"),
            ("up/secret", "symbolic link"),
            ("up/new", "symbolic link"),
            ("d", "is a folder"),
            (".", "is a folder"),
            ("pipe", "named pipe"),
            ("../secret", "`..`"),
            ("/tmp/new/f", "outside the workspace"),
        ] {
            let args = json!({"path": path, "content": "bad", "mode": mode, "create_dirs": true});
            tree.call("write_file", &args).failed(why);
        }
    }
    assert_eq!(names(&tree), before);
    assert_eq!(fs::read(tree.secret()).unwrap(), b"outside");
    assert!(!tree.dir.path().join("new").exists());
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let tree = Tree::new();
    tree.put("f", "old");
    let path = tree.root().join("f");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let may_write_anyway = fs::OpenOptions::new().append(true).open(&path).is_ok();
    let outcome = tree.call("write_file", &json!({"path": "f", "content": "new"}));
    if may_write_anyway {
        outcome.done();
    } else {
        outcome.failed("permission denied");
        assert_eq!(tree.get("f"), b"old");
    }
}

/// Many writers of one file: whoever is last wins, nobody sees a mixture, and exactly one can create it.
#[test]
fn concurrent_writers_do_not_mix() {
    let tree = Tree::new();
    let texts: Vec<String> = ('a'..='h').map(|c| c.to_string().repeat(50_000)).collect();
    let created = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for text in &texts {
            let (tree, created) = (&tree, &created);
            scope.spawn(move || {
                let args = json!({"path": "new", "content": text, "mode": "create"});
                if tree.call("write_file", &args).exit == BuiltinExit::Done {
                    created.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(created.into_inner(), 1);
    let left = String::from_utf8(tree.get("new")).unwrap();
    assert!(texts.contains(&left));
    assert_eq!(names(&tree), ["new"]);
}
