//! The sandbox that a manifest, the settings or a grant's `limits` ask for (000 SandboxConfig), before it is cut down
//! to what the decided effect may do.

use crate::source::{Decoder, MapReader, Node, NodeKind};
use crate::text::Span;
use std::collections::BTreeMap;
use std::time::Duration;

/// `sandbox:` as it can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxSetting {
    /// `false`: no sandbox.
    Off,
    /// `true`: the defaults.
    Defaults,
    /// A configuration object.
    Config(Box<SandboxConfig>),
}

/// A SandboxConfig; `None` means not said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxConfig {
    /// `enabled: false` means none; an object without it means on.
    pub enabled: Option<bool>,
    /// Wall time of one attempt. Default 30 s.
    pub timeout: Option<Duration>,
    /// Memory of the whole process tree in MiB. Default 256.
    pub max_memory_mb: Option<u64>,
    /// Network. Default none.
    pub allow_network: Option<AllowNetwork>,
    /// Files. Default none of the user's.
    pub allow_fs: Option<AllowFs>,
    /// Environment.
    pub env: Option<EnvRequest>,
    /// Bytes of stdout, and the same again of stderr, after which the tool is ended. Default 1 MiB.
    pub max_output_bytes: Option<u64>,
    /// Processes and threads at once. Default 64.
    pub max_processes: Option<u64>,
    /// Size of one written file in MiB. Default 256.
    pub max_file_size_mb: Option<u64>,
    /// CPU time of one process in seconds. Default twice the timeout.
    pub cpu_seconds: Option<u64>,
    /// Another user to run as; only root can grant it.
    pub run_as: Option<RunAs>,
    /// Layers whose weaker form is refused.
    pub required: Vec<RequiredLayer>,
}

/// `allowNetwork`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowNetwork {
    /// `false`.
    No,
    /// `loopback`: a loopback device of its own.
    Loopback,
    /// Only these destinations, where the kernel can hold it.
    Hosts(Vec<HostPort>),
    /// `true`: the host's network.
    Yes,
}

/// A destination, `host:port`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort {
    /// A host name or address, lower case.
    pub host: String,
    /// A port.
    pub port: u16,
}

/// `allowFS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowFs {
    /// `false`: only the runtime of the system and the tool itself.
    No,
    /// `true`: the host's tree, control files aside.
    All,
    /// These paths; each may hold placeholders.
    Paths {
        /// Paths that can be read.
        read_only: Vec<String>,
        /// Paths that can be written, if the decided effect includes write.
        read_write: Vec<String>,
    },
}

/// `env`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvRequest {
    /// Variables with fixed values.
    pub set: BTreeMap<String, String>,
    /// Names forwarded from the caller's environment, if the outer layers list them as forwardable.
    pub forward: Vec<String>,
}

/// `runAs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunAs {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// A layer that `required` can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequiredLayer {
    /// A network namespace of its own.
    Netns,
    /// Memory and processes held by a control group.
    Cgroup,
    /// Landlock.
    Landlock,
}

impl SandboxSetting {
    /// Decodes `sandbox:`.
    pub fn decode(decoder: &mut Decoder, node: &Node) -> Option<Self> {
        match &node.kind {
            NodeKind::Bool(false) => Some(Self::Off),
            NodeKind::Bool(true) => Some(Self::Defaults),
            NodeKind::Map(_) => {
                SandboxConfig::decode(decoder, node).map(|config| Self::Config(Box::new(config)))
            }
            NodeKind::Null | NodeKind::Number(_) | NodeKind::String(_) | NodeKind::Seq(_) => {
                decoder.wrong_type(node, "`sandbox`", "true, false or a mapping");
                None
            }
        }
    }
}

impl SandboxConfig {
    /// Decodes a SandboxConfig mapping; errors are reported and leave the value out.
    pub fn decode(decoder: &mut Decoder, node: &Node) -> Option<Self> {
        let mut map = MapReader::new(decoder, node, "a sandbox")?;
        let config = Self {
            enabled: map.optional("enabled").and_then(|n| decoder.bool(n, "`enabled`")),
            timeout: map.optional("timeout").and_then(|n| decoder.duration(n, "`timeout`")),
            max_memory_mb: map
                .optional("maxMemoryMB")
                .and_then(|n| decoder.integer(n, "`maxMemoryMB`", 8..=1_048_576)),
            allow_network: map.optional("allowNetwork").and_then(|n| decode_network(decoder, n)),
            allow_fs: map.optional("allowFS").and_then(|n| decode_fs(decoder, n)),
            env: map.optional("env").and_then(|n| decode_env(decoder, n)),
            max_output_bytes: map
                .optional("maxOutputBytes")
                .and_then(|n| decoder.integer(n, "`maxOutputBytes`", 1..=1 << 30)),
            max_processes: map
                .optional("maxProcesses")
                .and_then(|n| decoder.integer(n, "`maxProcesses`", 1..=32_768)),
            max_file_size_mb: map
                .optional("maxFileSizeMB")
                .and_then(|n| decoder.integer(n, "`maxFileSizeMB`", 0..=1_048_576)),
            cpu_seconds: map
                .optional("cpuSeconds")
                .and_then(|n| decoder.integer(n, "`cpuSeconds`", 1..=1_000_000)),
            run_as: map.optional("runAs").and_then(|n| decode_run_as(decoder, n)),
            required: map.optional("required").map(|n| decode_required(decoder, n)).unwrap_or_default(),
        };
        map.finish(decoder);
        Some(config)
    }
}

fn decode_network(decoder: &mut Decoder, node: &Node) -> Option<AllowNetwork> {
    match &node.kind {
        NodeKind::Bool(true) => Some(AllowNetwork::Yes),
        NodeKind::Bool(false) => Some(AllowNetwork::No),
        NodeKind::String(text) if text == "loopback" => Some(AllowNetwork::Loopback),
        NodeKind::Seq(items) => {
            let hosts: Vec<_> = items.iter().map(|item| decode_host(decoder, item)).collect();
            hosts.into_iter().collect::<Option<Vec<_>>>().map(AllowNetwork::Hosts)
        }
        NodeKind::Null | NodeKind::Number(_) | NodeKind::String(_) | NodeKind::Map(_) => {
            decoder.wrong_type(node, "`allowNetwork`", "true, false, loopback or a list of host:port");
            None
        }
    }
}

fn decode_host(decoder: &mut Decoder, node: &Node) -> Option<HostPort> {
    let text = decoder.string(node, "a host")?;
    let parsed = text.rsplit_once(':').and_then(|(host, port)| {
        let port = port.parse::<u16>().ok().filter(|port| *port != 0)?;
        let host = host.to_ascii_lowercase();
        let ok =
            !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._[]:".contains(&b));
        ok.then_some(HostPort { host, port })
    });
    if parsed.is_none() {
        decoder.bad_value(node.span, "a host must be written as host:port", "not host:port");
    }
    parsed
}

fn decode_fs(decoder: &mut Decoder, node: &Node) -> Option<AllowFs> {
    match &node.kind {
        NodeKind::Bool(true) => Some(AllowFs::All),
        NodeKind::Bool(false) => Some(AllowFs::No),
        NodeKind::Map(_) => {
            let mut map = MapReader::new(decoder, node, "`allowFS`")?;
            let read_only =
                map.optional("readOnly").map_or(Some(Vec::new()), |n| decoder.strings(n, "`readOnly`"));
            let read_write =
                map.optional("readWrite").map_or(Some(Vec::new()), |n| decoder.strings(n, "`readWrite`"));
            map.finish(decoder);
            Some(AllowFs::Paths { read_only: read_only?, read_write: read_write? })
        }
        NodeKind::Null | NodeKind::Number(_) | NodeKind::String(_) | NodeKind::Seq(_) => {
            decoder.wrong_type(node, "`allowFS`", "true, false or a mapping with readOnly and readWrite");
            None
        }
    }
}

fn decode_env(decoder: &mut Decoder, node: &Node) -> Option<EnvRequest> {
    // A mapping that has only `set` and `forward`, as a mapping and a list, is the long form; any other is `set`.
    let long = matches!(node.get("set").map(|n| &n.kind), Some(NodeKind::Map(_)))
        || matches!(node.get("forward").map(|n| &n.kind), Some(NodeKind::Seq(_)));
    if !long {
        return decode_env_set(decoder, node).map(|set| EnvRequest { set, forward: Vec::new() });
    }
    let mut map = MapReader::new(decoder, node, "`env`")?;
    let set = map.optional("set").map_or(Some(BTreeMap::new()), |n| decode_env_set(decoder, n));
    let forward = map.optional("forward").map_or(Some(Vec::new()), |n| decoder.strings(n, "`forward`"));
    map.finish(decoder);
    Some(EnvRequest { set: set?, forward: forward? })
}

fn decode_env_set(decoder: &mut Decoder, node: &Node) -> Option<BTreeMap<String, String>> {
    let map = MapReader::new(decoder, node, "`env`")?;
    let mut set = BTreeMap::new();
    for entry in map.rest() {
        check_env_name(decoder, &entry.key, entry.key_span);
        if let Some(value) = decoder.string(&entry.value, "an environment value") {
            set.insert(entry.key.clone(), value.to_owned());
        }
    }
    Some(set)
}

fn check_env_name(decoder: &mut Decoder, name: &str, span: Span) {
    let valid = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !valid {
        decoder.bad_value(span, "not a name of an environment variable", "letters, digits and _ only");
    } else if name.starts_with("LD_") {
        decoder.bad_value(span, "variables of the dynamic loader cannot be set", "starts with LD_");
    }
}

fn decode_run_as(decoder: &mut Decoder, node: &Node) -> Option<RunAs> {
    let text = decoder.string(node, "`runAs`")?;
    let parsed = text
        .split_once(':')
        .and_then(|(uid, gid)| Some(RunAs { uid: uid.parse().ok()?, gid: gid.parse().ok()? }));
    if parsed.is_none() {
        decoder.bad_value(node.span, "`runAs` must be written as \"uid:gid\" in numbers", "not uid:gid");
    }
    parsed
}

fn decode_required(decoder: &mut Decoder, node: &Node) -> Vec<RequiredLayer> {
    const CHOICES: [(&str, RequiredLayer); 3] = [
        ("netns", RequiredLayer::Netns),
        ("cgroup", RequiredLayer::Cgroup),
        ("landlock", RequiredLayer::Landlock),
    ];
    decoder
        .seq(node, "`required`")
        .unwrap_or_default()
        .iter()
        .filter_map(|item| decoder.choice(item, "a required layer", &CHOICES))
        .collect()
}
