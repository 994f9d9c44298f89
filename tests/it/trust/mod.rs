//! Trust and layers: what a person is shown, what a hostile repository tries, and which layer has the word.

mod hostile;
mod layers;
mod shown;

use crate::attacks::{host, script};
use crate::harness::{Project, Who};

/// A project that nobody has trusted, with one tool `t` that prints `ran` and a policy that allows it.
fn project(who: &Who) -> Project {
    let project = Project::of(who);
    project.file("toolctl.yaml", "agentName: a\n");
    script(&project, "t", "", "echo ran");
    project.file("policies/main.yaml", host(&[("t", "read")], ""));
    project
}
