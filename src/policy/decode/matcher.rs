//! Decodes the matchers of one subject: a scalar, or a mapping of operators that all have to hold.

use crate::diag::{Code, Diagnostic};
use crate::model::{Effect, EffectSet};
use crate::policy::condition::{Atom, Clause};
use crate::policy::decimal::Decimal;
use crate::policy::matchers::{
    Bound, Compare, Equal, Ext, Globs, Measure, OneOf, Operand, PathPattern, Pattern, Quantifier, Regular,
    Size, Test, TextGlob, TextOp, TextTest, ToolNames, Under,
};
use crate::policy::subject::Subject;
use crate::source::{Decoder, Entry, Node, NodeKind};
use crate::text::{Span, escape, nearest};
use serde_json::Value;

const OPERATORS: [&str; 24] = [
    "eq", "in", "not_in", "gt", "ge", "lt", "le", "exists", "minBytes", "maxBytes", "minItems", "maxItems",
    "each", "some", "prefix", "suffix", "contains", "glob", "regex", "under", "path", "ext", "case", "ref",
];
/// Operators of the language that this version does not carry out.
const LATER: [&str; 6] = ["url", "sql", "argv", "flags", "shell", "schema"];

/// Decodes `SUBJECT: VALUE` of a condition.
pub(super) fn decode(decoder: &mut Decoder, subject: &Subject, span: Span, node: &Node) -> Option<Clause> {
    let tests = match subject {
        Subject::Tool => tool_tests(decoder, node)?,
        Subject::Effect => effect_tests(decoder, node)?,
        Subject::Args(_) | Subject::Ctx(_) | Subject::Sandbox(_) => {
            let paths = matches!(subject, Subject::Args(_));
            tests(decoder, node, paths)?
        }
    };
    let mut parts: Vec<Clause> = tests
        .into_iter()
        .map(|(test, value)| {
            let (key, span) = (span, if span.file == value.file { span.to(value) } else { value });
            Clause::Atom(Box::new(Atom { subject: subject.clone(), test, span, key, value }))
        })
        .collect();
    if parts.len() == 1 { parts.pop() } else { Some(Clause::All(parts)) }
}

type Tests = Vec<(Test, Span)>;

fn tests(decoder: &mut Decoder, node: &Node, paths: bool) -> Option<Tests> {
    let NodeKind::Map(entries) = &node.kind else {
        if matches!(node.kind, NodeKind::Seq(_)) {
            decoder.report(
                Diagnostic::error(
                    Code::SourceWrongType,
                    "a matcher must be a scalar or a mapping of operators, not a list",
                )
                .at(node.span, "a list says nothing by itself")
                .help("write `in: [...]` for one of several values"),
            );
            return None;
        }
        let operand = operand(decoder, node)?;
        return Some(vec![(Test::Equal(Equal { operand, fold: false }), node.span)]);
    };
    let fold = match entries.iter().find(|entry| entry.key == "case") {
        Some(entry) => decoder.choice(&entry.value, "`case`", &[("fold", true), ("exact", false)])?,
        None => false,
    };
    let found: Vec<Option<(Test, Span)>> = entries
        .iter()
        .filter(|entry| entry.key != "case")
        .map(|entry| {
            let span = entry.key_span.to(entry.value.span);
            operator(decoder, entry, fold, paths).map(|test| (test, span))
        })
        .collect();
    if found.is_empty() {
        decoder.bad_value(node.span, "a matcher has at least one operator", "no operator");
        return None;
    }
    found.into_iter().collect()
}

fn operator(decoder: &mut Decoder, entry: &Entry, fold: bool, paths: bool) -> Option<Test> {
    let value = &entry.value;
    let bound = |decoder: &mut Decoder, bound| {
        number(decoder, value).map(|operand| Test::Compare(Compare { bound, operand }))
    };
    let text = |decoder: &mut Decoder, op| {
        operands(decoder, value, true).map(|parts| Test::Text(TextTest { op, parts, fold }))
    };
    let size = |decoder: &mut Decoder, measure| {
        decoder.integer(value, "a length", 0..=u64::MAX).map(|limit| Test::Size(Size { measure, limit }))
    };
    match entry.key.as_str() {
        "eq" => operand(decoder, value).map(|operand| Test::Equal(Equal { operand, fold })),
        "ref" => reference(decoder, value).map(|operand| Test::Equal(Equal { operand, fold })),
        "in" => one_of(decoder, value, fold, false),
        "not_in" => one_of(decoder, value, fold, true),
        "gt" => bound(decoder, Bound::Gt),
        "ge" => bound(decoder, Bound::Ge),
        "lt" => bound(decoder, Bound::Lt),
        "le" => bound(decoder, Bound::Le),
        "exists" => decoder.bool(value, "`exists`").map(Test::Exists),
        "minBytes" => size(decoder, Measure::MinBytes),
        "maxBytes" => size(decoder, Measure::MaxBytes),
        "minItems" => size(decoder, Measure::MinItems),
        "maxItems" => size(decoder, Measure::MaxItems),
        "each" | "some" => {
            let each = entry.key == "each";
            let tests = tests(decoder, value, paths)?.into_iter().map(|(test, _)| test).collect();
            Some(Test::Quantifier(Quantifier { each, tests }))
        }
        "prefix" => text(decoder, TextOp::Prefix),
        "suffix" => text(decoder, TextOp::Suffix),
        "contains" => text(decoder, TextOp::Contains),
        "glob" => glob(decoder, value, fold),
        "regex" => regex(decoder, value, fold),
        "under" | "path" | "ext" if !paths => {
            decoder.bad_value(entry.key_span, "only arguments can be tested as paths", "not an argument");
            None
        }
        "under" => under(decoder, value, fold),
        "path" => path(decoder, value, fold),
        "ext" => ext(decoder, value, fold),
        name => unknown(decoder, name, entry.key_span),
    }
}

fn unknown(decoder: &mut Decoder, name: &str, span: Span) -> Option<Test> {
    if LATER.contains(&name) {
        decoder.report(
            Diagnostic::error(
                Code::PolicyUnsupported,
                format!("the matcher `{name}` is not carried out by this version"),
            )
            .at(span, "not supported yet")
            .help("a condition that is not carried out cannot protect anything, so the file is refused"),
        );
        return None;
    }
    let mut diagnostic =
        Diagnostic::error(Code::PolicyUnknownOperator, format!("unknown operator `{}`", escape(name)))
            .at(span, "not an operator");
    diagnostic = match nearest(name, OPERATORS) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("operators: {}", OPERATORS.join(", "))),
    };
    decoder.report(diagnostic);
    None
}

fn operand(decoder: &mut Decoder, node: &Node) -> Option<Operand> {
    match &node.kind {
        NodeKind::Map(entries) => match entries.as_slice() {
            [entry] if entry.key == "ref" => reference(decoder, &entry.value),
            _ => {
                decoder.wrong_type(node, "an operand", "a scalar or `{ref: args.NAME}`");
                None
            }
        },
        NodeKind::Seq(_) => {
            decoder.wrong_type(node, "an operand", "a scalar or `{ref: args.NAME}`");
            None
        }
        NodeKind::String(text) if text.contains("${workspace}") => {
            decoder.bad_value(
                node.span,
                "`${workspace}` can only be used in `under` and `path`",
                "would be compared as text",
            );
            None
        }
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) => {
            Some(Operand::Literal(node.to_value()))
        }
    }
}

fn reference(decoder: &mut Decoder, node: &Node) -> Option<Operand> {
    let text = decoder.string(node, "`ref`")?;
    if let Ok(subject @ (Subject::Args(_) | Subject::Ctx(_))) = Subject::parse(text) {
        return Some(Operand::Ref(subject));
    }
    decoder.bad_value(node.span, "`ref` names args.NAME or ctx.NAME", "neither of them");
    None
}

fn number(decoder: &mut Decoder, node: &Node) -> Option<Operand> {
    let operand = operand(decoder, node)?;
    match &operand {
        Operand::Literal(Value::Number(text)) if Decimal::parse(&text.to_string()).is_some() => Some(operand),
        Operand::Ref(_) => Some(operand),
        Operand::Literal(_) => {
            decoder.wrong_type(node, "a bound", "a number");
            None
        }
    }
}

/// One operand or a list of them. Empty lists and empty texts are refused: they match nothing or everything.
fn operands(decoder: &mut Decoder, node: &Node, text: bool) -> Option<Vec<Operand>> {
    let one = std::slice::from_ref(node);
    let items = if let NodeKind::Seq(items) = &node.kind { items.as_slice() } else { one };
    if items.is_empty() {
        decoder.bad_value(node.span, "the list is empty", "matches nothing");
        return None;
    }
    let all: Vec<Option<Operand>> = items
        .iter()
        .map(|item| {
            let operand = operand(decoder, item)?;
            match &operand {
                Operand::Literal(Value::String(literal)) if text && literal.is_empty() => {
                    decoder.bad_value(item.span, "the text is empty", "matches everything");
                    None
                }
                Operand::Literal(Value::String(_)) | Operand::Ref(_) => Some(operand),
                Operand::Literal(_) if text => {
                    decoder.string(item, "a text")?;
                    None
                }
                Operand::Literal(_) => Some(operand),
            }
        })
        .collect();
    all.into_iter().collect()
}

fn one_of(decoder: &mut Decoder, node: &Node, fold: bool, negated: bool) -> Option<Test> {
    if !matches!(node.kind, NodeKind::Seq(_) | NodeKind::Map(_)) {
        decoder.wrong_type(node, "`in`", "a list or a `ref` to one");
        return None;
    }
    operands(decoder, node, false).map(|operands| Test::OneOf(OneOf { operands, negated, fold }))
}

/// Literal texts: one or a list, never empty.
fn texts(decoder: &mut Decoder, node: &Node, what: &str) -> Option<Vec<(String, Span)>> {
    let one = std::slice::from_ref(node);
    let items = if let NodeKind::Seq(items) = &node.kind { items.as_slice() } else { one };
    if items.is_empty() {
        decoder.bad_value(node.span, format!("{what} is empty"), "matches nothing");
        return None;
    }
    let all: Vec<_> =
        items.iter().map(|item| decoder.string(item, what).map(|t| (t.to_owned(), item.span))).collect();
    all.into_iter().collect()
}

fn bad_pattern(decoder: &mut Decoder, span: Span, text: &str, why: &str) {
    let message = format!("`{}` is not a pattern: {why}", escape(text));
    decoder.report(Diagnostic::error(Code::PolicyBadPattern, message).at(span, "cannot be used"));
}

fn pattern(decoder: &mut Decoder, text: &str, span: Span, fold: bool) -> Option<Pattern> {
    let text = if fold { text.to_lowercase() } else { text.to_owned() };
    Pattern::new(&text).map_err(|why| bad_pattern(decoder, span, &text, &why)).ok()
}

fn glob(decoder: &mut Decoder, node: &Node, fold: bool) -> Option<Test> {
    let patterns: Vec<_> = texts(decoder, node, "`glob`")?
        .iter()
        .map(|(text, span)| {
            if text.contains("${workspace}") {
                bad_pattern(decoder, *span, text, "`${workspace}` is for `under` and `path`");
                return None;
            }
            pattern(decoder, text, *span, fold)
        })
        .collect();
    let patterns = patterns.into_iter().collect::<Option<_>>()?;
    Some(Test::Glob(TextGlob { patterns, fold }))
}

fn regex(decoder: &mut Decoder, node: &Node, fold: bool) -> Option<Test> {
    let text = decoder.string(node, "`regex`")?;
    match Regular::new(text, fold) {
        Ok(regular) => Some(Test::Regular(Box::new(regular))),
        Err(why) => {
            bad_pattern(decoder, node.span, text, &why);
            None
        }
    }
}

fn under(decoder: &mut Decoder, node: &Node, fold: bool) -> Option<Test> {
    let one = std::slice::from_ref(node);
    let items = if let NodeKind::Seq(items) = &node.kind { items.as_slice() } else { one };
    let (refs, texts_): (Vec<&Node>, Vec<&Node>) =
        items.iter().partition(|item| matches!(item.kind, NodeKind::Map(_)));
    if items.is_empty() {
        decoder.bad_value(node.span, "`under` is empty", "matches nothing");
        return None;
    }
    let refs: Vec<_> = refs.into_iter().map(|item| operand(decoder, item)).collect();
    let folders: Vec<_> = texts_
        .into_iter()
        .map(|item| {
            let text = decoder.string(item, "`under`")?;
            let parsed = PathPattern::parse(text);
            parsed.map_err(|why| bad_pattern(decoder, item.span, text, &why)).ok()
        })
        .collect();
    let folders: Vec<PathPattern> = folders.into_iter().collect::<Option<_>>()?;
    if let Some(folder) = folders.iter().find(|folder| folder.text.contains(['*', '?', '['])) {
        let why = "`under` takes folders; a glob is for `path`";
        bad_pattern(decoder, node.span, &folder.written, why);
        return None;
    }
    Some(Test::Under(Under { folders, refs: refs.into_iter().collect::<Option<_>>()?, fold }))
}

fn path(decoder: &mut Decoder, node: &Node, fold: bool) -> Option<Test> {
    let mut globs = Globs { relative: Vec::new(), absolute: Vec::new(), written: Vec::new(), fold };
    let mut failed = false;
    for (text, span) in texts(decoder, node, "`path`")? {
        let parsed = match PathPattern::parse(&text) {
            Ok(parsed) => parsed,
            Err(why) => {
                bad_pattern(decoder, span, &text, &why);
                failed = true;
                continue;
            }
        };
        match pattern(decoder, &parsed.text, span, fold) {
            Some(pattern) if parsed.absolute => globs.absolute.push(pattern),
            Some(pattern) => globs.relative.push(pattern),
            None => failed = true,
        }
        globs.written.push(text);
    }
    if failed { None } else { Some(Test::Path(globs)) }
}

fn ext(decoder: &mut Decoder, node: &Node, fold: bool) -> Option<Test> {
    let extensions = texts(decoder, node, "`ext`")?;
    if let Some((text, span)) =
        extensions.iter().find(|(text, _)| text.is_empty() || text.contains(['.', '/']))
    {
        bad_pattern(decoder, *span, text, "an extension is written without its dot");
        return None;
    }
    Some(Test::Ext(Ext { extensions: extensions.into_iter().map(|(text, _)| text).collect(), fold }))
}

/// `tool:` in a condition or at a rule: a name, a list, a pattern, `{in: …}` or `{not_in: …}`.
fn tool_tests(decoder: &mut Decoder, node: &Node) -> Option<Tests> {
    tool_selector(decoder, node).map(|names| vec![(Test::Tool(names), node.span)])
}

/// `tool:` at a rule.
pub(super) fn tool_selector(decoder: &mut Decoder, node: &Node) -> Option<ToolNames> {
    let (list, negated) = membership(decoder, node)?;
    tool_names(decoder, list, negated)
}

fn tool_names(decoder: &mut Decoder, node: &Node, negated: bool) -> Option<ToolNames> {
    let names = texts(decoder, node, "`tool`")?;
    let valid = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'*'))
    };
    if let Some((name, span)) = names.iter().find(|(name, _)| !valid(name)) {
        bad_pattern(
            decoder,
            *span,
            name,
            "a tool's name has letters, digits, `_` and `-`; `*` stands for any",
        );
        return None;
    }
    let (names, spans) = names.into_iter().unzip();
    Some(ToolNames { names, spans, negated })
}

fn effect_tests(decoder: &mut Decoder, node: &Node) -> Option<Tests> {
    let (list, negated) = membership(decoder, node)?;
    effects(decoder, list).map(|among| vec![(Test::Effect { among, negated }, node.span)])
}

/// One effect or a list of them.
pub(super) fn effects(decoder: &mut Decoder, node: &Node) -> Option<EffectSet> {
    let found: Vec<_> = texts(decoder, node, "`effect`")?
        .iter()
        .map(|(text, span)| {
            let effect = Effect::parse(text);
            if effect.is_none() {
                let names = Effect::ALL.map(Effect::as_str);
                let mut diagnostic =
                    Diagnostic::error(Code::PolicyBadEffect, format!("`{}` is not an effect", escape(text)))
                        .at(*span, format!("one of {}", names.join(", ")));
                if let Some(near) = nearest(text, names) {
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                }
                decoder.report(diagnostic);
            }
            effect
        })
        .collect();
    found.into_iter().collect()
}

/// The list of `LIST`, `{in: LIST}` or `{not_in: LIST}`.
fn membership<'n>(decoder: &mut Decoder, node: &'n Node) -> Option<(&'n Node, bool)> {
    let NodeKind::Map(entries) = &node.kind else { return Some((node, false)) };
    match entries.as_slice() {
        [entry] if entry.key == "in" || entry.key == "eq" => Some((&entry.value, false)),
        [entry] if entry.key == "not_in" => Some((&entry.value, true)),
        _ => {
            decoder.wrong_type(node, "this", "a name, a list, `{in: …}` or `{not_in: …}`");
            None
        }
    }
}
