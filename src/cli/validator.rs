//! One tool, ready to judge the arguments of many calls. Nothing that only matters when the tool runs is looked at:
//! no policy, no program, no trust.

use super::failure::{ArgumentFault, Failure};
use super::filling::Filling;
use super::prepare::find_tool;
use super::session::Session;
use crate::call::{Call, ValidatedCall};
use crate::manifest::unsupported;
use crate::model::{Context, SandboxConfig};
use crate::project::{CatalogTool, Project};
use crate::sandbox::resolve;
use crate::schema::Schema;
use crate::world::World;

/// A tool whose manifest is in order.
pub(crate) struct Validator {
    tool: CatalogTool,
    sandbox: Option<SandboxConfig>,
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
        Ok(Self { tool, sandbox })
    }

    /// Judges one call of this tool: its arguments, and whether they can be filled into the command line.
    pub(crate) fn judge(
        &self,
        world: &dyn World,
        project: &Project,
        ctx: &Context,
        call: Call,
    ) -> Result<ValidatedCall, ArgumentFault> {
        let filling = Filling { project, tool: &self.tool, sandbox: self.sandbox.as_ref(), ctx };
        Ok(filling.ready(world, call)?.call)
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
