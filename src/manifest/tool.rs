//! A tool as its manifest defines it.

use crate::model::SandboxSetting;
use crate::source::Node;
use crate::text::Span;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// A tool (000 ToolDef, 004 ToolDefinition).
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name, `[A-Za-z0-9_-]{1,64}`.
    pub name: String,
    /// What the tool does; the model reads it.
    pub description: String,
    /// The JSON Schema of the arguments, an object schema.
    pub parameters: Value,
    /// The same with places, to point a schema error at its line. `None` for embedded tools.
    pub parameters_node: Option<Node>,
    /// What is run.
    pub exec: Exec,
    /// The program honours `--` as the end of options.
    pub end_of_options: bool,
    /// Arguments that may start with `-` or `@` where they are filled in.
    pub allow_leading_dash: Vec<String>,
    /// What the tool finds on standard input.
    pub stdin: StdinSource,
    /// The working folder, with placeholders. `None`: the workspace where it is mounted, else the private temp folder.
    pub cwd: Option<Template>,
    /// Hint: no side effects.
    pub read_only: bool,
    /// Hint: may destroy data.
    pub destructive: bool,
    /// Hint: twice is the same as once.
    pub idempotent: bool,
    /// `sandbox:`; `None` is the project's.
    pub sandbox: Option<SandboxSetting>,
    /// The same with places. `None` if the manifest does not say.
    pub sandbox_node: Option<Node>,
    /// `requiresApproval`: a boolean, or a mapping whose `when` the policy module reads.
    pub requires_approval: Option<RequiresApproval>,
    /// `cache.ttl`.
    pub cache_ttl: Option<Duration>,
    /// `retry`.
    pub retry: Option<Retry>,
    /// Provider strict mode on export.
    pub strict: bool,
    /// Examples, checked against the schema.
    pub input_examples: Vec<Value>,
    /// What the tool prints.
    pub output: OutputKind,
    /// The schema of a JSON output.
    pub output_schema: Option<Value>,
    /// A command that reshapes the result.
    pub to_model_output: Option<Vec<String>>,
    /// `async.ttlSeconds`.
    pub async_ttl: Option<Duration>,
    /// `process: shared`.
    pub shared_process: bool,
    /// The manifest's file; `None` for embedded tools.
    pub file: Option<PathBuf>,
    /// The folder that `{tool.dir}` names; `None` for embedded tools.
    pub dir: Option<PathBuf>,
    /// The place of the name in the manifest.
    pub name_span: Option<Span>,
    /// The place of each key of the manifest, so that a later stage can point at what it refuses.
    pub key_spans: BTreeMap<String, Span>,
    /// SHA-256 of the manifest's bytes, or of the embedded definition, as `sha256:…`.
    pub digest: String,
}

/// `requiresApproval`.
#[derive(Debug, Clone)]
pub enum RequiresApproval {
    /// `true` or `false`.
    Always(bool),
    /// `{when: …}`: stays a node until the policy module reads it.
    When(Node),
}

/// What a tool runs.
#[derive(Debug, Clone)]
pub enum Exec {
    /// A program with an argv template; never a shell.
    Command(Vec<ArgvElement>),
    /// A built-in of this name.
    Builtin(String),
}

/// One element of `command`.
#[derive(Debug, Clone)]
pub enum ArgvElement {
    /// One argument.
    One(Template),
    /// An element that is exactly one placeholder of an argument that may be a list, which then splices.
    Splice {
        /// The argument's name.
        arg: String,
        /// Where the element stands.
        span: Option<Span>,
    },
    /// `{when: args.x, argv: […]}`: only if the argument is present.
    Group {
        /// The argument's name.
        when: String,
        /// The elements.
        argv: Vec<ArgvElement>,
    },
}

/// Text with placeholders.
#[derive(Debug, Clone)]
pub struct Template {
    /// The parts in order; two texts never follow each other.
    pub parts: Vec<TemplatePart>,
    /// Where the text stands.
    pub span: Option<Span>,
}

/// A part of a [`Template`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    /// Text as it is.
    Text(String),
    /// `{args.NAME}`.
    Arg(String),
    /// `{workspace}`.
    Workspace,
    /// `{tool.dir}`.
    ToolDir,
    /// `{ctx.NAME}`: runId, sessionId, userId, tenantId, agentName.
    Ctx(String),
}

/// `stdin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinSource {
    /// The canonical JSON of the arguments.
    Args,
    /// Nothing: end of file at once.
    None,
    /// The exact bytes of one string argument.
    Arg(String),
}

/// `output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputKind {
    /// Text, or bytes.
    #[default]
    Text,
    /// JSON: any value, a ToolResult or a ToolError.
    Json,
}

/// `retry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all.
    pub attempts: u32,
    /// First pause.
    pub backoff: Duration,
    /// One deadline for all attempts.
    pub deadline: Duration,
}
