//! Which configuration counts, and how far the decided effects and a rule's limits cut it down.

use crate::model::{
    AllowFs, AllowNetwork, Effect, EffectSet, EnvRequest, HostPort, SandboxConfig, SandboxSetting,
};
use std::time::Duration;

/// Wall time of one attempt where nothing is said.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Memory of the tree in MiB where nothing is said.
pub(super) const DEFAULT_MEMORY_MB: u64 = 256;
/// Bytes of one output stream where nothing is said.
pub(super) const DEFAULT_OUTPUT_BYTES: u64 = 1 << 20;
/// Processes and threads at once where nothing is said.
pub(super) const DEFAULT_PROCESSES: u64 = 64;
/// Size of one written file in MiB where nothing is said.
pub(super) const DEFAULT_FILE_MB: u64 = 256;

/// The configuration that counts (000 resolveSandboxConfig): the tool's, else the project's, else the defaults. `None`
/// means that no sandbox was chosen.
pub fn resolve(tool: Option<&SandboxSetting>, project: Option<&SandboxSetting>) -> Option<SandboxConfig> {
    match tool.or(project) {
        None | Some(SandboxSetting::Defaults) => Some(SandboxConfig::default()),
        Some(SandboxSetting::Off) => None,
        Some(SandboxSetting::Config(config)) => {
            (config.enabled != Some(false)).then(|| config.as_ref().clone())
        }
    }
}

/// Cuts a configuration down to the envelope of the effects and to a rule's limits. The result never allows more than
/// the configuration did.
pub fn cut(config: SandboxConfig, effects: EffectSet, limits: &[SandboxConfig]) -> SandboxConfig {
    let mut config = limits.iter().fold(config, limit_to);
    if !effects.contains(Effect::External) {
        config.allow_network = Some(AllowNetwork::No);
    }
    if !effects.contains(Effect::Write)
        && let Some(AllowFs::Paths { read_only, read_write }) = &mut config.allow_fs
    {
        read_only.append(read_write);
        read_only.sort();
        read_only.dedup();
    }
    config
}

fn limit_to(mut config: SandboxConfig, limit: &SandboxConfig) -> SandboxConfig {
    // What the default processor time follows is the timeout, so it is fixed before the timeout is cut.
    config.cpu_seconds = smaller(config.cpu_seconds, limit.cpu_seconds, None);
    config.timeout = smaller(config.timeout, limit.timeout, Some(DEFAULT_TIMEOUT));
    config.max_memory_mb = smaller(config.max_memory_mb, limit.max_memory_mb, Some(DEFAULT_MEMORY_MB));
    config.max_output_bytes =
        smaller(config.max_output_bytes, limit.max_output_bytes, Some(DEFAULT_OUTPUT_BYTES));
    config.max_processes = smaller(config.max_processes, limit.max_processes, Some(DEFAULT_PROCESSES));
    config.max_file_size_mb = smaller(config.max_file_size_mb, limit.max_file_size_mb, Some(DEFAULT_FILE_MB));
    if let Some(limit) = &limit.allow_network {
        config.allow_network = Some(meet_network(config.allow_network.unwrap_or(AllowNetwork::No), limit));
    }
    if let Some(limit) = &limit.allow_fs {
        config.allow_fs = Some(meet_fs(config.allow_fs.unwrap_or(AllowFs::No), limit));
    }
    if let Some(limit) = &limit.env {
        config.env = config.env.map(|env| meet_env(env, limit));
    }
    config.run_as = config.run_as.or(limit.run_as);
    for layer in &limit.required {
        if !config.required.contains(layer) {
            config.required.push(*layer);
        }
    }
    config
}

fn smaller<T: Ord + Copy>(asked: Option<T>, limit: Option<T>, default: Option<T>) -> Option<T> {
    match (asked.or(default), limit) {
        (Some(asked), Some(limit)) => Some(asked.min(limit)),
        (None, Some(limit)) => Some(limit),
        (_, None) => asked,
    }
}

fn meet_network(asked: AllowNetwork, limit: &AllowNetwork) -> AllowNetwork {
    match (asked, limit) {
        // A loopback of its own reaches no host, and a list of hosts reaches no loopback of its own.
        (AllowNetwork::No, _)
        | (_, AllowNetwork::No)
        | (AllowNetwork::Loopback, AllowNetwork::Hosts(_))
        | (AllowNetwork::Hosts(_), AllowNetwork::Loopback) => AllowNetwork::No,
        (asked, AllowNetwork::Yes) => asked,
        (AllowNetwork::Yes, limit) => limit.clone(),
        (AllowNetwork::Hosts(asked), AllowNetwork::Hosts(limit)) => {
            let both: Vec<HostPort> = asked.into_iter().filter(|host| limit.contains(host)).collect();
            if both.is_empty() { AllowNetwork::No } else { AllowNetwork::Hosts(both) }
        }
        (AllowNetwork::Loopback, AllowNetwork::Loopback) => AllowNetwork::Loopback,
    }
}

fn meet_fs(asked: AllowFs, limit: &AllowFs) -> AllowFs {
    match (asked, limit) {
        (AllowFs::No, _) | (_, AllowFs::No) => AllowFs::No,
        (asked, AllowFs::All) => asked,
        (AllowFs::All, limit) => limit.clone(),
        (
            AllowFs::Paths { read_only, read_write },
            AllowFs::Paths { read_only: limit_read, read_write: limit_write },
        ) => {
            let (write, lost): (Vec<_>, Vec<_>) =
                read_write.into_iter().partition(|path| is_below(path, limit_write));
            let read = read_only
                .into_iter()
                .chain(lost)
                .filter(|path| is_below(path, limit_read) || is_below(path, limit_write))
                .collect();
            AllowFs::Paths { read_only: read, read_write: write }
        }
    }
}

/// Whether the path, as written, is one of the roots or lies below one. A path that steps up lies below nothing.
fn is_below(path: &str, roots: &[String]) -> bool {
    let plain = !path.split('/').any(|part| part == "..");
    roots.iter().any(|root| {
        let root = root.trim_end_matches('/');
        path.trim_end_matches('/') == root
            || (plain && path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/')))
    })
}

fn meet_env(mut asked: EnvRequest, limit: &EnvRequest) -> EnvRequest {
    asked.forward.retain(|name| limit.forward.contains(name));
    asked.set.retain(|name, _| limit.set.contains_key(name) || limit.forward.contains(name));
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(ro: &[&str], rw: &[&str]) -> AllowFs {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        AllowFs::Paths { read_only: own(ro), read_write: own(rw) }
    }

    #[test]
    fn resolution_follows_the_seed() {
        let off = SandboxSetting::Off;
        let defaults = SandboxSetting::Defaults;
        let disabled = SandboxSetting::Config(Box::new(SandboxConfig {
            enabled: Some(false),
            ..SandboxConfig::default()
        }));
        let own = SandboxConfig { max_memory_mb: Some(64), ..SandboxConfig::default() };
        let config = SandboxSetting::Config(Box::new(own.clone()));
        let on = Some(SandboxConfig::default());
        for (tool, project, expected) in [
            (None, None, on.clone()),
            (Some(&off), Some(&config), None),
            (None, Some(&off), None),
            (Some(&defaults), Some(&off), on.clone()),
            (Some(&disabled), Some(&defaults), None),
            (Some(&config), Some(&off), Some(own.clone())),
            (None, Some(&config), Some(own)),
        ] {
            assert_eq!(resolve(tool, project), expected, "{tool:?} {project:?}");
        }
    }

    #[test]
    fn effects_cut_network_and_writes() {
        let config = SandboxConfig {
            allow_network: Some(AllowNetwork::Yes),
            allow_fs: Some(paths(&["/a"], &["/b"])),
            ..SandboxConfig::default()
        };
        for (effects, network, fs) in [
            (EffectSet::of(Effect::Read), AllowNetwork::No, paths(&["/a", "/b"], &[])),
            (EffectSet::of(Effect::Unknown), AllowNetwork::No, paths(&["/a", "/b"], &[])),
            (EffectSet::of(Effect::Execute), AllowNetwork::No, paths(&["/a", "/b"], &[])),
            (EffectSet::of(Effect::Write), AllowNetwork::No, paths(&["/a"], &["/b"])),
            (EffectSet::of(Effect::External), AllowNetwork::Yes, paths(&["/a", "/b"], &[])),
            (EffectSet::of(Effect::External).with(Effect::Write), AllowNetwork::Yes, paths(&["/a"], &["/b"])),
        ] {
            let result = cut(config.clone(), effects, &[]);
            assert_eq!(result.allow_network, Some(network), "{effects:?}");
            assert_eq!(result.allow_fs, Some(fs), "{effects:?}");
        }
    }

    #[test]
    fn limits_never_loosen() {
        let all: EffectSet = Effect::ALL.into_iter().collect();
        let wide = SandboxConfig {
            timeout: Some(Duration::from_secs(600)),
            max_memory_mb: Some(4096),
            allow_network: Some(AllowNetwork::Yes),
            allow_fs: Some(AllowFs::All),
            ..SandboxConfig::default()
        };
        let unset = cut(SandboxConfig::default(), all, std::slice::from_ref(&wide));
        assert_eq!(unset.timeout, Some(DEFAULT_TIMEOUT));
        assert_eq!(unset.max_memory_mb, Some(DEFAULT_MEMORY_MB));
        assert_eq!(unset.allow_network, Some(AllowNetwork::No));
        assert_eq!(unset.allow_fs, Some(AllowFs::No));
        let narrow = SandboxConfig {
            timeout: Some(Duration::from_secs(1)),
            allow_network: Some(AllowNetwork::Loopback),
            allow_fs: Some(paths(&["/a"], &["/w/in"])),
            ..SandboxConfig::default()
        };
        let result = cut(wide, all, &[narrow]);
        assert_eq!(result.timeout, Some(Duration::from_secs(1)));
        assert_eq!(result.max_memory_mb, Some(4096));
        assert_eq!(result.allow_network, Some(AllowNetwork::Loopback));
        assert_eq!(result.allow_fs, Some(paths(&["/a"], &["/w/in"])));
    }

    #[test]
    fn paths_meet_by_folder() {
        let limit = paths(&["/a"], &["/w"]);
        let asked = paths(&["/a/x", "/ab", "/a/../etc"], &["/w/y", "/a", "/z"]);
        assert_eq!(meet_fs(asked, &limit), paths(&["/a/x", "/a"], &["/w/y"]));
    }
}
