//! Fills templates with a call's arguments: what comes out is what is executed, without any shell in between.
//!
//! * A string is filled in as it is, a number in its canonical digits, a boolean as `true` or `false`.
//! * An element that is exactly one placeholder of a list becomes one element an item; an empty list becomes none.
//! * An object, `null` and a list inside a list are refused: programs that want structure read it from standard input.
//! * A `when` group stands only if its argument is there, is not `null`, and is not a `false` that the group itself
//!   does not show. So `{when: args.all, argv: [-a]}` is the switch that it looks like.
//! * An element whose text from the call comes first may not start with `-` or `@`: a program would take it for an
//!   option or a file of arguments. It may after a literal `--` if the manifest says `endOfOptions: true`, and where every
//!   argument in front of and at that character is named in `allowLeadingDash`.

use super::tool::{ArgvElement, Exec, Template, TemplatePart, Tool};
use crate::canon::canonical_number;
use crate::diag::{Code, Diagnostic};
use crate::model::Context;
use crate::text::{Escaped, Span, escape};
use serde_json::{Map, Value};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What placeholders other than `{args.…}` stand for.
#[derive(Debug, Clone, Copy)]
pub struct FillEnv<'a> {
    /// `{workspace}`, absolute.
    pub workspace: &'a Path,
    /// `{workspace.git}`: the folders of the workspace's repository; none if it has no repository.
    pub git: &'a [PathBuf],
    /// `{tool.dir}`, absolute; an embedded tool has none.
    pub tool_dir: Option<&'a Path>,
    /// `{ctx.…}`.
    pub ctx: &'a Context,
}

/// Why a template cannot be filled with these arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// A placeholder outside any `when` group names an argument that the call does not have.
    #[error("argument `{arg}` is needed for the command and is not there")]
    Missing {
        /// The argument.
        arg: Escaped,
        /// The element.
        span: Option<Span>,
    },
    /// A value that has no text.
    #[error("argument `{arg}` is {kind}, which cannot be an argument of a program")]
    NotText {
        /// The argument.
        arg: Escaped,
        /// `an object`, `null`, …
        kind: &'static str,
        /// The element.
        span: Option<Span>,
    },
    /// A NUL character ends an argument early, so a program would see less than the policy did.
    #[error("{what} contains a NUL character")]
    Nul {
        /// The argument or context field.
        what: Escaped,
        /// The element.
        span: Option<Span>,
    },
    /// The program would take a value for an option.
    #[error(
        "{what} starts with `{first}`, which the program would take for an option or a file name: {text}"
    )]
    LeadingDash {
        /// The argument or context field.
        what: Escaped,
        /// `-` or `@`.
        first: char,
        /// The element, visible and shortened.
        text: Escaped,
        /// The element.
        span: Option<Span>,
    },
    /// The kernel would not start a program with it.
    #[error("{what} is {bytes} bytes long, and a program can be given at most {limit}")]
    TooLong {
        /// `an element of the command` or `the whole command`.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The longest that is possible.
        limit: usize,
    },
    /// `{tool.dir}` in an embedded tool.
    #[error("this tool has no folder that `{{tool.dir}}` could name")]
    NoToolDir {
        /// The element.
        span: Option<Span>,
    },
    /// `{workspace.git}` where one text is needed.
    #[error("`{{workspace.git}}` names folders and can only be an entry of `allowFS`")]
    GitInText {
        /// The element.
        span: Option<Span>,
    },
    /// A context field that the caller did not give.
    #[error("the command needs `{{ctx.{field}}}`, and the caller did not say it")]
    NoContext {
        /// The field.
        field: Escaped,
        /// The element.
        span: Option<Span>,
    },
}

impl FillError {
    /// The finding: the arguments are at fault (`call/unsafe-argument`) or the template is (`manifest/bad-template`).
    pub fn to_diagnostic(&self) -> Diagnostic {
        let (code, span, remark, help) = match self {
            Self::Missing { span, .. } => (
                Code::ManifestBadTemplate,
                span,
                "needed here",
                "give the argument, or let the manifest say `{ when: args.NAME, argv: [...] }`",
            ),
            Self::NotText { span, .. } => {
                (Code::CallUnsafeArgument, span, "filled in here", "let the tool read it from stdin")
            }
            Self::Nul { span, .. } => {
                (Code::CallUnsafeArgument, span, "filled in here", "remove the NUL character")
            }
            Self::LeadingDash { span, .. } => (
                Code::CallUnsafeArgument,
                span,
                "filled in here",
                "change the value; or let the manifest put `--` before it with `endOfOptions: true`, or name the argument in `allowLeadingDash`",
            ),
            Self::TooLong { .. } => (
                Code::CallUnsafeArgument,
                &None,
                "",
                "send less, or let the tool read the argument from stdin: `stdin: \"{args.NAME}\"`",
            ),
            Self::NoToolDir { span } => {
                (Code::ManifestBadTemplate, span, "used here", "use {workspace} or an absolute path")
            }
            Self::GitInText { span } => {
                (Code::ManifestBadTemplate, span, "used here", "write {workspace}/.git where a text is meant")
            }
            Self::NoContext { span, .. } => (
                Code::CallUnsafeArgument,
                span,
                "used here",
                "give it on the command line: --run-id, --session-id, --user-id, --tenant-id, --agent",
            ),
        };
        let diagnostic = Diagnostic::error(code, self.to_string()).help(help);
        match span {
            Some(span) => diagnostic.at(*span, remark),
            None => diagnostic,
        }
    }
}

/// The argv of a command tool, the program as the manifest names it first. Empty for a built-in tool.
pub fn fill_command(
    tool: &Tool,
    args: &Map<String, Value>,
    env: &FillEnv<'_>,
) -> Result<Vec<OsString>, FillError> {
    let Exec::Command(elements) = &tool.exec else { return Ok(Vec::new()) };
    let mut filler = Filler { tool, args, env, argv: Vec::new(), after_end: false };
    filler.elements(elements)?;
    check_length(&filler.argv)?;
    Ok(filler.argv)
}

/// Longest element that Linux passes to a program, its NUL not counted (`MAX_ARG_STRLEN`).
const MAX_ELEMENT: usize = (128 << 10) - 1;
/// Longest argument list: a quarter of the usual 8 MiB of stack, less what the environment needs.
const MAX_COMMAND: usize = (2 << 20) - (64 << 10);

fn check_length(argv: &[OsString]) -> Result<(), FillError> {
    let longest = argv.iter().map(|element| element.len()).max().unwrap_or(0);
    if longest > MAX_ELEMENT {
        return Err(FillError::TooLong {
            what: "an element of the command",
            bytes: longest,
            limit: MAX_ELEMENT,
        });
    }
    let all: usize = argv.iter().map(|element| element.len() + 1 + size_of::<usize>()).sum();
    if all > MAX_COMMAND {
        return Err(FillError::TooLong { what: "the whole command", bytes: all, limit: MAX_COMMAND });
    }
    Ok(())
}

/// One template as one text, for `cwd`: no rule on the first character applies, since it is no program's argument.
pub fn fill(
    template: &Template,
    args: &Map<String, Value>,
    env: &FillEnv<'_>,
) -> Result<OsString, FillError> {
    fill_parts(template, args, env).map(|filled| filled.text)
}

/// The absolute paths that an entry of `allowFS`, or `cwd`, names.
///
/// A relative path is meant from the workspace, as canonical path arguments are. A list gives one path an item; an
/// argument that is absent or `null` gives none. `{workspace.git}` gives those of the repository.
pub fn fill_paths(
    template: &Template,
    args: &Map<String, Value>,
    env: &FillEnv<'_>,
) -> Result<Vec<PathBuf>, FillError> {
    if let Some(arg) = template.sole_arg() {
        return match args.get(arg) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| value_text(arg, item, template.span).map(|text| env.workspace.join(text)))
                .collect(),
            Some(value) => Ok(vec![env.workspace.join(value_text(arg, value, template.span)?)]),
        };
    }
    if template.parts.as_slice() == [TemplatePart::WorkspaceGit] {
        return Ok(env.git.to_vec());
    }
    Ok(vec![env.workspace.join(fill(template, args, env)?)])
}

struct Filler<'a> {
    tool: &'a Tool,
    args: &'a Map<String, Value>,
    env: &'a FillEnv<'a>,
    argv: Vec<OsString>,
    /// A literal `--` of a program that honours it is already in `argv`.
    after_end: bool,
}

impl Filler<'_> {
    fn elements(&mut self, elements: &[ArgvElement]) -> Result<(), FillError> {
        for element in elements {
            match element {
                ArgvElement::One(template) => self.one(template)?,
                ArgvElement::Splice { arg, span } => self.splice(arg, *span)?,
                ArgvElement::Group { when, argv } => {
                    if self.present(when, argv) {
                        self.elements(argv)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn present(&self, when: &str, argv: &[ArgvElement]) -> bool {
        match self.args.get(when) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(false)) => shows(argv, when),
            Some(_) => true,
        }
    }

    fn one(&mut self, template: &Template) -> Result<(), FillError> {
        if let Some(text) = template.literal() {
            self.after_end |= text == "--" && self.tool.end_of_options;
            self.argv.push(text.into());
            return Ok(());
        }
        let filled = fill_parts(template, self.args, self.env)?;
        self.push_checked(filled, template.span)
    }

    fn splice(&mut self, arg: &str, span: Option<Span>) -> Result<(), FillError> {
        let value = self.args.get(arg).ok_or_else(|| FillError::Missing { arg: escape(arg), span })?;
        let items = match value {
            Value::Array(items) => items.as_slice(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                std::slice::from_ref(value)
            }
        };
        for item in items {
            let text = value_text(arg, item, span)?.into();
            self.push_checked(Filled { text, leading: vec![Origin::Arg(arg.to_owned())] }, span)?;
        }
        Ok(())
    }

    fn push_checked(&mut self, filled: Filled, span: Option<Span>) -> Result<(), FillError> {
        let first = match filled.text.as_encoded_bytes().first() {
            Some(b'-') => '-',
            Some(b'@') => '@',
            _ => {
                self.argv.push(filled.text);
                return Ok(());
            }
        };
        let allowed = self.after_end
            || filled.leading.iter().all(|origin| match origin {
                Origin::Arg(name) => self.tool.allow_leading_dash.contains(name),
                Origin::Ctx(_) => false,
            });
        if !allowed && let Some(origin) = filled.leading.last() {
            return Err(FillError::LeadingDash {
                what: origin.name(),
                first,
                text: shorten(&filled.text),
                span,
            });
        }
        self.argv.push(filled.text);
        Ok(())
    }
}

/// Whether the elements show an argument's value.
fn shows(argv: &[ArgvElement], name: &str) -> bool {
    argv.iter().any(|element| match element {
        ArgvElement::One(template) => template.args().any(|arg| arg == name),
        ArgvElement::Splice { arg, .. } => arg == name,
        ArgvElement::Group { argv, .. } => shows(argv, name),
    })
}

enum Origin {
    Arg(String),
    Ctx(String),
}

impl Origin {
    fn name(&self) -> Escaped {
        match self {
            Self::Arg(name) => escape(&format!("argument `{name}`")),
            Self::Ctx(field) => escape(&format!("`ctx.{field}`")),
        }
    }
}

struct Filled {
    text: OsString,
    /// The foreign parts up to and with the one that gave the first character; empty if the manifest's own text did
    /// so with nothing foreign before it.
    leading: Vec<Origin>,
}

fn fill_parts(
    template: &Template,
    args: &Map<String, Value>,
    env: &FillEnv<'_>,
) -> Result<Filled, FillError> {
    let span = template.span;
    let mut filled = Filled { text: OsString::new(), leading: Vec::new() };
    for part in &template.parts {
        let was_empty = filled.text.is_empty();
        let origin = match part {
            TemplatePart::Text(text) => {
                filled.text.push(text);
                None
            }
            TemplatePart::Workspace => {
                filled.text.push(env.workspace);
                None
            }
            TemplatePart::WorkspaceGit => return Err(FillError::GitInText { span }),
            TemplatePart::ToolDir => {
                filled.text.push(env.tool_dir.ok_or(FillError::NoToolDir { span })?);
                None
            }
            TemplatePart::Arg(name) => {
                let value = args.get(name).ok_or_else(|| FillError::Missing { arg: escape(name), span })?;
                filled.text.push(value_text(name, value, span)?);
                Some(Origin::Arg(name.clone()))
            }
            TemplatePart::Ctx(field) => {
                filled.text.push(ctx_text(field, env.ctx, span)?);
                Some(Origin::Ctx(field.clone()))
            }
        };
        if was_empty {
            filled.leading.extend(origin);
        }
    }
    Ok(filled)
}

fn value_text(arg: &str, value: &Value, span: Option<Span>) -> Result<String, FillError> {
    let refuse = |kind| Err(FillError::NotText { arg: escape(arg), kind, span });
    match value {
        Value::Null => refuse("null"),
        Value::Array(_) => refuse("a list"),
        Value::Object(_) => refuse("an object"),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Number(number) => canonical_number(number).ok_or_else(|| FillError::NotText {
            arg: escape(arg),
            kind: "a number out of range",
            span,
        }),
        Value::String(text) if text.contains('\0') => {
            Err(FillError::Nul { what: escape(&format!("argument `{arg}`")), span })
        }
        Value::String(text) => Ok(text.clone()),
    }
}

fn ctx_text<'a>(field: &str, ctx: &'a Context, span: Option<Span>) -> Result<&'a str, FillError> {
    let value = match field {
        "runId" => ctx.run_id.as_deref(),
        "sessionId" => ctx.session_id.as_deref(),
        "userId" => ctx.user_id.as_deref(),
        "tenantId" => ctx.tenant_id.as_deref(),
        "agentName" => ctx.agent_name(),
        _ => None,
    };
    match value {
        None => Err(FillError::NoContext { field: escape(field), span }),
        Some(text) if text.contains('\0') => {
            Err(FillError::Nul { what: escape(&format!("`ctx.{field}`")), span })
        }
        Some(text) => Ok(text),
    }
}

fn shorten(text: &OsStr) -> Escaped {
    let text = text.to_string_lossy();
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    escape(&short)
}

#[cfg(test)]
mod tests;
