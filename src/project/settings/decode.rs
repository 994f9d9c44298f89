//! Reads a settings file, every fault at once.

use super::file::{ApprovalFile, RouterFile, SettingsFile};
use super::values::{ApprovalPolicy, Backend, HelperCommand, LoopAction, OnException, TimeoutAction};
use crate::model::SandboxSetting;
use crate::source::{Decoder, Entry, MapReader, Node, NodeKind};
use crate::text::Span;
use std::collections::BTreeMap;

type Places = BTreeMap<&'static str, Span>;

/// Reads keys and remembers where they stand.
struct Reader<'n, 'p> {
    map: MapReader<'n>,
    places: &'p mut Places,
}

impl<'n> Reader<'n, '_> {
    /// The value of `key`, remembered as `full`.
    fn get(&mut self, key: &'static str, full: &'static str) -> Option<&'n Node> {
        let entry = self.map.entry(key)?;
        self.places.insert(full, entry.key_span);
        Some(&entry.value)
    }
}

impl SettingsFile {
    /// Decodes a settings file; an empty one says nothing. `None` if it has an error.
    pub fn decode(decoder: &mut Decoder, node: &Node) -> Option<Self> {
        if node.kind == NodeKind::Null {
            return Some(Self::default());
        }
        let mut own = Decoder::new();
        let file = decode(&mut own, node);
        let failed = own.has_errors();
        for diagnostic in own.into_diagnostics() {
            decoder.report(diagnostic);
        }
        file.filter(|_| !failed)
    }
}

fn decode(decoder: &mut Decoder, node: &Node) -> Option<SettingsFile> {
    let mut places = Places::new();
    let map = MapReader::new(decoder, node, "the settings")?;
    let mut reader = Reader { map, places: &mut places };
    let mut file = SettingsFile {
        workspace: reader
            .get("workspace", "workspace")
            .and_then(|n| decoder.string(n, "`workspace`"))
            .map(str::to_owned),
        agent_name: reader
            .get("agentName", "agentName")
            .and_then(|n| decoder.string(n, "`agentName`"))
            .map(str::to_owned),
        concurrency: reader
            .get("concurrency", "concurrency")
            .and_then(|n| decoder.integer(n, "`concurrency`", 1..=1024)),
        on_tool_exception: reader.get("onToolException", "onToolException").and_then(|n| {
            decoder.choice(
                n,
                "`onToolException`",
                &[("report", OnException::Report), ("abort", OnException::Abort)],
            )
        }),
        runtime: reader.get("runtime", "runtime").and_then(|n| absolute_dirs(decoder, n, "`runtime`")),
        path: reader.get("path", "path").and_then(|n| absolute_dirs(decoder, n, "`path`")),
        forwardable_env: reader
            .get("forwardableEnv", "forwardableEnv")
            .and_then(|n| decoder.strings(n, "`forwardableEnv`")),
        tools: reader.get("tools", "tools").and_then(|n| dirs(decoder, n, "`tools`")),
        policies: reader.get("policies", "policies").and_then(|n| dirs(decoder, n, "`policies`")),
        ..SettingsFile::default()
    };
    let sandbox = reader.get("sandbox", "sandbox");
    let approval = reader.get("approval", "approval");
    let artifacts = reader.get("artifacts", "artifacts");
    let loops = reader.get("loopDetection", "loopDetection");
    let router = reader.get("router", "router");
    reader.map.finish(decoder);
    if let Some(node) = sandbox {
        (file.sandbox, file.backend) = decode_sandbox(decoder, node, &mut places);
    }
    if let Some(node) = approval {
        file.approval = decode_approval(decoder, node, &mut places)?;
    }
    if let Some(node) = router {
        file.router = decode_router(decoder, node, &mut places)?;
    }
    if let Some(node) = artifacts {
        let map = MapReader::new(decoder, node, "`artifacts`")?;
        let mut reader = Reader { map, places: &mut places };
        file.max_tool_output_bytes = reader
            .get("maxToolOutputBytes", "artifacts.maxToolOutputBytes")
            .and_then(|n| decoder.integer(n, "`maxToolOutputBytes`", 1..=1 << 40));
        file.preview_chars = reader
            .get("previewChars", "artifacts.previewChars")
            .and_then(|n| decoder.integer(n, "`previewChars`", 0..=1 << 30));
        reader.map.finish(decoder);
    }
    if let Some(node) = loops {
        decode_loops(decoder, node, &mut places, &mut file)?;
    }
    file.places = places;
    Some(file)
}

/// The keys of `sandbox`, so that a value can be found by its whole name.
const SANDBOX_KEYS: [(&str, &str); 10] = [
    ("timeout", "sandbox.timeout"),
    ("maxMemoryMB", "sandbox.maxMemoryMB"),
    ("allowNetwork", "sandbox.allowNetwork"),
    ("allowFS", "sandbox.allowFS"),
    ("env", "sandbox.env"),
    ("maxOutputBytes", "sandbox.maxOutputBytes"),
    ("maxProcesses", "sandbox.maxProcesses"),
    ("maxFileSizeMB", "sandbox.maxFileSizeMB"),
    ("cpuSeconds", "sandbox.cpuSeconds"),
    ("runAs", "sandbox.runAs"),
];

/// A SandboxConfig with one key more: `backend`.
fn decode_sandbox(
    decoder: &mut Decoder,
    node: &Node,
    places: &mut Places,
) -> (Option<SandboxSetting>, Option<Backend>) {
    const CHOICES: [(&str, Backend); 3] =
        [("auto", Backend::Auto), ("ns", Backend::Ns), ("flat", Backend::Flat)];
    let NodeKind::Map(entries) = &node.kind else {
        return (SandboxSetting::decode(decoder, node), None);
    };
    for (key, full) in SANDBOX_KEYS {
        if let Some(entry) = node.entry(key) {
            places.insert(full, entry.key_span);
        }
    }
    let mut backend = None;
    if let Some(entry) = node.entry("backend") {
        places.insert("sandbox.backend", entry.key_span);
        backend = decoder.choice(&entry.value, "`backend`", &CHOICES);
    }
    let rest: Vec<Entry> = entries.iter().filter(|entry| entry.key != "backend").cloned().collect();
    if rest.is_empty() && backend.is_some() {
        return (None, backend);
    }
    (SandboxSetting::decode(decoder, &Node { span: node.span, kind: NodeKind::Map(rest) }), backend)
}

fn decode_approval(decoder: &mut Decoder, node: &Node, places: &mut Places) -> Option<ApprovalFile> {
    const ACTIONS: [(&str, TimeoutAction); 3] =
        [("deny", TimeoutAction::Deny), ("approve", TimeoutAction::Approve), ("throw", TimeoutAction::Throw)];
    let map = MapReader::new(decoder, node, "`approval`")?;
    let mut reader = Reader { map, places };
    let file = ApprovalFile {
        policy: reader.get("policy", "approval.policy").and_then(|n| decode_policy(decoder, n)),
        timeout: reader.get("timeout", "approval.timeout").and_then(|n| decoder.duration(n, "`timeout`")),
        timeout_action: reader
            .get("timeoutAction", "approval.timeoutAction")
            .and_then(|n| decoder.choice(n, "`timeoutAction`", &ACTIONS)),
        command: reader.get("command", "approval.command").and_then(|n| decode_helper(decoder, n)),
        additional: reader
            .get("additional", "approval.additional")
            .and_then(|n| decoder.strings(n, "`additional`")),
        approvers: reader
            .get("approvers", "approval.approvers")
            .and_then(|n| decoder.strings(n, "`approvers`")),
        need: reader.get("need", "approval.need").and_then(|n| decoder.integer(n, "`need`", 1..=100)),
    };
    reader.map.finish(decoder);
    Some(file)
}

fn decode_policy(decoder: &mut Decoder, node: &Node) -> Option<ApprovalPolicy> {
    match &node.kind {
        NodeKind::String(text) if text == "none" => Some(ApprovalPolicy::None),
        NodeKind::String(text) if text == "all" => Some(ApprovalPolicy::All),
        NodeKind::Seq(_) => {
            decoder.strings(node, "`policy`").map(|names| ApprovalPolicy::Names(names.into_iter().collect()))
        }
        NodeKind::String(_) => {
            decoder.bad_value(node.span, "`policy` must be none, all or a list of tools", "none of these");
            None
        }
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Map(_) => {
            decoder.wrong_type(node, "`policy`", "none, all or a list of tools");
            None
        }
    }
}

fn decode_helper(decoder: &mut Decoder, node: &Node) -> Option<HelperCommand> {
    let (argv_node, sandbox) = if matches!(node.kind, NodeKind::Map(_)) {
        let mut map = MapReader::new(decoder, node, "a helper command")?;
        let argv = map.required(decoder, "command");
        let sandbox = map.optional("sandbox").map(|n| SandboxSetting::decode(decoder, n));
        map.finish(decoder);
        (argv?, sandbox)
    } else {
        (node, None)
    };
    let items = decoder.seq(argv_node, "a helper command")?;
    let argv: Vec<_> =
        items.iter().map(|n| decoder.string(n, "an element of the command").map(str::to_owned)).collect();
    let argv = argv.into_iter().collect::<Option<Vec<_>>>()?;
    if argv.first().is_none_or(String::is_empty) {
        decoder.bad_value(argv_node.span, "the helper command is empty", "name a program");
        return None;
    }
    match sandbox {
        None => Some(HelperCommand { argv, sandbox: None }),
        Some(said) => Some(HelperCommand { argv, sandbox: Some(said?) }),
    }
}

fn decode_router(decoder: &mut Decoder, node: &Node, places: &mut Places) -> Option<RouterFile> {
    let map = MapReader::new(decoder, node, "`router`")?;
    let mut reader = Reader { map, places };
    let count = 0..=10_000;
    let file = RouterFile {
        max_tools: reader
            .get("maxTools", "router.maxTools")
            .and_then(|n| decoder.integer(n, "`maxTools`", count.clone())),
        min_tools: reader
            .get("minTools", "router.minTools")
            .and_then(|n| decoder.integer(n, "`minTools`", count)),
        temperature: reader.get("temperature", "router.temperature").and_then(|n| match &n.kind {
            NodeKind::Number(text) if !text.starts_with('-') => Some(text.clone()),
            _ => {
                decoder.wrong_type(n, "`temperature`", "a number that is not negative");
                None
            }
        }),
        command: reader.get("command", "router.command").and_then(|n| decode_helper(decoder, n)),
    };
    reader.map.finish(decoder);
    Some(file)
}

fn decode_loops(
    decoder: &mut Decoder,
    node: &Node,
    places: &mut Places,
    file: &mut SettingsFile,
) -> Option<()> {
    let map = MapReader::new(decoder, node, "`loopDetection`")?;
    let mut reader = Reader { map, places };
    file.max_repeats = reader
        .get("maxRepeats", "loopDetection.maxRepeats")
        .and_then(|n| decoder.integer(n, "`maxRepeats`", 1..=1_000_000));
    file.loop_action = reader.get("action", "loopDetection.action").and_then(|n| {
        decoder.choice(n, "`action`", &[("abort", LoopAction::Abort), ("hint", LoopAction::Hint)])
    });
    file.reset_on_new_result = reader
        .get("resetOnNewResult", "loopDetection.resetOnNewResult")
        .and_then(|n| decoder.bool(n, "`resetOnNewResult`"));
    reader.map.finish(decoder);
    Some(())
}

/// Folders below the settings file's own.
fn dirs(decoder: &mut Decoder, node: &Node, what: &str) -> Option<Vec<String>> {
    let dirs = decoder.strings(node, what)?;
    let below = |dir: &String| {
        !dir.is_empty()
            && !dir.contains('\0')
            && !dir.starts_with('/')
            && dir.split('/').all(|part| !matches!(part, "" | "." | ".."))
    };
    if dirs.iter().all(below) {
        return Some(dirs);
    }
    decoder.bad_value(
        node.span,
        format!("{what} lists folders below the one of this file, such as `tools.d` or `ops/tools.d`"),
        "not below it, or not plainly written",
    );
    None
}

fn absolute_dirs(decoder: &mut Decoder, node: &Node, what: &str) -> Option<Vec<String>> {
    let dirs = decoder.strings(node, what)?;
    let fine = |dir: &String| {
        dir.len() > 1
            && dir.starts_with('/')
            && !dir.contains('\0')
            && !dir.split('/').any(|part| part == "..")
    };
    if dirs.iter().all(fine) {
        return Some(dirs);
    }
    decoder.bad_value(
        node.span,
        format!("{what} lists absolute folders"),
        "not absolute, or `/`, or with `..`",
    );
    None
}
