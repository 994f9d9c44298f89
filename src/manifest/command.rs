//! Reads the keys of a manifest that hold templates: `command`, `cwd`, `stdin` and the paths of `allowFS`.

use super::properties::Properties;
use super::tool::{ArgvElement, StdinSource, Template, TemplatePart};
use crate::diag::{Code, Diagnostic};
use crate::source::{Decoder, MapReader, Node, NodeKind};
use crate::text::{Span, escape, nearest};

/// Reads templates against the declared arguments; `None` if those could not be read, then names are not checked.
#[derive(Clone, Copy)]
pub(super) struct TemplateReader<'a> {
    pub(super) properties: Option<Properties<'a>>,
}

impl TemplateReader<'_> {
    pub(super) fn command(self, decoder: &mut Decoder, node: &Node) -> Option<Vec<ArgvElement>> {
        if let NodeKind::String(_) = &node.kind {
            decoder.report(
                Diagnostic::error(Code::SourceWrongType, "`command` must be a list, not a string")
                    .at(node.span, "expected a list")
                    .help(
                        "there is no shell that would take it apart: write `command: [PROGRAM, ARGUMENT, …]`",
                    ),
            );
            return None;
        }
        let items = decoder.seq(node, "`command`")?;
        let Some(first) = items.first() else {
            decoder.bad_value(node.span, "`command` is empty", "name a program");
            return None;
        };
        Self::program(decoder, first);
        self.elements(decoder, items, true)
    }

    /// The program is the manifest's choice alone.
    fn program(decoder: &mut Decoder, node: &Node) {
        let NodeKind::String(text) = &node.kind else { return };
        let Ok(template) = Template::parse(text, Some(node.span)) else { return };
        let fixed =
            template.parts.iter().all(|part| matches!(part, TemplatePart::Text(_) | TemplatePart::ToolDir));
        if !fixed {
            bad_template(
                decoder,
                node.span,
                "the program cannot come from a placeholder other than {tool.dir}",
                "not a fixed program",
                "write the program's name or path; `builtin: run_command` is for programs that the call names",
            );
        } else if template.parts.is_empty() {
            decoder.bad_value(node.span, "the program's name is empty", "name a program");
        }
    }

    fn elements(self, decoder: &mut Decoder, items: &[Node], groups: bool) -> Option<Vec<ArgvElement>> {
        let all: Vec<_> = items.iter().map(|item| self.element(decoder, item, groups)).collect();
        all.into_iter().collect()
    }

    fn element(self, decoder: &mut Decoder, node: &Node, groups: bool) -> Option<ArgvElement> {
        match &node.kind {
            NodeKind::String(_) => {
                let template = self.template(decoder, node, "an element of `command`")?;
                if let Some(arg) = template.sole_arg()
                    && self.properties.is_none_or(|p| p.may_be(arg, "array"))
                {
                    return Some(ArgvElement::Splice { arg: arg.to_owned(), span: Some(node.span) });
                }
                self.check_text_args(decoder, &template, node.span);
                Some(ArgvElement::One(template))
            }
            NodeKind::Map(_) if groups => self.group(decoder, node),
            NodeKind::Map(_) => {
                decoder.bad_value(node.span, "a `when` group cannot stand in another one", "nested group");
                None
            }
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Seq(_) => {
                decoder.wrong_type(node, "an element of `command`", "a string or `{ when, argv }`");
                None
            }
        }
    }

    fn group(self, decoder: &mut Decoder, node: &Node) -> Option<ArgvElement> {
        let mut map = MapReader::new(decoder, node, "a group of `command`")?;
        let when = map.required(decoder, "when").and_then(|n| self.when(decoder, n));
        let argv = map.required(decoder, "argv").and_then(|n| {
            let items = decoder.seq(n, "`argv`")?;
            self.elements(decoder, items, false)
        });
        map.finish(decoder);
        Some(ArgvElement::Group { when: when?, argv: argv? })
    }

    fn when(self, decoder: &mut Decoder, node: &Node) -> Option<String> {
        let text = decoder.string(node, "`when`")?;
        let Some(name) = text.strip_prefix("args.").filter(|name| !name.is_empty()) else {
            decoder.report(
                Diagnostic::error(Code::ManifestBadTemplate, "`when` must name an argument")
                    .at(node.span, "not `args.NAME`")
                    .help("write `when: args.NAME`, without braces"),
            );
            return None;
        };
        self.check_name(decoder, name, node.span);
        Some(name.to_owned())
    }

    /// A template whose arguments exist.
    pub(super) fn template(self, decoder: &mut Decoder, node: &Node, what: &str) -> Option<Template> {
        self.template_of(decoder, node, what, false)
    }

    /// The same where `{workspace.git}` may stand, if `for_git`.
    fn template_of(self, decoder: &mut Decoder, node: &Node, what: &str, for_git: bool) -> Option<Template> {
        let text = decoder.string(node, what)?;
        if text.contains('\0') {
            decoder.bad_value(node.span, format!("{what} contains a NUL character"), "remove it");
            return None;
        }
        match Template::parse(text, Some(node.span)) {
            Ok(template) => {
                for arg in template.args() {
                    self.check_name(decoder, arg, node.span);
                }
                if template.has_git() && !(for_git && template.parts.len() == 1) {
                    bad_template(
                        decoder,
                        node.span,
                        "`{workspace.git}` names folders and can only be an entry of `allowFS`, alone",
                        "needs one text",
                        "write {workspace}/.git where a text is meant",
                    );
                }
                Some(template)
            }
            Err(error) => {
                bad_template(decoder, node.span, &error.message, "cannot be filled in", &error.help);
                None
            }
        }
    }

    fn check_name(self, decoder: &mut Decoder, name: &str, span: Span) {
        let Some(properties) = self.properties else { return };
        if properties.get(name).is_some() {
            return;
        }
        let help = nearest(name, properties.names()).map_or_else(
            || "declare it in `parameters.properties`".to_owned(),
            |near| format!("did you mean `args.{}`?", escape(near)),
        );
        let message = format!("the schema has no argument `{}`", escape(name));
        bad_template(decoder, span, &message, "names no argument", &help);
    }

    /// Refuses early what filling in would refuse for every call.
    fn check_text_args(self, decoder: &mut Decoder, template: &Template, span: Span) {
        let Some(properties) = self.properties else { return };
        for arg in template.args() {
            let Some(what) = ["array", "object"].into_iter().find(|t| properties.is_only(arg, t)) else {
                continue;
            };
            let message = format!("argument `{}` is an {what}, which has no text", escape(arg));
            let help = if what == "array" {
                "let the placeholder be the whole element, which then stands once an item"
            } else {
                "let the program read the arguments from stdin"
            };
            bad_template(decoder, span, &message, "has no text here", help);
        }
    }

    /// `stdin`: `args`, `none` or exactly one string argument.
    pub(super) fn stdin(self, decoder: &mut Decoder, node: &Node) -> Option<StdinSource> {
        let text = decoder.string(node, "`stdin`")?;
        match text {
            "args" => return Some(StdinSource::Args),
            "none" => return Some(StdinSource::None),
            _ => {}
        }
        let before = decoder.count();
        let template = self.template(decoder, node, "`stdin`")?;
        let Some(arg) = template.sole_arg() else {
            decoder.report(
                Diagnostic::error(Code::SourceBadValue, "`stdin` must be args, none or one `{args.NAME}`")
                    .at(node.span, "none of these"),
            );
            return None;
        };
        if decoder.count() == before && self.properties.is_some_and(|p| !p.is_only(arg, "string")) {
            let message =
                format!("argument `{}` goes to stdin and must be declared as a string", escape(arg));
            bad_template(decoder, node.span, &message, "not `type: string`", "use `stdin: args` for JSON");
        }
        Some(StdinSource::Arg(arg.to_owned()))
    }

    /// A path of the sandbox or `cwd`. An argument in it has to be the whole of it, and declared as a path: others have
    /// no canonical form, so `..` or a symlink could lead anywhere.
    pub(super) fn path(self, decoder: &mut Decoder, node: &Node, what: &str) -> Option<Template> {
        let before = decoder.count();
        let template = self.template_of(decoder, node, what, what != "`cwd`")?;
        let foreign = template.has_foreign_text();
        let declared = template
            .sole_arg()
            .is_some_and(|arg| self.properties.is_none_or(|properties| properties.is_path(arg)));
        if foreign && !declared && decoder.count() == before {
            bad_template(
                decoder,
                node.span,
                &format!("{what} may only hold an argument that is the whole path and declared as one"),
                "not a declared path alone",
                "write just \"{args.NAME}\" and give the argument `format: path` in the schema",
            );
        }
        let absolute = match template.parts.first() {
            Some(TemplatePart::Text(text)) => text.starts_with('/'),
            Some(_) => true,
            None => false,
        };
        if !absolute {
            bad_template(
                decoder,
                node.span,
                &format!("{what} must be absolute"),
                "relative to nothing",
                "start it with /, {workspace} or {tool.dir}",
            );
        }
        Some(template)
    }

    /// Checks the paths of `sandbox.allowFS`, which stay text until the call is known.
    pub(super) fn sandbox_paths(self, decoder: &mut Decoder, sandbox: &Node) {
        let Some(fs) = sandbox.get("allowFS") else { return };
        for key in ["readOnly", "readWrite"] {
            let Some(list) = fs.get(key) else { continue };
            let what = format!("a path of `{key}`");
            match &list.kind {
                NodeKind::String(_) => {
                    self.path(decoder, list, &what);
                }
                // Items that are no strings were reported by the sandbox's own decoder.
                NodeKind::Seq(items) => {
                    for item in items.iter().filter(|item| matches!(item.kind, NodeKind::String(_))) {
                        self.path(decoder, item, &what);
                    }
                }
                NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Map(_) => {}
            }
        }
    }
}

fn bad_template(decoder: &mut Decoder, span: Span, message: &str, remark: &str, help: &str) {
    decoder.report(Diagnostic::error(Code::ManifestBadTemplate, message).at(span, remark).help(help));
}
