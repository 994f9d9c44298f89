//! What the tests of the shipped tools share: projects that use them, and programs that may be missing.

use crate::harness::{Project, Ran, Who, finish};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The checkout, whose `tools.d` and `policies` are the shipped ones.
pub(crate) fn checkout() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether all programs are installed where tools find them. A test without them is skipped visibly, and fails in CI.
pub(crate) fn have(programs: &[&str]) -> bool {
    let there = |name: &&&str| {
        ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|dir| Path::new(dir).join(name).exists())
    };
    let missing: Vec<_> = programs.iter().filter(|name| !there(name)).collect();
    if missing.is_empty() {
        return true;
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci.is_empty()), "not installed: {missing:?}");
    eprintln!("skipped, since it is not installed: {missing:?}");
    false
}

/// Copies the shipped tools and policies into a project as they are, and trusts nothing.
pub(crate) fn bring(project: &Project) {
    bring_to(project, &project.dir());
}

/// The same for another folder of its user, such as the one of the user's own tools.
pub(crate) fn bring_to(project: &Project, folder: &Path) {
    for dir in ["tools.d", "policies"] {
        for entry in fs::read_dir(checkout().join(dir)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = format!("{dir}/{}", path.file_name().unwrap().to_str().unwrap());
                project.file_at(&folder.join(&name), fs::read(&path).unwrap());
                let mode = fs::metadata(&path).unwrap().permissions();
                fs::set_permissions(folder.join(name), mode).unwrap();
            }
        }
    }
}

/// A project with the shipped tools and policies, trusted.
pub(crate) fn shipped(who: &Who) -> Project {
    let project = Project::of(who);
    bring(&project);
    project.trusted();
    project
}

/// The same without a person: where the shipped policy asks, this one allows. Its guards are the shipped ones.
pub(crate) fn unasked(who: &Who) -> Project {
    let project = Project::of(who);
    bring(&project);
    let policy = fs::read_to_string(checkout().join("policies/workspace.yaml")).unwrap();
    let lines = policy.lines().filter(|line| !line.trim().starts_with("remember:"));
    let policy = lines.collect::<Vec<_>>().join("\n").replace("action: ask", "action: allow");
    project.file("policies/workspace.yaml", policy);
    project.trusted();
    project
}

/// Runs git, or anything else, outside of any sandbox, as the user of the project.
#[track_caller]
pub(crate) fn sh(project: &Project, line: &str) -> String {
    let mut command = project.shell(line);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    finish(command, None).expect(0).out()
}

/// Makes a repository with one commit in a project.
pub(crate) fn repository(project: &Project) {
    project.file("a.txt", "one\n");
    sh(
        project,
        "git init -q -b main . && git config user.name Somebody && git config user.email s@example.com \
         && printf 'tools.d\\npolicies\\n' >.git/info/exclude && git add a.txt && git commit -q -m first",
    );
}

/// Runs a tool with JSON arguments and takes the one document.
#[track_caller]
pub(crate) fn call(project: &Project, tool: &str, args: &Value, code: i32) -> Value {
    project.run(["run", tool, "--format", "json", "--args", &args.to_string()]).expect(code).json()
}

/// The same with variables in the caller's environment.
#[track_caller]
pub(crate) fn call_with(project: &Project, env: &[(&str, &str)], tool: &str, args: &Value) -> Ran {
    let mut command = project.command(["run", tool, "--args", &args.to_string()]);
    command.envs(env.iter().copied());
    finish(command, None)
}

/// The text that a model sees.
pub(crate) fn text(document: &Value) -> &str {
    document["result"].as_str().unwrap()
}

/// The tool's own messages.
pub(crate) fn messages(document: &Value) -> &str {
    document["execution"]["stderr"].as_str().unwrap()
}
