//! One tool, ready to judge the arguments of many calls. Nothing that only matters when the tool runs is looked at:
//! no policy, no program, no trust.

use super::failure::Failure;
use super::filling::Filling;
use super::prepare::find_tool;
use super::session::Session;
use crate::manifest::unsupported;
use crate::model::{Context, SandboxConfig};
use crate::project::{CatalogTool, Project};
use crate::sandbox::resolve;
use crate::schema::Schema;

/// A tool whose manifest is in order.
pub(crate) struct Validator {
    tool: CatalogTool,
    sandbox: Option<SandboxConfig>,
    fixed: bool,
}

impl Validator {
    /// Opens the one manifest of a tool.
    pub(crate) fn open(session: &mut Session<'_>, project: &Project, name: &str) -> Result<Self, Failure> {
        let tool = find_tool(session, project, name)?;
        let mut refused = unsupported(&tool.tool);
        refused.extend(project.settings.unsupported());
        if !refused.is_empty() {
            return Err(Failure::Config(refused));
        }
        let sandbox = resolve(tool.tool.sandbox.as_ref(), project.settings.sandbox.as_ref());
        let fixed = Filling::new(project, &tool, sandbox.as_ref(), &[], &Context::default()).is_fixed();
        Ok(Self { tool, sandbox, fixed })
    }

    /// What judges calls of this tool: their arguments, and whether they can be filled into the command line.
    pub(crate) fn filling<'a>(&'a self, project: &'a Project, ctx: &'a Context) -> Filling<'a> {
        Filling::new(project, &self.tool, self.sandbox.as_ref(), &[], ctx).with_fixed(self.fixed)
    }

    /// The schema of its arguments.
    pub(crate) const fn schema(&self) -> &Schema {
        &self.tool.schema
    }

    /// The tool.
    pub(crate) const fn tool(&self) -> &CatalogTool {
        &self.tool
    }

    /// The tool alone.
    pub(crate) fn into_tool(self) -> CatalogTool {
        self.tool
    }
}
