//! `read_file`.

use super::super::read_file::MAX_BYTES;
use super::Tree;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn bytes_are_exact() {
    let tree = Tree::new();
    for bytes in [&b""[..], b"text\n", b"no end", b"\xff\xfe\x00binary\r\n\x1b[2J", &vec![b'x'; 300_000]] {
        tree.put("f", bytes);
        let outcome = tree.call("read_file", &json!({"path": "f"}));
        assert_eq!((outcome.exit, outcome.out.as_slice()), (super::BuiltinExit::Done, bytes));
        assert_eq!(outcome.err, "");
    }
}

#[test]
fn a_large_file_is_refused_whole_and_read_in_parts() {
    let tree = Tree::new();
    let size = usize::try_from(MAX_BYTES).unwrap();
    tree.put("exact", vec![b'y'; size]);
    assert_eq!(tree.call("read_file", &json!({"path": "exact"})).done().len(), size);
    tree.put("large", vec![b'z'; size + 5]);
    let refused = tree.call("read_file", &json!({"path": "large"}));
    refused.failed("1000005 bytes from offset 0 on");
    assert!(refused.err.contains("pass limit") && refused.out.is_empty(), "{}", refused.err);
    let part = tree.call("read_file", &json!({"path": "large", "limit": MAX_BYTES}));
    assert_eq!(part.done().len(), size);
    assert!(part.err.contains("the next part starts at offset 1000000"), "{}", part.err);
    let rest = tree.call("read_file", &json!({"path": "large", "offset": MAX_BYTES}));
    assert_eq!(rest.done(), "zzzzz");
}

#[test]
fn the_end_is_told_and_what_lies_behind_refused() {
    let tree = Tree::new();
    tree.put("f", "0123456789");
    for (offset, limit, text, note) in [
        (0, 4, "0123", "bytes 0 to 4 of 10; the next part starts at offset 4"),
        (4, 6, "456789", "bytes 4 to 10, the end of the file"),
        (4, 100, "456789", "the end of the file"),
        (10, 1, "", "bytes 10 to 10, the end of the file"),
    ] {
        let part = tree.call("read_file", &json!({"path": "f", "offset": offset, "limit": limit}));
        assert_eq!(part.done(), text);
        assert!(part.err.contains(note), "{}", part.err);
    }
    tree.call("read_file", &json!({"path": "f", "offset": 11})).failed("behind the end");
}

#[test]
fn lines_are_whole_and_exact() {
    let tree = Tree::new();
    tree.put("f", b"one\r\ntwo\n\n\xff\x00\nlast");
    tree.put("ended", "a\nb\n");
    tree.put("empty", "");
    for (path, line, count, bytes, note) in [
        ("f", 1, Some(1), &b"one\r\n"[..], "lines 1 to 1, bytes 0 to 5; the next part starts at line 2"),
        (
            "f",
            2,
            Some(3),
            b"two\n\n\xff\x00\n",
            "lines 2 to 4, bytes 5 to 13; the next part starts at line 5",
        ),
        ("f", 5, Some(9), b"last", "lines 5 to 5, bytes 13 to 17, the end of the file"),
        ("f", 4, None, b"\xff\x00\nlast", "lines 4 to 5, bytes 10 to 17, the end of the file"),
        ("ended", 2, Some(1), b"b\n", "lines 2 to 2, bytes 2 to 4, the end of the file"),
        ("ended", 1, Some(2), b"a\nb\n", "lines 1 to 2, bytes 0 to 4, the end of the file"),
        ("empty", 1, Some(5), b"", "the file is empty, the end of the file"),
    ] {
        let mut args = json!({"path": path, "line": line});
        if let Some(count) = count {
            args["line_count"] = json!(count);
        }
        let part = tree.call("read_file", &args);
        assert_eq!((part.exit, part.out.as_slice()), (super::BuiltinExit::Done, bytes), "{args}");
        assert!(part.err.contains(note), "{args}: {}", part.err);
    }
    for (path, line, has) in [("f", 6, 5), ("f", 99, 5), ("ended", 3, 2), ("empty", 2, 0)] {
        tree.call("read_file", &json!({"path": path, "line": line}))
            .failed(&format!("line {line} lies behind the end; it has {has} lines"));
    }
}

#[test]
fn lines_that_do_not_fit_are_refused_or_left_for_the_next_part() {
    let tree = Tree::new();
    let long = usize::try_from(MAX_BYTES).unwrap();
    tree.put("long", format!("{}\nshort\n", "x".repeat(long)));
    tree.call("read_file", &json!({"path": "long", "line": 1, "line_count": 1}))
        .failed("line 1 alone is longer");
    assert_eq!(tree.call("read_file", &json!({"path": "long", "line": 2})).done(), "short\n");
    tree.put("many", "123456789\n".repeat(200_000));
    tree.call("read_file", &json!({"path": "many", "line": 1})).failed("pass line_count");
    let part = tree.call("read_file", &json!({"path": "many", "line": 1, "line_count": 1_000_000}));
    assert_eq!(part.done().len(), long);
    assert!(part.err.contains("the next part starts at line 100001"), "{}", part.err);
    let rest = tree.call("read_file", &json!({"path": "many", "line": 100_001, "line_count": 1_000_000}));
    assert_eq!(rest.done().len(), long);
    assert!(rest.err.contains("the end of the file"), "{}", rest.err);
}

#[test]
fn a_file_whose_size_is_not_told_is_read() {
    let tree = Tree::new();
    let outcome = tree.call("read_file", &json!({"path": "/proc/version"}));
    assert!(outcome.done().starts_with("Linux"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn parts_put_together_are_the_file(bytes in prop::collection::vec(any::<u8>(), 0..400), limit in 1_usize..90) {
        let tree = Tree::new();
        tree.put("f", &bytes);
        let mut whole = Vec::new();
        loop {
            let args = json!({"path": "f", "offset": whole.len(), "limit": limit});
            let part = tree.call("read_file", &args);
            prop_assert_eq!(part.exit, super::BuiltinExit::Done);
            whole.extend_from_slice(&part.out);
            if part.err.contains("the end of the file") {
                break;
            }
            prop_assert!(!part.out.is_empty());
        }
        prop_assert_eq!(whole, bytes);
    }

    #[test]
    fn parts_by_lines_put_together_are_the_file(bytes in prop::collection::vec(prop::sample::select(&b"ab\n\n\r\xff"[..]), 0..300), count in 1_u64..9) {
        let tree = Tree::new();
        tree.put("f", &bytes);
        let (mut whole, mut line) = (Vec::new(), 1);
        loop {
            let part = tree.call("read_file", &json!({"path": "f", "line": line, "line_count": count}));
            prop_assert_eq!(part.exit, super::BuiltinExit::Done);
            whole.extend_from_slice(&part.out);
            if part.err.contains("the end of the file") {
                break;
            }
            line += count;
            let note = format!("the next part starts at line {line}");
            prop_assert!(part.err.contains(&note), "{}", part.err);
        }
        prop_assert_eq!(whole, bytes);
    }
}
