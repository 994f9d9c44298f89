//! What a condition can see while it is evaluated.

use super::paths::PathFacts;
use super::shape::{self, Place, Types};
use super::subject::{ArgPath, CtxField, Subject};
use crate::model::{Context, EffectSet};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Everything that an atom may look at. Nothing else is reachable: no clock, no disk, no environment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Env<'a> {
    /// The arguments.
    pub(super) args: &'a Map<String, Value>,
    /// The schema of the arguments; `None` while an example is tried.
    pub(super) schema: Option<&'a Value>,
    /// The tool's name; `None` if it could be one of several.
    pub(super) tool: Option<&'a str>,
    /// The effects; `None` before they are classified.
    pub(super) effects: Option<EffectSet>,
    /// The caller's context; `None` if nothing is known of it.
    pub(super) ctx: Option<&'a Context>,
    /// Whether `ctx` stands for one agent of the chain, so that an absent name means that there is no agent at all.
    pub(super) per_agent: bool,
    /// The resolved sandbox; `None` while an example is tried.
    pub(super) sandbox: Option<&'a Value>,
    /// Strings as paths.
    pub(super) paths: &'a PathFacts<'a>,
}

/// What a subject is.
#[derive(Debug)]
pub(super) enum Seen<'a> {
    /// A value.
    Value(Cow<'a, Value>),
    /// There is none, and it could have been there.
    Absent,
    /// There is none, and nothing of that name is expected.
    Undeclared,
    /// Something on the way is not an object. The text says what.
    NotThere(String),
}

impl<'a> Env<'a> {
    /// The value of a subject. `tool` and `effect` have matchers of their own.
    pub(super) fn see(&self, subject: &Subject) -> Seen<'a> {
        match subject {
            Subject::Args(path) => self.see_argument(path),
            Subject::Ctx(field) => self.see_context(*field),
            Subject::Sandbox(path) => {
                let Some(sandbox) = self.sandbox else { return Seen::Absent };
                let found = path.iter().try_fold(sandbox, |value, name| value.get(name));
                found.map_or(Seen::Absent, |value| Seen::Value(Cow::Borrowed(value)))
            }
            Subject::Tool => {
                self.tool.map_or(Seen::Absent, |name| Seen::Value(Cow::Owned(Value::String(name.to_owned()))))
            }
            Subject::Effect => Seen::Absent,
        }
    }

    fn see_argument(&self, path: &ArgPath) -> Seen<'a> {
        let mut segments = path.segments().iter();
        let Some(first) = segments.next() else { return Seen::Undeclared };
        let Some(mut value) = self.args.get(first) else { return self.absent(path) };
        for segment in segments {
            match value {
                Value::Object(map) => match map.get(segment) {
                    Some(next) => value = next,
                    None => return self.absent(path),
                },
                Value::Null => return self.absent(path),
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    return Seen::NotThere(format!(
                        "{path} is below {}, which has no names",
                        Types::of(value).describe()
                    ));
                }
            }
        }
        Seen::Value(Cow::Borrowed(value))
    }

    fn absent(&self, path: &ArgPath) -> Seen<'a> {
        match self.schema.map(|schema| shape::place(schema, path.segments())) {
            None | Some(Place::Named(_)) => Seen::Absent,
            Some(Place::Free(_) | Place::Undeclared(_)) => Seen::Undeclared,
        }
    }

    fn see_context(&self, field: CtxField) -> Seen<'a> {
        let Some(ctx) = self.ctx else { return Seen::Absent };
        let text = |value: Option<&str>| {
            value.map_or(Seen::Absent, |text| Seen::Value(Cow::Owned(Value::String(text.to_owned()))))
        };
        match field {
            CtxField::RunId => text(ctx.run_id.as_deref()),
            CtxField::SessionId => text(ctx.session_id.as_deref()),
            CtxField::UserId => text(ctx.user_id.as_deref()),
            CtxField::TenantId => text(ctx.tenant_id.as_deref()),
            CtxField::AgentName if ctx.agents.is_empty() && self.per_agent => Seen::Undeclared,
            CtxField::AgentName => text(ctx.agent_name()),
            CtxField::Agents => Seen::Value(Cow::Owned(Value::from(ctx.agents.clone()))),
            CtxField::RunMode => text(Some(ctx.mode.as_str())),
        }
    }

    /// Whether the schema permits a value of this type there, so that another type is a difference and not a mistake.
    pub(super) fn permits(&self, pointer: &str, types: Types) -> bool {
        let Some(schema) = self.schema else { return false };
        let segments: Vec<String> =
            pointer.split('/').skip(1).map(|s| s.replace("~1", "/").replace("~0", "~")).collect();
        match shape::place(schema, &segments) {
            Place::Named(schemas) | Place::Free(schemas) => shape::types(schema, &schemas).meets(types),
            Place::Undeclared(_) => false,
        }
    }
}
