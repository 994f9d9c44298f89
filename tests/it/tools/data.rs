//! The tools for data: SQLite, JSON, archives, and the shell.

use super::kit::{call, have, messages, sh, text, unasked};
use crate::harness::{everybody, ordinary};
use serde_json::{Value, json};
use std::fs;

const ROWS: &str = "sqlite3 app.db \"create table t(a,b); insert into t values(1,'x'),(2,null),(3,'it''s')\"";

#[test]
fn sql_reads_rows() {
    if !have(&["sqlite3"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        sh(&project, ROWS);
        sh(&project, "cp app.db -- -cmd && cp app.db 'file:x?mode=rwc' && touch empty.db");
        let args = |query: &str| json!({"database": "app.db", "query": query});
        let rows = call(&project, "sql_query", &args("SELECT a, b FROM t ORDER BY a;"), 0);
        let rows: Value = serde_json::from_str(text(&rows)).unwrap();
        assert_eq!(rows, json!([{"a": 1, "b": "x"}, {"a": 2, "b": null}, {"a": 3, "b": "it's"}]));
        assert_eq!(text(&call(&project, "sql_query", &args("SELECT a FROM t WHERE a > 5;"), 0)), "");
        for name in ["-cmd", "file:x?mode=rwc"] {
            let args = json!({"database": name, "query": "SELECT count(*) AS n FROM t;"});
            assert_eq!(text(&call(&project, "sql_query", &args, 0)), "[{\"n\":3}]\n", "{name}");
        }
        let empty = json!({"database": "empty.db", "query": "SELECT 1 AS one;"});
        assert_eq!(text(&call(&project, "sql_query", &empty, 0)), "[{\"one\":1}]\n");
    }
}

#[test]
fn sql_changes_and_reaches_nothing() {
    if !have(&["sqlite3"]) {
        return;
    }
    let project = unasked(&ordinary());
    sh(&project, ROWS);
    project.file("other.db", "").file("plain.txt", "hello, this is no database at all\n");
    let before = fs::read(project.dir().join("app.db")).unwrap();
    for (query, said) in [
        ("INSERT INTO t VALUES (9, 'y');", "readonly"),
        ("DROP TABLE t;", "readonly"),
        ("ATTACH 'other.db' AS o;", "safe mode"),
        ("ATTACH '/etc/passwd' AS o;", "safe mode"),
        (".shell touch pwned", "safe mode"),
        (".output pwned", "safe mode"),
        (".import /etc/passwd t", "safe mode"),
        (".open other.db", "safe mode"),
        (".load ./x", "safe mode"),
        ("SELECT readfile('/etc/passwd');", "safe mode"),
        ("SELECT writefile('pwned', 'x');", "safe mode"),
        ("SELECT load_extension('x');", "safe mode"),
        ("VACUUM INTO 'pwned';", ""),
        ("SELECT nix FROM t; SELECT 'CANARY';", "no such column"),
    ] {
        let args = json!({"database": "app.db", "query": query});
        let document = call(&project, "sql_query", &args, 20);
        assert!(messages(&document).contains(said), "{query}: {document}");
        assert!(!text(&document).contains("CANARY"), "it went on after an error");
    }
    assert!(!project.dir().join("pwned").exists());
    assert!(before == fs::read(project.dir().join("app.db")).unwrap());
    for (database, code, said) in [
        ("none.db", 4, "cannot be bound"),
        ("plain.txt", 20, "not a SQLite database"),
        (".", 20, "not a file"),
    ] {
        let args = json!({"database": database, "query": "SELECT 1;"}).to_string();
        project.run(["run", "sql_query", "--args", &args]).expect(code).says(said);
    }
    let outside = json!({"database": "/var/lib/x.db", "query": "SELECT 1;"});
    assert_eq!(call(&project, "sql_query", &outside, 10)["denial"], "policy");
}

#[test]
fn a_database_in_wal_mode_is_explained() {
    if !have(&["sqlite3"]) {
        return;
    }
    let project = unasked(&ordinary());
    sh(&project, &ROWS.replace("\"create", "\"pragma journal_mode=wal; create"));
    let args = json!({"database": "app.db", "query": "SELECT * FROM t;"});
    let document = call(&project, "sql_query", &args, 20);
    for word in ["WAL mode", "VACUUM INTO", "journal_mode=DELETE"] {
        assert!(messages(&document).contains(word), "{document}");
    }
    // The way out that it names.
    sh(&project, "sqlite3 app.db \"VACUUM INTO 'copy.db'\"");
    let args = json!({"database": "copy.db", "query": "SELECT count(*) AS n FROM t;"});
    assert_eq!(text(&call(&project, "sql_query", &args, 0)), "[{\"n\":3}]\n");
}

#[test]
fn json_is_filtered() {
    if !have(&["jq"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        project.file("d.json", "{\"items\":[{\"name\":\"a b\",\"n\":1},{\"name\":\"c\",\"n\":20}]}\n");
        project.file("--arg", "[1]").file("many.json", "1 2\n3");
        for (args, expected) in [
            (json!({"path": "d.json", "filter": ".items[] | select(.n > 5) | .name"}), "\"c\"\n"),
            (json!({"path": "d.json", "filter": ".items[].name", "raw": true}), "a b\nc\n"),
            (json!({"path": "d.json", "filter": "-(.items[0].n)"}), "-1\n"),
            (
                json!({"path": "d.json", "filter": ".items[0]", "compact": true}),
                "{\"name\":\"a b\",\"n\":1}\n",
            ),
            (json!({"path": "d.json", "filter": ".items[1].name | @base64"}), "\"Yw==\"\n"),
            (json!({"path": "d.json", "filter": "\"--help\""}), "\"--help\"\n"),
            (json!({"path": "--arg", "filter": ".[0]"}), "1\n"),
            (json!({"path": "many.json", "filter": "add", "slurp": true}), "6\n"),
        ] {
            assert_eq!(text(&call(&project, "json_query", &args, 0)), expected, "{args}");
        }
    }
}

#[test]
fn a_filter_sees_one_file_and_no_secrets() {
    if !have(&["jq"]) {
        return;
    }
    let project = unasked(&ordinary());
    project.file("d.json", "{}").file("other.json", "{\"x\":\"CANARY\"}").file("server.key", "\"CANARY\"");
    project.file("m.jq", "def f: \"CANARY\";");
    let dir = project.dir();
    let dir = dir.to_str().unwrap();
    for filter in [
        format!("import \"{dir}/other\" as $x; $x"),
        format!("include \"m\" {{search: \"{dir}\"}}; f"),
        "error".to_owned(),
        "this is no filter".to_owned(),
    ] {
        let document = call(&project, "json_query", &json!({"path": "d.json", "filter": filter}), 20);
        assert!(!document.to_string().contains("CANARY"), "{document}");
    }
    let env = [("SECRET", "CANARY")];
    let args = json!({"path": "d.json", "filter": "env"});
    let ran = super::kit::call_with(&project, &env, "json_query", &args).expect(0);
    assert!(!ran.out().contains("CANARY"));
    let secret = call(&project, "json_query", &json!({"path": "server.key", "filter": "."}), 10);
    assert_eq!(secret["decision"]["rule"], "workspace/secrets");
    let endless = json!({"path": "d.json", "filter": "[range(1e12)] | length"});
    assert!(
        [21, 22, 23]
            .contains(&project.run(["run", "json_query", "--args", &endless.to_string()]).code.unwrap())
    );
}

#[test]
fn an_archive_is_an_artifact() {
    if !have(&["tar", "gzip", "base64"]) {
        return;
    }
    for who in everybody() {
        let project = unasked(&who);
        project.file("src/a.txt", "one\n").file("src/-b", "two\n").file("src/.env", "CANARY");
        let document = call(&project, "archive_files", &json!({"paths": ["src"]}), 0);
        let result = &document["result"];
        assert_eq!(result["artifacts"][0]["type"], "file");
        assert_eq!(result["artifacts"][0]["mimeType"], "application/gzip");
        assert!(result["content"].as_str().unwrap().contains("bytes packed"), "{document}");
        let data = result["artifacts"][0]["data"].as_str().unwrap();
        project.file("packed.b64", data);
        let listed = sh(&project, "base64 -d packed.b64 | tar -tzf - | sort");
        assert_eq!(listed, "src/\nsrc/-b\nsrc/a.txt\n");
        assert_eq!(sh(&project, "base64 -d packed.b64 | tar -xzOf - src/a.txt"), "one\n");
        let again = call(&project, "archive_files", &json!({"paths": ["src/a.txt", "src/-b"]}), 0);
        assert!(again["result"]["content"].as_str().unwrap().starts_with("2 entries"), "{again}");
        for (paths, code) in
            [(json!(["src/.env"]), 10), (json!(["/etc"]), 10), (json!([]), 3), (json!(["none"]), 20)]
        {
            call(&project, "archive_files", &json!({ "paths": paths }), code);
        }
    }
}

#[test]
fn a_shell_works_in_the_workspace_and_nowhere_else() {
    for who in everybody() {
        let project = unasked(&who);
        project.file(".env", "CANARY").script("run.sh", "#!/bin/sh\necho ran $1\n");
        let script = "printf '%s\\n' \"$(pwd)\" >out.txt\n./run.sh one\n! cat .env 2>/dev/null\n! touch tools.d/x 2>/dev/null\n";
        let document = call(&project, "run_shell", &json!({ "script": script }), 0);
        assert_eq!(text(&document), "ran one\n");
        assert_eq!(document["decision"]["effects"], json!(["read", "write", "execute"]));
        let written = fs::read_to_string(project.dir().join("out.txt")).unwrap();
        assert_eq!(written.trim_end(), project.dir().to_str().unwrap());
        let outside = project.outside().join("x");
        // The private temp folder takes what is meant for the host's.
        let script = format!("touch {}; touch /usr/x", outside.display());
        call(&project, "run_shell", &json!({ "script": script }), 20);
        assert!(!outside.exists() && !std::path::Path::new("/usr/x").exists());
        // The text is the program, never an option of it.
        call(&project, "run_shell", &json!({"script": "--version"}), 20);
    }
}
