//! What a tool needs and this machine does not have: found at each call by `run`, and for all tools by `check`. It is a
//! warning there, since a project is checked on other machines than it runs on.

use super::failure::sandbox_diagnostic;
use crate::diag::{Diagnostic, Severity};
use crate::manifest::{ArgvElement, Exec, FillEnv, Template, Tool, fill, fill_paths, resolve_program};
use crate::model::{AllowFs, Context, SandboxConfig};
use crate::project::Project;
use crate::sandbox::check_bind;
use crate::text::Span;
use crate::world::World;
use serde_json::Map;

/// Missing programs and folders of one tool. `sandbox` is the one that counts for it.
pub(crate) fn lacks(
    world: &dyn World,
    project: &Project,
    tool: &Tool,
    sandbox: Option<&SandboxConfig>,
) -> Vec<Diagnostic> {
    let ctx = Context::default();
    let env = FillEnv { workspace: &project.workspace, tool_dir: tool.dir.as_deref(), ctx: &ctx };
    let mut found: Vec<Diagnostic> = program(world, project, tool, &env).into_iter().collect();
    if let Some(SandboxConfig { allow_fs: Some(AllowFs::Paths { read_only, read_write }), .. }) = sandbox {
        for (key, paths) in [("readOnly", read_only), ("readWrite", read_write)] {
            for (index, path) in paths.iter().enumerate() {
                let node = tool.sandbox_node.as_ref();
                let span = node.and_then(|node| node.at_pointer(&format!("/allowFS/{key}/{index}")));
                // A single path may stand without a list around it.
                let span =
                    span.or_else(|| node?.at_pointer(&format!("/allowFS/{key}"))).map(|node| node.span);
                found.extend(bind(world, path, &env, span));
            }
        }
    }
    found
}

fn warning(diagnostic: Diagnostic, span: Option<Span>, remark: &str) -> Diagnostic {
    let diagnostic = Diagnostic { severity: Severity::Warning, ..diagnostic };
    match span {
        Some(span) => diagnostic.at(span, remark),
        None => diagnostic,
    }
}

fn program(world: &dyn World, project: &Project, tool: &Tool, env: &FillEnv<'_>) -> Option<Diagnostic> {
    let Exec::Command(argv) = &tool.exec else { return None };
    let Some(ArgvElement::One(template)) = argv.first() else { return None };
    let name = fill(template, &Map::new(), env).ok()?;
    let path = &project.settings.path;
    let error = resolve_program(world, &name.to_string_lossy(), tool.dir.as_deref(), path).err()?;
    Some(warning(error.to_diagnostic(), template.span, "not on this machine"))
}

fn bind(world: &dyn World, path: &str, env: &FillEnv<'_>, span: Option<Span>) -> Option<Diagnostic> {
    let template = Template::parse(path, span).ok().filter(|template| !template.has_foreign_text())?;
    let paths = fill_paths(&template, &Map::new(), env).ok()?;
    let error = paths.iter().find_map(|path| check_bind(world, path).err())?;
    Some(
        warning(sandbox_diagnostic(&error), span, "cannot be shown to the tool")
            .help("correct the path, or make the folder; without it the tool cannot be run"),
    )
}
