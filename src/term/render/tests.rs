//! What people and machines get to see.

use super::excerpt::Excerpt;
use super::{render, to_json};
use crate::diag::{Code, Diagnostic};
use crate::source::{Files, parse_yaml};
use crate::text::{FileId, Span};
use proptest::prelude::*;

fn plain(files: &Files, diagnostics: &[Diagnostic]) -> String {
    render(files, diagnostics, false, 100)
}

/// The span of the first `part` in the file.
fn find(files: &Files, id: FileId, part: &str) -> Span {
    let at = files.text(id).find(part).unwrap();
    Span::new(id, u32::try_from(at).unwrap(), u32::try_from(at + part.len()).unwrap())
}

#[test]
fn three_faults_in_one_file() {
    let mut files = Files::new();
    let text = "rules:\n  - id: deny-etc\n    when: { tool: fs.write }\n    decison: deny\n  - id: 5\n    tool: [a\u{e4}, b]\n";
    let id = files.add("policies/base.yaml", text);
    let diagnostics = [
        Diagnostic::error(Code::SourceUnknownKey, "unknown key `decison` in a rule")
            .at(find(&files, id, "decison"), "not a key of a rule")
            .see(find(&files, id, "deny-etc"), "in this rule")
            .help("did you mean `decision`?"),
        Diagnostic::error(Code::SourceWrongType, "a rule's id must be a string, not a number")
            .at(find(&files, id, "5"), "expected a string")
            .note("ids are shown in results and audit records")
            .help("put it in quotes if the text is meant"),
        Diagnostic::warning(Code::PolicyUnknownTool, "no manifest defines the tool `aä`")
            .at(find(&files, id, "a\u{e4}"), ""),
        Diagnostic::note_of(Code::PolicyUnknownTool, "a finding without a place"),
    ];
    insta::assert_snapshot!(plain(&files, &diagnostics));
    insta::assert_json_snapshot!(to_json(&files, &diagnostics));
}

#[test]
fn a_duplicate_key_shows_both_places() {
    let mut files = Files::new();
    let id = files.add("a.yaml", "deny: true\nb: 1\nc: 2\nd: 3\n'deny': false\n");
    let diagnostics = parse_yaml(&files, id).unwrap_err();
    insta::assert_snapshot!(plain(&files, &diagnostics));
}

#[test]
fn places_in_two_files() {
    let mut files = Files::new();
    let one = files.add("a/pay.yaml", "name: pay\n");
    let two = files.add("b/pay\u{202e}.yaml", "# second\nname: pay\n");
    let diagnostic = Diagnostic::error(Code::ManifestDuplicateTool, "two manifests define `pay`")
        .at(find(&files, two, "pay"), "again here")
        .see(find(&files, one, "pay"), "first here");
    insta::assert_snapshot!(plain(&files, &[diagnostic]));
}

#[test]
fn carets_stand_under_wide_characters() {
    let mut files = Files::new();
    let id = files.add("a.yaml", "größe: {日本語: x, e\u{301}: \u{1f600}, end: 1}\n");
    let diagnostics = ["日本語", "\u{1f600}", "end"]
        .map(|part| Diagnostic::error(Code::SourceBadValue, "here").at(find(&files, id, part), "this"));
    insta::assert_snapshot!(plain(&files, &diagnostics));
}

#[test]
fn hidden_characters_of_the_source_are_shown() {
    let mut files = Files::new();
    let id = files.add("a.yaml", "\tuser: \"ad\u{202e}nim\u{2066}\" # \u{1b}[2J\r\nnext: 1\r\n");
    let diagnostic = Diagnostic::error(Code::SourceBadValue, "not a user")
        .at(find(&files, id, "\"ad\u{202e}nim\u{2066}\""), "this")
        .see(find(&files, id, "\u{1b}[2J"), "");
    insta::assert_snapshot!(plain(&files, &[diagnostic]));
}

#[test]
fn odd_spans_are_safe() {
    let mut files = Files::new();
    let id = files.add("a.yaml", "ä: 1\nb: [1,\n 2]");
    let empty = files.add("empty.yaml", "");
    let spans = [
        Span::new(id, 4, 4),
        Span::new(id, 1, 1),
        Span::new(id, 9, 99),
        Span::new(id, 16, 16),
        Span::new(id, 500, 900),
        Span::new(id, 5, 3),
        Span::new(empty, 0, 0),
        Span::new(FileId(77), 1, 2),
    ];
    let diagnostics = spans.map(|span| Diagnostic::error(Code::SourceYaml, "here").at(span, "this"));
    insta::assert_snapshot!(plain(&files, &diagnostics));
}

#[test]
fn long_lines_are_cut_around_the_mark() {
    let mut files = Files::new();
    let line = format!("{}MARK{}", "é".repeat(50_000), "x".repeat(50_000));
    let id = files.add("a.yaml", format!("first\n{line}\nlast\n"));
    let diagnostic = Diagnostic::error(Code::SourceBadValue, "here").at(find(&files, id, "MARK"), "this");
    let text = plain(&files, &[diagnostic]);
    insta::assert_snapshot!(text);
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn colours_are_only_used_when_asked_for() {
    let mut files = Files::new();
    let id = files.add("a.yaml", "a: 1\n");
    let diagnostics = [Diagnostic::error(Code::SourceYaml, "here").at(Span::new(id, 0, 1), "this")];
    assert!(!plain(&files, &diagnostics).contains('\u{1b}'));
    assert!(render(&files, &diagnostics, true, 100).contains('\u{1b}'));
}

proptest! {
    #[test]
    fn excerpts_keep_what_is_marked(
        text in "[a-zé日\n\r\u{202e}]{0,40}",
        marks in prop::collection::vec((0_usize..60, 0_usize..60), 1..4),
    ) {
        let marks: Vec<_> = marks.into_iter().map(|(start, length)| start..start + length).collect();
        let excerpt = Excerpt::new(&text, &marks);
        prop_assert_eq!(excerpt.marks.len(), marks.len());
        for (moved, mark) in excerpt.marks.iter().zip(&marks) {
            let shown = excerpt.text.get(moved.clone());
            prop_assert!(shown.is_some(), "{:?} in {:?}", moved, excerpt.text);
            if let Some(source) = text.get(mark.clone())
                && !source.contains(['\n', '\r', '\u{202e}'])
            {
                prop_assert_eq!(shown.unwrap(), source);
            }
        }
    }

    #[test]
    fn rendering_never_panics_and_hides_nothing(
        text in "[ -~é日\t\n\r\u{202e}\u{1b}\u{0}]{0,80}",
        spans in prop::collection::vec((0_u32..90, 0_u32..90), 1..4),
        width in 1_usize..140,
    ) {
        let mut files = Files::new();
        let id = files.add("a.yaml", text);
        let mut diagnostic = Diagnostic::error(Code::SourceYaml, "here").at(Span::new(id, 0, 0), "first");
        for (start, end) in spans {
            diagnostic = diagnostic.see(Span::new(id, start, end), "other");
        }
        let text = render(&files, &[diagnostic.clone()], false, width);
        prop_assert!(text.chars().all(|c| c == '\n' || !crate::text::is_hidden(c)), "{text:?}");
        let _ = to_json(&files, &[diagnostic]);
    }
}

/// Findings with all that a report has to carry.
fn for_reports() -> (Files, Vec<Diagnostic>) {
    let mut files = Files::new();
    let policy = files.add("policies/a b, 100%:x.yaml", "rules:\n  - id: größe\n    then: x\n");
    let outside = files.add("/etc/toolctl/policies/p.yaml", "policy: p\nrules: [\n  ]\n");
    let embedded = files.add("builtin:read_file", "{}");
    let diagnostics = vec![
        Diagnostic::error(Code::SourceUnknownKey, "unknown key `then`, 100% sure\rreally")
            .at(find(&files, policy, "then"), "not a key: a rule")
            .see(find(&files, policy, "größe"), "in this rule")
            .help("did you mean `action`?"),
        Diagnostic::warning(Code::PolicyUnknownTool, "two lines").at(find(&files, outside, "[\n  ]"), ""),
        Diagnostic::note_of(Code::PolicyMissingReason, "in no file").at(find(&files, embedded, "{}"), "here"),
        Diagnostic::error(Code::PolicyUnknownTool, "without a place").note("a fact"),
    ];
    (files, diagnostics)
}

#[test]
fn sarif_has_rules_places_and_levels() {
    let (files, diagnostics) = for_reports();
    let mut log = serde_json::to_value(super::to_sarif(&files, &diagnostics)).unwrap();
    // The pages and the version change for reasons of their own.
    log["runs"][0]["tool"]["driver"]["version"] = "0".into();
    for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap() {
        assert_eq!(rule["help"]["text"], rule["help"]["markdown"]);
        rule["help"] = "page".into();
    }
    insta::assert_json_snapshot!(log);
}

#[test]
fn annotations_of_github_are_escaped() {
    let (files, diagnostics) = for_reports();
    insta::assert_snapshot!(super::to_github(&files, &diagnostics));
}
