//! Templates: text with `{…}` placeholders, parsed once when the manifest is read.
//!
//! A filled-in value is never scanned again, so an argument that looks like a placeholder stays what it is.

use super::tool::{Template, TemplatePart};
use crate::text::{Span, escape, nearest};
use std::fmt;

/// The fields of the caller's context that a template may show.
pub const CTX_FIELDS: [&str; 5] = ["runId", "sessionId", "userId", "tenantId", "agentName"];

const BRACES: &str = "for a literal brace write `{{` or `}}`";

/// What is wrong with a template; the strings are safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// One line on the fault.
    pub message: String,
    /// A way out.
    pub help: String,
}

impl TemplateError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

impl Template {
    /// Parses text with placeholders: `{args.NAME}`, `{workspace}`, `{tool.dir}`, `{ctx.NAME}`; `{{` and `}}` stand for
    /// single braces. Whether an argument exists is for the caller to check.
    pub fn parse(text: &str, span: Option<Span>) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            literal.push_str(before);
            if let Some(after) = tail.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = tail.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if let Some(after) = tail.strip_prefix('{') {
                let (name, after) =
                    after.split_once('}').ok_or_else(|| TemplateError::new("a `{` is not closed", BRACES))?;
                let part = parse_placeholder(name)?;
                if !literal.is_empty() {
                    parts.push(TemplatePart::Text(std::mem::take(&mut literal)));
                }
                parts.push(part);
                rest = after;
            } else {
                return Err(TemplateError::new("a `}` has no `{` before it", BRACES));
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(TemplatePart::Text(literal));
        }
        Ok(Self { parts, span })
    }

    /// The text, if there is no placeholder in it.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The argument, if the template is exactly one `{args.NAME}`.
    pub fn sole_arg(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [TemplatePart::Arg(name)] => Some(name),
            _ => None,
        }
    }

    /// The arguments that the template shows, in order.
    pub fn args(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Arg(name) => Some(name.as_str()),
            TemplatePart::Text(_)
            | TemplatePart::Workspace
            | TemplatePart::ToolDir
            | TemplatePart::Ctx(_) => None,
        })
    }

    /// Whether a part comes from the call or its context: text that the author of the manifest did not write.
    pub fn has_foreign_text(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, TemplatePart::Arg(_) | TemplatePart::Ctx(_)))
    }
}

impl fmt::Display for Template {
    /// The template as a manifest has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => f.write_str(&text.replace('{', "{{").replace('}', "}}"))?,
                TemplatePart::Arg(name) => write!(f, "{{args.{name}}}")?,
                TemplatePart::Workspace => f.write_str("{workspace}")?,
                TemplatePart::ToolDir => f.write_str("{tool.dir}")?,
                TemplatePart::Ctx(name) => write!(f, "{{ctx.{name}}}")?,
            }
        }
        Ok(())
    }
}

fn parse_placeholder(name: &str) -> Result<TemplatePart, TemplateError> {
    if let Some(arg) = name.strip_prefix("args.").filter(|arg| !arg.is_empty()) {
        return Ok(TemplatePart::Arg(arg.to_owned()));
    }
    if let Some(field) = name.strip_prefix("ctx.") {
        if CTX_FIELDS.contains(&field) {
            return Ok(TemplatePart::Ctx(field.to_owned()));
        }
        let help = nearest(field, CTX_FIELDS).map_or_else(
            || format!("known fields: {}", CTX_FIELDS.join(", ")),
            |near| format!("did you mean `{{ctx.{near}}}`?"),
        );
        return Err(TemplateError::new(format!("the context has no field `{}`", escape(field)), help));
    }
    match name {
        "workspace" => Ok(TemplatePart::Workspace),
        "tool.dir" => Ok(TemplatePart::ToolDir),
        _ => Err(TemplateError::new(
            format!("unknown placeholder `{{{}}}`", escape(name)),
            format!("known are {{args.NAME}}, {{workspace}}, {{tool.dir}} and {{ctx.NAME}}; {BRACES}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tool::{Template, TemplatePart};
    use proptest::prelude::*;

    fn text(t: &str) -> TemplatePart {
        TemplatePart::Text(t.to_owned())
    }

    #[test]
    fn parses_every_placeholder() {
        let arg = |name: &str| TemplatePart::Arg(name.to_owned());
        let table = [
            ("", vec![]),
            ("plain", vec![text("plain")]),
            ("{args.x}", vec![arg("x")]),
            ("--f={args.a-b}!", vec![text("--f="), arg("a-b"), text("!")]),
            ("{workspace}/{tool.dir}", vec![TemplatePart::Workspace, text("/"), TemplatePart::ToolDir]),
            ("{ctx.runId}", vec![TemplatePart::Ctx("runId".to_owned())]),
            ("{{args.x}}", vec![text("{args.x}")]),
            ("{{{args.x}}}", vec![text("{"), arg("x"), text("}")]),
            ("a{{}}b", vec![text("a{}b")]),
            ("ö{args.é}ü", vec![text("ö"), arg("é"), text("ü")]),
        ];
        for (source, parts) in table {
            let template = Template::parse(source, None).unwrap();
            assert_eq!(template.parts, parts, "{source}");
            assert_eq!(template.to_string(), source);
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for source in [
            "{",
            "}",
            "{args.x",
            "{}",
            "{args.}",
            "{args}",
            "{x}",
            "{ctx.runid}",
            "{env.HOME}",
            "a}b",
            "{print}",
        ] {
            assert!(Template::parse(source, None).is_err(), "{source}");
        }
        assert_eq!(Template::parse("{ctx.runid}", None).unwrap_err().help, "did you mean `{ctx.runId}`?");
    }

    proptest! {
        #[test]
        fn doubled_braces_give_the_text_back(source in any::<String>()) {
            let template = Template::parse(&source.replace('{', "{{").replace('}', "}}"), None).unwrap();
            prop_assert_eq!(template.literal(), Some(source.as_str()));
        }
    }
}
