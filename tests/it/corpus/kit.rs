//! The collections: the sample beside the tests and, where it is, the whole.

use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The variable that names the folder of the whole collection. The harness clears the environment, so the program under
/// test never sees it.
pub(super) const VARIABLE: &str = "CORPUS_DIR";

/// A folder of JSONL files.
#[derive(Debug, Clone)]
pub(super) struct Corpus {
    pub(super) dir: PathBuf,
    /// Everything, not the sample.
    pub(super) whole: bool,
}

/// Where the sample and the list of exceptions are.
pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpus")
}

/// The whole collection, if it is here; says so if not.
pub(super) fn whole() -> Option<Corpus> {
    let Some(dir) = std::env::var_os(VARIABLE).filter(|dir| !dir.is_empty()) else {
        eprintln!("skipped: the whole corpus ({VARIABLE} is not set)");
        return None;
    };
    let dir = PathBuf::from(dir);
    assert!(dir.join("calls.jsonl").is_file(), "{VARIABLE} names {}, which is no corpus", dir.display());
    Some(Corpus { dir, whole: true })
}

/// The whole, if it is here, and the sample.
pub(super) fn all() -> Vec<Corpus> {
    whole().into_iter().chain([sample()]).collect()
}

/// The sample.
pub(super) fn sample() -> Corpus {
    Corpus { dir: fixtures(), whole: false }
}

impl Corpus {
    /// The lines of one file, as they are.
    pub(super) fn lines(&self, name: &str) -> Vec<String> {
        let path = self.dir.join(format!("{name}.jsonl"));
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(!lines.is_empty(), "{} is empty", path.display());
        lines
    }

    /// The rows of one file.
    pub(super) fn rows(&self, name: &str) -> Vec<Value> {
        self.lines(name).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Tool definitions by their id.
    pub(super) fn tools(&self) -> HashMap<String, Value> {
        ["tools", "schemas_jsb"]
            .iter()
            .flat_map(|name| self.rows(name))
            .map(|row| (text(&row, "id").to_owned(), row))
            .collect()
    }

    /// `sample` or `whole`, for what is printed.
    pub(super) const fn name(&self) -> &'static str {
        if self.whole { "whole" } else { "sample" }
    }
}

/// A string of a row.
#[track_caller]
pub(super) fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {row}"))
}

/// The schema of a tool's arguments: the normalised one where the definition is not JSON Schema, else its own.
pub(super) fn schema(tool: &Value) -> &Value {
    const PLACES: [&str; 7] = [
        "/schema",
        "/tool/function/parameters",
        "/tool/inputSchema",
        "/tool/input_schema",
        "/tool/toolSpec/inputSchema/json",
        "/tool/parametersJsonSchema",
        "/tool/parameters",
    ];
    let found = PLACES.iter().find_map(|place| tool.pointer(place));
    found.unwrap_or_else(|| panic!("no schema in {tool}"))
}
