use super::Project;
use crate::diag::{Code, Diagnostic};
use crate::model::Layer;
use crate::project::{CatalogError, ChangeKind, TrustState, revoke_trust};
use crate::source::Files;
use crate::world::{MemoryWorld, World as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

pub(super) fn manifest(name: &str) -> String {
    format!(
        "name: {name}\ndescription: Says hello.\nparameters:\n  type: object\n  properties: {{}}\n  additionalProperties: false\ncommand: [echo, hello]\n"
    )
}

/// A project with one tool and one policy.
pub(super) fn project() -> MemoryWorld {
    MemoryWorld::new("/code/p")
        .with_file("/code/p/toolctl.yaml", "concurrency: 9\n")
        .with_file("/code/p/tools.d/hello.yaml", manifest("hello"))
        .with_file("/code/p/policies/main.yaml", "policy: main\nformat: 1\n")
        .with_file("/code/p/policies/tests/t.yaml", "not: read")
        .at(UNIX_EPOCH + Duration::from_secs(1000))
}

pub(super) fn open(world: &MemoryWorld) -> Result<Project, Vec<Diagnostic>> {
    Project::open(world, &mut Files::new(), Path::new("."))
}

pub(super) fn trust(world: &MemoryWorld, author: bool) {
    let project = open(world).unwrap();
    let (tools, faults) = project.catalog().all(world, &mut Files::new());
    assert_eq!(faults, []);
    let record = project.prepare_trust(world, &tools, author).unwrap();
    project.trust(world, &record, "{}").unwrap();
}

fn codes(found: &[Diagnostic]) -> Vec<Code> {
    found.iter().map(|d| d.code).collect()
}

pub(super) fn state(world: &MemoryWorld) -> TrustState {
    open(world).unwrap().trust
}

pub(super) fn state_for(world: &MemoryWorld, tool: &str) -> TrustState {
    Project::open_for(world, &mut Files::new(), Path::new("."), Some(tool)).unwrap().trust
}

#[test]
fn without_a_project_the_folder_is_the_workspace() {
    let world = MemoryWorld::new("/code/x");
    let project = open(&world).unwrap();
    assert_eq!((project.root.as_ref(), project.workspace.as_path()), (None, Path::new("/code/x")));
    assert_eq!(project.trust, TrustState::NoProject);
    assert!(project.policies(&world, &mut Files::new()).unwrap().is_empty());
    let tool = project.catalog().find(&world, &mut Files::new(), "read_file").unwrap();
    assert_eq!((tool.layer, tool.warnings), (Layer::Builtin, vec![]));
    assert!(matches!(
        project.prepare_trust(&world, &[], false).unwrap_err().as_slice(),
        [d] if d.code == Code::NothingToDo
    ));
}

#[test]
fn a_project_is_opened_from_below() {
    let world = project().with_dir("/code/p/src/deep");
    let found = Project::open(&world, &mut Files::new(), Path::new("/code/p/src/deep")).unwrap();
    assert_eq!(found.root, Some(PathBuf::from("/code/p")));
    assert_eq!(found.workspace, PathBuf::from("/code/p"));
    assert_eq!(found.trust, TrustState::Untrusted);
    assert_eq!(codes(&found.warnings), [Code::ConfigNeedsTrust]);
    assert_eq!(found.settings.concurrency, 5);
}

#[test]
fn trust_makes_settings_count() {
    let world = project();
    trust(&world, false);
    let found = open(&world).unwrap();
    assert_eq!(found.trust, TrustState::Trusted { author: false });
    assert_eq!((found.settings.concurrency, &found.warnings), (9, &vec![]));
    assert!(found.kept_reach(&world).is_some());
    let revoke = || revoke_trust(&world, Path::new(".")).unwrap();
    assert_eq!((revoke(), revoke()), (("/code/p".into(), true), ("/code/p".into(), false)));
    assert_eq!(state(&world), TrustState::Untrusted);
}

#[test]
fn any_change_asks_again() {
    let changes: [(&str, &str, ChangeKind); 6] = [
        ("toolctl.yaml", "concurrency: 9 # more\n", ChangeKind::Modified),
        ("policies/main.yaml", "policy: main\nformat: 1\n# more\n", ChangeKind::Modified),
        ("policies/new.yaml", "policy: new\n", ChangeKind::Added),
        ("tools.d/hello.yaml", "name: hello\n", ChangeKind::Modified),
        ("tools.d/lib/helper.py", "print()", ChangeKind::Added),
        ("tools.d/json.py", "print()", ChangeKind::Added),
    ];
    for (path, text, kind) in changes {
        let world = project();
        trust(&world, false);
        assert!(state(&world).is_trusted() && state_for(&world, "hello").is_trusted(), "{path}");
        let world = world.with_file(Path::new("/code/p").join(path), text);
        for state in [state(&world), state_for(&world, "hello")] {
            let TrustState::Changed(found) = state else { panic!("{path}: {state:?}") };
            assert!(found.iter().any(|c| c.path == Path::new(path) && c.kind == kind), "{path}: {found:?}");
        }
    }
    let world = project();
    trust(&world, false);
    world.remove(Path::new("/code/p/policies/main.yaml")).unwrap();
    assert!(matches!(state(&world), TrustState::Changed(_)));
    assert!(matches!(state_for(&world, "hello"), TrustState::Changed(_)));
    let world = project();
    trust(&world, false);
    let world = world.with_mode("/code/p/tools.d/hello.yaml", 0o755);
    assert!(matches!(state(&world), TrustState::Changed(_)));
}

#[test]
fn times_spare_reading_and_are_not_believed_when_fresh() {
    let old = |world: MemoryWorld| {
        ["toolctl.yaml", "tools.d", "tools.d/hello.yaml", "policies", "policies/main.yaml", "policies/tests"]
            .iter()
            .fold(world, |world, path| world.with_ctime(Path::new("/code/p").join(path), 5_000_000_000))
            .with_ctime("/code/p/policies/tests/t.yaml", 5_000_000_000)
    };
    // Another tool's manifest has no part in a call of `hello`.
    let world = old(project().with_file("/code/p/tools.d/other.yaml", manifest("other")));
    trust(&world, false);
    let world = world
        .with_file("/code/p/tools.d/other.yaml", manifest("other") + "# changed")
        .with_ctime("/code/p/tools.d/other.yaml", 9_000_000_000);
    assert!(state_for(&world, "hello").is_trusted());
    assert!(matches!(state_for(&world, "other"), TrustState::Changed(_)));
    assert!(matches!(state(&world), TrustState::Changed(_)));

    // A new file changes the time of its folder.
    let world = old(project());
    trust(&world, false);
    assert!(state_for(&world, "hello").is_trusted());
    let world = world.with_file("/code/p/tools.d/json.py", "x").with_ctime("/code/p/tools.d", 9_000_000_000);
    assert!(matches!(state_for(&world, "hello"), TrustState::Changed(_)));

    // Written in the second in which the record is made: the time says nothing, the bytes do.
    let now = 1_000_000_000_000;
    let world = old(project()).with_ctime("/code/p/tools.d/hello.yaml", now);
    trust(&world, false);
    let text = manifest("hello").replace("hello]", "olleh]");
    let world =
        world.with_file("/code/p/tools.d/hello.yaml", text).with_ctime("/code/p/tools.d/hello.yaml", now);
    assert!(matches!(state_for(&world, "hello"), TrustState::Changed(_)));
}

#[test]
fn an_authors_project_follows_edits_until_it_is_suspended() {
    let world = project();
    trust(&world, true);
    let world = world.with_file("/code/p/policies/new.yaml", "policy: new\n");
    assert_eq!(state(&world), TrustState::Trusted { author: true });
    open(&world).unwrap().suspend_trust(&world, "tools.d/evil.yaml").unwrap();
    assert!(matches!(state(&world), TrustState::Changed(_)));
    trust(&world, true);
    assert!(state(&world).is_trusted());
    // Trusted once more without the author's privilege: the older record does not live on beside it.
    trust(&world, false);
    assert_eq!(state(&world), TrustState::Trusted { author: false });
    trust(&world, true);
    assert!(revoke_trust(&world, Path::new("/code/p")).unwrap().1);
    assert_eq!(state(&world), TrustState::Untrusted);
}

#[test]
fn named_programs_are_covered_and_protected() {
    let text = manifest("hello").replace("[echo, hello]", "[python3, '{tool.dir}/../scripts/run.py']");
    let world = project()
        .with_file("/code/p/scripts/run.py", "print()")
        .with_file("/code/p/tools.d/hello.yaml", text);
    trust(&world, false);
    assert!(state_for(&world, "hello").is_trusted());
    let control = open(&world).unwrap().control_set(&world, None).unwrap();
    assert!(control.read_only.contains(&PathBuf::from("/code/p/scripts/run.py")), "{control:#?}");
    let check = |world: &MemoryWorld| {
        let project = open(world).unwrap();
        let tool = project.catalog().find(world, &mut Files::new(), "hello").unwrap();
        project.check_programs(world, &tool).map_err(|found| codes(&found))
    };
    assert_eq!(check(&world), Ok(()));
    let world = world.with_mode("/code/p/scripts", 0o777);
    assert_eq!(check(&world), Err(vec![Code::SourceUnsafeOwner]));
    let world = world.with_mode("/code/p/scripts", 0o755).with_file("/code/p/scripts/run.py", "import os");
    assert!(matches!(state_for(&world, "hello"), TrustState::Changed(_)));
    assert!(matches!(state(&world), TrustState::Changed(_)));
}

#[test]
fn a_damaged_or_foreign_record_is_none() {
    let world = project();
    trust(&world, false);
    let dir = Path::new("/home/user/.local/state/toolctl/trust");
    let name = world.list(dir).unwrap().remove(0);
    let record = dir.join(name);
    let text = String::from_utf8(world.read(&record, 1 << 20).unwrap()).unwrap();
    for bad in [
        String::new(),
        "{}".to_owned(),
        text.replace("\"format\":1", "\"format\":2"),
        text.replace("/code/p", "/code/q"),
        format!("{text}line\n"),
        text.lines().filter(|line| !line.starts_with("policies/main")).collect::<Vec<_>>().join("\n"),
    ] {
        let world = project().with_file(&record, bad.clone());
        let found = open(&world).unwrap();
        assert_eq!(found.trust, TrustState::Untrusted, "{bad}");
        assert_eq!(codes(&found.warnings), [Code::ConfigNeedsTrust, Code::ConfigNeedsTrust], "{bad}");
        assert!(found.control_set(&world, None).is_ok());
        trust(&world, false);
        assert!(state(&world).is_trusted());
    }
    let world = project().with_file(&record, text.clone());
    assert!(state(&world).is_trusted());
    let world = world.with_owner(&record, 1001, 1001);
    let found = open(&world).unwrap();
    assert_eq!(found.trust, TrustState::Untrusted);
    assert_eq!(codes(&found.warnings), [Code::SourceUnsafeOwner, Code::ConfigNeedsTrust]);
}

#[test]
fn state_within_reach_of_the_project_is_refused() {
    for home in ["/code/p/.home", "/code/p", "/code"] {
        let world = project().with_env("TOOLCTL_HOME", home);
        let found = open(&world);
        match home {
            "/code" => assert_eq!(found.unwrap().trust, TrustState::Untrusted),
            _ => assert_eq!(codes(&found.unwrap_err()), [Code::ConfigWorkspace], "{home}"),
        }
    }
    let link = project().with_dir("/code/p/.home").with_link("/moved", "/code/p/.home");
    assert_eq!(codes(&open(&link.with_env("TOOLCTL_HOME", "/moved")).unwrap_err()), [Code::ConfigWorkspace]);
}

#[test]
fn unsafe_workspaces_are_refused() {
    for dir in ["/", "/home/user", "/home", "/home/user/.config", "/home/user/.local/state/toolctl/x", "/etc"]
    {
        let world = MemoryWorld::new(dir);
        assert_eq!(codes(&open(&world).unwrap_err()), [Code::ConfigWorkspace], "{dir}");
    }
    assert!(open(&MemoryWorld::new("/home/user/code")).is_ok());
    let with = |text: &str| {
        project()
            .with_file("/code/p/toolctl.yaml", text)
            .with_dir("/code/p/src")
            .with_dir("/other")
            .with_link("/code/p/out", "/other")
            .with_dir("/home/user")
    };
    // Below the project: always. Elsewhere: only if it is trusted, by whatever way the path gets there.
    let inside = with("workspace: src");
    assert_eq!(open(&inside).unwrap().workspace, PathBuf::from("/code/p/src"));
    for text in ["workspace: /other", "workspace: ../../other", "workspace: out"] {
        let world = with(text);
        let found = open(&world).unwrap();
        assert_eq!(found.workspace, PathBuf::from("/code/p"), "{text}");
        assert_eq!(codes(&found.warnings), [Code::ConfigNeedsTrust], "{text}");
        trust(&world, false);
        assert_eq!(open(&world).unwrap().workspace, PathBuf::from("/other"), "{text}");
    }
    for text in ["workspace: none", "workspace: toolctl.yaml", "workspace: ''"] {
        assert_eq!(codes(&open(&with(text)).unwrap_err()), [Code::ConfigWorkspace], "{text}");
    }
    let world = with("workspace: /home/user");
    trust(&world, true);
    assert_eq!(codes(&open(&world).unwrap_err()), [Code::ConfigWorkspace]);
}

#[test]
fn files_of_others_are_not_believed() {
    let read = |world: &MemoryWorld| -> Vec<Code> {
        let mut files = Files::new();
        match Project::open(world, &mut files, Path::new(".")) {
            Err(found) => codes(&found),
            Ok(project) => {
                let mut found = project.policies(world, &mut files).err().unwrap_or_default();
                if let Err(error) = project.catalog().find(world, &mut files, "hello") {
                    found.extend(error.into_diagnostics());
                }
                codes(&found)
            }
        }
    };
    assert_eq!(read(&project()), []);
    for path in ["toolctl.yaml", "tools.d/hello.yaml", "tools.d", "policies/main.yaml", "policies"] {
        let path = Path::new("/code/p").join(path);
        let foreign = project().with_owner(&path, 1001, 1001);
        assert!(read(&foreign).contains(&Code::SourceUnsafeOwner), "{}", path.display());
        let writable = project().with_mode(&path, 0o777);
        assert!(read(&writable).contains(&Code::SourceUnsafeOwner), "{}", path.display());
    }
    // The folder above: whoever may write it can swap the project.
    assert_eq!(read(&project().with_mode("/code", 0o777)), [Code::SourceUnsafeOwner]);
    assert_eq!(read(&project().with_mode("/code", 0o1777)), []);
}

#[test]
fn links_out_of_the_project_are_refused() {
    let out = MemoryWorld::new("/code/p")
        .with_file("/elsewhere/tools.d/hello.yaml", manifest("hello"))
        .with_file("/elsewhere/policies/main.yaml", "policy: main\n")
        .with_file("/code/p/toolctl.yaml", "");
    let mut files = Files::new();
    let tools = out.with_link("/code/p/tools.d", "/elsewhere/tools.d");
    let project = open(&tools).unwrap();
    let error = project.catalog().find(&tools, &mut files, "hello").unwrap_err();
    assert_eq!(codes(&error.into_diagnostics()), [Code::SourceUnsafeOwner]);
    assert!(project.prepare_trust(&tools, &[], false).is_err());

    let policies = tools.with_link("/code/p/policies", "/elsewhere/policies");
    let found = open(&policies).unwrap().policies(&policies, &mut files).unwrap_err();
    assert_eq!(codes(&found), [Code::SourceUnsafeOwner]);

    let inside = self::project()
        .with_file("/code/p/shared/two.yaml", manifest("two"))
        .with_link("/code/p/tools.d/two.yaml", "../shared/two.yaml");
    assert!(open(&inside).unwrap().catalog().find(&inside, &mut files, "two").is_ok());
    trust(&inside, false);
    assert!(state_for(&inside, "two").is_trusted());
    let changed = inside.with_file("/code/p/shared/two.yaml", manifest("two") + "#");
    assert!(!state_for(&changed, "two").is_trusted());

    let settings = MemoryWorld::new("/code/p")
        .with_file("/elsewhere/s.yaml", "")
        .with_link("/code/p/toolctl.yaml", "/elsewhere/s.yaml");
    assert_eq!(codes(&open(&settings).unwrap_err()), [Code::SourceUnsafeOwner]);
}

#[test]
fn a_lookup_opens_one_file_and_names_what_was_meant() {
    let world = project().with_file("/code/p/tools.d/broken.yaml", "name: [");
    let project = open(&world).unwrap();
    let find = |name: &str| project.catalog().find(&world, &mut Files::new(), name);
    assert_eq!(find("hello").unwrap().layer, Layer::Project);
    assert!(matches!(find("broken"), Err(CatalogError::Invalid(_))));
    for (name, wanted) in [("helo", Some("hello")), ("readfile", Some("read_file")), ("zzzzzz", None)] {
        match find(name) {
            Err(CatalogError::Unknown { near, .. }) => assert_eq!(near.as_deref(), wanted, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    for name in ["../policies/main", "", "a/b", ".", "tools.d/hello", "hello.yaml", "he\u{0}llo"] {
        assert!(matches!(find(name), Err(CatalogError::Unknown { .. })), "{name:?}");
    }
    let (tools, faults) = project.catalog().all(&world, &mut Files::new());
    assert_eq!((tools.len(), faults.len()), (crate::manifest::BUILTIN_NAMES.len() + 1, 1));
}

#[test]
fn one_name_one_tool() {
    let user = "/home/user/.config/toolctl";
    let find = |world: &MemoryWorld, name: &str| {
        let found = open(world).unwrap().catalog().find(world, &mut Files::new(), name);
        found.map(|tool| tool.layer).map_err(|error| codes(&error.into_diagnostics()))
    };
    let same = project().with_file(format!("{user}/tools.d/hello.yaml"), manifest("hello"));
    assert_eq!(find(&same, "hello"), Ok(Layer::User));
    let other =
        project().with_file(format!("{user}/tools.d/hello.yaml"), manifest("hello") + "strict: true\n");
    assert_eq!(find(&other, "hello"), Err(vec![Code::ManifestDuplicateTool]));
    let twice = project().with_file("/code/p/tools.d/hello.yml", manifest("hello"));
    assert_eq!(find(&twice, "hello"), Err(vec![Code::ManifestDuplicateTool]));
    let shadow = project().with_file("/code/p/tools.d/read_file.yaml", manifest("read_file"));
    assert_eq!(find(&shadow, "read_file"), Err(vec![Code::ManifestDuplicateTool]));
    let folder = project().with_dir(format!("{user}/tools.d/hello.yaml"));
    assert!(find(&folder, "hello").is_err());
    assert_eq!(find(&project(), "hello"), Ok(Layer::Project));
}

#[test]
fn bundles_and_misnamed_manifests_are_not_passed_over() {
    let world = project()
        .with_file("/code/p/tools.d/git.mcp.yaml", "command: [x]")
        .with_file("/code/p/tools.d/two words.yaml", "x")
        .with_file("/code/p/tools.d/README.md", "x")
        .with_file("/code/p/tools.d/.#hello.yaml", "x");
    let project = open(&world).unwrap();
    let error = project.catalog().find(&world, &mut Files::new(), "git__log").unwrap_err();
    assert_eq!(codes(&error.into_diagnostics()), [Code::ManifestUnsupported]);
    let (_, faults) = project.catalog().all(&world, &mut Files::new());
    let mut found = codes(&faults);
    found.sort();
    assert_eq!(found, [Code::ManifestBadName, Code::ManifestUnsupported]);
}

#[test]
fn policies_of_every_layer_are_read_and_none_is_passed_over() {
    let world =
        project().with_file("/home/user/.config/toolctl/policies/mine.json", "{\"policy\": \"mine\"}");
    let project = open(&world).unwrap();
    let found = project.policies(&world, &mut Files::new()).unwrap();
    let shown: Vec<_> = found.iter().map(|p| (p.layer, p.trusted, p.path.to_str().unwrap())).collect();
    assert_eq!(
        shown,
        [
            (Layer::User, true, "/home/user/.config/toolctl/policies/mine.json"),
            (Layer::Project, false, "/code/p/policies/main.yaml"),
        ]
    );
    assert!(found[0].digest.starts_with("sha256:"));
    for (path, text) in [("bad.yaml", "a: ["), ("sub/x.yaml", "policy: x"), ("UP.YAML", "policy: x")] {
        let world = self::project().with_file(Path::new("/code/p/policies").join(path), text);
        assert!(open(&world).unwrap().policies(&world, &mut Files::new()).is_err(), "{path}");
    }
}

#[test]
fn two_settings_files_are_an_error() {
    let world = project().with_file("/code/p/toolctl.json", "{}");
    let found = open(&world).unwrap_err();
    assert_eq!(codes(&found), [Code::ConfigBadSetting]);
    assert!(found[0].message.contains("toolctl.yaml") && found[0].message.contains("toolctl.json"));
}

#[test]
fn the_nearest_project_counts_and_is_trusted_on_its_own() {
    let world = project().with_file("/code/p/vendor/x/tools.d/evil.yaml", manifest("evil"));
    trust(&world, true);
    let nested = Project::open(&world, &mut Files::new(), Path::new("/code/p/vendor/x")).unwrap();
    assert_eq!(nested.root, Some(PathBuf::from("/code/p/vendor/x")));
    assert_eq!(nested.trust, TrustState::Untrusted);
    // Once its author is believed there, nothing that works out here may write its control files.
    let nested_tools = PathBuf::from("/code/p/vendor/x/tools.d");
    let protected = |world: &MemoryWorld| open(world).unwrap().control_set(world, None).unwrap();
    assert!(!protected(&world).read_only.contains(&nested_tools));
    let record = nested.prepare_trust(&world, &[], true).unwrap();
    nested.trust(&world, &record, "{}").unwrap();
    let control = protected(&world);
    assert!(control.read_only.contains(&nested_tools), "{control:#?}");
    assert!(control.absent.contains(&PathBuf::from("/code/p/vendor/x/policies")));
    assert!(open(&world).unwrap().catalog().find(&world, &mut Files::new(), "evil").is_err());
}

#[test]
fn control_files_are_known() {
    let world = project().with_file("/code/p/.git/config", "").with_dir("/code/p/.git/hooks");
    let project = open(&world).unwrap();
    let control = project.control_set(&world, None).unwrap();
    let paths = |list: &[&str]| list.iter().map(|p| Path::new("/code/p").join(p)).collect::<Vec<_>>();
    assert_eq!(control.read_only, paths(&["policies", "toolctl.yaml", "tools.d"]));
    assert_eq!(
        control.absent,
        paths(&[
            "toolctl.json",
            "toolctl.yml",
            ".envrc",
            ".vscode",
            ".git/config.worktree",
            ".git/commondir",
            "HEAD",
        ])
    );
    assert_eq!(control.exec_later, paths(&[".git/config", ".git/hooks"]));
    assert_eq!(control.hidden, project.homes.hidden());
    let protected = control.protected();
    assert!(protected.contains(&PathBuf::from("/code/p/toolctl.yml")));
    assert!(!protected.iter().any(|path| path.ends_with(".envrc") || path.ends_with(".git/config")));

    let bare = self::project()
        .with_file("/code/p/HEAD", "")
        .with_file("/code/p/config", "")
        .with_dir("/code/p/objects")
        .with_dir("/code/p/refs");
    let control = open(&bare).unwrap().control_set(&bare, None).unwrap();
    assert_eq!(control.exec_later, paths(&["config"]));
    assert!(paths(&["hooks", ".git", "commondir"]).iter().all(|path| control.absent.contains(path)));
    let both = bare.with_file("/code/p/.git/config", "");
    let control = open(&both).unwrap().control_set(&both, None).unwrap();
    assert_eq!(control.exec_later, paths(&[".git/config", "config", ".git"]));

    let linked = self::project().with_file("/code/p/.git", "gitdir: /elsewhere");
    let control = open(&linked).unwrap().control_set(&linked, None).unwrap();
    assert_eq!(control.exec_later, paths(&[".git"]));

    let none = self::project();
    let control = open(&none).unwrap().control_set(&none, None).unwrap();
    assert!(paths(&[".git", "HEAD"]).iter().all(|path| control.absent.contains(path)), "{control:#?}");
    let protected = control.protected();
    assert!(protected.iter().any(|path| path.ends_with("HEAD")), "{protected:#?}");
    assert!(!protected.iter().any(|path| path.ends_with(".git")), "{protected:#?}");

    let modules = self::project()
        .with_file("/code/p/.git/modules/a/lib/HEAD", "")
        .with_file("/code/p/.git/modules/a/lib/config", "")
        .with_dir("/code/p/.git/worktrees/x");
    let control = open(&modules).unwrap().control_set(&modules, None).unwrap();
    assert_eq!(control.exec_later, paths(&[".git/worktrees", ".git/modules/a/lib/config"]));
    assert!(paths(&[".git/modules/a/lib/hooks"]).iter().all(|path| control.absent.contains(path)));
}

#[test]
fn a_user_without_a_password_entry_has_no_layer_and_no_trust() {
    // The system's files are root's; in this world all else is the user's, so the layer is refused.
    let world = project().with_file("/etc/toolctl/toolctl.yaml", "concurrency: 1\n");
    assert_eq!(codes(&open(&world).unwrap_err()), [Code::SourceUnsafeOwner]);
    let world = ["/", "/etc", "/etc/toolctl", "/etc/toolctl/toolctl.yaml"]
        .iter()
        .fold(world, |world, path| world.with_owner(*path, 0, 0));
    let found = open(&world).unwrap();
    assert_eq!(found.settings.concurrency, 1);
    assert_eq!(codes(&found.warnings), [Code::ConfigBadSetting]);
}
