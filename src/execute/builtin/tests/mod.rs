//! What each built-in tool does in a folder of its own, with one module a tool.

mod delete_file;
mod edit_file;
mod file_info;
mod find_files;
mod list_dir;
mod move_file;
mod read_file;
mod root;
mod run_command;
mod search_text;
mod write_file;

use super::{BuiltinExit, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// How a tool ended, its result and its messages.
struct Outcome {
    exit: BuiltinExit,
    out: Vec<u8>,
    err: String,
}

impl Outcome {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    #[track_caller]
    fn done(&self) -> &str {
        assert_eq!(self.exit, BuiltinExit::Done, "{}", self.err);
        self.text()
    }

    #[track_caller]
    fn failed(&self, with: &str) {
        assert_eq!(self.exit, BuiltinExit::Failed, "{}", self.text());
        assert!(self.err.contains(with), "{}", self.err);
        assert!(!self.err.trim_end().chars().any(crate::text::is_hidden), "{}", self.err);
    }
}

fn call(name: &str, args: &Value, root: &Path) -> Outcome {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run(name, args.as_object().unwrap(), root, &mut out, &mut err);
    Outcome { exit, out, err: String::from_utf8(err).unwrap() }
}

/// A workspace beside a secret file, both in one temporary folder.
struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("w")).unwrap();
        fs::write(dir.path().join("secret"), "outside").unwrap();
        Self { dir }
    }

    fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("w")
    }

    fn secret(&self) -> std::path::PathBuf {
        self.dir.path().join("secret")
    }

    fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn get(&self, path: &str) -> Vec<u8> {
        fs::read(self.root().join(path)).unwrap()
    }

    fn call(&self, name: &str, args: &Value) -> Outcome {
        call(name, args, &self.root())
    }
}

/// Held by tests that start programs: a script cannot be executed while another test's child, just forked, still has
/// it open for writing.
fn starting_programs() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What is in a folder, sorted, folders gone through.
fn names(tree: &Tree) -> Vec<String> {
    fn add(dir: &Path, root: &Path, out: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            out.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            if path.symlink_metadata().unwrap().is_dir() {
                add(&path, root, out);
            }
        }
    }
    let (mut out, root) = (Vec::new(), tree.root());
    add(&root, &root, &mut out);
    out.sort();
    out
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn unknown_tools_and_arguments_are_refused() {
    let tree = Tree::new();
    tree.call("read_files", &serde_json::json!({})).failed("no built-in tool `read_files`");
    for (name, args) in [
        ("read_file", serde_json::json!({})),
        ("read_file", serde_json::json!({"path": 1})),
        ("read_file", serde_json::json!({"path": "a", "follow": true})),
        ("list_dir", serde_json::json!({"depth": -1})),
        ("write_file", serde_json::json!({"path": "a", "content": "", "mode": "truncate"})),
        ("read_file", serde_json::json!({"path": "a", "line": 1, "limit": 1})),
        ("read_file", serde_json::json!({"path": "a", "line_count": 1, "offset": 1})),
        ("find_files", serde_json::json!({"kind": "socket"})),
        ("file_info", serde_json::json!({"path": "a", "follow": true})),
        ("edit_file", serde_json::json!({"path": "a", "edits": []})),
        ("edit_file", serde_json::json!({"path": "a", "edits": [{"old": "x"}]})),
        ("move_file", serde_json::json!({"path": "a"})),
        ("delete_file", serde_json::json!({"path": "a", "force": true})),
        ("run_command", serde_json::json!({"argv": []})),
        ("run_command", serde_json::json!({"argv": ["true", "a\u{0}b"]})),
    ] {
        tree.call(name, &args).failed("the arguments do not fit");
    }
}

/// The defaults that callers see in the schema are those that the code uses.
#[test]
fn schema_defaults_are_the_defaults_of_the_code() {
    let _alone = starting_programs();
    let tree = Tree::new();
    for name in ["a", ".b", "c/d"] {
        tree.put(name, "x\n");
    }
    for (name, args) in [
        ("list_dir", serde_json::json!({})),
        ("read_file", serde_json::json!({"path": "a"})),
        ("search_text", serde_json::json!({"pattern": "x"})),
        ("find_files", serde_json::json!({})),
        ("file_info", serde_json::json!({"path": "a"})),
        ("run_command", serde_json::json!({"argv": ["ls"]})),
    ] {
        let source = crate::manifest::builtin_source(name).unwrap();
        let tool: Value = serde_json::from_str(source).unwrap();
        let mut filled = args.clone();
        for (key, property) in tool["parameters"]["properties"].as_object().unwrap() {
            if let Some(default) = property.get("default") {
                filled[key] = default.clone();
            }
        }
        assert_eq!(tree.call(name, &args).done(), tree.call(name, &filled).done(), "{name}");
    }
}
