use super::{ApprovalPolicy, Backend, Merger, Settings, SettingsFile, TimeoutAction};
use crate::diag::{Code, Diagnostic};
use crate::model::{AllowFs, AllowNetwork, Layer, SandboxSetting};
use crate::source::{Decoder, Files, parse_yaml};

fn decode(text: &str) -> Result<SettingsFile, Vec<Diagnostic>> {
    let mut files = Files::new();
    let id = files.add("toolctl.yaml", text);
    let node = parse_yaml(&files, id)?;
    let mut decoder = Decoder::new();
    SettingsFile::decode(&mut decoder, &node).ok_or_else(|| decoder.into_diagnostics())
}

/// The settings of a user's and a project's file, and the codes of what was left out.
fn merged(user: &str, project: &str, trusted: bool) -> (Settings, Vec<Code>) {
    let mut merger = Merger::default();
    merger.add(Layer::User, &decode(user).unwrap(), true);
    merger.add(Layer::Project, &decode(project).unwrap(), trusted);
    let (settings, warnings) = merger.finish();
    assert!(warnings.iter().all(|w| w.primary.is_some()), "{warnings:#?}");
    (settings, warnings.iter().map(|w| w.code).collect())
}

const EVERY_KEY: &str = "
workspace: src
agentName: coder
concurrency: 3
sandbox: { backend: ns, enabled: true, timeout: 5s, maxMemoryMB: 64, allowNetwork: false, allowFS: false, env: {}, maxOutputBytes: 9, maxProcesses: 9, maxFileSizeMB: 9, cpuSeconds: 9, runAs: '1:1', required: [netns] }
approval:
  policy: [deploy]
  timeout: 60000
  timeoutAction: throw
  command: { command: [/usr/bin/ask, --now], sandbox: true }
  additional: [bob]
  approvers: [alice]
  need: 2
artifacts: { maxToolOutputBytes: 1000, previewChars: 100 }
loopDetection: { maxRepeats: 3, action: hint, resetOnNewResult: true }
router: { maxTools: 4, minTools: 1, temperature: 0.5, command: { command: [/usr/bin/route], sandbox: true } }
onToolException: abort
runtime: [/opt/sdk]
path: [/opt/bin]
forwardableEnv: [LANG]
tools: [tools.d, ops/tools.d]
policies: policies
";

#[test]
fn every_key_is_read() {
    let file = decode(EVERY_KEY).unwrap();
    assert_eq!(file.workspace(), Some("src"));
    assert_eq!(file.tool_dirs(), ["tools.d", "ops/tools.d"]);
    let mut merger = Merger::default();
    merger.add(Layer::User, &file, true);
    let (settings, warnings) = merger.finish();
    assert_eq!(warnings, []);
    assert_eq!(settings.concurrency, 3);
    assert_eq!(settings.backend, Backend::Ns);
    assert_eq!(settings.approval.need, 2);
    assert_eq!(settings.approval.timeout_action, TimeoutAction::Throw);
    assert!(settings.approval.command.unwrap().sandbox.is_some());
    assert_eq!(settings.router.temperature, "0.5");
    assert_eq!(settings.path, [std::path::PathBuf::from("/opt/bin")]);
    assert_eq!(settings.forwardable_env.len(), 1);
}

#[test]
fn an_empty_file_says_nothing() {
    let (settings, left_out) = merged("", "", false);
    assert_eq!((settings, left_out), (Settings::default(), vec![]));
}

#[test]
fn faults_are_errors_all_at_once() {
    let found = decode("concurency: 3\nconcurrency: 0\napproval: { timeout: never }\n").unwrap_err();
    assert_eq!(found.len(), 3, "{found:#?}");
    for bad in [
        "[]",
        "tools: [../up]",
        "tools: /abs",
        "policies: [a//b]",
        "tools: ''",
        "runtime: [/]",
        "runtime: [rel]",
        "path: [/a/../b]",
        "path: ['.']",
        "sandbox: { backend: vm }",
        "sandbox: maybe",
        "approval: { policy: some }",
        "approval: { command: [] }",
        "approval: { need: 0 }",
        "router: { temperature: -1 }",
        "onToolException: retry",
        "loopDetection: { action: stop }",
    ] {
        assert!(decode(bad).is_err(), "{bad}");
    }
}

/// Every setting that has a direction: (outer, inner that tightens, inner that loosens).
const DIRECTIONS: &[(&str, &str, &str)] = &[
    ("concurrency: 5", "concurrency: 2", "concurrency: 6"),
    ("sandbox: true", "sandbox: true", "sandbox: false"),
    ("sandbox: { timeout: 10s }", "sandbox: { timeout: 5s }", "sandbox: { timeout: 11s }"),
    ("sandbox: { maxMemoryMB: 100 }", "sandbox: { maxMemoryMB: 99 }", "sandbox: { maxMemoryMB: 101 }"),
    ("sandbox: { allowNetwork: true }", "sandbox: { allowNetwork: false }", "sandbox: { enabled: false }"),
    (
        "sandbox: { allowNetwork: ['a:1', 'b:1'] }",
        "sandbox: { allowNetwork: ['a:1'] }",
        "sandbox: { allowNetwork: ['c:1'] }",
    ),
    (
        "sandbox: { allowNetwork: loopback }",
        "sandbox: { allowNetwork: false }",
        "sandbox: { allowNetwork: true }",
    ),
    (
        "sandbox: { allowFS: { readOnly: [/a, /b] } }",
        "sandbox: { allowFS: { readOnly: [/a] } }",
        "sandbox: { allowFS: { readWrite: [/a] } }",
    ),
    ("sandbox: { allowFS: true }", "sandbox: { allowFS: false }", "sandbox: false"),
    (
        "sandbox: { env: { forward: [A, B] } }",
        "sandbox: { env: { forward: [A] } }",
        "sandbox: { env: { forward: [C] } }",
    ),
    ("sandbox: { backend: auto }", "sandbox: { backend: ns }", "sandbox: { backend: flat }"),
    ("approval: { timeout: 60s }", "approval: { timeout: 10s }", "approval: { timeout: 61s }"),
    (
        "approval: { timeoutAction: deny }",
        "approval: { timeoutAction: throw }",
        "approval: { timeoutAction: approve }",
    ),
    ("approval: { need: 2 }", "approval: { need: 3 }", "approval: { need: 1 }"),
    ("approval: { approvers: [a, b] }", "approval: { approvers: [a] }", "approval: { approvers: [c] }"),
    ("artifacts: { previewChars: 9 }", "artifacts: { previewChars: 8 }", "artifacts: { previewChars: 10 }"),
    (
        "loopDetection: { maxRepeats: 3 }",
        "loopDetection: { maxRepeats: 2 }",
        "loopDetection: { maxRepeats: 4 }",
    ),
    (
        "loopDetection: { action: abort }",
        "loopDetection: { action: abort }",
        "loopDetection: { action: hint }",
    ),
    ("onToolException: abort", "onToolException: abort", "onToolException: report"),
    ("runtime: [/a, /b]", "runtime: [/a]", "runtime: [/a, /c]"),
    ("agentName: a", "agentName: a", "agentName: b"),
    (
        "sandbox: { maxOutputBytes: 100 }",
        "sandbox: { maxOutputBytes: 99 }",
        "sandbox: { maxOutputBytes: 101 }",
    ),
    ("sandbox: { maxProcesses: 10 }", "sandbox: { maxProcesses: 9 }", "sandbox: { maxProcesses: 11 }"),
    ("sandbox: { maxFileSizeMB: 10 }", "sandbox: { maxFileSizeMB: 9 }", "sandbox: { maxFileSizeMB: 11 }"),
    ("sandbox: { cpuSeconds: 10 }", "sandbox: { cpuSeconds: 9 }", "sandbox: { cpuSeconds: 11 }"),
    ("sandbox: { runAs: '5:5' }", "sandbox: { runAs: '5:5' }", "sandbox: { runAs: '0:0' }"),
    (
        "sandbox: { env: { set: { A: b } } }",
        "sandbox: { env: { set: {} } }",
        "sandbox: { env: { set: { A: c } } }",
    ),
    (
        "artifacts: { maxToolOutputBytes: 9 }",
        "artifacts: { maxToolOutputBytes: 8 }",
        "artifacts: { maxToolOutputBytes: 10 }",
    ),
    (
        "loopDetection: { resetOnNewResult: false }",
        "loopDetection: { resetOnNewResult: false }",
        "loopDetection: { resetOnNewResult: true }",
    ),
];

/// Those that have none, and the test that says what they do instead.
const WITHOUT_DIRECTION: [(&str, &str); 14] = [
    ("workspace", "open::tests::unsafe_workspaces_are_refused: a project's own matter, refused above it"),
    ("tools", "faults_are_errors_all_at_once: folders below the file's own"),
    ("policies", "faults_are_errors_all_at_once: folders below the file's own; all layers' policies count"),
    ("approval.policy", "approval_lists_add_up"),
    ("approval.additional", "approval_lists_add_up"),
    ("approval.command", "what_acts_for_the_user_is_not_the_projects_to_choose"),
    ("router.command", "what_acts_for_the_user_is_not_the_projects_to_choose"),
    ("path", "what_acts_for_the_user_is_not_the_projects_to_choose"),
    ("forwardableEnv", "what_acts_for_the_user_is_not_the_projects_to_choose"),
    ("router.maxTools", "which tools are offered decides nothing"),
    ("router.minTools", "which tools are offered decides nothing"),
    ("router.temperature", "which tools are offered decides nothing"),
    ("sandbox.required", "required_layers_add_up"),
    ("sandbox.enabled", "an_outer_sandbox_that_is_off_can_be_switched_on"),
];

/// A key that is added to the settings has to be added to one of the two tables.
#[test]
fn every_setting_has_a_direction_or_a_reason() {
    let mut known: Vec<String> = WITHOUT_DIRECTION.iter().map(|(key, _)| (*key).to_owned()).collect();
    for (outer, tight, loose) in DIRECTIONS {
        for text in [outer, tight, loose] {
            known.extend(keys(text));
        }
    }
    let missing: Vec<_> = keys(EVERY_KEY).into_iter().filter(|key| !known.contains(key)).collect();
    assert_eq!(missing, Vec::<String>::new());
    // The list of all keys is complete: nothing that a file can say is left unsaid by it.
    let shown = format!("{:?}", decode(EVERY_KEY).unwrap());
    let unsaid: Vec<&str> = shown.split(", ").filter(|part| part.contains("None")).collect();
    assert_eq!(unsaid, Vec::<&str>::new(), "add the key to EVERY_KEY and to a table");
}

/// The dotted keys of a text, two levels deep.
fn keys(text: &str) -> Vec<String> {
    let mut files = Files::new();
    let id = files.add("toolctl.yaml", text);
    let node = parse_yaml(&files, id).unwrap();
    let entries = |node: &crate::source::Node| match &node.kind {
        crate::source::NodeKind::Map(entries) => entries.clone(),
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for entry in entries(&node) {
        let inner = entries(&entry.value);
        if inner.is_empty() || entry.key == "env" {
            found.push(entry.key.clone());
        }
        found.extend(inner.iter().map(|inner| format!("{}.{}", entry.key, inner.key)));
    }
    found
}

#[test]
fn required_layers_add_up() {
    let (settings, left_out) =
        merged("sandbox: { required: [netns] }", "sandbox: { required: [cgroup] }", false);
    let Some(SandboxSetting::Config(config)) = settings.sandbox else { panic!("a configuration") };
    assert_eq!((config.required.len(), left_out), (2, vec![]));
}

/// What is left out is said with the place of both: the inner line that does not count, and the outer one that it would
/// loosen.
#[test]
fn both_places_are_named() {
    let mut files = Files::new();
    let mut file = |name: &str, text: &str| {
        let id = files.add(name, text);
        let node = parse_yaml(&files, id).unwrap();
        SettingsFile::decode(&mut Decoder::new(), &node).unwrap()
    };
    let outer = file("/etc/toolctl/toolctl.yaml", "agentName: a\nconcurrency: 2\n");
    let inner = file("toolctl.yaml", "approval:\n  need: 1\nconcurrency: 3\n");
    let mut merger = Merger::default();
    merger.add(Layer::System, &outer, true);
    merger.add(Layer::Project, &inner, true);
    let (_, warnings) = merger.finish();
    let at = |span| {
        let at = files.location(span);
        format!("{}:{}:{}", at.file.display(), at.line, at.column)
    };
    let [warning] = warnings.as_slice() else { panic!("{warnings:#?}") };
    assert_eq!(at(warning.primary.as_ref().unwrap().span), "toolctl.yaml:3:1");
    assert_eq!(at(warning.related[0].span), "/etc/toolctl/toolctl.yaml:2:1");
}

#[test]
fn inner_layers_only_tighten() {
    for (outer, tight, loose) in DIRECTIONS {
        let (alone, _) = merged(outer, "", true);
        let (settings, left_out) = merged(outer, tight, true);
        assert_eq!(left_out, [], "{outer} / {tight}");
        assert!(*outer == *tight || outer.ends_with(": true") || settings != alone, "{outer} / {tight}");
        let (settings, left_out) = merged(outer, loose, true);
        assert_eq!(left_out, [Code::ConfigBadSetting], "{outer} / {loose}");
        // What was refused has no effect; a mapping of its own only says again that the sandbox is on.
        let loose_fields = |s: &Settings| match &s.sandbox {
            Some(SandboxSetting::Config(config)) => {
                let mut config = config.clone();
                config.enabled = config.enabled.filter(|on| !on);
                Some(config)
            }
            _ => None,
        };
        assert_eq!(loose_fields(&settings), loose_fields(&alone), "{outer} / {loose}");
        assert_eq!(
            Settings { sandbox: None, ..settings },
            Settings { sandbox: None, ..alone },
            "{outer} / {loose}"
        );
    }
}

#[test]
fn an_untrusted_project_cannot_loosen_the_defaults() {
    let table = [
        "concurrency: 6",
        "sandbox: false",
        "sandbox: { timeout: 31s }",
        "sandbox: { allowNetwork: true }",
        "sandbox: { allowFS: true }",
        "sandbox: { env: { set: { A: b } } }",
        "sandbox: { backend: flat }",
        "approval: { timeoutAction: approve }",
        "approval: { timeout: 301s }",
        "loopDetection: { action: hint }",
        "runtime: [/root]",
    ];
    for text in table {
        let (_, left_out) = merged("", text, false);
        assert_eq!(left_out, [Code::ConfigNeedsTrust], "{text}");
        let (trusted, left_out) = merged("", text, true);
        assert_eq!(left_out, [], "{text}");
        assert_ne!(trusted, Settings::default(), "{text}");
    }
    let (settings, left_out) = merged("", "concurrency: 2\napproval: { policy: all }\nsandbox: true", false);
    assert_eq!((settings.concurrency, left_out), (2, vec![]));
    assert_eq!(settings.approval.policy, ApprovalPolicy::All);
}

#[test]
fn approval_lists_add_up() {
    let policy = |user, project| merged(user, project, true).0.approval.policy;
    let names = |names: &[&str]| ApprovalPolicy::Names(names.iter().map(|n| (*n).to_owned()).collect());
    assert_eq!(policy("approval: { policy: [a] }", "approval: { policy: [b] }"), names(&["a", "b"]));
    assert_eq!(policy("approval: { policy: [a] }", "approval: { policy: none }"), names(&["a"]));
    assert_eq!(policy("approval: { policy: all }", "approval: { policy: [b] }"), ApprovalPolicy::All);
    let both = merged("approval: { additional: [a] }", "approval: { additional: [b] }", false).0;
    assert_eq!(both.approval.additional.len(), 2);
}

#[test]
fn what_acts_for_the_user_is_not_the_projects_to_choose() {
    for text in [
        "approval: { command: [/bin/true] }",
        "router: { command: [/bin/true] }",
        "path: [/ws/bin]",
        "forwardableEnv: [AWS_SECRET_ACCESS_KEY]",
    ] {
        let (settings, left_out) = merged("", text, true);
        assert_eq!((settings, left_out), (Settings::default(), vec![Code::ConfigBadSetting]), "{text}");
        let (settings, left_out) = merged(text, "", true);
        assert_eq!(left_out, [], "{text}");
        assert_ne!(settings, Settings::default(), "{text}");
    }
}

#[test]
fn an_outer_sandbox_that_is_off_can_be_switched_on() {
    let (settings, left_out) = merged("sandbox: false", "sandbox: { maxMemoryMB: 64 }", true);
    assert_eq!(left_out, []);
    let Some(SandboxSetting::Config(config)) = settings.sandbox else { panic!("a configuration") };
    assert_eq!((config.enabled, config.max_memory_mb), (Some(true), Some(64)));
    let (settings, _) = merged(
        "sandbox: { allowNetwork: loopback, allowFS: { readOnly: [/a] } }",
        "sandbox: { maxMemoryMB: 64 }",
        true,
    );
    let Some(SandboxSetting::Config(config)) = settings.sandbox else { panic!("a configuration") };
    assert_eq!(config.allow_network, Some(AllowNetwork::Loopback));
    assert!(matches!(config.allow_fs, Some(AllowFs::Paths { .. })));
}

#[test]
fn what_is_not_carried_out_is_named() {
    assert_eq!(Settings::default().unsupported(), []);
    for text in [
        "approval: { command: [/bin/true] }",
        "approval: { additional: [a] }",
        "approval: { approvers: [a] }",
        "approval: { need: 2 }",
        "loopDetection: { maxRepeats: 2 }",
        "artifacts: { previewChars: 2 }",
    ] {
        assert_eq!(merged(text, "", true).0.unsupported().len(), 1, "{text}");
    }
}
