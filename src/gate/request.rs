//! What a person is asked: the seed's ApprovalRequest and every fact that the prompt shows.

use crate::model::Context;
use crate::policy::Decided;
use crate::sandbox::{MountReport, PlanReport, shown_everywhere};
use crate::term::quote_argv;
use crate::text::{Escaped, Untrusted, escape, is_hidden, mixed_words};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Values longer than this many characters are cut in the first view, visibly and with a way to see the rest.
const VIEW_CHARS: usize = 2000;

/// One labelled line of the prompt. The text is complete and escaped; it may be long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// A short word such as `runs`.
    pub label: &'static str,
    /// The whole text.
    pub text: Escaped,
    /// How many hidden characters are shown as escapes in it.
    pub hidden: usize,
    /// Words in it that mix letters which look alike, with those letters as escapes.
    pub mixed: Vec<Escaped>,
}

impl Detail {
    /// A line from text that somebody else supplied.
    pub fn untrusted(label: &'static str, text: &Untrusted) -> Self {
        let hidden = text.raw().chars().filter(|c| is_hidden(*c)).count();
        Self { label, text: text.escape(), hidden, mixed: mixed_words(text.raw()) }
    }

    /// A line from text of our own.
    pub fn own(label: &'static str, text: &str) -> Self {
        Self { label, text: escape(text), hidden: 0, mixed: Vec::new() }
    }

    /// The text to show, and how many characters of it are left out.
    pub fn view(&self, all: bool) -> (String, usize) {
        let count = self.text.as_str().chars().count();
        if all || count <= VIEW_CHARS {
            return (self.text.as_str().to_owned(), 0);
        }
        (self.text.as_str().chars().take(VIEW_CHARS).collect(), count - VIEW_CHARS)
    }
}

/// A request for approval (000 ApprovalRequest), with the digest that the answer is bound to.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The request's id.
    pub request_id: String,
    /// The tool.
    pub tool_name: String,
    /// The canonical arguments.
    pub args: Map<String, Value>,
    /// The agent that calls.
    pub agent_name: String,
    /// The run.
    pub run_id: String,
    /// The session.
    pub session_id: Option<String>,
    /// The user.
    pub user_id: Option<String>,
    /// The tenant.
    pub tenant_id: Option<String>,
    /// SHA-256 of everything that would run.
    pub approval_digest: String,
    /// Whether the manifest calls the tool destructive: then its name has to be typed.
    pub destructive: bool,
    /// The lines to show, in order.
    pub details: Vec<Detail>,
}

/// What a request is made of.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The decided call.
    pub decided: &'a Decided,
    /// The sandbox that would hold it.
    pub report: &'a PlanReport,
    /// The caller's claims.
    pub ctx: &'a Context,
    /// The digest of all that would run.
    pub digest: &'a str,
    /// The rule with its place, such as `main/writes (policies/main.yaml:6:5)`.
    pub rule: &'a str,
    /// Which of the arguments are secret: their values are not shown.
    pub secrets: &'a [String],
}

impl ApprovalRequest {
    /// The request for a decided call.
    pub fn new(asked: Asked<'_>) -> Self {
        let Asked { decided, report, ctx, digest, .. } = asked;
        let call = decided.call();
        let short = digest.trim_start_matches("sha256:").get(..12).unwrap_or_default();
        Self {
            request_id: format!("ar:{short}:{}", call.tool_call_id()),
            tool_name: call.tool_name().to_owned(),
            args: call.args().clone(),
            agent_name: ctx.agent_name().unwrap_or_default().to_owned(),
            run_id: ctx.run_id.clone().unwrap_or_default(),
            session_id: ctx.session_id.clone(),
            user_id: ctx.user_id.clone(),
            tenant_id: ctx.tenant_id.clone(),
            approval_digest: digest.to_owned(),
            destructive: decided.tool().destructive,
            details: details(asked, report),
        }
    }

    /// The one word that means yes.
    pub fn word(&self) -> &str {
        if self.destructive { &self.tool_name } else { "yes" }
    }
}

fn details(asked: Asked<'_>, report: &PlanReport) -> Vec<Detail> {
    let Asked { decided, ctx, rule, secrets, .. } = asked;
    let call = decided.call();
    let mut out = vec![Detail::own("tool", &tool_line(decided)), Detail::own("asked by", rule)];
    if let Some(reason) = &decided.decision().reason {
        out.push(Detail::own("reason", reason));
    }
    if let Some(program) = &report.program {
        let argv = quote_argv(&report.argv);
        let hidden = report.argv.iter().flat_map(|arg| arg.chars()).filter(|c| is_hidden(*c)).count();
        let mixed = mixed_words(&report.argv.join(" "));
        out.push(Detail { label: "runs", text: argv, hidden, mixed });
        out.push(Detail::untrusted("program", &Untrusted::new(program.to_string_lossy().into_owned())));
    }
    for (name, value) in call.args() {
        out.push(argument(name, value, call.defaults(), secrets));
    }
    for (pointer, original) in call.originals().iter().filter(|(pointer, _)| !secrets.contains(pointer)) {
        out.push(Detail::untrusted("written", &Untrusted::new(format!("{pointer} was {original}"))));
    }
    if !ctx.agents.is_empty() {
        out.push(Detail::untrusted("agent", &Untrusted::new(ctx.agents.join(" > "))));
    }
    let effects: Vec<&str> = decided.effects().iter().map(crate::model::Effect::as_str).collect();
    out.push(Detail::own("effects", &effects.join(", ")));
    out.push(Detail::untrusted("in", &Untrusted::new(report.cwd.clone())));
    out.push(Detail::untrusted("sandbox", &Untrusted::new(sandbox_line(report))));
    out.push(Detail::untrusted("env", &Untrusted::new(report.env.join(" "))));
    out
}

fn tool_line(decided: &Decided) -> String {
    let tool = decided.tool();
    let mut line = format!("{} ({})", tool.name, tool.layer);
    if tool.destructive {
        line.push_str(", may destroy data");
    }
    line
}

fn argument(name: &str, value: &Value, defaults: &[String], secrets: &[String]) -> Detail {
    let pointer = crate::canon::push_token("", name);
    let below = |list: &[String]| {
        list.iter().any(|entry| *entry == pointer || entry.starts_with(&format!("{pointer}/")))
    };
    let text = match value {
        _ if below(secrets) => "(secret, not shown)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    };
    let default = if defaults.contains(&pointer) { " (default)" } else { "" };
    Detail::untrusted("argument", &Untrusted::new(format!("{name} = {text}{default}")))
}

/// The sandbox in one line.
pub fn sandbox_line(report: &PlanReport) -> String {
    if report.backend == "none" {
        return "none: the tool runs with your rights".to_owned();
    }
    let mut line = report.backend.clone();
    for access in ["read", "write", "hidden"] {
        let paths: Vec<String> = report
            .mounts
            .iter()
            .filter(|mount| mount.access.split('+').next() == Some(access) && !is_everywhere(mount))
            .map(|mount| mount.path.to_string_lossy().into_owned())
            .collect();
        if !paths.is_empty() {
            let _ = write!(line, "; {access} {}", paths.join(" "));
        }
    }
    let _ = write!(line, "; network {}", report.network);
    let limits = &report.limits;
    let _ = write!(line, "; {} s", limits.timeout_ms.div_ceil(1000));
    if let Some(memory) = limits.memory_kib {
        let _ = write!(line, "; {} MiB", memory / 1024);
    }
    if let Some(processes) = limits.processes {
        let _ = write!(line, "; {processes} processes");
    }
    line
}

/// What every sandbox shows, which would only hide what matters. Exactly these paths, and only for reading: a place below
/// one of them, or one that can be written, is what somebody asked for.
fn is_everywhere(mount: &MountReport) -> bool {
    mount.access.starts_with("read") && shown_everywhere(&mount.path)
}

#[cfg(test)]
mod tests {
    use super::{is_everywhere, sandbox_line};
    use crate::sandbox::{LimitsReport, MountReport, PlanReport};
    use std::path::PathBuf;

    fn mount(path: &str, access: &str) -> MountReport {
        MountReport { path: PathBuf::from(path), access: access.to_owned() }
    }

    #[test]
    fn only_what_every_sandbox_shows_is_left_out() {
        for (path, access) in [("/usr", "read+exec"), ("/etc/alternatives", "read")] {
            assert!(is_everywhere(&mount(path, access)), "{path}");
        }
        for (path, access) in
            [("/usr", "write"), ("/usr/local/share", "read"), ("/etc/shadow", "read"), ("/tmp/ws", "read")]
        {
            assert!(!is_everywhere(&mount(path, access)), "{path}");
        }
    }

    #[test]
    fn the_line_names_places_by_what_may_be_done_there() {
        let report = PlanReport {
            backend: "auto".to_owned(),
            mounts: vec![
                mount("/usr", "read+exec"),
                mount("/tmp/ws", "write"),
                mount("/tmp/ws/policies", "read"),
                mount("/etc/shadow", "read"),
                mount("/tmp/ws/.env", "hidden"),
            ],
            network: "none".to_owned(),
            limits: LimitsReport {
                timeout_ms: 1500,
                memory_kib: Some(2048),
                output_bytes: 1,
                processes: None,
                file_bytes: None,
                cpu_seconds: None,
            },
            env: Vec::new(),
            cwd: String::new(),
            program: None,
            argv: Vec::new(),
            absent: Vec::new(),
            layers: Vec::new(),
            effect_enforcement: "kernel".to_owned(),
            digests: Vec::new(),
            flat_refusal: None,
        };
        assert_eq!(
            sandbox_line(&report),
            "auto; read /tmp/ws/policies /etc/shadow; write /tmp/ws; hidden /tmp/ws/.env; network none; 2 s; 2 MiB"
        );
    }
}
