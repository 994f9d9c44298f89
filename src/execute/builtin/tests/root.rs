//! Nothing but the decided path is opened, by either way of resolving it.

use super::super::error::BuiltinError;
use super::super::root::Root;
use super::{Tree, fifo};
use rustix::fs::OFlags;
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

/// A folder that turns into a link to the outside and back, while it is read from.
#[test]
fn a_folder_swapped_for_a_link_never_leads_out() {
    let tree = Tree::new();
    let root = tree.root();
    tree.put("real/secret", "inside");
    let stop = AtomicBool::new(false);
    let mut seen = [0_u32; 2];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(root.join("real"), root.join("kept")).unwrap();
                symlink("..", root.join("real")).unwrap();
                fs::remove_file(root.join("real")).unwrap();
                fs::rename(root.join("kept"), root.join("real")).unwrap();
            }
        });
        for (_, open) in BOTH {
            for _ in 0..4000 {
                match read(&tree, open, "real/secret") {
                    Ok(text) => {
                        assert_eq!(text, "inside");
                        seen[0] += 1;
                    }
                    Err(_) => seen[1] += 1,
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(seen[0] > 0, "the reading never met the folder: {seen:?}");
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
