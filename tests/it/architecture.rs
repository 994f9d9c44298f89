//! The layering of ARCHITECTURE.md, read from the `use` lines: a module may use those above it and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules, in the order in which `src/lib.rs` declares them.
fn layers() -> Vec<String> {
    let lib = fs::read_to_string("src/lib.rs").unwrap();
    lib.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

fn rust_files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            out.push(path);
        }
    }
}

fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    rust_files(Path::new("src"), &mut files);
    files.sort();
    files
}

/// The text without comments and without what follows `#[cfg(test)]`.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Every module of this crate that a text names as `crate::NAME`, grouped imports included.
fn named_modules(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = code.get(at + 7..).unwrap();
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 1;
            let end = group
                .char_indices()
                .find(|(_, c)| {
                    depth += i32::from(*c == '{') - i32::from(*c == '}');
                    depth == 0
                })
                .unwrap()
                .0;
            let mut depth = 0;
            for part in group.get(..end).unwrap().split(|c| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                c == ',' && depth == 0
            }) {
                names.push(part.trim().split("::").next().unwrap().to_owned());
            }
        } else {
            names.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    names
}

#[test]
fn no_arrow_points_up() {
    let layers = layers();
    let rank = |name: &str| layers.iter().position(|layer| layer == name);
    let mut faults = Vec::new();
    for path in sources() {
        let Some(module) =
            path.strip_prefix("src").unwrap().iter().next().map(|p| p.to_string_lossy().into_owned())
        else {
            continue;
        };
        let Some(own) = rank(module.trim_end_matches(".rs")) else { continue };
        for name in named_modules(&code_of(&path)) {
            if let Some(other) = rank(&name)
                && other > own
            {
                faults.push(format!("{} uses {name}", path.display()));
            }
        }
    }
    assert!(layers.len() > 10, "the layers were not found in src/lib.rs");
    assert!(faults.is_empty(), "arrows that point up:\n{}", faults.join("\n"));
}

#[test]
fn the_reader_of_use_lines_reads_them() {
    let code =
        "use crate::text::Span;\nuse crate::{diag::{Code, Label}, policy};\nlet x = crate::execute::run();";
    assert_eq!(named_modules(code), ["text", "diag", "policy", "execute"]);
}

#[test]
fn dry_commands_cannot_execute() {
    for name in ["plan", "test", "policy", "validate", "check"] {
        let path = PathBuf::from(format!("src/cli/commands/{name}.rs"));
        if !path.exists() {
            continue;
        }
        let names = named_modules(&code_of(&path));
        assert!(!names.contains(&"execute".to_owned()), "{} imports execute", path.display());
    }
    assert!(Path::new("src/cli/commands/plan.rs").exists());
}

#[test]
fn files_are_short_and_open_with_their_purpose() {
    let mut faults = Vec::new();
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        if lines > 600 {
            faults.push(format!("{}: {lines} lines", path.display()));
        }
        if !text.starts_with("//!") && !path.ends_with("tests.rs") {
            faults.push(format!("{}: no `//!` on its first line", path.display()));
        }
    }
    let main = fs::read_to_string("src/main.rs").unwrap().lines().count();
    assert!(main <= 25, "src/main.rs has {main} lines");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn some_names_have_one_home() {
    // (text, the only places where it may stand)
    let homes: &[(&str, &[&str])] = &[
        ("unsafe ", &["src/sandbox/linux/sys.rs"]),
        ("process::exit", &["src/main.rs"]),
        ("serde_saphyr", &["src/source/yaml.rs"]),
        ("jsonschema::", &["src/schema/"]),
        ("annotate_snippets", &["src/term/"]),
        ("comfy_table", &["src/term/"]),
        ("anyhow::", &["src/cli/"]),
        ("println!", &["src/term/"]),
        ("#[allow", &[]),
    ];
    let mut faults = Vec::new();
    for path in sources() {
        let code = code_of(&path);
        let shown = path.display().to_string();
        for (text, allowed) in homes {
            if code.contains(text) && !allowed.iter().any(|home| shown.starts_with(home)) {
                faults.push(format!("{shown}: `{text}`"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_code_has_a_page_that_explains_it() {
    for code in toolctl::diag::Code::ALL {
        let page = code.page();
        assert!(page.starts_with(&format!("# {}\n", code.as_str())), "{}: wrong heading", code.as_str());
        assert!(page.lines().count() >= 8, "{}: the page explains too little", code.as_str());
        assert_eq!(toolctl::diag::Code::parse(code.as_str()), Some(*code));
        assert!(!code.summary().is_empty());
    }
}
