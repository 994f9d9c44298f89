//! Plans over a tree of data.

use super::*;
use crate::model::{AllowFs, AllowNetwork, Effect, EffectSet, RunAs, SandboxConfig};
use crate::sandbox::SandboxError;
use crate::sandbox::linux::job::Access;
use crate::world::MemoryWorld;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn world() -> MemoryWorld {
    MemoryWorld::new("/ws")
        .with_file("/usr/bin/tool", "x")
        .with_link("/bin", "usr/bin")
        .with_file("/etc/passwd", "x")
        .with_file("/ws/a/b/c/file", "x")
        .with_file("/ws/.git/config", "x")
        .with_file("/ws/.git/hooks/pre", "x")
        .with_link("/ws/link", "/etc")
        .with_file("/home/user/.config/toolctl/x", "x")
        .with_dir("/proc/1")
}

fn input(world: &MemoryWorld) -> PlanInput<'_> {
    PlanInput {
        world,
        config: Some(SandboxConfig {
            allow_fs: Some(AllowFs::Paths { read_only: Vec::new(), read_write: Vec::new() }),
            ..SandboxConfig::default()
        }),
        backend: BackendChoice::Auto,
        effects: EffectSet::of(Effect::Write),
        read_only: Vec::new(),
        read_write: vec!["/ws".into()],
        workspace: "/ws".into(),
        program: Program::SelfExe,
        argv: vec!["tool".into()],
        scripts: Vec::new(),
        env: Vec::new(),
        cwd: None,
        protected: Protected::default(),
        masks: Vec::new(),
        decided: BTreeMap::new(),
        runtime: Vec::new(),
        launcher: Launcher::SelfExe,
    }
}

fn access(plan: &Plan, path: &str) -> Option<Access> {
    plan.entries.iter().find(|entry| entry.target == Path::new(path)).map(|entry| entry.access)
}

#[test]
fn every_folder_above_a_protected_file_is_pinned() {
    let world = world();
    let mut input = input(&world);
    input.protected.read_only = vec!["/ws/.git/config".into(), "/ws/a/b/c".into(), "/elsewhere".into()];
    input.protected.absent = vec!["/ws/.envrc".into(), "/ws/.git/hooks".into(), "/nowhere/x".into()];
    let plan = Plan::build(input).unwrap();
    for (path, expected) in [
        ("/ws", Some(Access::Write)),
        ("/ws/.git", Some(Access::Write)),
        ("/ws/.git/config", Some(Access::Read)),
        ("/ws/.git/hooks", Some(Access::Read)),
        ("/ws/a", Some(Access::Write)),
        ("/ws/a/b", Some(Access::Write)),
        ("/ws/a/b/c", Some(Access::Read)),
        ("/usr", Some(Access::ReadExec)),
        ("/elsewhere", None),
    ] {
        assert_eq!(access(&plan, path), expected, "{path}");
    }
    assert_eq!(plan.absent, [PathBuf::from("/ws/.envrc")]);
    assert!(plan.flat_refusal.is_some());
}

#[test]
fn requests_that_cannot_be_given_are_refused() {
    type Change = fn(&mut PlanInput<'_>);
    let world = world();
    let fine: Change = |_| {};
    let bad: &[Change] = &[
        |i| i.protected.hidden = vec!["/ws".into()],
        |i| i.protected.read_only = vec!["/ws/link".into()],
        |i| i.read_only = vec!["/missing".into()],
        |i| i.read_only = vec!["/proc/1".into()],
        |i| i.read_only = vec!["/".into()],
        |i| i.read_only = vec!["ws".into()],
        |i| i.argv = Vec::new(),
        |i| i.argv = vec!["a\0b".into()],
        |i| i.env = vec![("LD_PRELOAD".into(), "x".into())],
        |i| i.env = vec![("A=B".into(), "x".into())],
        |i| i.cwd = Some("/home/user".into()),
        |i| i.config.as_mut().unwrap().run_as = Some(RunAs { uid: 1, gid: 1 }),
        |i| i.config.as_mut().unwrap().allow_network = Some(AllowNetwork::Hosts(Vec::new())),
    ];
    let build = |change: &Change| {
        let mut input = input(&world);
        change(&mut input);
        Plan::build(input)
    };
    assert!(build(&fine).is_ok());
    for (number, change) in bad.iter().enumerate() {
        let result = build(change);
        assert!(matches!(result, Err(SandboxError::BadRequest(_))), "{number}: {result:?}");
    }
}

#[test]
fn flat_says_what_it_cannot_hold() {
    type Change = fn(&mut PlanInput<'_>);
    let world = world();
    let cases: &[(Change, bool)] = &[
        (|_| {}, true),
        (|i| i.read_only = vec!["/ws/a".into()], false),
        (|i| i.masks = vec!["/ws/a/b/c/file".into()], false),
        (|i| i.protected.read_only = vec!["/ws/.git/config".into()], false),
        (|i| i.config.as_mut().unwrap().allow_fs = Some(AllowFs::All), false),
        (|i| i.config.as_mut().unwrap().allow_network = Some(AllowNetwork::Loopback), false),
        (|i| i.config.as_mut().unwrap().allow_network = Some(AllowNetwork::Yes), true),
    ];
    for (number, (change, holds)) in cases.iter().enumerate() {
        let mut auto = input(&world);
        change(&mut auto);
        assert_eq!(Plan::build(auto).unwrap().flat_refusal.is_none(), *holds, "{number}");
        let mut flat = input(&world);
        change(&mut flat);
        flat.backend = BackendChoice::Flat;
        assert_eq!(Plan::build(flat).is_ok(), *holds, "{number}");
    }
}

#[test]
fn links_in_a_request_show_their_target_alone() {
    let world = world();
    let mut input = input(&world);
    input.read_write = Vec::new();
    input.read_only = vec!["/ws/link".into()];
    let plan = Plan::build(input).unwrap();
    assert_eq!(access(&plan, "/etc"), Some(Access::Read));
    assert_eq!(access(&plan, "/ws"), None);
    assert!(plan.links.contains(&("/ws/link".into(), "/etc".into())));
    assert!(plan.links.contains(&("/bin".into(), "usr/bin".into())));
}

#[test]
fn the_environment_is_complete_and_single() {
    let world = world();
    let mut input = input(&world);
    input.env = vec![("PATH".into(), "/x".into()), ("A".into(), "1".into()), ("A".into(), "2".into())];
    let plan = Plan::build(input).unwrap();
    let names: Vec<_> = plan.env.iter().map(|(n, v)| (n.to_str().unwrap(), v.to_str().unwrap())).collect();
    assert_eq!(names, [("LANG", "C.UTF-8"), ("PATH", "/x"), ("A", "2")]);
}

#[test]
fn the_digest_covers_what_counts() {
    type Change = fn(&mut PlanInput<'_>);
    let world = world();
    let digest = |change: Change| {
        let mut input = input(&world);
        change(&mut input);
        Plan::build(input).unwrap().digest()
    };
    let base = digest(|_| {});
    assert_eq!(base, digest(|_| {}));
    let changes: &[Change] = &[
        |i| i.read_write = Vec::new(),
        |i| i.read_only = vec!["/etc".into()],
        |i| i.argv.push("x".into()),
        |i| i.env.push(("A".into(), "1".into())),
        |i| i.cwd = Some("/ws/a".into()),
        |i| i.effects = EffectSet::of(Effect::Read).with(Effect::Execute),
        |i| i.protected.absent = vec!["/ws/.envrc".into()],
        |i| i.config = None,
        |i| i.config.as_mut().unwrap().max_memory_mb = Some(9),
        |i| i.config.as_mut().unwrap().allow_network = Some(AllowNetwork::Yes),
        |i| i.config.as_mut().unwrap().required = vec![crate::model::RequiredLayer::Netns],
        |i| i.backend = BackendChoice::Ns,
    ];
    for (number, change) in changes.iter().enumerate() {
        assert_ne!(base, digest(*change), "{number}");
    }
}

fn some_path() -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..5)
        .prop_map(|parts| Path::new("/p").join(parts.join("/")))
}

fn full_world() -> MemoryWorld {
    let mut world = MemoryWorld::new("/p");
    for a in ["a", "b", "c"] {
        for b in ["a", "b", "c"] {
            for c in ["a", "b", "c"] {
                for d in ["a", "b", "c"] {
                    world = world.with_dir(format!("/p/{a}/{b}/{c}/{d}"));
                }
            }
        }
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn protection_holds_whatever_is_bound(
        writable in prop::collection::vec(some_path(), 0..4),
        readable in prop::collection::vec(some_path(), 0..4),
        held in prop::collection::vec(some_path(), 0..4),
        hidden in prop::collection::vec(some_path(), 0..3),
    ) {
        let world = full_world();
        let mut input = input(&world);
        input.read_write = writable;
        input.read_only = readable;
        input.protected = Protected { read_only: held.clone(), hidden: hidden.clone(), absent: Vec::new() };
        // Binding something hidden is refused, which holds as well.
        let Ok(plan) = Plan::build(input) else { return Ok(()) };
        let cover = |path: &Path| {
            path.ancestors().find_map(|dir| plan.entries.iter().find(|entry| entry.target == dir))
        };
        for path in &held {
            let below = plan.entries.iter().filter(|entry| entry.target.starts_with(path));
            prop_assert!(below.clone().all(|entry| !entry.access.writes()), "{path:?}");
            prop_assert!(cover(path).is_none_or(|entry| !entry.access.writes()), "{path:?}");
        }
        for path in &hidden {
            prop_assert!(cover(path).is_none_or(|entry| entry.access == Access::Hidden), "{path:?}");
            let below = plan.entries.iter().filter(|entry| entry.target.starts_with(path));
            prop_assert!(below.clone().all(|entry| entry.access == Access::Hidden), "{path:?}");
        }
        // From every narrow entry up to the writable bind above it, each folder is a mount point.
        for entry in plan.entries.iter().filter(|entry| !entry.access.writes()) {
            for dir in entry.target.ancestors().skip(1) {
                let Some(above) = cover(dir) else { break };
                prop_assert!(!above.access.writes() || above.target == dir, "{dir:?} in {:?}", plan.entries);
            }
        }
    }
}
