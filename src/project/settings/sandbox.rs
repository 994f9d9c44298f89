//! Layers of the default sandbox: field by field, each can only get narrower inwards.

use super::merge::Inner;
use crate::model::{AllowFs, AllowNetwork, EnvRequest, SandboxConfig, SandboxSetting};
use std::collections::BTreeSet;
use std::time::Duration;

/// Adds `sandbox:` of the inner layer.
pub(super) fn merge(inner: &mut Inner<'_>, now: &mut Option<SandboxSetting>) {
    let Some(new) = &inner.file.sandbox else { return };
    let was_off = match &*now {
        Some(SandboxSetting::Off) => true,
        Some(SandboxSetting::Config(config)) => config.enabled == Some(false),
        Some(SandboxSetting::Defaults) | None => false,
    };
    match new {
        SandboxSetting::Off => {
            if inner.accepts("sandbox", was_off) {
                *now = Some(SandboxSetting::Off);
            }
        }
        SandboxSetting::Defaults => {
            if inner.accepts("sandbox", true) && !matches!(now, Some(SandboxSetting::Config(_)) if !was_off) {
                *now = Some(SandboxSetting::Defaults);
            }
        }
        SandboxSetting::Config(new) => {
            let old = match now.take() {
                Some(SandboxSetting::Config(config)) => *config,
                Some(SandboxSetting::Off) => {
                    SandboxConfig { enabled: Some(false), ..SandboxConfig::default() }
                }
                Some(SandboxSetting::Defaults) | None => SandboxConfig::default(),
            };
            *now = Some(SandboxSetting::Config(Box::new(fields(inner, old, new, was_off))));
        }
    }
}

fn fields(inner: &mut Inner<'_>, old: SandboxConfig, new: &SandboxConfig, was_off: bool) -> SandboxConfig {
    let mut out = old;
    // The mapping itself switches the sandbox on unless it says otherwise.
    let enabled = new.enabled.unwrap_or(true);
    if inner.accepts("sandbox", enabled || was_off) {
        out.enabled = Some(enabled);
    }
    let default_timeout = Duration::from_secs(30);
    lower(inner, "sandbox.timeout", new.timeout, &mut out.timeout, Some(default_timeout));
    lower(inner, "sandbox.maxMemoryMB", new.max_memory_mb, &mut out.max_memory_mb, Some(256));
    lower(inner, "sandbox.maxOutputBytes", new.max_output_bytes, &mut out.max_output_bytes, Some(1 << 20));
    lower(inner, "sandbox.maxProcesses", new.max_processes, &mut out.max_processes, Some(64));
    lower(inner, "sandbox.maxFileSizeMB", new.max_file_size_mb, &mut out.max_file_size_mb, Some(256));
    lower(inner, "sandbox.cpuSeconds", new.cpu_seconds, &mut out.cpu_seconds, None);
    if let Some(network) = &new.allow_network {
        let old = out.allow_network.as_ref().unwrap_or(&AllowNetwork::No);
        if inner.accepts("sandbox.allowNetwork", network_within(network, old)) {
            out.allow_network = Some(network.clone());
        }
    }
    if let Some(fs) = &new.allow_fs {
        let old = out.allow_fs.as_ref().unwrap_or(&AllowFs::No);
        if inner.accepts("sandbox.allowFS", fs_within(fs, old)) {
            out.allow_fs = Some(fs.clone());
        }
    }
    if let Some(env) = &new.env {
        let nothing = EnvRequest::default();
        let old = out.env.as_ref().unwrap_or(&nothing);
        let within = env.forward.iter().all(|name| old.forward.contains(name))
            && env.set.iter().all(|(name, value)| old.set.get(name) == Some(value));
        if inner.accepts("sandbox.env", within) {
            out.env = Some(env.clone());
        }
    }
    if let Some(user) = new.run_as
        && inner.accepts("sandbox.runAs", out.run_as == Some(user))
    {
        out.run_as = Some(user);
    }
    for layer in &new.required {
        if !out.required.contains(layer) {
            out.required.push(*layer);
        }
    }
    out
}

fn lower<T: PartialOrd + Copy>(
    inner: &mut Inner<'_>,
    key: &'static str,
    new: Option<T>,
    old: &mut Option<T>,
    default: Option<T>,
) {
    let Some(value) = new else { return };
    let bound = old.or(default);
    if inner.accepts(key, bound.is_none_or(|bound| value <= bound)) {
        *old = Some(value);
    }
}

fn network_within(new: &AllowNetwork, old: &AllowNetwork) -> bool {
    match (new, old) {
        (AllowNetwork::No, _) | (_, AllowNetwork::Yes) | (AllowNetwork::Loopback, AllowNetwork::Loopback) => {
            true
        }
        (AllowNetwork::Hosts(new), AllowNetwork::Hosts(old)) => new.iter().all(|host| old.contains(host)),
        (AllowNetwork::Loopback | AllowNetwork::Yes, AllowNetwork::Hosts(_) | AllowNetwork::No)
        | (AllowNetwork::Hosts(_), AllowNetwork::No | AllowNetwork::Loopback)
        | (AllowNetwork::Yes, AllowNetwork::Loopback) => false,
    }
}

fn fs_within(new: &AllowFs, old: &AllowFs) -> bool {
    let set = |paths: &[String]| paths.iter().cloned().collect::<BTreeSet<_>>();
    match (new, old) {
        (AllowFs::No, _) | (_, AllowFs::All) => true,
        (AllowFs::All | AllowFs::Paths { .. }, AllowFs::No) | (AllowFs::All, AllowFs::Paths { .. }) => false,
        (
            AllowFs::Paths { read_only, read_write },
            AllowFs::Paths { read_only: old_read, read_write: old_write },
        ) => {
            let (old_read, old_write) = (set(old_read), set(old_write));
            set(read_write).is_subset(&old_write)
                && set(read_only).iter().all(|path| old_read.contains(path) || old_write.contains(path))
        }
    }
}
