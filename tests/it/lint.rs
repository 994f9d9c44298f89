//! Every code that `check` can raise, with a project that raises it and one beside it that does not: `bad` and `good` in
//! `tests/fixtures/lint/CODE`. A code without such a pair fails the test.

use crate::harness::{Project, Ran, ordinary};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use toolctl::diag::Code;

/// Codes of files that `check` does not raise, and why.
const NOT_OF_CHECK: [(&str, &str); 7] = [
    ("policy/denied", "of a call"),
    ("policy/error", "of a call"),
    ("policy/plan-mode", "of a call"),
    ("policy/control-files", "of a call"),
    ("config/environment", "of the command's environment: exit 2, see errors.rs"),
    ("source/unsafe-owner", "a matter of permissions, which a checkout does not keep: see below"),
    ("config/needs-trust", "in its fixture the project is not trusted; tested with the others"),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/lint")
}

fn copy(from: &Path, project: &Project, below: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = below.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), project, &to);
        } else {
            project.file_at(&to, fs::read(entry.path()).unwrap());
        }
    }
}

fn project_of(code: &str, kind: &str) -> Project {
    let project = Project::of(&ordinary());
    let folder = fixtures().join(code).join(kind);
    assert!(folder.is_dir(), "`{code}` has no fixture: make {}", folder.display());
    copy(&folder, &project, &project.dir());
    project
}

fn check(project: &Project) -> (Ran, Value) {
    let ran = project.run(["check", "--format", "json", "--quiet"]);
    let document = ran.json();
    (ran, document)
}

fn codes(document: &Value) -> BTreeSet<String> {
    let findings = document["findings"].as_array().unwrap_or_else(|| panic!("no findings: {document}"));
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_code_has_a_project_that_raises_it_and_one_that_does_not() {
    let families = ["source/", "manifest/", "policy/", "config/"];
    let wanted = Code::ALL.iter().map(|code| code.as_str()).filter(|code| {
        families.iter().any(|family| code.starts_with(family))
            && !NOT_OF_CHECK.iter().any(|(known, _)| known == code)
    });
    let machine = ["run/program-missing", "sandbox/bad-request", "config/needs-trust"];
    let mut faults = Vec::new();
    let mut tried = BTreeSet::new();
    for code in wanted.chain(machine) {
        tried.insert(code.to_owned());
        for kind in ["bad", "good"] {
            let project = project_of(code, kind);
            if code == "config/workspace" {
                // What an untrusted project wants its workspace to be does not count.
                project.file("toolctl.yaml", "concurrency: 2\n").trusted();
                copy(&fixtures().join(code).join(kind), &project, &project.dir());
            }
            let (ran, document) = check(&project);
            let found = codes(&document);
            let expected: BTreeSet<String> = (kind == "bad").then(|| code.to_owned()).into_iter().collect();
            let findings = document["findings"].as_array().unwrap();
            let error = findings.iter().any(|finding| finding["severity"] == "error");
            if found != expected || ran.code != Some(i32::from(error)) {
                faults.push(format!("{code}/{kind}: exit {:?}, {found:?}\n{document}", ran.code));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let mut there = BTreeSet::new();
    for family in fs::read_dir(fixtures()).unwrap() {
        let family = family.unwrap();
        for code in fs::read_dir(family.path()).unwrap() {
            let code = code.unwrap().file_name();
            there.insert(format!("{}/{}", family.file_name().to_string_lossy(), code.to_string_lossy()));
        }
    }
    assert_eq!(there, tried, "a fixture of a code that does not exist");
}

#[test]
fn a_file_that_somebody_else_could_have_changed_is_a_finding() {
    let project = project_of("manifest/bad-example", "good");
    assert_eq!(codes(&check(&project).1), BTreeSet::new());
    let manifest = project.dir().join("tools.d/show.yaml");
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o666)).unwrap();
    let (ran, document) = check(&project);
    assert_eq!(codes(&document), BTreeSet::from(["source/unsafe-owner".to_owned()]));
    ran.expect(1);
}

#[test]
fn a_finding_that_is_allowed_is_left_out_and_counted() {
    let project = project_of("policy/redundant", "bad");
    let run = |args: &[&str]| project.run(args);
    run(&["check"]).expect(1).says("policy/redundant");
    let ran = run(&["check", "--allow", "policy/redundant"]).expect(0);
    assert!(ran.out().contains("1 allowed"), "{}", ran.out());
    assert!(!ran.stderr.contains("policy/redundant"));
    // What keeps `run` from working stays.
    let broken = project_of("source/unknown-key", "bad");
    broken.run(["check", "--allow", "source/unknown-key"]).expect(1).says("source/unknown-key");
    run(&["check", "--allow", "policy/redundent"]).expect(2).says("did you mean `policy/redundant`?");
}

#[test]
fn warnings_fail_only_if_strict_and_notes_never() {
    let warning = project_of("policy/over-broad", "bad");
    warning.run(["check"]).expect(0).says("policy/over-broad");
    warning.run(["check", "--strict"]).expect(1);
    let note = project_of("policy/missing-reason", "bad");
    let ran = note.run(["check", "--strict"]).expect(0).says("policy/missing-reason");
    assert!(ran.out().contains("1 note"), "{}", ran.out());
}

#[test]
fn a_broken_manifest_does_not_make_its_tool_unknown() {
    let project = project_of("policy/unknown-tool", "good");
    project.file("tools.d/show.yaml", "name: show\n");
    let found = codes(&check(&project).1);
    assert_eq!(found, BTreeSet::from(["source/missing-key".to_owned()]));
    fs::remove_file(project.dir().join("tools.d/show.yaml")).unwrap();
    assert!(codes(&check(&project).1).contains("policy/unknown-tool"));
}

#[test]
fn a_word_of_another_language_leads_to_ours() {
    let project = project_of("policy/unknown-tool", "good");
    let policy = fs::read_to_string(project.dir().join("policies/main.yaml")).unwrap();
    project.file("policies/main.yaml", policy.replace("action: allow", "then: allow"));
    project.run(["check"]).expect(1).says("did you mean `action`?");
}

#[test]
fn reports_go_beside_the_normal_output() {
    let project = project_of("policy/redundant", "bad");
    let ran = project.run([
        "check",
        "--report",
        "sarif=out.sarif",
        "--report",
        "json=out.json",
        "--report",
        "github",
        "--report",
        "github=out.txt",
    ]);
    let ran = ran.expect(1).says("policy/redundant");
    let out = ran.out();
    assert!(out.contains("::error file=policies/main.yaml,line=8,endLine=8,col="), "{out}");
    assert!(out.contains("1 error, 0 warnings"), "{out}");
    let read = |name: &str| fs::read_to_string(project.dir().join(name)).unwrap();
    assert!(out.contains(read("out.txt").trim_end()));
    let json: Value = serde_json::from_str(&read("out.json")).unwrap();
    assert_eq!(json["schema"], "toolctl.check/v1");
    let sarif: Value = serde_json::from_str(&read("out.sarif")).unwrap();
    essential(&sarif);
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "policy/redundant");
    // With a document on standard output the workflow commands go to the other stream.
    let ran =
        project.run(["check", "--format", "json", "--report", "github"]).expect(1).says("::error file=");
    assert_eq!(ran.json()["schema"], "toolctl.check/v1");
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let project = project_of("policy/redundant", "good");
    project.run(["check", "--report", "sarif=no-such-folder/out.sarif"]).expect(74).says("output/error");
    project.run(["check", "--report", "sarif"]).expect(2).says("sarif=FILE");
    project.run(["check", "--report", "sarfi=x"]).expect(2).says("did you mean `sarif`?");
    project.run(["check", "--report", "sarif=out.sarif"]).expect(0);
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(project.dir().join("out.sarif")).unwrap()).unwrap();
    essential(&sarif);
    assert_eq!(sarif["runs"][0]["results"], Value::Array(Vec::new()));
}

/// What the SARIF standard and its readers ask of a log.
fn essential(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "toolctl");
    let rules: Vec<&Value> = driver["rules"].as_array().unwrap().iter().collect();
    for rule in &rules {
        assert!(rule["shortDescription"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        assert!(rule["help"]["markdown"].as_str().is_some_and(|text| text.starts_with("# ")));
    }
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let places = [&result["locations"], &result["relatedLocations"]];
        for place in places.iter().filter_map(|places| places.as_array()).flatten() {
            let artifact = &place["physicalLocation"]["artifactLocation"];
            let uri = artifact["uri"].as_str().unwrap();
            assert_eq!(artifact.get("uriBaseId").is_some(), !uri.starts_with("file:///"), "{uri}");
            assert!(!uri.starts_with('/') && !uri.contains(' '));
            let region = &place["physicalLocation"]["region"];
            let number = |key: &str| region[key].as_u64().unwrap();
            assert!(number("startLine") >= 1 && number("startColumn") >= 1);
            assert!((number("startLine"), number("startColumn")) <= (number("endLine"), number("endColumn")));
        }
    }
}

/// The time stays in proportion to what is checked, and within reach of a person.
#[test]
fn many_tools_and_rules_take_seconds() {
    let project = Project::of(&ordinary());
    let mut rules = String::new();
    let mut effects = String::new();
    for at in 0..1000 {
        let manifest = fs::read_to_string(fixtures().join("policy/claim/good/tools.d/show.yaml")).unwrap();
        project.file(&format!("tools.d/t{at}.yaml"), manifest.replace("name: show", &format!("name: t{at}")));
        writeln!(
            rules,
            "  - {{ id: r{at}, tool: t{at}, when: {{ args.path: {{ under: [src/{at}] }} }}, action: allow }}"
        )
        .unwrap();
        writeln!(effects, "  t{at}: [ {{ effect: read }} ]").unwrap();
    }
    project.file(
        "policies/main.yaml",
        format!("policy: main\nformat: 1\nrole: host\neffects:\n{effects}rules:\n{rules}"),
    );
    let (ran, document) = check(&project);
    assert_eq!(codes(&document), BTreeSet::new(), "{document}");
    // A generous limit: a debug build on a busy machine.
    assert!(ran.took.as_secs() < 50, "{:?}", ran.took);
}
