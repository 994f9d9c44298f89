//! Secrets where others can read them: in a command line, and in the manifest itself.

use super::config;
use crate::diag::{Code, Diagnostic};
use crate::manifest::tool::{ArgvElement, Exec, Template, TemplatePart, Tool};
use crate::text::{Span, escape};
use serde_json::Value;

/// How tokens of common services begin, and how long they are at least.
const TOKENS: [(&str, usize); 22] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("sk-", 24),
    ("sk_live_", 20),
    ("rk_live_", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 35),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 30),
    ("dop_v1_", 30),
    ("Bearer ", 20),
    ("eyJ", 40),
    ("-----BEGIN ", 20),
];
/// Options after which a secret stands.
const OPTIONS: [&str; 12] = [
    "--password",
    "--passwd",
    "--pass",
    "--token",
    "--api-key",
    "--apikey",
    "--secret",
    "--auth-token",
    "--access-token",
    "--client-secret",
    "--private-key",
    "--secret-key",
];
/// Words of names of variables that hold secrets.
const WORDS: [&str; 10] = [
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "SECRET",
    "APIKEY",
    "API_KEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
    "CREDENTIALS",
    "PAT",
];

pub(super) fn lint(tool: &Tool, found: &mut Vec<Diagnostic>) {
    if let Exec::Command(argv) = &tool.exec {
        command(tool, argv, found);
    }
    let set = config(tool).and_then(|config| config.env.as_ref()).map(|env| &env.set);
    for (name, value) in set.into_iter().flatten() {
        if is_token(value) || (is_secret_name(name) && is_value(value)) {
            variable(tool, name, found);
        }
    }
}

/// Whether a variable of this name holds a secret itself, rather than the place of one.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let points = ["_FILE", "_PATH", "_DIR", "_URL", "_NAME"].iter().any(|end| name.ends_with(end));
    let framed = format!("_{name}_");
    !points && WORDS.iter().any(|word| framed.contains(&format!("_{word}_")))
}

/// Whether a text is neither empty nor a switch nor the path of something.
fn is_value(text: &str) -> bool {
    !["", "0", "1", "true", "false", "none"].contains(&text) && !text.starts_with(['/', '.', '~'])
}

/// Whether a text has the form of a token, a key or a login.
fn is_token(text: &str) -> bool {
    let known = TOKENS.iter().any(|(start, length)| {
        text.match_indices(start).any(|(at, _)| {
            let rest = text.get(at..).unwrap_or("");
            let before = text.get(..at).and_then(|before| before.chars().last());
            // A token stands alone or behind a sign, and has no blanks inside.
            let word = rest.get(start.len()..).unwrap_or("").split_whitespace().next().unwrap_or("");
            before.is_none_or(|c| !c.is_ascii_alphanumeric())
                && (start.starts_with('-') || start.len() + word.len() >= *length)
        })
    });
    known || has_login(text)
}

/// `scheme://user:password@host`.
fn has_login(text: &str) -> bool {
    text.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split('/').next().unwrap_or("");
        authority
            .rsplit_once('@')
            .and_then(|(user, _)| user.split_once(':'))
            .is_some_and(|(_, password)| !password.is_empty())
    })
}

/// The literal elements and the arguments of an argv, groups included, in order.
fn flatten<'a>(argv: &'a [ArgvElement], all: &mut Vec<&'a ArgvElement>) {
    for element in argv {
        match element {
            ArgvElement::One(_) | ArgvElement::Splice { .. } => all.push(element),
            ArgvElement::Group { argv, .. } => flatten(argv, all),
        }
    }
}

fn command(tool: &Tool, argv: &[ArgvElement], found: &mut Vec<Diagnostic>) {
    let mut all = Vec::new();
    flatten(argv, &mut all);
    let mut option = false;
    for element in all {
        let (template, span, filled): (Option<&Template>, Option<Span>, Vec<&str>) = match element {
            ArgvElement::One(template) => (Some(template), template.span, template.args().collect()),
            ArgvElement::Splice { arg, span } => (None, *span, vec![arg]),
            ArgvElement::Group { .. } => continue,
        };
        if let Some(name) = filled.iter().find(|name| is_secret_argument(tool, name)) {
            let message = format!("the secret argument `{}` would stand in a command line", escape(name));
            found.push(in_command(message, span, "hand it over on standard input: `stdin: \"{args.NAME}\"`"));
        }
        let literal: String =
            template.into_iter().flat_map(|template| &template.parts).map(literal_of).collect();
        let fixed = template.and_then(Template::literal);
        let assigned = fixed
            .and_then(|text| text.split_once('='))
            .is_some_and(|(name, value)| is_option(name) && is_value(value));
        if is_token(&literal) || assigned || (option && fixed.is_some_and(is_value)) {
            let message = "the command holds what looks like a secret".to_owned();
            let help = "let the program read a variable that `sandbox.env.forward` names, or standard input";
            found.push(in_command(message, span, help));
        }
        option = fixed.is_some_and(is_option);
    }
}

/// The text of a part, with a character that no token has in place of what is filled in.
fn literal_of(part: &TemplatePart) -> &str {
    match part {
        TemplatePart::Text(text) => text,
        TemplatePart::Arg(_) | TemplatePart::Workspace | TemplatePart::ToolDir | TemplatePart::Ctx(_) => "\0",
    }
}

fn is_option(text: &str) -> bool {
    OPTIONS.contains(&text.to_ascii_lowercase().as_str())
}

fn in_command(message: String, span: Option<Span>, help: &str) -> Diagnostic {
    let warning = Diagnostic::warning(Code::ManifestSecretInCommand, message).help(help);
    match span {
        Some(span) => warning.at(span, "every process of the machine can read this"),
        None => warning,
    }
}

fn is_secret_argument(tool: &Tool, name: &str) -> bool {
    let schema = tool.parameters.get("properties").and_then(|all| all.get(name));
    schema.is_some_and(|schema| {
        schema.get("writeOnly") == Some(&Value::Bool(true))
            || schema.get("x-secret") == Some(&Value::Bool(true))
            || schema.get("format").and_then(Value::as_str) == Some("password")
    })
}

fn variable(tool: &Tool, name: &str, found: &mut Vec<Diagnostic>) {
    let message = format!("the manifest holds the value of `{}`, which looks like a secret", escape(name));
    let warning = Diagnostic::warning(Code::ManifestSecretInEnvironment, message)
        .help("name it under `env.forward`, and set it where toolctl is started");
    let pointer = |long: bool| format!("/env{}/{}", if long { "/set" } else { "" }, name.replace('~', "~0"));
    let span = tool.sandbox_node.as_ref().map(|node| {
        let long = node.at_pointer(&pointer(true)).is_some();
        node.pointer_key_span(&pointer(long))
    });
    found.push(match span {
        Some(span) => warning.at(span, "readable for everybody who reads this file"),
        None => warning,
    });
}
