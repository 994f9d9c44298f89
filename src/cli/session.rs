//! One run of the program: the world, the project it works in, and where it prints.

use super::args::{ColorChoice, ContextArgs, Global, ModeArg, OutputFormat};
use super::failure::Failure;
use super::stdin;
use crate::diag::{Code, Diagnostic};
use crate::model::{Context, RunMode};
use crate::project::{Project, check_environment};
use crate::source::Files;
use crate::term::{self, Format, Ui, UiOptions};
use crate::text::escape;
use crate::world::{FileKind, World};
use std::path::PathBuf;

/// The world, the sources read so far, and the output.
pub(crate) struct Session<'w> {
    /// Disk, clock and environment.
    pub(crate) world: &'w dyn World,
    /// Every file that was read.
    pub(crate) files: Files,
    /// The output.
    pub(crate) ui: Ui,
    /// The options of every command.
    pub(crate) global: Global,
    /// The tool of the call, once one is looked for; for what is said of its arguments.
    called: Option<String>,
    /// The call was made without any argument.
    bare: bool,
}

impl<'w> Session<'w> {
    /// A session that prints to this process's streams.
    pub(crate) fn new(world: &'w dyn World, global: Global) -> Self {
        let options = UiOptions {
            format: match global.format {
                OutputFormat::Human => Format::Human,
                OutputFormat::Json => Format::Json,
                OutputFormat::Ndjson => Format::Ndjson,
            },
            color: match global.color {
                ColorChoice::Auto => term::ColorChoice::Auto,
                ColorChoice::Always => term::ColorChoice::Always,
                ColorChoice::Never => term::ColorChoice::Never,
            },
            quiet: global.quiet,
            verbose: global.verbose,
        };
        Self { world, files: Files::new(), ui: Ui::stdio(world, options), global, called: None, bare: false }
    }

    /// The folder that the command works from.
    pub(crate) fn start(&self) -> Result<PathBuf, Failure> {
        let cwd = self.world.current_dir().map_err(|error| {
            Failure::Usage(
                Diagnostic::error(Code::UsageError, format!("the working folder is gone: {error}"))
                    .help("change to a folder that is there, or name one with -C DIR"),
            )
        })?;
        Ok(match &self.global.directory {
            Some(directory) => cwd.join(directory),
            None => cwd,
        })
    }

    /// The project that the command works in; also checks the `TOOLCTL_` variables.
    pub(crate) fn project(&mut self) -> Result<Project, Failure> {
        self.project_for(None)
    }

    /// The same for a call of one tool: whether the project is trusted is then found out for this tool alone.
    pub(crate) fn project_for(&mut self, called: Option<&str>) -> Result<Project, Failure> {
        let project = self.open(called)?;
        self.ui.diagnostics(&self.files, &together(&project.warnings))?;
        Ok(project)
    }

    /// Refuses `TOOLCTL_` variables that are not known.
    pub(crate) fn check_environment(&self) -> Result<(), Failure> {
        check_environment(self.world).into_iter().next().map_or(Ok(()), |first| Err(Failure::Usage(first)))
    }

    /// As [`Self::project_for`], and says nothing of what is left out.
    pub(crate) fn open(&mut self, called: Option<&str>) -> Result<Project, Failure> {
        self.called = called.map(str::to_owned);
        self.check_environment()?;
        let start = self.start()?;
        let fault = match self.world.stat(&start) {
            Ok(found) if found.kind == FileKind::Dir => None,
            Ok(_) => Some("this is not a folder:"),
            Err(_) => Some("there is no folder"),
        };
        if let Some(fault) = fault {
            let shown = escape(&start.to_string_lossy()).to_string();
            return Err(Failure::Usage(
                Diagnostic::error(Code::UsageError, format!("{fault} `{shown}`"))
                    .help("give -C a folder that is there, or leave it out to work in this one"),
            ));
        }
        Project::open_for(self.world, &mut self.files, &start, called).map_err(Failure::Config)
    }

    /// Whether nobody may be asked.
    pub(crate) fn no_prompt(&self) -> bool {
        self.global.no_prompt || crate::project::no_prompt(self.world)
    }

    /// Reports a failure on stderr and gives its exit code.
    pub(crate) fn fail(&mut self, failure: &Failure) -> super::exit::Exit {
        // If stderr is gone as well there is nobody left to tell.
        let _ = self.ui.diagnostics(&self.files, &self.diagnosed(failure));
        failure.exit()
    }

    /// What is said about a failure of this session's call.
    pub(crate) fn diagnosed(&self, failure: &Failure) -> Vec<Diagnostic> {
        let mut found = failure.diagnostics_about(self.called.as_deref());
        for fault in found.iter_mut().filter(|fault| fault.code == Code::CallSchema) {
            if self.bare && stdin::is_offered() {
                fault.help.push("stdin is read only if that is said: add --args -".to_owned());
            }
        }
        found
    }

    /// Notes that the call has no arguments, neither flags nor a document.
    pub(crate) const fn without_arguments(&mut self, bare: bool) {
        self.bare = bare;
    }
}

/// The warnings before a call. A project that nobody trusts can have many settings that are left out, and they would be
/// said before each call, so only the first is shown; `check` lists all.
fn together(warnings: &[Diagnostic]) -> Vec<Diagnostic> {
    let untrusted = |warning: &&Diagnostic| warning.code == Code::ConfigNeedsTrust;
    let more = warnings.iter().filter(untrusted).count().saturating_sub(1);
    let mut shown: Vec<Diagnostic> = warnings.iter().filter(|warning| !untrusted(warning)).cloned().collect();
    shown.extend(warnings.iter().find(untrusted).cloned().map(|first| match more {
        0 => first,
        _ => first.note(format!("{more} more like it: toolctl check lists them all")),
    }));
    shown
}

/// The caller's claims.
pub(crate) fn context(args: &ContextArgs, agent_name: Option<&str>) -> Context {
    let agents = if args.agent.is_empty() {
        agent_name.map(str::to_owned).into_iter().collect()
    } else {
        args.agent.clone()
    };
    Context {
        run_id: args.run_id.clone(),
        session_id: args.session_id.clone(),
        user_id: args.user_id.clone(),
        tenant_id: args.tenant_id.clone(),
        agents,
        mode: match args.mode {
            ModeArg::Execute => RunMode::Execute,
            ModeArg::Plan => RunMode::Plan,
        },
    }
}
