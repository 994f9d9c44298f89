//! Attempts to get around what was built, kept as tests: by the tool, by the agent, and by the author of a cloned
//! repository. Each attempt that is stopped has a control that shows that it would work if it were not.

mod agent;
mod cloned;
mod files;
mod race;
mod tool;

use crate::harness::{Project, Ran, Who, finish};
use std::path::Path;
use std::process::Command;

/// A manifest without arguments that runs a shell script beside it, so that no placeholder is looked for in the text.
pub(super) fn script(project: &Project, name: &str, sandbox: &str, script: &str) {
    project.script(&format!("tools.d/{name}.sh"), &format!("#!/bin/bash\n{script}\n"));
    project.file(
        &format!("tools.d/{name}.yaml"),
        format!(
            "name: {name}\ndescription: A tool of the tests.\nparameters: {{ type: object, additionalProperties: false }}\ncommand: [\"./{name}.sh\"]\n{sandbox}\n"
        ),
    );
}

/// The workspace, for writing and for reading.
pub(super) const WRITES: &str = "sandbox: { allowFS: { readWrite: [\"{workspace}\"] } }";
pub(super) const READS: &str = "sandbox: { allowFS: { readOnly: [\"{workspace}\"] } }";

/// A host policy that lets each tool run with an effect, and whatever else is said.
pub(super) fn host(tools: &[(&str, &str)], more: &str) -> String {
    let effects: Vec<String> =
        tools.iter().map(|(tool, effect)| format!("  {tool}: [{{ effect: [{effect}] }}]\n")).collect();
    let effects = effects.concat();
    let names: Vec<&str> = tools.iter().map(|(tool, _)| *tool).collect();
    format!(
        "policy: main\nformat: 1\nrole: host\ndefault: deny\neffects:\n{effects}rules:\n  - id: all\n    tool: [{}]\n    always: true\n    action: allow\n{more}",
        names.join(", ")
    )
}

/// A guard that hides `.env` files, `.env.example` excepted.
pub(super) const MASK: &str = "  - id: secrets\n    tool: [read_file, list_dir, search_text, write_file]\n    when: { args.path: { path: [\"/**/.env\", \"/**/.env.*\"], case: fold } }\n    unless: { args.path: { path: [\"/**/.env.example\"], case: fold } }\n    action: deny\n    mask: true\n";

/// A project with one scripted tool `t` of an effect, trusted by its author.
pub(super) fn project(who: &Who, effect: &str, sandbox: &str, text: &str) -> Project {
    let project = Project::of(who);
    project.file("toolctl.yaml", "agentName: test\n");
    script(&project, "t", sandbox, text);
    project.file("policies/main.yaml", host(&[("t", effect)], MASK));
    project
}

/// Runs a shell line in a folder as the project's user, without toolctl.
pub(super) fn outside(project: &Project, dir: &Path, line: &str) -> Ran {
    let mut command: Command = project.shell(line);
    command.current_dir(dir).env("HOME", project.outside().join("home"));
    finish(command, None)
}
