//! Holds every JSON document that toolctl prints against the schemas in `schemas/`.
//!
//! The schemas are closed: a field that nobody described fails here. Each command is tried with a good and a bad end.

use crate::harness::{Project, Ran, everybody};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Written into an approval's digest, never printed.
const NOT_PRINTED: [&str; 1] = ["approval"];

/// Of files that people write; `src/cli/kinds/tests.rs` holds them against the decoders.
const WRITTEN: [&str; 3] = ["manifest", "policy", "settings"];

fn is_written(name: &str) -> bool {
    WRITTEN.iter().any(|written| name == format!("toolctl.{written}/v1"))
}

fn checkout() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The schemas by the name that documents give: `toolctl.NAME/v1` is in `NAME.v1.json`.
fn schemas() -> BTreeMap<String, jsonschema::Validator> {
    fs::read_dir(checkout().join("schemas"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let (name, version) = name.strip_suffix(".json").unwrap().split_once('.').unwrap();
            let schema: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let compiled = jsonschema::draft202012::new(&schema)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(jsonschema::draft202012::meta::is_valid(&schema), "{}", path.display());
            (format!("toolctl.{name}/{version}"), compiled)
        })
        .collect()
}

/// A trusted project with tools that end in every way.
fn project(who: &crate::harness::Who) -> Project {
    let project = Project::of(who);
    let tool = |name: &str, rest: &str| {
        project.file(
            &format!("tools.d/{name}.yaml"),
            format!(
                "name: {name}\ndescription: A tool of the tests.\nparameters: {{ type: object, additionalProperties: false }}\n{rest}"
            ),
        );
    };
    tool("ok", "command: [echo, hello]\nreadOnly: true\n");
    tool("fails", "command: [sh, -c, \"echo oops >&2; exit 75\"]\n");
    tool("data", "command: [echo, '{{\"content\": [1, 2.50]}}']\noutput: json\n");
    tool("promises", "command: [echo, no JSON]\noutput: json\n");
    tool("bytes", "command: [printf, '\\377']\n");
    tool("slow", "command: [sleep, \"60\"]\nsandbox: { timeout: 200 }\n");
    tool("free", "command: [echo, free]\nsandbox: false\n");
    tool("own", "command: [./own.sh]\n");
    project.script("tools.d/own.sh", "#!/bin/sh\necho own\n");
    tool("cached", "command: [echo]\ncache: { ttl: 5 }\n");
    tool("absent", "command: [no-such-program]\n");
    project.file(
        "policies/main.yaml",
        "policy: main
format: 1
role: host
default: deny
effects:
  ok: [ { effect: read } ]
rules:
  - id: tools
    tool: [ok, fails, data, promises, bytes, slow, free, own, absent]
    always: true
    action: allow
  - id: reads
    tool: read_file
    when: { args.path: { under: [docs] }, ctx.userId: { eq: u1 } }
    action: allow
  - id: writes
    tool: write_file
    always: true
    action: ask
    reason: \"{tool} writes {args.path}\"
",
    );
    project.file("docs/a", "text");
    let good = r#"{"toolCallId":"c1","toolName":"write_file","args":{"path":"x","content":"x"}}"#;
    project.file("docs/good.jsonl", good);
    project.file("docs/mixed.jsonl", format!("{good}\n{{\"toolName\":\"ok\",\"args\":{{\"x\":1}}}}\n[]\n"));
    project.trusted();
    project
}

/// What went wrong with the document of one command.
fn faults(ran: &Ran, schemas: &BTreeMap<String, jsonschema::Validator>) -> Vec<String> {
    let document = ran.json();
    let name = document["schema"].as_str().unwrap_or("").to_owned();
    let Some(schema) = schemas.get(&name) else { return vec![format!("there is no schema for `{name}`")] };
    schema.iter_errors(&document).map(|error| format!("{name}{}: {error}", error.instance_path())).collect()
}

/// The commands, with their exit codes, and whether this is a good end.
fn commands() -> Vec<(&'static str, i32)> {
    vec![
        ("run ok", 0),
        ("run ok --call-id c --run-id r --agent a", 0),
        ("run data", 0),
        ("run bytes", 0),
        ("run free", 0),
        ("run own", 0),
        ("run fails", 20),
        ("run promises", 24),
        ("run slow", 22),
        ("run absent", 4),
        ("run cached", 4),
        ("run ok -a x=1", 3),
        ("run read_file --args {", 3),
        ("run read_file -a path=docs/a", 10),
        ("run read_file -a path=docs/a --user-id u1", 0),
        ("run write_file -a path=policies/x -a content=x", 10),
        ("run write_file -a path=x -a content=x", 11),
        ("run nothing", 5),
        ("plan ok", 0),
        ("plan own --preflight", 0),
        ("plan free", 0),
        ("plan write_file -a path=./x -a content=x", 11),
        ("plan read_file -a path=x", 10),
        ("plan nothing", 5),
        ("plan ok -a x=1", 3),
        ("validate write_file -a path=x -a content=x", 0),
        ("validate write_file -a path=x", 3),
        ("validate nothing", 5),
        ("validate --calls docs/good.jsonl", 0),
        ("validate --calls docs/mixed.jsonl", 3),
        ("plan --calls docs/good.jsonl", 11),
        ("plan --calls docs/mixed.jsonl", 3),
        ("check", 1),
        ("check nowhere", 2),
        ("tools list", 0),
        ("tools show own", 0),
        ("tools show read_file", 0),
        ("tools show nothing", 5),
        ("policy show", 0),
        ("policy show --sources", 0),
        ("schema", 0),
        ("schema policy", 0),
        ("schema polciy", 2),
        ("completions bash", 0),
        ("man", 0),
        ("man policy explain", 0),
        ("man nothing", 2),
        ("policy explain ok", 0),
        ("policy explain ok --why-not allow", 0),
        ("policy explain read_file -a path=docs/a --why-not ask", 10),
        ("policy explain write_file -a path=x -a content=x --why-not allow --mode plan", 10),
        ("policy explain read_file -a path=docs/../x", 10),
        ("policy explain read_file -a path=docs/a", 10),
        ("policy explain write_file -a path=policies/x -a content=x", 10),
        ("policy explain nothing", 5),
        ("explain", 0),
        ("environment", 0),
        ("explain policy/denied", 0),
        ("explain policy", 0),
        ("explain 10", 0),
        ("explain policy/nothing", 2),
        ("doctor", 0),
        ("trust", 0),
        ("trust --dry-run", 0),
        ("trust --list", 0),
        ("trust --revoke", 0),
        ("trust --revoke", 0),
        ("run ok", 4),
        ("plan ok", 4),
        ("policy show", 0),
        ("policy explain ok", 4),
        ("check", 1),
    ]
}

#[test]
fn every_document_keeps_its_schema() {
    let schemas = schemas();
    for who in everybody() {
        let project = project(&who);
        let mut seen: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
        let mut faulty = Vec::new();
        for (line, code) in commands() {
            let ran = project.run(["--format", "json", "-q"].into_iter().chain(line.split(' '))).expect(code);
            for fault in faults(&ran, &schemas) {
                faulty.push(format!("as {}: {line}: {fault}", who.name));
            }
            seen.entry(ran.json()["schema"].as_str().unwrap().to_owned()).or_default().insert(code == 0);
        }
        // A policy that cannot be read is a failure of every command that needs it.
        project.file("policies/main.yaml", "policy: main\nformat: 1\nformat: 2\n");
        for line in ["policy show", "plan ok", "run ok", "check", "validate ok -a x=@docs/a"] {
            let ran = project.run(["--format", "json", "-q"].into_iter().chain(line.split(' ')));
            assert!(matches!(ran.code, Some(1 | 4)), "{line}: {ran:?}");
            faulty.extend(faults(&ran, &schemas).iter().map(|fault| format!("{line}: {fault}")));
        }
        project.file("policies/main.yaml", "policy: main\nformat: 1\nrole: host\n").trusted();
        let ran = project.run(["--format", "ndjson", "-q", "plan", "--calls", "docs/mixed.jsonl"]).expect(3);
        for (line, kind) in ran.out().lines().zip(["plan", "failure", "failure"]) {
            let document: Value = serde_json::from_str(line).unwrap();
            let kind = &schemas[&format!("toolctl.{kind}/v1")];
            faulty.extend(kind.iter_errors(&document).map(|error| format!("{line}: {error}")));
        }
        let ran = project.run(["--format", "ndjson", "-q", "validate", "--calls", "docs/mixed.jsonl"]);
        assert_eq!(ran.out().lines().count(), 3);
        for line in ran.out().lines() {
            let document: Value = serde_json::from_str(line).unwrap();
            let kind = &schemas["toolctl.validation/v1"];
            faulty.extend(kind.iter_errors(&document).map(|error| format!("{line}: {error}")));
        }
        assert!(faulty.is_empty(), "{}", faulty.join("\n"));
        for name in schemas.keys().filter(|name| !is_written(name)) {
            assert!(seen.contains_key(name), "no command printed {name}");
        }
        for name in ["result", "plan", "validation", "validations", "explanation"] {
            assert_eq!(seen[&format!("toolctl.{name}/v1")].len(), 2, "{name} was not tried with both ends");
        }
    }
}

/// The schemas do refuse: a document without a required field, with an unknown one or with a value of another type.
#[test]
fn a_document_that_is_not_as_promised_is_refused() {
    let schemas = schemas();
    let project = project(&everybody()[0]);
    for line in
        ["run ok", "plan ok", "validate ok", "check", "tools list", "policy explain ok", "doctor", "trust"]
    {
        let ran = project.run(["--format", "json", "-q"].into_iter().chain(line.split(' ')));
        let document = ran.json();
        let schema = &schemas[document["schema"].as_str().unwrap()];
        assert!(schema.is_valid(&document), "{line}");
        for key in document.as_object().unwrap().keys() {
            let mut other = document.clone();
            other[key] = json!({"of": ["another", "type"]});
            let free = ["result", "args", "data", "originals"].contains(&key.as_str());
            assert!(free || !schema.is_valid(&other), "{line}: {key} may be anything");
        }
        let mut more = document.clone();
        more["surprise"] = json!(1);
        assert!(!schema.is_valid(&more), "{line}: an unknown field passes");
        let mut less = document.clone();
        less.as_object_mut().unwrap().remove("schema");
        assert!(!schema.is_valid(&less), "{line}: a missing field passes");
    }
}

/// Every kind of document that the code can print has a schema.
#[test]
fn every_kind_of_document_has_a_schema() {
    let known = schemas();
    let mut kinds = BTreeSet::new();
    collect(&checkout().join("src"), &mut kinds);
    assert!(kinds.len() + WRITTEN.len() >= known.len(), "{kinds:?}");
    for kind in kinds {
        let name = kind.trim_start_matches("toolctl.").trim_end_matches("/v1");
        assert!(NOT_PRINTED.contains(&name) || known.contains_key(&kind), "{kind} has no file in schemas/");
    }
}

fn collect(dir: &Path, kinds: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, kinds);
        } else if path.extension().is_some_and(|found| found == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            kinds.extend(
                text.split('"')
                    .filter(|word| word.starts_with("toolctl.") && word.ends_with("/v1"))
                    .map(str::to_owned),
            );
        }
    }
}
