//! The files that decide what tools may do, and those that other programs execute later: what the sandbox protects and
//! what `engine/control-files` denies to write.

use super::discover::SETTINGS_NAMES;
use super::gitdir::git_dirs;
use super::open::Project;
use crate::manifest::{ArgvElement, Exec, TemplatePart, Tool, is_interpreter};
use crate::model::{EXECUTED_LATER, GIT_EXECUTED_LATER, Layer};
use crate::world::{FileKind, World};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders of a repository's submodules that are looked at; with more, all of them are protected as a whole.
const MAX_MODULE_DIRS: usize = 2_000;

/// What no tool may change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Control {
    /// Files and folders that exist: the settings, tools and policies of every layer, and programs that manifests name.
    pub read_only: Vec<PathBuf>,
    /// Folders that no tool may even see: outer configuration and state.
    pub hidden: Vec<PathBuf>,
    /// Names that do not exist and that no tool may create, the missing ones of `exec_later` included.
    pub absent: Vec<PathBuf>,
    /// Files that exist and that other programs execute later: protected as `read_only`, unless a rule names them.
    pub exec_later: Vec<PathBuf>,
}

impl Control {
    /// Every path that `engine/control-files` denies to write: all but what is executed later, which rules can free.
    pub fn protected(&self) -> Vec<PathBuf> {
        let later = |path: &&PathBuf| !is_executed_later(path);
        let absent = self.absent.iter().filter(later);
        self.read_only.iter().chain(&self.hidden).chain(absent).cloned().collect()
    }
}

/// The control set of a project. `more` are other paths to protect, such as programs outside its folders that
/// manifests name.
pub(super) fn control_set(world: &dyn World, project: &Project, more: &[PathBuf]) -> Control {
    let mut control = Control { hidden: project.homes.hidden(), ..Control::default() };
    let mut names = BTreeSet::new();
    for layer in &project.layers {
        // Outer layers lie in hidden folders.
        if layer.layer == Layer::Project {
            names.extend(layer.tools.iter().chain(&layer.policies).cloned());
        }
    }
    // Where a project begins is decided by these names: at its root, and in the workspace, where none may begin.
    for dir in project.root.iter().chain([&project.workspace]) {
        names.extend(SETTINGS_NAMES.iter().chain(&["tools.d"]).map(|name| dir.join(name)));
    }
    names.extend(project.root.iter().map(|root| root.join("policies")));
    names.extend(more.iter().cloned());
    for path in names {
        sort(world, path, &mut control.read_only, &mut control.absent);
    }
    for name in EXECUTED_LATER.into_iter().filter(|name| !name.starts_with(".git/")) {
        sort(world, project.workspace.join(name), &mut control.exec_later, &mut control.absent);
    }
    repository(world, &project.workspace, &mut control.exec_later, &mut control.absent);
    // One that is refused is shown to no tool, so there is nothing to hold.
    if let Ok(Some(dirs)) = git_dirs(world, &project.workspace)
        && dirs.own != project.workspace.join(".git")
    {
        dirs.obeyed(world, &mut control.exec_later, &mut control.absent);
    }
    control
}

fn is_executed_later(path: &Path) -> bool {
    path.ends_with(".git")
        || EXECUTED_LATER.iter().any(|name| path.ends_with(name))
        || path.components().any(|part| part.as_os_str() == ".git")
            && GIT_EXECUTED_LATER.iter().any(|name| path.ends_with(name))
}

/// What git would execute or obey of the repository in `dir`: what is there goes to `present`, what may not come into
/// being to `absent`.
pub fn repository(world: &dyn World, dir: &Path, present: &mut Vec<PathBuf>, absent: &mut Vec<PathBuf>) {
    let git = dir.join(".git");
    match world.lstat(&git).map(|stat| stat.kind) {
        Err(_) => {
            absent.push(git);
            itself(world, dir, present, absent);
        }
        // In a linked work tree or a submodule `.git` is a file that says where the repository is.
        Ok(FileKind::File | FileKind::Symlink | FileKind::Other) => present.push(git),
        Ok(FileKind::Dir) => {
            for name in GIT_EXECUTED_LATER {
                sort(world, git.join(name), present, absent);
            }
            let worktrees = git.join("worktrees");
            if world.lstat(&worktrees).is_ok() {
                present.push(worktrees);
            }
            modules(world, &git.join("modules"), present, absent);
            if itself(world, dir, present, absent) {
                present.push(git);
            }
        }
    }
}

/// What makes a folder a repository in the eyes of git.
const MAKES_A_REPOSITORY: [&str; 3] = ["HEAD", "objects", "refs"];

/// The same where the folder is a repository itself, as bare ones are. Git takes it for one if nothing valid is in its
/// `.git`, which a tool could see to by removing `.git/HEAD`: so a folder that is none may not become one. Whether it is one.
pub fn itself(world: &dyn World, dir: &Path, present: &mut Vec<PathBuf>, absent: &mut Vec<PathBuf>) -> bool {
    let mut parts = MAKES_A_REPOSITORY.iter().map(|name| dir.join(name));
    if let Some(missing) = parts.find(|path| world.lstat(path).is_err()) {
        absent.push(missing);
        return false;
    }
    for name in GIT_EXECUTED_LATER {
        sort(world, dir.join(name), present, absent);
    }
    true
}

/// The same of a repository's submodules, whose names can have slashes.
fn modules(world: &dyn World, dir: &Path, present: &mut Vec<PathBuf>, absent: &mut Vec<PathBuf>) {
    let mut todo = vec![dir.to_path_buf()];
    let mut found = Vec::new();
    let mut seen = 0;
    while let Some(next) = todo.pop() {
        let Ok(names) = world.list_kinds(&next) else { continue };
        seen += 1;
        if seen > MAX_MODULE_DIRS {
            present.push(dir.to_path_buf());
            return;
        }
        if names.iter().any(|(name, _)| name == "HEAD") {
            todo.push(next.join("modules"));
            found.push(next);
        } else {
            let dirs = names.into_iter().filter(|(_, kind)| *kind == FileKind::Dir);
            todo.extend(dirs.map(|(name, _)| next.join(name)));
        }
    }
    for module in found {
        for name in GIT_EXECUTED_LATER {
            sort(world, module.join(name), present, absent);
        }
    }
}

fn sort(world: &dyn World, path: PathBuf, present: &mut Vec<PathBuf>, absent: &mut Vec<PathBuf>) {
    if world.lstat(&path).is_ok() { present.push(path) } else { absent.push(path) }
}

/// The files that a tool names and that are run: its program if given by a path, the script of an interpreter, and
/// whatever lies beside the manifest. Paths as written, made absolute; only those that exist.
pub(super) fn named_programs(world: &dyn World, tool: &Tool, workspace: &Path) -> Vec<PathBuf> {
    let Exec::Command(argv) = &tool.exec else { return Vec::new() };
    let texts = argv.iter().filter_map(|element| match element {
        ArgvElement::One(template) => fixed(&template.parts, tool, workspace),
        ArgvElement::Splice { .. } | ArgvElement::Group { .. } => None,
    });
    let mut found = Vec::new();
    let mut runs = Runs::default();
    for (at, text) in texts.enumerate() {
        let path = Path::new(&text);
        let sure = if path.is_absolute() {
            vec![path.to_path_buf()]
        } else if at == 0 && text.contains('/') {
            tool.dir.iter().map(|dir| dir.join(path)).collect()
        } else {
            Vec::new()
        };
        let is_file = |path: &PathBuf| world.stat(path).is_ok_and(|stat| stat.kind == FileKind::File);
        found.extend(sure.into_iter().map(|path| without_dots(&path)).filter(is_file));
        // Code for a shell, and `env -S`, have more than one word in one argument.
        // A bare name is looked for on the constant PATH, never in the workspace.
        let bare = at == 0 && !text.contains('/');
        let mut inner = Runs::default();
        let code = text.contains(char::is_whitespace);
        for word in text.split(|c: char| c.is_whitespace() || ";|&()<>\"'`".contains(c)) {
            let hot = if code { inner.next_of_code(word) } else { runs.next(word) };
            // A script by a relative path is meant from the working folder.
            let path = without_dots(&workspace.join(word));
            let stat = if word.is_empty() || bare { None } else { world.stat(&path).ok() };
            let executable = |mode: u32| mode & 0o111 != 0;
            if stat.is_some_and(|stat| stat.kind == FileKind::File && (hot || executable(stat.mode))) {
                found.push(path);
            }
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

/// Programs that run the file after `-f`.
const FILE_RUNNERS: [&str; 6] = ["make", "gmake", "awk", "gawk", "mawk", "sed"];

/// Which words of a command are read as code, as far as can be told without knowing each program.
#[derive(Debug, Default)]
struct Runs {
    interpreter: bool,
    file_runner: bool,
    file_next: bool,
}

impl Runs {
    /// The same for a word of code, in which most words are no names of scripts: only the one after an interpreter is.
    fn next_of_code(&mut self, word: &str) -> bool {
        let hot = self.next(word);
        let stays = word.is_empty() || word.starts_with('-');
        self.interpreter =
            (stays && self.interpreter) || is_interpreter(word) || word == "source" || word == ".";
        hot
    }

    /// Takes the next word; whether a file of that name would be run.
    fn next(&mut self, word: &str) -> bool {
        let hot = self.interpreter || self.file_next;
        let name = word.rsplit('/').next().unwrap_or(word);
        self.file_next = self.file_runner && ["-f", "--file", "--makefile"].contains(&word);
        self.file_runner |= FILE_RUNNERS.contains(&name);
        self.interpreter |= is_interpreter(word) || word == "source" || word == ".";
        hot
    }
}

fn fixed(parts: &[TemplatePart], tool: &Tool, workspace: &Path) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            TemplatePart::Text(part) => text.push_str(part),
            TemplatePart::Workspace => text.push_str(workspace.to_str()?),
            TemplatePart::ToolDir => text.push_str(tool.dir.as_deref()?.to_str()?),
            TemplatePart::WorkspaceGit | TemplatePart::Arg(_) | TemplatePart::Ctx(_) => return None,
        }
    }
    Some(text)
}

/// `a/./b` and `a/x/../b` in one spelling. Only for the list of protected names; nothing is opened by it.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
