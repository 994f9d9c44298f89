//! A world that remembers what it saw, for the short time in which one call is decided.
//!
//! Finding a project, checking who owns each file and making paths canonical ask for the same folders again and again.
//! What is decided here is not what is opened later: the sandbox compares each file with the one that was planned.

use super::{Account, FileKind, Stat, World};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// By the text of the path, which is hashed in one go; a path hashes its names one by one.
type Seen<T> = Mutex<HashMap<OsString, Result<T, (io::ErrorKind, Option<i32>)>>>;

/// Another world, asked at most once for what each path is. Writing or removing forgets everything.
pub struct MemoWorld<'w> {
    world: &'w dyn World,
    lstat: Seen<Stat>,
    stat: Seen<Stat>,
    link: Seen<PathBuf>,
    account: Mutex<HashMap<u32, Option<Account>>>,
}

impl<'w> MemoWorld<'w> {
    /// Remembers what `world` says.
    pub fn new(world: &'w dyn World) -> Self {
        Self {
            world,
            lstat: Mutex::default(),
            stat: Mutex::default(),
            link: Mutex::default(),
            account: Mutex::default(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn once<T: Clone>(seen: &Seen<T>, path: &Path, ask: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let error = |(kind, code): (io::ErrorKind, Option<i32>)| {
        code.map_or_else(|| io::Error::from(kind), io::Error::from_raw_os_error)
    };
    // A relative path means another thing after a change of folder.
    if !path.is_absolute() {
        return ask();
    }
    if let Some(known) = lock(seen).get(path.as_os_str()) {
        return known.clone().map_err(error);
    }
    let answer = ask().map_err(|error| (error.kind(), error.raw_os_error()));
    lock(seen).insert(path.as_os_str().to_owned(), answer.clone());
    answer.map_err(error)
}

impl World for MemoWorld<'_> {
    fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        self.world.read(path, max)
    }

    fn read_canonical(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        self.world.read_canonical(path, max)
    }

    fn look_again(&self) {
        lock(&self.lstat).clear();
        lock(&self.stat).clear();
        lock(&self.link).clear();
    }

    fn list_kinds(&self, dir: &Path) -> io::Result<Vec<(OsString, FileKind)>> {
        self.world.list_kinds(dir)
    }

    fn head(&self, path: &Path, len: u64) -> io::Result<Vec<u8>> {
        self.world.head(path, len)
    }

    fn stream(&self, path: &Path) -> io::Result<(Box<dyn io::Read + Send>, Option<u64>)> {
        self.world.stream(path)
    }

    fn section(&self, path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        self.world.section(path, offset, len)
    }

    fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.look_again();
        self.world.write_private(path, bytes)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.look_again();
        self.world.remove(path)
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        once(&self.lstat, path, || self.world.lstat(path))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        once(&self.stat, path, || self.world.stat(path))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        once(&self.link, path, || self.world.read_link(path))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.world.list(dir)
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
        if let Some(known) = lock(&self.account).get(&uid) {
            return known.clone();
        }
        let account = self.world.account(uid);
        lock(&self.account).insert(uid, account.clone());
        account
    }
}

#[cfg(test)]
mod tests {
    use super::MemoWorld;
    use crate::world::{MemoryWorld, World};
    use std::path::Path;

    #[test]
    fn remembers_until_something_is_written() {
        let inner = MemoryWorld::new("/ws").with_link("/ws/l", "/ws/a");
        let world = MemoWorld::new(&inner);
        let file = Path::new("/ws/a");
        assert_eq!(world.lstat(file).unwrap_err().kind(), std::io::ErrorKind::NotFound);
        inner.write_private(file, b"x").unwrap();
        assert!(world.lstat(file).is_err(), "remembered");
        assert!(world.stat(Path::new("a")).is_ok(), "relative paths are asked for anew");
        world.write_private(Path::new("/ws/b"), b"y").unwrap();
        assert_eq!(world.lstat(file).unwrap().len, 1);
        inner.write_private(file, b"xyz").unwrap();
        world.look_again();
        assert_eq!(world.lstat(file).unwrap().len, 3);
        assert_eq!(world.read_link(Path::new("/ws/l")).unwrap(), file);
    }
}
