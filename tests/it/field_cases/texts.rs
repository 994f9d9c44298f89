//! Command lines and addresses as text, and policies that are not carried out. Rules that take command lines apart come
//! later: until then what can be told of text is held, and `check` says what cannot.

use super::kit::{allow, call, host, project, quoted, sh};
use crate::harness::{Project, Ran, everybody};
use serde_json::{Value, json};

const LINE: &str = "parameters: { type: object, properties: { line: { type: string } }, required: [line], additionalProperties: false }\ncommand: [/bin/true]\nstdin: none\n";

/// A host that allows every line but those of one guard.
fn but(guard: &str) -> String {
    host(
        "sh: [{ effect: execute }]",
        &[
            "{ id: rest, tool: sh, always: true, action: allow }",
            &format!("{{ id: guard, tool: sh, {guard}, reason: no }}"),
        ],
    )
}

fn plan(project: &Project, line: &str) -> Ran {
    project.run(["plan", "sh", "--args", &json!({ "line": line }).to_string()])
}

fn findings(project: &Project, code: &str) -> Vec<Value> {
    let found = project.run(["check", "--format", "json"]).json();
    found["findings"].as_array().unwrap().iter().filter(|one| one["code"] == code).cloned().collect()
}

/// A policy that hands the decision to a program is refused as a whole, whatever that program would have said: nothing is
/// allowed that a check did not see.
#[test]
fn f009_a_check_that_is_not_carried_out_is_no_permission() {
    for who in everybody() {
        let write = sh("touch ran.txt", super::kit::WRITES);
        let project = project(&who, &[("note", &write)], &allow("note", "write"));
        let check = |script: &str| format!("decide: {{ command: [/bin/sh, -c, {}] }}\n", quoted(script));
        for more in [
            check("exit 1"),
            check("sleep 60"),
            check("printf '{{'"),
            check("kill -9 $$"),
            check("printf '{{\"action\":\"allow\"}}'"),
            "decide: { command: [./not-there] }\n".to_owned(),
        ] {
            project.file("policies/main.yaml", allow("note", "write") + &more);
            for command in ["run", "plan"] {
                let ran = project.run([command, "note"]).expect(4).says("policy/unsupported").says("decide");
                assert!(ran.took.as_secs() < 5, "{:?}", ran.took);
            }
            // In a file of its own beside a good one too.
            project.file("policies/main.yaml", allow("note", "write"));
            project.file("policies/more.yaml", format!("policy: more\nformat: 1\nrole: guard\n{more}"));
            project.run(["run", "note"]).expect(4).says("policies/more.yaml");
            std::fs::remove_file(project.dir().join("policies/more.yaml")).unwrap();
            assert!(!project.dir().join("ran.txt").exists(), "{more}");
        }
        project.run(["run", "note"]).expect(0);
        assert!(project.dir().join("ran.txt").exists());
    }
}

/// A guard on flags in a text is dodged by another spelling. `check` says so with one that does get past.
#[test]
fn f041_flags_in_a_text_are_warned_of() {
    let who = &everybody()[0];
    for (when, dodges) in [
        ("{ glob: \"rm -rf *\" }", "rm -r -f"),
        ("{ contains: \"rm -rf\" }", "rm -r -f"),
        ("{ prefix: \"git push --force\" }", "push  --force"),
    ] {
        let guard = format!("when: {{ args.line: {when} }}, action: deny");
        let project = project(who, &[("sh", LINE)], &but(&guard));
        let found = findings(&project, "policy/text-of-command");
        assert_eq!(found.len(), 1, "{when}: {found:?}");
        let message = found[0]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{dodges}`")), "{message}");
        let past = if dodges.starts_with("push") { format!("git {dodges}") } else { format!("{dodges} x") };
        plan(&project, &past).expect(0);
    }
    // What the warning proposes holds in every spelling.
    let project = project(who, &[("sh", LINE)], &but("action: deny"));
    assert!(findings(&project, "policy/text-of-command").is_empty());
    for line in
        ["rm -fr x", "rm -r -f x", "rm --recursive --force x", "rm x -rf", "rm  -rf  x", "rm -rf -- x"]
    {
        plan(&project, line).expect(10);
    }
}

/// A second line is seen by every operator on text, whatever the first one is.
#[test]
fn f043_a_second_line_is_seen() {
    let who = &everybody()[0];
    for when in [
        "{ contains: \"git push\" }",
        "{ glob: \"*git push*\" }",
        "{ regex: \"(?s).*git push.*\" }",
        "{ regex: \"(.|\\n)*git push(.|\\n)*\" }",
    ] {
        let project =
            project(who, &[("sh", LINE)], &but(&format!("when: {{ args.line: {when} }}, action: deny")));
        for line in ["git push", "git status\ngit push", "git push # note", "true\r\n\r\ngit push\n"] {
            let ran = plan(&project, line);
            assert_eq!(ran.code, Some(10), "{when} {line:?}: {}", ran.stderr);
        }
        for line in ["git status", "git commit -m x", "git\npush"] {
            plan(&project, line).expect(0);
        }
    }
}

/// `*` in a `glob` stops at `/`, which `check` says of patterns for running text; `contains` knows no `/`.
#[test]
fn f045_a_star_that_stops_at_a_slash_is_warned_of() {
    let who = &everybody()[0];
    let lines = ["rm -rf /", "rm -rf /a/b", "rm -rf x", "x/rm -rf y"];
    let project =
        project(who, &[("sh", LINE)], &but("when: { args.line: { contains: \"rm -rf\" } }, action: deny"));
    for line in lines {
        plan(&project, line).expect(10);
    }
    assert!(findings(&project, "policy/loose-glob").is_empty());
    project.file("policies/main.yaml", but("when: { args.line: { glob: \"*drop table*\" } }, action: deny"));
    let found = findings(&project, "policy/loose-glob");
    assert!(found.len() == 1 && found[0].to_string().contains("contains"), "{found:?}");
    // What the warning says is so.
    plan(&project, "drop table x").expect(10);
    plan(&project, "drop table x -- a/b").expect(0);
}

const FETCH: &str = "parameters: { type: object, properties: { url: { type: string, format: uri } }, required: [url], additionalProperties: false }\ncommand: [/bin/cat]\nstdin: \"{args.url}\"\n";

/// Rules see an address in its one canonical form, and the tool gets that form. What could be read in two ways is refused.
/// That redirects are not followed is shown in `tools::network`.
#[test]
fn f095_addresses_in_disguise() {
    for who in everybody() {
        for rule in [
            "{ prefix: \"https://ok.test/\" }",
            "{ glob: \"https://ok.test/**\" }",
            "{ regex: \"https://ok\\\\.test/.*\" }",
        ] {
            let rules = [format!("{{ id: ok, tool: fetch, when: {{ args.url: {rule} }}, action: allow }}")];
            let project =
                project(&who, &[("fetch", FETCH)], &host("fetch: [{ effect: external }]", &[&rules[0]]));
            for (url, code) in [
                ("https://ok.test/a", 0),
                ("https://OK.TEST./", 0),
                ("HTTPS://ok.test:443/x", 0),
                ("https://ok.test/a/../b", 0),
                ("https://ok.test@evil.test/", 3),
                ("https://ok.test:x@evil.test/", 3),
                ("https://evil.test/?ok.test", 10),
                ("https://evil.test/https://ok.test/", 10),
                ("https://evil.test#https://ok.test/", 10),
                ("https://ok.test.evil.test", 10),
                ("https://notok.test", 10),
                ("http://ok.test/", 10),
                // Another port is another place, unless the rule names it.
                ("https://ok.test:8443", 10),
                ("http://2130706433/", 10),
                ("https://ok.test\\@evil.test", 3),
                ("https://ok.test%2f@evil.test/", 3),
                ("https://ok.test%00.evil.test/", 3),
                // A letter that looks like the `o` of the name.
                ("https://\u{43e}k.test/", 3),
                ("https://xn--k-jtb.test/", 10),
                ("https://ok.test\n.evil.test/", 3),
                ("https://ok.test../", 3),
                ("//ok.test/", 3),
                ("ok.test", 3),
            ] {
                let args = json!({ "url": url }).to_string();
                let json = call(&project, "fetch", &args, code);
                if code == 0 {
                    let got = json["result"].as_str().unwrap();
                    assert!(got.starts_with("https://ok.test/") && !got.contains(".."), "{url}: {got}");
                }
            }
        }
    }
}

/// What is checked and turns out to be nothing, or misspelt, is a failure and never green.
#[test]
fn f137_a_check_of_nothing_is_not_green() {
    for who in everybody() {
        let project = project(&who, &[("sh", LINE)], &but("action: { atLeast: ask }"));
        project.run(["check"]).expect(0);
        project.run(["check", "no-such-folder"]).expect(2).says("no-such-folder");
        // A folder that belongs to no project; one inside of it stands for the project.
        let outside = project.outside().join("empty");
        project.file_at(&outside.join(".keep"), "").file("inside/.keep", "");
        let ran = project.run(["check".as_ref(), outside.as_os_str()]);
        ran.expect(6).says("usage/nothing-to-do");
        assert!(project.run(["check", "inside"]).expect(0).out().contains("1 policy"));
        // A tool that no manifest has, and a word that is no decision.
        project.file(
            "policies/main.yaml",
            but("action: { atLeast: ask }").replace("rest, tool: sh", "rest, tool: shh"),
        );
        let ran = project.run(["check"]);
        assert!(
            ran.code == Some(1) && ran.stderr.contains("policy/unknown-tool") && ran.stderr.contains("`sh`"),
            "{}",
            ran.stderr
        );
        project.file("policies/main.yaml", but("action: alow"));
        project.run(["check"]).expect(1).says("did you mean `allow`").says("policies/main.yaml:9:");
        // Examples in a rule that expect what is not so.
        project
            .file("policies/main.yaml", but("match: [{ line: x }], notMatch: [{ line: y }], action: deny"));
        project.run(["check"]).expect(1).says("policy/example-failed");
        // A misspelt expectation is a fault too, not an example that is passed over.
        project.file("policies/main.yaml", but("matches: [{ line: x }], action: deny"));
        project.run(["check"]).expect(1).says("source/unknown-key");
    }
}
