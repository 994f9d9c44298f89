//! Holds `docs/commands.md` against what `--help` prints. `UPDATE_DOCS=1` writes the page anew.

use crate::harness::{Project, everybody};
use std::fmt::Write as _;
use std::path::Path;

const HEAD: &str = "# Commands

What `--help` prints of each command. The page is made from it: `UPDATE_DOCS=1 cargo test --test it reference` after a change.
The manual pages say the same: `toolctl man`, `toolctl man policy explain`. Exit codes: [exit-codes.md](exit-codes.md).
";

/// The commands that a help text lists, `help` aside.
fn listed(help: &str) -> Vec<String> {
    let Some(rest) = help.split("\nCommands:\n").nth(1) else { return Vec::new() };
    rest.lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

fn describe(project: &Project, path: &[String], page: &mut String) -> usize {
    let help = project.run(path.iter().map(String::as_str).chain(["--help"])).expect(0).out();
    let name =
        std::iter::once("toolctl").chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end()).unwrap();
    let mut count = 1;
    for sub in listed(&help) {
        count += describe(project, &[path, &[sub]].concat(), page);
    }
    count
}

#[test]
fn the_reference_is_what_help_prints() {
    let project = Project::of(&everybody()[0]);
    let mut page = HEAD.to_owned();
    let count = describe(&project, &[], &mut page);
    assert!(count > 15, "only {count} commands were found");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/commands.md is not what --help prints: UPDATE_DOCS=1 cargo test --test it reference"
    );
}

/// Every command has a manual page, and the page has its options.
#[test]
fn every_command_has_a_manual_page() {
    let project = Project::of(&everybody()[0]);
    let page = project.run(["man"]).expect(0).out();
    assert!(page.contains(".TH toolctl") && page.contains("policy"), "{page}");
    for command in listed(&project.run(["--help"]).expect(0).out()) {
        let page = project.run(["man", &command]).expect(0).out();
        assert!(page.contains(&format!(".TH toolctl-{command}")), "{page}");
        assert!(page.contains("no\\-prompt"), "{command}: {page}");
    }
    project.run(["man", "policy", "explain"]).expect(0);
    project.run(["man", "polciy"]).expect(2).says("did you mean `policy`?");
}
