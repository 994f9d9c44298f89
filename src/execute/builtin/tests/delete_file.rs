//! `delete_file`.

use super::super::delete_file::MAX_ENTRIES;
use super::super::tree::MAX_DEPTH;
use super::{BuiltinExit, Tree, fifo, names};
use serde_json::json;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn rm(tree: &Tree, path: &str) -> super::Outcome {
    tree.call("delete_file", &json!({"path": path}))
}

fn rm_all(tree: &Tree, path: &str) -> super::Outcome {
    tree.call("delete_file", &json!({"path": path, "recursive": true}))
}

#[test]
fn one_name_goes_and_nothing_else() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("a", "A");
    tree.put("d/x", "X");
    fs::create_dir(root.join("empty")).unwrap();
    fs::hard_link(root.join("a"), root.join("hard")).unwrap();
    symlink(tree.secret(), root.join("out")).unwrap();
    symlink("d", root.join("to-d")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    fifo(&root.join("pipe"));
    for (path, said) in [
        ("out", "removed out\n"),
        ("to-d", "removed to-d\n"),
        ("dangling", "removed dangling\n"),
        ("pipe", "removed pipe\n"),
        ("empty", "removed empty/\n"),
        ("a", "removed a\n"),
    ] {
        assert_eq!(rm(&tree, path).done(), said);
    }
    assert_eq!(names(&tree), ["d", "d/x", "hard"]);
    assert_eq!((tree.get("hard"), fs::read(tree.secret()).unwrap()), (b"A".to_vec(), b"outside".to_vec()));
    rm(&tree, "d").failed("a folder with something in it; recursive deletes that too");
    assert_eq!(rm_all(&tree, "d").done(), "removed d/x\nremoved d/\n");
    assert_eq!(rm_all(&tree, "hard").done(), "removed hard\n");
}

#[test]
fn links_in_a_folder_are_not_followed() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("d/e/x", "X");
    tree.put("keep/y", "Y");
    symlink(tree.dir.path(), root.join("d/up")).unwrap();
    symlink("../keep", root.join("d/keep")).unwrap();
    symlink("../../keep", root.join("d/e/keep")).unwrap();
    fifo(&root.join("d/pipe"));
    fs::write(root.join("d").join(std::ffi::OsStr::from_bytes(b"\xff\n")), "").unwrap();
    let outcome = rm_all(&tree, "d");
    assert_eq!(
        outcome.done(),
        "removed d/e/keep\nremoved d/e/x\nremoved d/e/\nremoved d/keep\nremoved d/pipe\nremoved d/up\nremoved \"d/\\xff\\n\"\nremoved d/\n"
    );
    assert_eq!(names(&tree), ["keep", "keep/y"]);
    assert_eq!(fs::read(tree.secret()).unwrap(), b"outside");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("a", "A");
    symlink("..", root.join("up")).unwrap();
    let before = names(&tree);
    let absolute = root.to_str().unwrap().to_owned();
    for recursive in [false, true] {
        for (path, why) in [
            (".", "the workspace itself"),
            ("./", "the workspace itself"),
            (absolute.as_str(), "the workspace itself"),
            ("none", "not there"),
            ("../secret", "`..`"),
            ("..", "`..`"),
            ("up/secret", "symbolic link"),
            ("a/b", "not a folder"),
            ("/dev/null", "outside the workspace"),
        ] {
            tree.call("delete_file", &json!({"path": path, "recursive": recursive})).failed(why);
        }
    }
    assert_eq!(names(&tree), before);
    assert_eq!(fs::read(tree.secret()).unwrap(), b"outside");
}

#[test]
fn a_folder_goes_as_a_whole_or_not_at_all() {
    let tree = Tree::new();
    let root = tree.root();
    for inner in
        [".git/config", "x/.GIT/HOOKS/y", "x/.envrc", "a/b/.vscode/tasks.json", ".git/modules/m/config"]
    {
        let dir = inner.replace(['/', '.'], "-");
        tree.put(&format!("{dir}/{inner}"), "x");
        tree.put(&format!("{dir}/aaa"), "x");
        let before = names(&tree);
        rm_all(&tree, &dir).failed("executed later by other programs");
        assert_eq!(names(&tree), before, "{inner}");
    }
    let (count, depth) = (MAX_ENTRIES + 1, MAX_DEPTH + 1);
    fs::create_dir(root.join("many")).unwrap();
    for number in 0..count {
        fs::write(root.join(format!("many/{number}")), "").unwrap();
    }
    rm_all(&tree, "many").failed("more than 10000 entries; take parts of it; nothing was changed");
    assert_eq!(fs::read_dir(root.join("many")).unwrap().count(), count);
    fs::remove_file(root.join("many/0")).unwrap();
    let outcome = rm_all(&tree, "many");
    assert_eq!(outcome.done().lines().count(), count);
    fs::create_dir_all(root.join("deep").join("d/".repeat(depth))).unwrap();
    rm_all(&tree, "deep").failed("deeper than 100 folders; nothing was changed");
    assert!(root.join("deep").join("d/".repeat(depth)).exists());
}

#[test]
fn a_folder_that_cannot_be_read_stops_before_anything_is_removed() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("d/a", "A");
    tree.put("d/z/x", "X");
    let closed = root.join("d/z");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let may_read_anyway = fs::read_dir(&closed).is_ok();
    let outcome = rm_all(&tree, "d");
    if may_read_anyway {
        outcome.done();
    } else {
        outcome.failed("cannot delete `d/z`: permission denied");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(names(&tree), ["d", "d/a", "d/z", "d/z/x"]);
    }
}

#[test]
fn what_was_removed_before_a_failure_is_told() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("d/a/x", "X");
    tree.put("d/b/y", "Y");
    // Readable, so that it is looked through, and not writable.
    fs::set_permissions(root.join("d/b"), fs::Permissions::from_mode(0o555)).unwrap();
    let outcome = rm_all(&tree, "d");
    fs::set_permissions(root.join("d"), fs::Permissions::from_mode(0o755)).ok();
    if outcome.exit == BuiltinExit::Done {
        // Root removes from it all the same.
        return;
    }
    fs::set_permissions(root.join("d/b"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(outcome.text(), "removed d/a/x\nremoved d/a/\n");
    outcome.failed("before that, 2 of the entries in it were removed");
    assert_eq!(names(&tree), ["d", "d/b", "d/b/y"]);
}

/// A folder and a link to the outside change places all the time, while what is below their names is deleted.
#[test]
fn a_folder_swapped_for_a_link_never_leads_out() {
    use rustix::fs::{CWD, RenameFlags};
    use std::sync::atomic::{AtomicBool, Ordering};
    let tree = Tree::new();
    let root = tree.root();
    let victim = tree.dir.path().join("victim/sub");
    fs::create_dir_all(&victim).unwrap();
    fs::write(victim.join("keep"), "KEPT").unwrap();
    fs::create_dir_all(root.join("d/name/sub")).unwrap();
    symlink("../../victim", root.join("d/link")).unwrap();
    let stop = AtomicBool::new(false);
    let (mut removed, mut refused, mut led_out) = (0, 0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (a, b) = (root.join("d/name"), root.join("d/link"));
                rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
                std::thread::yield_now();
            }
        });
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while std::time::Instant::now() < deadline && (removed < 50 || refused < 50 || led_out < 50) {
            // Without protection this would be the victim's folder now and then.
            led_out += u32::from(root.join("d/name/sub/keep").exists());
            match rm_all(&tree, "d/name/sub").exit {
                BuiltinExit::Done => removed += 1,
                _ => refused += 1,
            }
            // Made again in the real folder, whichever of the two names it has.
            for name in ["name", "link"] {
                fs::create_dir(root.join("d").join(name).join("sub")).ok();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(victim.join("keep").exists(), "{removed} {refused} {led_out}");
    assert!(removed >= 50 && refused >= 50 && led_out >= 50, "{removed} {refused} {led_out}");
}
