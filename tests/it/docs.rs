//! Runs the examples of the documentation: what `README.md`, `docs/*.md` and `tests/cmd/*.trycmd` show is what happens.
//!
//! A page is a story in one folder, told from top to bottom. A block with a file's name behind its language
//! (`yaml tools.d/x.yaml`) writes that file. A `console` block runs its `$ ` lines in a shell and compares what they
//! print, standard output first; `? CODE` below a line is its exit code, `[..]` stands for any text within a line and a
//! line `...` for any lines.

use crate::harness::{Project, Who, everybody, finish};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the pages call the folder that they play in.
const SHOWN_DIR: &str = "/home/me/project";

/// One fenced block.
struct Block {
    language: String,
    /// What stands behind the language.
    name: String,
    text: String,
}

/// One command of a `console` block.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    line: String,
    code: i32,
    output: String,
}

fn checkout() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let (language, name) = info.split_once(' ').unwrap_or((info, ""));
                open =
                    Some(Block { language: language.to_owned(), name: name.to_owned(), text: String::new() });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { line: command.to_owned(), code: 0, output: String::new() });
            continue;
        }
        let step = steps.last_mut().expect("a console block begins with `$ `");
        match line.strip_prefix("? ") {
            Some(code) if step.output.is_empty() => step.code = code.parse().unwrap(),
            Some(_) | None => {
                step.output.push_str(line);
                step.output.push('\n');
            }
        }
    }
    steps
}

/// A small repository with a secret in it, in which the pages play.
fn playground(who: &Who) -> Project {
    let project = Project::of(who);
    project
        .file("README.md", "# A small project\n")
        .file("src/main.rs", "fn main() {}\n")
        .file("src/lib.rs", "//! Nothing yet.\n")
        .file("config/app.toml", "port = 8080\n")
        .file(".env", "TOKEN=not-for-agents\n");
    for (args, date) in [
        (&["init", "-q", "-b", "main"][..], ""),
        (&["commit", "-q", "--allow-empty", "-m", "first steps"], "2026-01-05T10:00:00Z"),
        (&["commit", "-q", "--allow-empty", "-m", "read the configuration"], "2026-01-06T10:00:00Z"),
    ] {
        if has_git() {
            git(&project, args, date);
        }
    }
    project
}

fn has_git() -> bool {
    ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"].iter().any(|path| Path::new(path).exists())
}

fn git(project: &Project, args: &[&str], date: &str) {
    let mut command = Command::new("git");
    command
        .args(args)
        .current_dir(project.dir())
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org"), ("GIT_AUTHOR_DATE", date)])
        .envs([
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_DATE", date),
        ])
        .stdin(Stdio::null());
    if fs::metadata("/proc/self").unwrap().uid() == 0 && project.who.uid != 0 {
        command.uid(project.who.uid).gid(project.who.gid);
    }
    assert!(command.status().unwrap().success(), "git {args:?}");
}

/// Plays one page and says how many commands it ran.
fn play(path: &Path, who: &Who) -> usize {
    let page = fs::read_to_string(path).unwrap();
    let project = playground(who);
    let mut ran = 0;
    for block in blocks(&page) {
        if block.language == "console" {
            for step in steps(&block.text) {
                if step.line.contains("cp -r /path/to/toolctl/") {
                    let own = step.line.ends_with(" ~/.config/toolctl");
                    let folder = if own { project.outside().join("home/config") } else { project.dir() };
                    crate::tools::kit::bring_to(&project, &folder);
                    continue;
                }
                if step.line.contains("git") && !has_git() {
                    eprintln!("skipped, there is no git: {}", step.line);
                    continue;
                }
                check(path, who, &project, &step);
                ran += 1;
            }
        } else if !block.name.is_empty() && block.name.contains('.') {
            project.file(&block.name, &block.text);
        }
    }
    ran
}

fn check(path: &Path, who: &Who, project: &Project, step: &Step) {
    let done = finish(project.shell(&step.line), None);
    let said = format!("{}{}", done.out(), done.stderr).replace(project.dir().to_str().unwrap(), SHOWN_DIR);
    let place = format!("{}, as {}: {}", path.display(), who.name, step.line);
    assert_eq!(done.code, Some(step.code), "{place}\n{said}");
    let compared = snapbox::Assert::new().normalize_paths(false).try_eq(
        Some(&place),
        snapbox::IntoData::into_data(said),
        snapbox::IntoData::into_data(step.output.clone()),
    );
    if let Err(difference) = compared {
        panic!("{difference}");
    }
}

fn pages(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(checkout().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    found.sort();
    found
}

#[test]
fn the_readme_tells_the_truth() {
    for who in everybody() {
        let ran = play(&checkout().join("README.md"), &who);
        assert!(ran >= 8 || !has_git(), "only {ran} commands were run");
    }
}

#[test]
fn the_guide_tells_the_truth() {
    for page in pages("docs", "md") {
        for who in everybody() {
            play(&page, &who);
        }
    }
}

#[test]
fn transcripts_hold() {
    let transcripts = pages("tests/cmd", "trycmd");
    assert!(!transcripts.is_empty());
    for page in transcripts {
        for who in everybody() {
            assert!(play(&page, &who) > 0, "{} runs nothing", page.display());
        }
    }
}

/// The README's first command, as it is typed after `git clone`: in this very checkout, as whoever runs the tests.
#[test]
fn the_first_command_works_in_the_checkout() {
    let readme = fs::read(checkout().join("README.md")).unwrap();
    let text = String::from_utf8(readme.clone()).unwrap();
    let first = "cargo run --release -- run read_file -a path=README.md\n";
    assert!(text.contains(first) && text.contains("\ncargo test\n"), "the README lost its two commands");
    let (uid, gid) = {
        let me = fs::metadata("/proc/self").unwrap();
        (me.uid(), me.gid())
    };
    let home = Project::of(&Who { name: "me", uid, gid });
    let checkout = checkout().to_str().unwrap().to_owned();
    let ran = home.run(["-C", &checkout, "run", "read_file", "-a", "path=README.md"]).expect(0);
    assert!(ran.stdout == readme, "the file came back changed");
}

/// A clone that brings tools and policies of its own is not trusted. That must not keep anybody from reading it.
#[test]
fn reading_works_in_a_project_that_nobody_trusted() {
    for who in everybody() {
        let project = playground(&who);
        let readme = fs::read_to_string(checkout().join("README.md")).unwrap();
        for block in blocks(&readme).iter().filter(|block| block.name.contains('/')) {
            project.file(&block.name, &block.text);
        }
        assert!(project.dir().join("tools.d").exists() && project.dir().join("policies").exists());
        let ran = project.run(["run", "read_file", "-a", "path=README.md"]).expect(0);
        assert_eq!(ran.out(), "# A small project\n");
        project.run(["run", "read_file", "-a", "path=.env"]).expect(10).says("builtin/secrets");
        project.run(["run", "git_log"]).expect(4).says("toolctl trust");
        project.run(["check", "--strict"]).expect(0);
    }
}

/// Every file that the documentation links to is there.
#[test]
fn links_lead_somewhere() {
    let mut all = vec!["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
        .into_iter()
        .map(|name| checkout().join(name))
        .collect::<Vec<_>>();
    all.extend(pages("docs", "md"));
    let mut seen = 0;
    for page in all {
        let text = fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") || target.starts_with('#') {
                continue;
            }
            let file = target.split('#').next().unwrap();
            let target = page.parent().unwrap().join(file);
            assert!(target.exists(), "{} links to {file}, which is not there", page.display());
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} links were found");
}

#[test]
fn the_reader_of_pages_reads_them() {
    let page = "text\n```yaml a/b.yaml\nx: 1\n```\n```console\n$ one\n? 3\nout [..]\n? 4\n$ two\n```\n```sh\n$ no\n```\n";
    let blocks = blocks(page);
    assert_eq!(blocks.len(), 3);
    assert_eq!((blocks[0].name.as_str(), blocks[0].text.as_str()), ("a/b.yaml", "x: 1\n"));
    let step =
        |line: &str, code, output: &str| Step { line: line.to_owned(), code, output: output.to_owned() };
    assert_eq!(steps(&blocks[1].text), [step("one", 3, "out [..]\n? 4\n"), step("two", 0, "")]);
}
