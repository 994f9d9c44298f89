//! From the tree of a manifest to a [`Tool`], with every fault of the file reported at once.

use super::builtin::BUILTIN_NAMES;
use super::command::TemplateReader;
use super::interpreter::shell_templates;
use super::properties::Properties;
use super::schema_check::{check_example, compile_output, compile_parameters};
use super::tool::{Exec, OutputKind, RequiresApproval, Retry, StdinSource, Template, Tool};
use crate::diag::{Code, Diagnostic};

use crate::model::SandboxSetting;
use crate::schema::Schema;
use crate::source::{Decoder, Entry, MapReader, Node, NodeKind};
use crate::text::{escape, nearest};
use std::path::PathBuf;
use std::time::Duration;

/// Where a manifest comes from.
#[derive(Debug, Clone)]
pub struct Origin<'a> {
    /// The file; `None` for an embedded tool.
    pub file: Option<PathBuf>,
    /// The folder that `{tool.dir}` names; `None` for an embedded tool.
    pub dir: Option<PathBuf>,
    /// The file's stem, which the name has to equal.
    pub stem: Option<&'a str>,
    /// SHA-256 of the manifest's bytes, as `sha256:…`.
    pub bytes_digest: String,
}

/// Decodes a manifest; `None` if it has an error. Findings go to `decoder`, warnings of [`super::lint`] not included.
pub fn decode(decoder: &mut Decoder, node: &Node, origin: Origin<'_>) -> Option<Tool> {
    decode_compiled(decoder, node, origin).map(|(tool, _)| tool)
}

/// [`decode`] that also gives the compiled schema of the arguments, which it had to make anyway.
pub fn decode_compiled(decoder: &mut Decoder, node: &Node, origin: Origin<'_>) -> Option<(Tool, Schema)> {
    // A decoder of its own: `decoder` may hold errors of other files.
    let mut own = Decoder::new();
    let tool = decode_tool(&mut own, node, origin);
    let failed = own.has_errors();
    for diagnostic in own.into_diagnostics() {
        decoder.report(diagnostic);
    }
    tool.filter(|_| !failed)
}

fn decode_tool(decoder: &mut Decoder, node: &Node, origin: Origin<'_>) -> Option<(Tool, Schema)> {
    let mut map = MapReader::new(decoder, node, "a tool manifest")?;
    let name = map.required(decoder, "name").and_then(|n| decode_name(decoder, n, origin.stem));
    let description = map.required(decoder, "description").and_then(|n| decode_description(decoder, n));
    let parameters_node = map.required(decoder, "parameters");
    let parameters = parameters_node.map(Node::to_value);
    let schema =
        parameters_node.zip(parameters.as_ref()).and_then(|(n, v)| compile_parameters(decoder, v, n));
    let properties = parameters.as_ref().filter(|value| value.is_object()).map(Properties::new);
    let templates = TemplateReader { properties };
    let exec = decode_exec(decoder, &mut map, templates);
    let whole = parameters.is_some() && exec.is_some();
    let sandbox_node = map.optional("sandbox");
    if let Some(node) = sandbox_node {
        templates.sandbox_paths(decoder, node);
    }
    let input_examples = decode_examples(decoder, &mut map, schema.as_ref());
    let output = map.optional("output").and_then(|n| decoder.choice(n, "`output`", &OUTPUT));
    let tool = Tool {
        name: name.unwrap_or_default(),
        description: description.unwrap_or_default(),
        end_of_options: flag(decoder, &mut map, "endOfOptions"),
        allow_leading_dash: decode_allow_dash(decoder, &mut map, properties),
        stdin: map.optional("stdin").and_then(|n| templates.stdin(decoder, n)).unwrap_or(StdinSource::Args),
        cwd: map.optional("cwd").and_then(|n| decode_cwd(decoder, templates, n)),
        read_only: flag(decoder, &mut map, "readOnly"),
        destructive: flag(decoder, &mut map, "destructive"),
        idempotent: flag(decoder, &mut map, "idempotent"),
        sandbox: sandbox_node.and_then(|n| SandboxSetting::decode(decoder, n)),
        sandbox_node: sandbox_node.cloned(),
        requires_approval: map.optional("requiresApproval").and_then(|n| decode_approval(decoder, n)),
        cache_ttl: map.optional("cache").and_then(|n| decode_cache(decoder, n)),
        retry: map.optional("retry").and_then(|n| decode_retry(decoder, n)),
        strict: flag(decoder, &mut map, "strict"),
        input_examples,
        output: output.unwrap_or_default(),
        output_schema: decode_output_schema(decoder, &mut map, output),
        to_model_output: map.optional("toModelOutput").and_then(|n| decode_transform(decoder, n)),
        async_ttl: map.optional("async").and_then(|n| decode_async(decoder, n)),
        shared_process: map
            .optional("process")
            .and_then(|n| decoder.choice(n, "`process`", &[("shared", true)]))
            .unwrap_or_default(),
        file: origin.file,
        dir: origin.dir,
        name_span: node.get("name").map(|n| n.span),
        key_spans: key_spans(node),
        digest: origin.bytes_digest,
        parameters: parameters.unwrap_or_default(),
        parameters_node: parameters_node.cloned(),
        exec: exec.unwrap_or_else(|| Exec::Command(Vec::new())),
    };
    map.finish(decoder);
    // What stands in for a missing key is not judged; it was only needed to know all keys that there are.
    if !whole {
        return None;
    }
    check_combinations(decoder, node, &tool);
    for finding in shell_templates(&tool.exec) {
        decoder.report(finding);
    }
    Some((tool, schema?))
}

const OUTPUT: [(&str, OutputKind); 2] = [("text", OutputKind::Text), ("json", OutputKind::Json)];

fn key_spans(node: &Node) -> std::collections::BTreeMap<String, crate::text::Span> {
    match &node.kind {
        NodeKind::Map(entries) => entries.iter().map(|e: &Entry| (e.key.clone(), e.key_span)).collect(),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::String(_) | NodeKind::Seq(_) => {
            std::collections::BTreeMap::new()
        }
    }
}

fn flag(decoder: &mut Decoder, map: &mut MapReader<'_>, key: &'static str) -> bool {
    map.optional(key).and_then(|n| decoder.bool(n, &format!("`{key}`"))).unwrap_or(false)
}

/// Whether a text can name a tool.
pub fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn decode_name(decoder: &mut Decoder, node: &Node, stem: Option<&str>) -> Option<String> {
    let name = decoder.string(node, "`name`")?;
    if !is_tool_name(name) {
        decoder.report(
            Diagnostic::error(
                Code::ManifestBadName,
                "a tool's name has 1 to 64 of the characters A-Z, a-z, 0-9, _ and -",
            )
            .at(node.span, "not such a name"),
        );
        return None;
    }
    match stem {
        Some(stem) if stem != name => {
            decoder.report(
                Diagnostic::error(
                    Code::ManifestBadName,
                    format!("the tool is named `{name}` in a file for `{}`", escape(stem)),
                )
                .at(node.span, "not the name of the file")
                .help("rename one of the two; a tool is looked up by the name of its file"),
            );
            None
        }
        Some(_) | None => Some(name.to_owned()),
    }
}

fn decode_description(decoder: &mut Decoder, node: &Node) -> Option<String> {
    let text = decoder.string(node, "`description`")?;
    if text.trim().is_empty() {
        decoder.bad_value(node.span, "`description` is empty", "say what the tool does; the model reads it");
        return None;
    }
    Some(text.to_owned())
}

fn decode_exec(
    decoder: &mut Decoder,
    map: &mut MapReader<'_>,
    templates: TemplateReader<'_>,
) -> Option<Exec> {
    let (command, builtin) = (map.entry("command"), map.entry("builtin"));
    match (command, builtin) {
        (Some(command), Some(builtin)) => {
            decoder.report(
                Diagnostic::error(Code::SourceBadValue, "a tool has a `command` or a `builtin`, not both")
                    .at(builtin.key_span, "the second one")
                    .see(command.key_span, "the first one"),
            );
            None
        }
        (Some(command), None) => templates.command(decoder, &command.value).map(Exec::Command),
        (None, Some(builtin)) => decode_builtin(decoder, &builtin.value).map(Exec::Builtin),
        (None, None) => {
            decoder.report(
                Diagnostic::error(Code::SourceMissingKey, "a tool manifest needs `command` or `builtin`")
                    .at(map.span(), "neither is here")
                    .help("write the program and its arguments as a list: `command: [git, status]`"),
            );
            None
        }
    }
}

fn decode_builtin(decoder: &mut Decoder, node: &Node) -> Option<String> {
    let name = decoder.string(node, "`builtin`")?;
    if BUILTIN_NAMES.contains(&name) {
        return Some(name.to_owned());
    }
    let help = nearest(name, BUILTIN_NAMES.iter().copied()).map_or_else(
        || format!("there are {}", BUILTIN_NAMES.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    decoder.report(
        Diagnostic::error(Code::SourceBadValue, format!("there is no built-in tool `{}`", escape(name)))
            .at(node.span, "not a built-in tool")
            .help(help),
    );
    None
}

fn decode_cwd(decoder: &mut Decoder, templates: TemplateReader<'_>, node: &Node) -> Option<Template> {
    templates.path(decoder, node, "`cwd`")
}

fn decode_allow_dash(
    decoder: &mut Decoder,
    map: &mut MapReader<'_>,
    properties: Option<Properties<'_>>,
) -> Vec<String> {
    let Some(node) = map.optional("allowLeadingDash") else { return Vec::new() };
    let names = decoder.strings(node, "`allowLeadingDash`").unwrap_or_default();
    for name in &names {
        let Some(properties) = properties.filter(|p| p.get(name).is_none()) else { continue };
        let diagnostic = Diagnostic::error(
            Code::ManifestBadTemplate,
            format!("the schema has no argument `{}`", escape(name)),
        )
        .at(node.span, "names no argument");
        decoder.report(match nearest(name, properties.names()) {
            Some(near) => diagnostic.help(format!("did you mean `{}`?", escape(near))),
            None => diagnostic.help("write the plain names of arguments, without `args.`"),
        });
    }
    names
}

fn decode_approval(decoder: &mut Decoder, node: &Node) -> Option<RequiresApproval> {
    if let NodeKind::Bool(value) = node.kind {
        return Some(RequiresApproval::Always(value));
    }
    if !matches!(node.kind, NodeKind::Map(_)) {
        decoder.wrong_type(node, "`requiresApproval`", "true, false or `{ when: … }`");
        return None;
    }
    let mut map = MapReader::new(decoder, node, "`requiresApproval`")?;
    let when = map.required(decoder, "when");
    map.finish(decoder);
    when.map(|when| RequiresApproval::When(when.clone()))
}

fn decode_cache(decoder: &mut Decoder, node: &Node) -> Option<Duration> {
    let mut map = MapReader::new(decoder, node, "`cache`")?;
    let ttl = map.required(decoder, "ttl").and_then(|n| decoder.duration(n, "`ttl`"));
    map.finish(decoder);
    ttl
}

fn decode_retry(decoder: &mut Decoder, node: &Node) -> Option<Retry> {
    let mut map = MapReader::new(decoder, node, "`retry`")?;
    let attempts = map.required(decoder, "attempts").and_then(|n| decoder.integer(n, "`attempts`", 1..=100));
    let backoff = map.optional("backoffMs").map_or(Some(Duration::from_secs(1)), |n| {
        decoder.integer(n, "`backoffMs`", 0..=3_600_000).map(Duration::from_millis)
    });
    let deadline = map.optional("deadlineMs").map_or(Some(Duration::from_secs(300)), |n| {
        decoder.integer(n, "`deadlineMs`", 1..=86_400_000).map(Duration::from_millis)
    });
    map.finish(decoder);
    Some(Retry { attempts: u32::try_from(attempts?).ok()?, backoff: backoff?, deadline: deadline? })
}

fn decode_async(decoder: &mut Decoder, node: &Node) -> Option<Duration> {
    let mut map = MapReader::new(decoder, node, "`async`")?;
    let ttl =
        map.required(decoder, "ttlSeconds").and_then(|n| decoder.integer(n, "`ttlSeconds`", 1..=2_592_000));
    map.finish(decoder);
    ttl.map(Duration::from_secs)
}

fn decode_transform(decoder: &mut Decoder, node: &Node) -> Option<Vec<String>> {
    let items = decoder.seq(node, "`toModelOutput`")?;
    let argv: Vec<_> = items
        .iter()
        .map(|item| decoder.string(item, "an element of `toModelOutput`").map(str::to_owned))
        .collect();
    let argv = argv.into_iter().collect::<Option<Vec<_>>>()?;
    if argv.first().is_none_or(String::is_empty) {
        decoder.bad_value(node.span, "`toModelOutput` is empty", "name a program");
        return None;
    }
    Some(argv)
}

fn decode_output_schema(
    decoder: &mut Decoder,
    map: &mut MapReader<'_>,
    output: Option<OutputKind>,
) -> Option<serde_json::Value> {
    let entry = map.entry("outputSchema")?;
    if output != Some(OutputKind::Json) {
        decoder.bad_value(entry.key_span, "`outputSchema` needs `output: json`", "checks a JSON output only");
    }
    let value = entry.value.to_value();
    compile_output(decoder, &value, &entry.value).then_some(value)
}

fn decode_examples(
    decoder: &mut Decoder,
    map: &mut MapReader<'_>,
    schema: Option<&Schema>,
) -> Vec<serde_json::Value> {
    let Some(node) = map.optional("inputExamples") else { return Vec::new() };
    let items = decoder.seq(node, "`inputExamples`").unwrap_or_default();
    items
        .iter()
        .map(|item| {
            let value = item.to_value();
            if !value.is_object() {
                decoder.wrong_type(item, "an input example", "a mapping of arguments");
            } else if let Some(schema) = schema {
                check_example(decoder, schema, &value, item);
            }
            value
        })
        .collect()
}

/// Keys that are fine alone and mean nothing, or two things, together.
fn check_combinations(decoder: &mut Decoder, node: &Node, tool: &Tool) {
    let key = |name: &str| node.entry(name).map(|entry| entry.key_span);
    if matches!(tool.exec, Exec::Builtin(_)) {
        for name in ["stdin", "cwd", "endOfOptions", "allowLeadingDash"] {
            if let Some(span) = key(name) {
                decoder.bad_value(
                    span,
                    format!("`{name}` has no meaning for a built-in tool"),
                    "only goes with `command`",
                );
            }
        }
    }
    if let (Some(cache), Some(background)) = (key("cache"), key("async")) {
        decoder.report(
            Diagnostic::error(Code::SourceBadValue, "`async` stands in place of `cache`, not beside it")
                .at(background, "the second one")
                .see(cache, "the first one"),
        );
    }
}

#[cfg(test)]
mod tests;
