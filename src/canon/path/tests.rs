use super::{CanonicalPath, PathError, canonical_path, is_under};
use crate::world::{HostWorld, MemoryWorld};
use proptest::prelude::*;
use std::path::Path;

fn world() -> MemoryWorld {
    MemoryWorld::new("/w")
        .with_file("/w/src/main.rs", "")
        .with_file("/w/notes.txt", "")
        .with_file("/w/~/x", "")
        .with_dir("/w/deep/er")
        .with_file("/w2/x", "")
        .with_file("/etc/hostname", "h")
        .with_link("/w/link", "/etc")
        .with_link("/w/rel", "deep/er")
        .with_link("/w/file-link", "src/main.rs")
        .with_link("/w/dangling", "/etc/nothing/here")
        .with_link("/w/loop", "loop2")
        .with_link("/w/loop2", "loop")
        .with_link("/w/up", "..")
        .with_link("/ws-link", "/w")
        .with_link("/proc/self", "123")
}

fn resolve(text: &str, follow: bool) -> Result<CanonicalPath, PathError> {
    canonical_path(&world(), Path::new("/w"), Path::new("/w"), text, follow)
}

#[test]
fn f035_links_are_resolved_before_parents() {
    // Text, absolute, relative, exists, via a link.
    let rows: &[(&str, &str, Option<&str>, bool, bool)] = &[
        ("src/main.rs", "/w/src/main.rs", Some("src/main.rs"), true, false),
        ("./src//./main.rs", "/w/src/main.rs", Some("src/main.rs"), true, false),
        ("src/", "/w/src", Some("src"), true, false),
        (".", "/w", Some("."), true, false),
        ("/w", "/w", Some("."), true, false),
        ("..", "/", None, true, false),
        ("../../../..", "/", None, true, false),
        ("//w//src", "/w/src", Some("src"), true, false),
        ("new/dir/file", "/w/new/dir/file", Some("new/dir/file"), false, false),
        ("new/../src", "/w/src", Some("src"), true, false),
        ("new/a/../../src/x", "/w/src/x", Some("src/x"), false, false),
        ("link/hostname", "/etc/hostname", None, true, true),
        ("/w/link/hostname", "/etc/hostname", None, true, true),
        ("/w/../etc/hostname", "/etc/hostname", None, true, false),
        ("/w/a/../../etc/hostname", "/etc/hostname", None, true, false),
        ("new/../link/hostname", "/etc/hostname", None, true, true),
        ("link/../w2/x", "/w2/x", None, true, true),
        ("rel/../x", "/w/deep/x", Some("deep/x"), false, true),
        ("link/..", "/", None, true, true),
        ("up/w/src", "/w/src", Some("src"), true, true),
        ("dangling", "/etc/nothing/here", None, false, true),
        ("/ws-link/src", "/w/src", Some("src"), true, true),
        ("~/x", "/w/~/x", Some("~/x"), true, false),
        ("$HOME/*", "/w/$HOME/*", Some("$HOME/*"), false, false),
        ("/w2/x", "/w2/x", None, true, false),
    ];
    for &(text, absolute, relative, exists, via) in rows {
        let path = resolve(text, true).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(path.absolute(), absolute, "{text}");
        assert_eq!(path.relative(), relative, "{text}");
        assert_eq!((path.exists(), path.via_symlink()), (exists, via), "{text}");
        assert_eq!(path.link(), None, "{text}");
    }
}

#[test]
fn the_last_link_is_kept_apart_when_it_is_not_to_be_followed() {
    let rows = [
        ("link", Some("/w/link"), "/etc", "link"),
        ("link/", Some("/w/link"), "/etc", "link"),
        ("rel/../../link", Some("/w/link"), "/etc", "link"),
        ("link/hostname", None, "/etc/hostname", "/etc/hostname"),
        ("up/ws-link", Some("/ws-link"), "/w", "/ws-link"),
        ("dangling", Some("/w/dangling"), "/etc/nothing/here", "dangling"),
        ("link/..", None, "/", "/"),
        ("notes.txt", None, "/w/notes.txt", "notes.txt"),
        ("none", None, "/w/none", "none"),
        ("none/link", None, "/w/none/link", "none/link"),
    ];
    for (text, link, absolute, arg) in rows {
        let path = resolve(text, false).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((path.link(), path.absolute()), (link, absolute), "{text}");
        assert_eq!(path.as_arg(true), arg, "{text}");
        assert_eq!(path.as_arg(false), link.unwrap_or(absolute), "{text}");
    }
}

#[test]
fn what_cannot_be_resolved_for_certain_is_refused() {
    assert!(matches!(resolve("", true), Err(PathError::Empty)));
    assert!(matches!(resolve("a\0b", true), Err(PathError::Nul)));
    assert!(matches!(resolve("loop", true), Err(PathError::Loop)));
    assert!(matches!(resolve("loop/x", false), Err(PathError::Loop)));
    assert!(matches!(resolve("notes.txt/x", true), Err(PathError::NotAFolder(_))));
    assert!(matches!(resolve("notes.txt/../src", true), Err(PathError::NotAFolder(_))));
    assert!(matches!(resolve("file-link/x", true), Err(PathError::NotAFolder(_))));
    assert!(matches!(resolve("/proc/self/root/etc", true), Err(PathError::ProcessLink(_))));
    assert!(matches!(resolve(&"a/".repeat(2049), true), Err(PathError::TooLong)));
    let relative = canonical_path(&world(), Path::new("w"), Path::new("/w"), "x", true);
    assert!(matches!(relative, Err(PathError::RelativeBase)));
}

#[test]
fn thirty_nine_links_are_followed_and_forty_one_are_not() {
    let chain = |count: usize| {
        (0..count).fold(MemoryWorld::new("/w").with_file("/w/end", ""), |world, at| {
            let target = if at + 1 == count { "end".to_owned() } else { format!("l{}", at + 1) };
            world.with_link(format!("/w/l{at}"), target)
        })
    };
    let look = |count| canonical_path(&chain(count), Path::new("/w"), Path::new("/w"), "l0", true);
    assert_eq!(look(40).unwrap().absolute(), "/w/end");
    assert!(matches!(look(41), Err(PathError::Loop)));
}

#[test]
fn f037_containment_is_by_components() {
    let rows = [
        ("/w/proj", "/w/proj", true),
        ("/w/proj/x", "/w/proj", true),
        ("/w/proj/x", "/w/proj/", true),
        ("/w/proj", "/w/proj/", true),
        ("/w/proj-evil/x", "/w/proj", false),
        ("/w/projx", "/w/proj", false),
        ("/w", "/w/proj", false),
        ("/w2", "/w", false),
        ("/", "/w", false),
        ("/", "/", true),
        ("/anything", "/", true),
    ];
    for (path, root, expected) in rows {
        assert_eq!(is_under(path, root), expected, "{path} under {root}");
    }
    let world = MemoryWorld::new("/w/proj").with_file("/w/proj/a", "").with_file("/w/proj-evil/x", "");
    for (text, relative) in [
        ("/w/proj-evil/x", None),
        ("/w/projx", None),
        ("/w/proj", Some(".")),
        ("/w/proj/", Some(".")),
        ("/w/proj//a", Some("a")),
        ("/w/proj/./a", Some("a")),
    ] {
        for workspace in ["/w/proj", "/w/proj/", "/w//proj/."] {
            let path = canonical_path(&world, Path::new("/"), Path::new(workspace), text, true).unwrap();
            assert_eq!(path.relative(), relative, "{text} in {workspace}");
        }
    }
    let path = canonical_path(&world, Path::new("/"), Path::new("/"), "w/proj", true).unwrap();
    assert_eq!(
        (path.relative(), path.as_arg(true), path.as_arg(false)),
        (Some("w/proj"), "w/proj", "/w/proj")
    );
}

#[test]
fn a_workspace_with_symlinks_is_resolved_too() {
    let path =
        canonical_path(&world(), Path::new("/ws-link"), Path::new("/ws-link"), "src/main.rs", true).unwrap();
    assert_eq!((path.absolute(), path.relative()), ("/w/src/main.rs", Some("src/main.rs")));
}

#[test]
fn the_real_machine_agrees() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("w/a")).unwrap();
    std::fs::create_dir_all(root.join("out/deep")).unwrap();
    std::fs::write(root.join("out/secret"), "").unwrap();
    std::os::unix::fs::symlink("../out/deep", root.join("w/link")).unwrap();
    let (real, workspace) = (HostWorld, root.join("w"));
    for text in ["link/../secret", "a/../link/.././secret", "link", "a/.."] {
        let path = canonical_path(&real, &workspace, &workspace, text, true).unwrap();
        let kernel = workspace.join(text).canonicalize().unwrap();
        assert_eq!(Path::new(path.absolute()), kernel, "{text}");
    }
    // Not UTF-8: refused, never converted with a loss.
    let name = std::os::unix::ffi::OsStrExt::from_bytes(b"out-\xff");
    std::fs::create_dir(root.join::<&std::ffi::OsStr>(name)).unwrap();
    std::os::unix::fs::symlink(root.join::<&std::ffi::OsStr>(name), root.join("w/odd")).unwrap();
    assert!(matches!(canonical_path(&real, &workspace, &workspace, "odd", true), Err(PathError::NotUtf8)));
}

fn any_text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a", "b", ".", "..", "", "src", "link", "rel", "up", "dangling", "new", "~", "ws-link", "w", "etc",
        "main.rs",
    ]);
    (any::<bool>(), prop::collection::vec(part, 1..8))
        .prop_map(|(root, parts)| format!("{}{}", if root { "/" } else { "" }, parts.join("/")))
        .prop_filter("not empty", |text| !text.is_empty())
}

proptest! {
    #[test]
    fn the_form_is_a_fixed_point(text in any_text()) {
        if let Ok(path) = resolve(&text, true) {
            let again = resolve(path.absolute(), true).unwrap();
            prop_assert_eq!(again.absolute(), path.absolute());
            prop_assert!(!again.via_symlink());
            prop_assert_eq!(again.exists(), path.exists());
            let by_arg = resolve(path.as_arg(true), true).unwrap();
            prop_assert_eq!(by_arg.absolute(), path.absolute());
        }
    }

    #[test]
    fn the_form_without_the_last_link_is_a_fixed_point(text in any_text()) {
        if let Ok(path) = resolve(&text, false) {
            let again = resolve(path.as_arg(true), false).unwrap();
            prop_assert_eq!(again.as_arg(false), path.as_arg(false));
            prop_assert_eq!(again.link(), path.link());
        }
    }

    #[test]
    fn spelling_does_not_matter_without_links(parts in prop::collection::vec("[a-d]", 1..5), at in 0usize..4) {
        let world = MemoryWorld::new("/w").with_dir("/w/a/b").with_dir("/w/b/c/d");
        let form = |text: &str| {
            canonical_path(&world, Path::new("/w"), Path::new("/w"), text, true).unwrap().absolute().to_owned()
        };
        let plain = parts.join("/");
        let at = at.min(parts.len() - 1);
        let spelled = |extra: &str| {
            let mut parts = parts.clone();
            parts.insert(at, extra.to_owned());
            parts.join("/")
        };
        let expected = form(&plain);
        prop_assert_eq!(form(&spelled(".")), expected.clone());
        prop_assert_eq!(form(&spelled("x/..")), expected.clone());
        prop_assert_eq!(form(&spelled("a/..")), expected.clone());
        prop_assert_eq!(form(&format!("./{}/", plain.replace('/', "//"))), expected);
    }
}
