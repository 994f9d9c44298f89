//! Records of trust: damaged, listed, forgotten, and read as little as possible.

use super::Project;
use super::tests::{manifest, open, project, state, state_for, trust};
use crate::project::{TrustEntryState, TrustState, list_trust, revoke_trust};
use crate::source::Files;
use crate::world::{Account, MemoryWorld, Stat, World};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// Only its own project suffers from a record that cannot be read, and there it counts for nothing.
#[test]
fn a_damaged_record_of_an_author_hurts_no_other_project() {
    let trusted = project().with_file("/code/q/tools.d/other.yaml", manifest("other"));
    trust(&trusted, true);
    let dir = Path::new("/home/user/.local/state/toolctl/trust");
    let record = dir.join(trusted.list(dir).unwrap().remove(0));
    let text = String::from_utf8(trusted.read(&record, 1 << 20).unwrap()).unwrap();
    let protects = |world: &MemoryWorld| {
        let found = Project::open(world, &mut Files::new(), Path::new("/code")).unwrap();
        found.control_set(world, None).unwrap().read_only.contains(&PathBuf::from("/code/p/tools.d"))
    };
    assert!(protects(&trusted), "the control");
    for bad in
        [String::new(), "garbage".to_owned(), text.replace("\"format\":1", "\"format\":2"), text + "line"]
    {
        let world = project().with_file("/code/q/tools.d/other.yaml", manifest("other"));
        let world = world.with_file(&record, bad.clone());
        let found = Project::open(&world, &mut Files::new(), Path::new("/code/q")).unwrap();
        assert!(found.control_set(&world, None).is_ok(), "{bad}");
        assert_eq!(state(&world), TrustState::Untrusted, "{bad}");
    }
}

#[test]
fn records_are_listed_and_those_of_folders_that_have_gone_can_be_forgotten() {
    let world = project();
    trust(&world, true);
    let states = |world: &MemoryWorld| {
        let list = list_trust(world).unwrap();
        list.into_iter().map(|entry| (entry.path, entry.author, entry.state)).collect::<Vec<_>>()
    };
    let here = PathBuf::from("/code/p");
    assert_eq!(states(&world), [(here.clone(), true, TrustEntryState::Kept)]);
    open(&world).unwrap().suspend_trust(&world, "x").unwrap();
    assert_eq!(states(&world), [(here.clone(), true, TrustEntryState::Suspended)]);

    let dir = Path::new("/home/user/.local/state/toolctl/trust");
    let name = world.list(dir).unwrap().remove(0);
    let text = world.read(&dir.join(&name), 1 << 20).unwrap();
    let gone = MemoryWorld::new("/code").with_file(dir.join(&name), text).with_file(dir.join("junk"), "?");
    assert_eq!(
        states(&gone),
        [(here, true, TrustEntryState::Gone), (dir.join("junk"), false, TrustEntryState::Damaged),]
    );
    assert_eq!(revoke_trust(&gone, Path::new("/code/p")).unwrap(), (PathBuf::from("/code/p"), true));
    assert_eq!(states(&gone).len(), 1);
}

/// A program that no record knows does not run, whoever's edits are followed: a tool could have made it.
#[test]
fn an_authors_new_programs_outside_the_folders_ask_again() {
    let script = |name: &str| manifest("hello").replace("[echo, hello]", &format!("['{name}']"));
    let unknown = |world: &MemoryWorld| {
        let project = open(world).unwrap();
        assert!(project.trust.is_trusted());
        let tool = project.catalog().find(world, &mut Files::new(), "hello").unwrap();
        project.unknown_programs(world, &tool).unwrap()
    };
    for author in [true, false] {
        let world = project()
            .with_file("/code/p/bin/known", "x")
            .with_file("/code/p/bin/new", "x")
            .with_file("/code/p/tools.d/beside", "x")
            .with_file("/code/p/tools.d/hello.yaml", script("../bin/known"));
        trust(&world, author);
        assert_eq!(unknown(&world), Vec::<PathBuf>::new());
        if author {
            let world = world.with_file("/code/p/bin/known", "edited");
            assert_eq!(
                unknown(&world),
                Vec::<PathBuf>::new(),
                "what is known is protected, so it is followed"
            );
            let world = world.with_file("/code/p/tools.d/hello.yaml", script("../bin/new"));
            assert_eq!(unknown(&world), [PathBuf::from("/code/p/bin/new")]);
            let world = world.with_file("/code/p/tools.d/hello.yaml", script("./beside"));
            assert_eq!(unknown(&world), Vec::<PathBuf>::new());
        }
    }
}

/// The file of times spares reading, and says nothing without the record that it belongs to.
#[test]
fn times_without_their_record_are_nothing() {
    let state_dir = Path::new("/home/user/.local/state/toolctl");
    let many = || {
        (0..100).fold(project(), |world, n| {
            let name = format!("tool{n}");
            world.with_file(format!("/code/p/tools.d/{name}.yaml"), manifest(&name))
        })
    };
    let world = many();
    trust(&world, false);
    let name = world.list(&state_dir.join("trust")).unwrap().remove(0);
    let times = state_dir.join("trust-times").join(&name);
    let text = String::from_utf8(world.read(&times, 1 << 20).unwrap()).unwrap();
    assert!(state_for(&world, "hello").is_trusted());
    for tool in ["hello", "tool0", "tool57", "tool99"] {
        assert!(state_for(&world, tool).is_trusted(), "{tool}");
        let path = format!("/code/p/tools.d/{tool}.yaml");
        let before = world.read(Path::new(&path), 1 << 20).unwrap();
        world.write_private(Path::new(&path), b"name: evil").unwrap();
        assert!(!state_for(&world, tool).is_trusted(), "{tool}");
        world.write_private(Path::new(&path), &before).unwrap();
    }
    for bad in ["", "{}\n", "\n", &text.replace("\"common\":", "\"common\":9"), &text.replace(['\t'], " ")] {
        world.write_private(&times, bad.as_bytes()).unwrap();
        assert!(state_for(&world, "hello").is_trusted(), "the record says it all");
    }
    // Times of another record, and times alone.
    world.write_private(&times, text.as_bytes()).unwrap();
    world.write_private(Path::new("/code/p/toolctl.yaml"), b"concurrency: 8\n").unwrap();
    assert!(!state_for(&world, "hello").is_trusted());
    trust(&world, false);
    world.write_private(&times, text.as_bytes()).unwrap();
    assert!(state_for(&world, "hello").is_trusted());
    world.remove(&state_dir.join("trust").join(&name)).unwrap();
    assert_eq!(state_for(&world, "hello"), TrustState::Untrusted);
}

/// One call that had to read everything spares the next one.
#[test]
fn a_call_renews_the_times() {
    let state_dir = Path::new("/home/user/.local/state/toolctl");
    let old = || {
        ["toolctl.yaml", "tools.d", "tools.d/hello.yaml", "policies", "policies/main.yaml", "policies/tests"]
            .iter()
            .fold(project().with_ctime("/code/p/policies/tests/t.yaml", 5), |world, path| {
                world.with_ctime(Path::new("/code/p").join(path), 5)
            })
    };
    let run = |world: &MemoryWorld| {
        let found = Project::open_for(world, &mut Files::new(), Path::new("."), Some("hello")).unwrap();
        assert!(found.trust.is_trusted());
        found.spare_the_next(world);
        found.outdated_times
    };
    let world = old();
    trust(&world, false);
    assert!(!run(&world), "nothing is younger than the record");
    let world = world.with_ctime("/code/p/tools.d", 7);
    assert!(run(&world), "the folder was written to, and all is as it was");
    assert!(!run(&world), "the next call knows");
    // A file that was exchanged in between is not written down as trusted.
    let world = world.with_ctime("/code/p/tools.d", 8);
    let found = Project::open_for(&world, &mut Files::new(), Path::new("."), Some("hello")).unwrap();
    world.write_private(Path::new("/code/p/tools.d/hello.yaml"), b"name: evil").unwrap();
    found.spare_the_next(&world);
    assert!(!state_for(&world, "hello").is_trusted());
    assert_eq!(world.list(&state_dir.join("trust-times")).unwrap().len(), 1);
}

/// A world that counts how often the disk is asked, and how many bytes it gives.
struct Counting<'w> {
    world: &'w MemoryWorld,
    asked: AtomicUsize,
}

impl Counting<'_> {
    fn count<T>(&self, amount: usize, answer: T) -> T {
        self.asked.fetch_add(amount, Ordering::Relaxed);
        answer
    }
}

impl World for Counting<'_> {
    fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        let bytes = self.world.read(path, max)?;
        Ok(self.count(1000 + bytes.len(), bytes))
    }
    fn read_canonical(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        self.read(path, max)
    }
    fn head(&self, path: &Path, len: u64) -> io::Result<Vec<u8>> {
        let bytes = self.world.head(path, len)?;
        Ok(self.count(1000 + bytes.len(), bytes))
    }
    fn section(&self, path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let bytes = self.world.section(path, offset, len)?;
        Ok(self.count(1000 + bytes.len(), bytes))
    }
    fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.world.write_private(path, bytes)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.world.remove(path)
    }
    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.count(1000, self.world.lstat(path))
    }
    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.count(1000, self.world.stat(path))
    }
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.count(1000, self.world.read_link(path))
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        let names = self.world.list(dir)?;
        Ok(self.count(1000 * (1 + names.len()), names))
    }
    fn now(&self) -> SystemTime {
        self.world.now()
    }
    fn env(&self, name: &str) -> Option<OsString> {
        self.world.env(name)
    }
    fn env_names(&self) -> Vec<OsString> {
        self.world.env_names()
    }
    fn current_dir(&self) -> io::Result<PathBuf> {
        self.world.current_dir()
    }
    fn euid(&self) -> u32 {
        self.world.euid()
    }
    fn account(&self, uid: u32) -> Option<Account> {
        self.world.account(uid)
    }
}

/// What one call asks of the disk does not depend on how many manifests there are, whoever trusted them and whether the
/// tool may write. (A file of times grows by some digits, and its first 32 KiB are read at once.)
#[test]
fn a_call_costs_the_same_with_many_manifests() {
    let cost = |count: usize, author: Option<bool>| {
        let writes = manifest("hello") + "sandbox: { allowFS: { readWrite: ['{workspace}'] } }\n";
        let mut world = project().with_file("/code/p/tools.d/hello.yaml", writes);
        for n in 0..count {
            let path = format!("/code/p/tools.d/tool{n}.yaml");
            world = world.with_file(&path, manifest(&format!("tool{n}"))).with_ctime(&path, 5);
        }
        for path in ["toolctl.yaml", "tools.d", "tools.d/hello.yaml", "policies", "policies/main.yaml"] {
            world = world.with_ctime(Path::new("/code/p").join(path), 5);
        }
        world = world.with_ctime("/code/p/policies/tests", 5).with_ctime("/code/p/policies/tests/t.yaml", 5);
        if let Some(author) = author {
            trust(&world, author);
        }
        let counting = Counting { world: &world, asked: AtomicUsize::new(0) };
        let found = Project::open_for(&counting, &mut Files::new(), Path::new("."), Some("hello")).unwrap();
        assert_eq!(found.trust.is_trusted(), author.is_some());
        let tool = found.catalog().find(&counting, &mut Files::new(), "hello").unwrap();
        found.unknown_programs(&counting, &tool).unwrap();
        let read = [(tool.tool.file.clone().unwrap(), tool.tool.digest.clone())];
        assert_eq!(found.differs(&counting, &read).unwrap(), None);
        found.control_set(&counting, Some(&tool.tool)).unwrap();
        counting.asked.into_inner()
    };
    for author in [None, Some(true), Some(false)] {
        let (few, many) = (cost(10, author), cost(2000, author));
        let slack = if author == Some(false) { 200_000 } else { 0 };
        assert!(few + slack >= many, "{author:?}: {few} and {many}");
    }
}
