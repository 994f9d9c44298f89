//! `move_file`.

use super::{BuiltinExit, Tree, fifo, names};
use serde_json::json;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};

fn mv(tree: &Tree, path: &str, to: &str) -> super::Outcome {
    tree.call("move_file", &json!({"path": path, "to": to}))
}

#[test]
fn files_folders_and_links_get_another_name() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("a", "A");
    tree.put("d/x/y", "Y");
    fs::create_dir(root.join("e")).unwrap();
    symlink(tree.secret(), root.join("link")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    let ino = fs::metadata(root.join("a")).unwrap().ino();
    assert_eq!(mv(&tree, "a", "e/b").done(), "moved a to e/b\n");
    assert_eq!((tree.get("e/b"), fs::metadata(root.join("e/b")).unwrap().ino()), (b"A".to_vec(), ino));
    mv(&tree, "d", "e/d").done();
    mv(&tree, "link", "e/link").done();
    mv(&tree, "dangling", "dangling2").done();
    assert_eq!(fs::read_link(root.join("e/link")).unwrap(), tree.secret());
    assert_eq!(names(&tree), ["dangling2", "e", "e/b", "e/d", "e/d/x", "e/d/x/y", "e/link"]);
    assert_eq!(fs::read(tree.secret()).unwrap(), b"outside");
    mv(&tree, "e/b", "new/dir/b").failed("not there");
    assert!(!root.join("new").exists());
    tree.call("move_file", &json!({"path": "e/b", "to": "new/dir/b", "create_dirs": true})).done();
    assert_eq!(tree.get("new/dir/b"), b"A");
}

#[test]
fn nothing_is_replaced_unless_asked_for_and_a_folder_never() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("a", "A");
    tree.put("b", "B");
    tree.put("d/x", "X");
    tree.put("full/y", "Y");
    fs::create_dir(root.join("empty")).unwrap();
    symlink("b", root.join("link")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    fifo(&root.join("pipe"));
    let before = names(&tree);
    for to in ["b", "link", "dangling", "pipe"] {
        mv(&tree, "a", to).failed("it is there already; nothing was moved");
        mv(&tree, "d", to).failed("it is there already; nothing was moved");
        tree.call("move_file", &json!({"path": "d", "to": to, "overwrite": true}))
            .failed("a folder replaces nothing");
    }
    for (path, to) in [("a", "empty"), ("a", "full"), ("d", "empty"), ("d", "full"), ("link", "empty")] {
        for overwrite in [false, true] {
            tree.call("move_file", &json!({"path": path, "to": to, "overwrite": overwrite}))
                .failed("is a folder, which is never replaced");
        }
    }
    tree.call("move_file", &json!({"path": "a", "to": "pipe", "overwrite": true}))
        .failed("only a file or link");
    assert_eq!(names(&tree), before);
    let over = |to: &str| tree.call("move_file", &json!({"path": "a", "to": to, "overwrite": true}));
    assert_eq!(over("b").done(), "moved a to b, replacing what was there\n");
    assert_eq!(tree.get("b"), b"A");
    tree.put("a", "AA");
    // The link is replaced, not what it leads to.
    over("link").done();
    assert!(!fs::symlink_metadata(root.join("link")).unwrap().is_symlink());
    assert_eq!((tree.get("link"), tree.get("b")), (b"AA".to_vec(), b"A".to_vec()));
}

#[test]
fn paths_that_make_no_sense_are_refused() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("d/x/y", "Y");
    tree.put("a", "A");
    symlink("..", root.join("up")).unwrap();
    fifo(&root.join("pipe"));
    fs::hard_link(root.join("a"), root.join("hard")).unwrap();
    let before = names(&tree);
    for (path, to, why) in [
        ("d", "d", "the same path"),
        ("d", "d/", "the same path"),
        ("d", "d/x/d", "lies below it"),
        ("d/x", "d", "it lies below `to`"),
        (".", "e", "the workspace itself"),
        ("a", ".", "the workspace itself"),
        ("none", "b", "not there"),
        ("a", "a/b", "lies below it"),
        ("a", "hard/b", "not a folder"),
        ("a", "../stolen", "`..`"),
        ("../secret", "b", "`..`"),
        ("up/secret", "b", "symbolic link"),
        ("a", "up/stolen", "symbolic link"),
        ("pipe", "b", "named pipe"),
        ("/dev/null", "b", "outside the workspace"),
        ("a", "/tmp/new/a", "outside the workspace"),
    ] {
        mv(&tree, path, to).failed(why);
    }
    tree.call("move_file", &json!({"path": "a", "to": "hard", "overwrite": true}))
        .failed("another name of the same file");
    assert_eq!(names(&tree), before);
    assert_eq!(fs::read(tree.secret()).unwrap(), b"outside");
    assert!(!tree.dir.path().join("stolen").exists());
}

#[test]
fn a_folder_with_files_that_are_executed_later_stays() {
    let tree = Tree::new();
    for inner in [".git/config", ".GIT/hooks/x", "x/.envrc", "x/y/.vscode/tasks.json"] {
        let name = inner.replace(['/', '.'], "-");
        tree.put(&format!("{name}/{inner}"), "x");
        mv(&tree, &name, "moved").failed("executed later by other programs");
        assert!(!tree.root().join("moved").exists());
    }
    tree.put("plain/.gitignore", "x");
    tree.put("plain/git/config", "x");
    mv(&tree, "plain", "moved").done();
}

#[test]
fn names_of_any_kind_move() {
    let tree = Tree::new();
    let odd = "a\n\u{202e}# b";
    fs::write(tree.root().join(odd), "x").unwrap();
    let outcome = mv(&tree, odd, "b");
    assert_eq!(outcome.done(), "moved a\\n\\u{202e}# b to b\n");
    let raw = std::ffi::OsStr::from_bytes(b"d/\xff\n");
    fs::create_dir(tree.root().join("d")).unwrap();
    fs::write(tree.root().join(raw), "x").unwrap();
    mv(&tree, "d", "e").done();
    assert!(tree.root().join("e").join(std::ffi::OsStr::from_bytes(b"\xff\n")).exists());
}

/// Many calls move to one name: one gets it, and no file is lost.
#[test]
fn exactly_one_gets_a_name() {
    let tree = Tree::new();
    for number in 0..8 {
        tree.put(&format!("f{number}"), format!("{number}"));
    }
    let won = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (tree, won) = (&tree, &won);
            scope.spawn(move || {
                if mv(tree, &format!("f{number}"), "one").exit == BuiltinExit::Done {
                    won.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(won.into_inner(), 1);
    assert_eq!(names(&tree).len(), 8);
}
