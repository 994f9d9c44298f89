//! From a call to a validated one: schema, defaults, canonical paths and URIs, canonical bytes, digest.

use super::{Call, CallError, ValidatedCall};
use crate::canon::{
    CanonicalPath, CanonicalUrl, canonical_json, canonical_path, canonical_url, settle_numbers, sha256,
};
use crate::schema::{Declared, Issue, Located, Schema};
use crate::world::World;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// What the canonical form of an argument depends on.
#[derive(Clone, Copy)]
pub struct CallEnv<'a> {
    /// The disk, for the symlinks on the way to path arguments.
    pub world: &'a dyn World,
    /// The absolute folder that relative paths start from: the tool's working folder.
    pub base: &'a Path,
    /// The absolute workspace.
    pub workspace: &'a Path,
    /// The tool's working folder is the workspace, so paths inside it are given to it relative.
    pub cwd_is_workspace: bool,
}

impl std::fmt::Debug for CallEnv<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallEnv")
            .field("base", &self.base)
            .field("workspace", &self.workspace)
            .field("cwd_is_workspace", &self.cwd_is_workspace)
            .finish_non_exhaustive()
    }
}

/// Validates a call and fixes its arguments for good.
///
/// The schema judges what the caller wrote. Only then are defaults filled in (and judged with the rest once more) and
/// declared paths and URIs replaced by their canonical form, which patterns and lengths do not judge again.
///
/// # Errors
/// All issues of the first step that finds any.
pub fn validate(call: Call, schema: &Schema, env: &CallEnv<'_>) -> Result<ValidatedCall, CallError> {
    let Call { tool_call_id, tool_name, args } = call;
    let Judged { args, defaults, places } = judge(args, schema, env)?;
    let canonical = canonical_json(&args)?;
    let digest = digest(&tool_name, &canonical)?;
    Ok(ValidatedCall {
        tool_call_id,
        tool_name,
        args: object(args)?,
        canonical,
        digest,
        defaults,
        originals: places.originals,
        paths: places.paths,
        urls: places.urls,
    })
}

/// Whether [`validate`] would accept the arguments, for one who wants no more than that: the same steps without canonical
/// bytes and digest. Gives the arguments as the call would have them.
///
/// # Errors
/// As [`validate`].
pub fn accept(
    args: Map<String, Value>,
    schema: &Schema,
    env: &CallEnv<'_>,
) -> Result<Map<String, Value>, CallError> {
    object(judge(args, schema, env)?.args)
}

/// Arguments that are valid and settled.
struct Judged {
    args: Value,
    defaults: Vec<String>,
    places: Places,
}

fn judge(args: Map<String, Value>, schema: &Schema, env: &CallEnv<'_>) -> Result<Judged, CallError> {
    let mut args = Value::Object(args);
    let issues = schema.check(&args);
    if !issues.is_empty() {
        return Err(CallError::Invalid(issues));
    }
    let defaults = schema.fill_defaults(&mut args);
    if !defaults.is_empty() {
        let issues = schema.check(&args);
        if !issues.is_empty() {
            return Err(CallError::Invalid(issues.into_iter().map(with_defaults).collect()));
        }
    }
    let places = settle(&mut args, schema, env)?;
    // Policy compares and templates print what is hashed.
    settle_numbers(&mut args)?;
    Ok(Judged { args, defaults, places })
}

/// The arguments were made from a map and only parts of it were replaced.
fn object(args: Value) -> Result<Map<String, Value>, CallError> {
    match args {
        Value::Object(args) => Ok(args),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let message = "the arguments are not an object".to_owned();
            Err(CallError::Invalid(vec![issue("", message, "type")]))
        }
    }
}

/// `sha256:…` over the canonical JSON of `{args, toolName}`, behind a line that keeps it apart from other digests.
fn digest(tool_name: &str, canonical: &str) -> Result<String, CallError> {
    let name = canonical_json(&Value::String(tool_name.to_owned()))?;
    Ok(sha256(format!("toolctl.call/v1\n{{\"args\":{canonical},\"toolName\":{name}}}").as_bytes()))
}

fn issue(path: &str, message: String, keyword: &str) -> Issue {
    Issue { path: path.to_owned(), message, keyword: keyword.to_owned() }
}

fn with_defaults(issue: Issue) -> Issue {
    Issue { message: format!("with the defaults of the schema filled in: {}", issue.message), ..issue }
}

#[derive(Default)]
struct Places {
    originals: BTreeMap<String, String>,
    paths: BTreeMap<String, CanonicalPath>,
    urls: BTreeMap<String, CanonicalUrl>,
}

/// Replaces every declared path and URI by its canonical form.
fn settle(args: &mut Value, schema: &Schema, env: &CallEnv<'_>) -> Result<Places, CallError> {
    let mut places = Places::default();
    let mut issues = Vec::new();
    let located = schema.locate(args);
    let secrets = schema.secrets(args);
    for Located { pointer, what } in &located {
        let Some(Value::String(text)) = args.pointer_mut(pointer) else { continue };
        let both = located.iter().any(|other| other.pointer == *pointer && other.what != *what);
        if both {
            let message = "the schema declares it both a path and a URI, so what it means is not certain";
            issues.push(issue(pointer, message.to_owned(), "format"));
            continue;
        }
        match places.settle_one(pointer, text, *what, env) {
            Ok(Some(canonical)) => *text = canonical,
            Ok(None) => {}
            Err(message) => {
                let shown: String = crate::text::escape(text).as_str().chars().take(120).collect();
                let secret = secrets.contains(pointer);
                let message = if secret { message } else { format!("\"{shown}\": {message}") };
                issues.push(issue(pointer, message, "format"));
            }
        }
    }
    if issues.is_empty() {
        return Ok(places);
    }
    issues.dedup();
    Err(CallError::BadPath(issues))
}

impl Places {
    /// The canonical form if it differs from the text.
    fn settle_one(
        &mut self,
        pointer: &str,
        text: &str,
        what: Declared,
        env: &CallEnv<'_>,
    ) -> Result<Option<String>, String> {
        let canonical = match what {
            Declared::Path { follow_last } => {
                let path = canonical_path(env.world, env.base, env.workspace, text, follow_last)
                    .map_err(|error| error.to_string())?;
                let arg = path.as_arg(env.cwd_is_workspace).to_owned();
                self.paths.insert(pointer.to_owned(), path);
                arg
            }
            Declared::Uri => {
                let url = canonical_url(text).map_err(|error| error.to_string())?;
                let text = url.text().to_owned();
                self.urls.insert(pointer.to_owned(), url);
                text
            }
        };
        if canonical == text {
            return Ok(None);
        }
        self.originals.insert(pointer.to_owned(), text.to_owned());
        Ok(Some(canonical))
    }
}

#[cfg(test)]
mod tests;
