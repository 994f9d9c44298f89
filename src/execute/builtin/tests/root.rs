//! Nothing but the decided path is opened, by either way of resolving it.

use super::super::error::BuiltinError;
use super::super::root::Root;
use super::{Tree, fifo};
use rustix::fs::{CWD, OFlags, RenameFlags};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

type Opener = fn(&Path) -> Result<Root, BuiltinError>;

const BOTH: [(&str, Opener); 2] = [("openat2", Root::open), ("by name", Root::by_name)];

fn read(tree: &Tree, open: Opener, path: &str) -> Result<String, String> {
    use std::io::Read as _;
    let root = open(&tree.root()).unwrap();
    let target = root.target(path).map_err(|e| e.to_string())?;
    let (fd, _) = target.open_regular().map_err(|e| e.to_string())?;
    let mut text = String::new();
    fs::File::from(fd).read_to_string(&mut text).unwrap();
    Ok(text)
}

#[test]
fn ordinary_paths_open() {
    let tree = Tree::new();
    tree.put("a/b/c", "deep");
    tree.put("top", "top");
    let absolute = tree.root().join("a/b/c");
    let secret = tree.secret();
    for (how, open) in BOTH {
        for (path, text) in [
            ("a/b/c", "deep"),
            ("./a/./b//c", "deep"),
            ("top", "top"),
            (absolute.to_str().unwrap(), "deep"),
            (secret.to_str().unwrap(), "outside"),
        ] {
            assert_eq!(read(&tree, open, path).unwrap(), text, "{how} {path}");
        }
    }
}

#[test]
fn links_dots_and_special_files_do_not() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("a/file", "x");
    symlink(tree.secret(), root.join("out")).unwrap();
    symlink("a/file", root.join("within")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    fifo(&root.join("pipe"));
    let _listener = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let linked = format!("{}/up/secret", root.display());
    for (how, open) in BOTH {
        for (path, why) in [
            ("out", "symbolic link"),
            ("within", "symbolic link"),
            ("up/secret", "symbolic link"),
            ("magic/etc/passwd", "symbolic link"),
            ("loop", "symbolic link"),
            (linked.as_str(), "symbolic link"),
            ("../secret", "`..`"),
            ("a/../../secret", "`..`"),
            ("", "empty"),
            ("a\0b", "NUL"),
            ("pipe", "named pipe"),
            ("socket", "socket"),
            ("a", "is a folder"),
            (".", "is a folder"),
            ("/dev/null", "character device"),
            ("none", "not there"),
            ("a/file/x", "not a folder"),
            ("/proc/self/root/etc/passwd", "symbolic link"),
        ] {
            let error = read(&tree, open, path).unwrap_err();
            assert!(error.contains(why), "{how} {path}: {error}");
        }
    }
}

/// A folder and a link to the outside change places all the time, while files are read through the folder's name.
#[test]
fn a_folder_swapped_for_a_link_never_leads_out() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("name/secret", "inside");
    symlink("..", root.join("link")).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (a, b) = (root.join("name"), root.join("link"));
                rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
                std::thread::yield_now();
            }
        });
        let ended: Vec<_> = BOTH.iter().map(|(_, open)| reads_only_inside(&tree, *open)).collect();
        // Before any assertion: the scope waits for the other thread.
        stop.store(true, Ordering::Relaxed);
        assert_eq!(ended, [Ok(()), Ok(())]);
    });
}

/// Reads until both states were met, and an ordinary read was led outside.
fn reads_only_inside(tree: &Tree, open: Opener) -> Result<(), String> {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let (mut inside, mut refused, mut control) = (0, 0, 0);
    while std::time::Instant::now() < deadline {
        match read(tree, open, "name/secret") {
            Ok(text) if text == "inside" => inside += 1,
            Ok(text) => return Err(format!("read {text}")),
            Err(_) => refused += 1,
        }
        if fs::read(tree.root().join("name/secret")).is_ok_and(|bytes| bytes == b"outside") {
            control += 1;
        }
        if inside > 50 && refused > 50 && control > 50 {
            return Ok(());
        }
        std::thread::yield_now();
    }
    Err(format!("too slow: {inside} inside, {refused} refused, {control} led outside without protection"))
}

#[test]
fn the_workspace_itself_opens_as_a_folder() {
    let tree = Tree::new();
    for (_, open) in BOTH {
        let root = open(&tree.root()).unwrap();
        for path in [".", "./", tree.root().to_str().unwrap()] {
            root.target(path).unwrap().open("list", OFlags::RDONLY | OFlags::DIRECTORY).unwrap();
        }
    }
}
