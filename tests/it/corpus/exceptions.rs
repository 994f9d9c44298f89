//! The list of differences that are known and meant.

use super::kit::{Corpus, fixtures, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What was found of one file of the corpus, to be held against the list.
pub(super) struct Ledger {
    file: &'static str,
    seen: usize,
    agree: usize,
    /// Id -> what toolctl says, where that is not the label.
    differ: BTreeMap<String, String>,
    /// Every id, to know which listed ones this collection has.
    ids: std::collections::BTreeSet<String>,
}

impl Ledger {
    pub(super) fn new(file: &'static str) -> Self {
        Self { file, seen: 0, agree: 0, differ: BTreeMap::new(), ids: std::collections::BTreeSet::new() }
    }

    /// Adds one row: the label and what toolctl says.
    pub(super) fn add(&mut self, id: &str, label: &str, verdict: &str) {
        self.seen += 1;
        assert!(self.ids.insert(id.to_owned()), "{} has {id} twice", self.file);
        if label == verdict {
            self.agree += 1;
        } else {
            self.differ.insert(id.to_owned(), verdict.to_owned());
        }
    }

    /// Every difference is listed with this very verdict, and every listed one is a difference. The whole collection has
    /// to have each id of the list.
    pub(super) fn settle(self, corpus: &Corpus) {
        let listed: BTreeMap<String, Value> = std::fs::read_to_string(fixtures().join("exceptions.jsonl"))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|row| row["file"] == self.file)
            .inspect(|row| assert!(text(row, "why").len() > 20, "no reason: {row}"))
            .map(|row| (text(&row, "id").to_owned(), row))
            .collect();
        let mut faults = String::new();
        for (id, verdict) in &self.differ {
            match listed.get(id) {
                Some(row) if row["verdict"] == verdict.as_str() => {}
                Some(row) => writeln!(faults, "{id}: {verdict}, listed as {}", row["verdict"]).unwrap(),
                None => writeln!(faults, "{id}: {verdict}, against the label and not listed").unwrap(),
            }
        }
        for id in listed.keys() {
            if self.ids.contains(id) && !self.differ.contains_key(id) {
                writeln!(faults, "{id}: listed, but toolctl now agrees with the label").unwrap();
            }
            if corpus.whole && !self.ids.contains(id) {
                writeln!(faults, "{id}: listed, but there is no such row").unwrap();
            }
        }
        eprintln!(
            "{} ({}): {} rows, {} agree, {} differ as listed",
            self.file,
            corpus.name(),
            self.seen,
            self.agree,
            self.differ.len()
        );
        assert!(faults.is_empty(), "{} ({}):\n{faults}", self.file, corpus.name());
    }
}
