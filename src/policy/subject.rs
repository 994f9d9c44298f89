//! What a condition speaks of: an argument, a value of the context, the tool, its effect, its sandbox.

use crate::text::nearest;
use std::fmt;

/// The way to a value inside the arguments, from the root.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ArgPath(Vec<String>);

impl ArgPath {
    /// The names on the way, outermost first; never empty.
    pub(super) fn segments(&self) -> &[String] {
        &self.0
    }

    /// The RFC 6901 pointer of the same place.
    pub(super) fn pointer(&self) -> String {
        self.0.iter().fold(String::new(), |mut out, segment| {
            out.push('/');
            out.push_str(&segment.replace('~', "~0").replace('/', "~1"));
            out
        })
    }
}

impl fmt::Display for ArgPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("args")?;
        for segment in &self.0 {
            if segment.contains(['.', '"', '{', '}', '(', ')']) {
                write!(f, ".\"{}\"", crate::text::escape(segment))?;
            } else {
                write!(f, ".{}", crate::text::escape(segment))?;
            }
        }
        Ok(())
    }
}

/// A value of the caller's context. All are claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CtxField {
    RunId,
    SessionId,
    UserId,
    TenantId,
    AgentName,
    Agents,
    RunMode,
}

impl CtxField {
    const NAMES: [(&'static str, Self); 7] = [
        ("runId", Self::RunId),
        ("sessionId", Self::SessionId),
        ("userId", Self::UserId),
        ("tenantId", Self::TenantId),
        ("agentName", Self::AgentName),
        ("agents", Self::Agents),
        ("runMode", Self::RunMode),
    ];

    pub(super) fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }
}

/// The subject of an atom.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// `args.a.b`.
    Args(ArgPath),
    /// `ctx.x`.
    Ctx(CtxField),
    /// `tool`: the tool's name.
    Tool,
    /// `effect`: the classified effects.
    Effect,
    /// `tool.sandbox.x`: the resolved sandbox.
    Sandbox(Vec<String>),
}

const SANDBOX_FIELDS: [&str; 12] = [
    "enabled",
    "timeout",
    "maxMemoryMB",
    "allowNetwork",
    "allowFS",
    "allowFS.readOnly",
    "allowFS.readWrite",
    "maxOutputBytes",
    "maxProcesses",
    "maxFileSizeMB",
    "cpuSeconds",
    "runAs",
];

/// Why a text is no subject, with the name that was perhaps meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoSubject {
    pub(super) message: String,
    pub(super) near: Option<String>,
}

impl Subject {
    /// Reads `args.a.b`, `ctx.x`, `tool`, `effect` or `tool.sandbox.x`.
    pub(super) fn parse(text: &str) -> Result<Self, NoSubject> {
        if let Some(rest) = text.strip_prefix("args.") {
            return parse_segments(rest).map(|path| Self::Args(ArgPath(path))).ok_or_else(|| NoSubject {
                message: "a path of arguments is `args.name.name`, a name with a dot in double quotes"
                    .to_owned(),
                near: None,
            });
        }
        if let Some(rest) = text.strip_prefix("ctx.") {
            return CtxField::NAMES.iter().find(|(name, _)| *name == rest).map_or_else(
                || {
                    let near = nearest(rest, CtxField::NAMES.iter().map(|(name, _)| *name));
                    Err(NoSubject {
                        message: "the context has no such value".to_owned(),
                        near: near.map(|name| format!("ctx.{name}")),
                    })
                },
                |(_, field)| Ok(Self::Ctx(*field)),
            );
        }
        if let Some(rest) = text.strip_prefix("tool.sandbox.") {
            if SANDBOX_FIELDS.contains(&rest) {
                return Ok(Self::Sandbox(rest.split('.').map(str::to_owned).collect()));
            }
            return Err(NoSubject {
                message: "a sandbox has no such setting".to_owned(),
                near: nearest(rest, SANDBOX_FIELDS).map(|name| format!("tool.sandbox.{name}")),
            });
        }
        match text {
            "tool" => Ok(Self::Tool),
            "effect" => Ok(Self::Effect),
            _ => Err(NoSubject {
                message: "not something a condition can speak of".to_owned(),
                near: nearest(text, ["tool", "effect", "any", "all", "not"]).map(str::to_owned),
            }),
        }
    }
}

/// Whether a text is a subject of the common kinds: an argument with names in plain letters, or a value of the context.
pub(super) fn is_plain_subject(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix("args.") {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        return rest.split('.').all(|name| !name.is_empty() && name.bytes().all(plain));
    }
    text.strip_prefix("ctx.").is_some_and(|rest| CtxField::NAMES.iter().any(|(name, _)| *name == rest))
}

fn parse_segments(text: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    let mut rest = text;
    loop {
        let (segment, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let (segment, after) = quoted.split_once('"')?;
            (segment, after)
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            rest.split_at_checked(end)?
        };
        if segment.is_empty() || segment.contains('"') {
            return None;
        }
        segments.push(segment.to_owned());
        if after.is_empty() {
            return Some(segments);
        }
        rest = after.strip_prefix('.')?;
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Args(path) => path.fmt(f),
            Self::Ctx(field) => write!(f, "ctx.{}", field.as_str()),
            Self::Tool => f.write_str("tool"),
            Self::Effect => f.write_str("effect"),
            Self::Sandbox(path) => write!(f, "tool.sandbox.{}", path.join(".")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Subject;

    #[test]
    fn reads_what_can_be_spoken_of() {
        for text in
            ["args.a", "args.a.b", "args.\"a.b\".c", "ctx.userId", "tool", "effect", "tool.sandbox.timeout"]
        {
            assert_eq!(Subject::parse(text).unwrap().to_string(), text);
        }
        for (text, near) in [
            ("ctx.userid", Some("ctx.userId")),
            ("tool.sandbox.timout", Some("tool.sandbox.timeout")),
            ("efect", Some("effect")),
            ("args.", None),
            ("args.a..b", None),
            ("args.\"a", None),
            ("arg.x", None),
        ] {
            assert_eq!(Subject::parse(text).unwrap_err().near.as_deref(), near, "{text}");
        }
    }

    #[test]
    fn points_at_the_place() {
        let Subject::Args(path) = Subject::parse("args.\"a/b\".c~d").unwrap() else { panic!() };
        assert_eq!(path.pointer(), "/a~1b/c~0d");
    }
}
