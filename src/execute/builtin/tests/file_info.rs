//! `file_info`.

use super::super::file_info::{MAX_READ, time};
use super::{Tree, fifo};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

#[test]
fn content_is_told_apart() {
    let tree = Tree::new();
    let euro = "€".repeat(30_000);
    for (bytes, told) in [
        (&b""[..], "content: empty\n"),
        (b"a\nb\n", "content: text\nlines: 2\nline ends: LF\n"),
        (b"a\r\nb\r\n", "content: text\nlines: 2\nline ends: CRLF\n"),
        (
            b"a\r\nb\nc",
            "content: text\nlines: 3, the last without a line end\nline ends: mixed, 1 LF and 1 CRLF\n",
        ),
        (b"one", "content: text\nlines: 1, the last without a line end\n"),
        (b"caf\xe9\n", "content: text, not UTF-8\nlines: 1\nline ends: LF\n"),
        (b"cut \xe2\x82", "content: text, not UTF-8\nlines: 1, the last without a line end\n"),
        (b"a\0b\n", "content: binary\n"),
        // A character lies on the border of two parts that are read one after the other.
        (euro.as_bytes(), "content: text\nlines: 1, the last without a line end\n"),
    ] {
        tree.put("f", bytes);
        let outcome = tree.call("file_info", &json!({"path": "f"}));
        assert!(outcome.done().ends_with(told), "{}", outcome.text());
        assert!(outcome.text().contains(&format!("size: {} bytes\n", bytes.len())));
    }
}

#[test]
fn names_modes_and_digests() {
    let tree = Tree::new();
    tree.put("f", "abc");
    for (bits, shown) in [(0o644, "0644 rw-r--r--"), (0o4751, "4751 rwsr-x--x"), (0o1600, "1600 rw------T")] {
        fs::set_permissions(tree.root().join("f"), fs::Permissions::from_mode(bits)).unwrap();
        let outcome = tree.call("file_info", &json!({"path": "f"}));
        assert!(
            outcome.done().contains(&format!("kind: file\nsize: 3 bytes\nmode: {shown}\n")),
            "{}",
            outcome.text()
        );
        assert!(!outcome.text().contains("sha256"));
    }
    let digest = tree.call("file_info", &json!({"path": "f", "sha256": true}));
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert!(digest.done().ends_with(&format!("sha256: {abc}\n")), "{}", digest.text());
    fs::hard_link(tree.root().join("f"), tree.root().join("g")).unwrap();
    assert!(tree.call("file_info", &json!({"path": "g"})).done().contains("hard links: 2\n"));
    let named = "a\n\u{202e}b";
    fs::write(tree.root().join(named), "").unwrap();
    let outcome = tree.call("file_info", &json!({"path": named}));
    assert!(outcome.done().starts_with("path: \"a\\n\\u{202e}b\"\nkind: file\n"), "{}", outcome.text());
}

#[test]
fn links_are_told_and_not_followed() {
    let tree = Tree::new();
    let root = tree.root();
    symlink(tree.secret(), root.join("out")).unwrap();
    symlink("no\nthing", root.join("dangling")).unwrap();
    symlink("..", root.join("up")).unwrap();
    fifo(&root.join("pipe"));
    let out = tree.call("file_info", &json!({"path": "out"}));
    assert!(out.done().contains("kind: link\n"), "{}", out.text());
    assert!(
        out.text().ends_with(&format!("target: {}\n", tree.secret().display()))
            && !out.text().contains("size")
    );
    assert!(
        tree.call("file_info", &json!({"path": "dangling"})).done().ends_with("target: \"no\\nthing\"\n")
    );
    assert!(tree.call("file_info", &json!({"path": "pipe"})).done().contains("kind: pipe\n"));
    assert!(tree.call("file_info", &json!({"path": "."})).done().contains("kind: dir\n"));
    assert!(tree.call("file_info", &json!({"path": "/dev/null"})).done().contains("kind: device\n"));
    for (args, why) in [
        (json!({"path": "up/secret"}), "symbolic link"),
        (json!({"path": "none"}), "not there"),
        (json!({"path": "../secret"}), "`..`"),
        (json!({"path": "out", "sha256": true}), "is a symbolic link, not a regular file"),
        (json!({"path": "pipe", "sha256": true}), "is a named pipe"),
        (json!({"path": ".", "sha256": true}), "is a folder"),
    ] {
        tree.call("file_info", &args).failed(why);
    }
}

#[test]
fn a_huge_file_is_only_read_for_its_digest() {
    let tree = Tree::new();
    fs::File::create(tree.root().join("f")).unwrap().set_len(MAX_READ + 1).unwrap();
    let outcome = tree.call("file_info", &json!({"path": "f"}));
    assert!(outcome.done().ends_with("content: not looked at: larger than 64 MiB\n"), "{}", outcome.text());
}

#[test]
fn times_are_those_of_the_calendar() {
    for (seconds, text) in [
        (0, "1970-01-01T00:00:00.000000005Z"),
        (-1, "1969-12-31T23:59:59.000000005Z"),
        (951_782_400, "2000-02-29T00:00:00.000000005Z"),
        (1_709_251_199, "2024-02-29T23:59:59.000000005Z"),
        (1_709_251_200, "2024-03-01T00:00:00.000000005Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000000005Z"),
    ] {
        assert_eq!(time(seconds, 5), text);
    }
}
