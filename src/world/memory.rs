//! A world made of data: no disk, no clock, no environment is read.

use super::{Account, FileKind, Stat, World};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

#[derive(Debug, Clone)]
enum Thing {
    File(Vec<u8>),
    Dir,
    Link(PathBuf),
}

/// A small file tree, a fixed clock and a fixed environment, owned by one user.
#[derive(Debug)]
pub struct MemoryWorld {
    tree: Mutex<BTreeMap<PathBuf, Thing>>,
    env: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    now: SystemTime,
    uid: u32,
    owners: BTreeMap<PathBuf, (u32, u32)>,
    modes: BTreeMap<PathBuf, u32>,
    ctimes: BTreeMap<PathBuf, i64>,
}

impl Default for MemoryWorld {
    fn default() -> Self {
        Self::new("/ws")
    }
}

impl MemoryWorld {
    /// A world that holds one folder, which is the working folder.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        let world = Self {
            tree: Mutex::default(),
            env: BTreeMap::new(),
            now: SystemTime::UNIX_EPOCH,
            uid: 1000,
            owners: BTreeMap::new(),
            modes: BTreeMap::new(),
            ctimes: BTreeMap::new(),
            cwd: cwd.clone(),
        };
        world.put(&cwd, Thing::Dir);
        world
    }

    fn tree(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Thing>> {
        self.tree.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn put(&self, path: &Path, thing: Thing) {
        let mut tree = self.tree();
        for dir in path.ancestors().skip(1) {
            tree.entry(dir.to_path_buf()).or_insert(Thing::Dir);
        }
        tree.insert(path.to_path_buf(), thing);
    }

    /// Adds a file and its parent folders.
    #[must_use]
    pub fn with_file(self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Self {
        self.put(path.as_ref(), Thing::File(bytes.into()));
        self
    }

    /// Adds a folder and its parents.
    #[must_use]
    pub fn with_dir(self, path: impl AsRef<Path>) -> Self {
        self.put(path.as_ref(), Thing::Dir);
        self
    }

    /// Adds a symlink.
    #[must_use]
    pub fn with_link(self, path: impl AsRef<Path>, target: impl Into<PathBuf>) -> Self {
        self.put(path.as_ref(), Thing::Link(target.into()));
        self
    }

    /// Sets the owner and the group of a path; otherwise both are those of the one user.
    #[must_use]
    pub fn with_owner(mut self, path: impl Into<PathBuf>, uid: u32, gid: u32) -> Self {
        self.owners.insert(path.into(), (uid, gid));
        self
    }

    /// Sets the permission bits of a path; otherwise they are 0644 for a file and 0755 for a folder.
    #[must_use]
    pub fn with_mode(mut self, path: impl Into<PathBuf>, mode: u32) -> Self {
        self.modes.insert(path.into(), mode);
        self
    }

    /// Sets when a path last changed, in nanoseconds since the epoch; otherwise that is the epoch.
    #[must_use]
    pub fn with_ctime(mut self, path: impl Into<PathBuf>, nanoseconds: i64) -> Self {
        self.ctimes.insert(path.into(), nanoseconds);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets the clock.
    #[must_use]
    pub fn at(mut self, now: SystemTime) -> Self {
        self.now = now;
        self
    }

    /// The path with every symlink but, unless `last`, the last one resolved.
    fn resolve(&self, path: &Path, last: bool) -> io::Result<PathBuf> {
        let tree = self.tree();
        let mut todo: Vec<PathBuf> =
            self.cwd.join(path).components().rev().map(|c| PathBuf::from(c.as_os_str())).collect();
        let mut done = PathBuf::new();
        let mut links = 0;
        while let Some(part) = todo.pop() {
            match part.components().next() {
                Some(Component::ParentDir) => {
                    done.pop();
                    if done.as_os_str().is_empty() {
                        done.push("/");
                    }
                    continue;
                }
                Some(Component::CurDir) | None => continue,
                Some(_) => {}
            }
            let next = done.join(&part);
            match tree.get(&next) {
                Some(Thing::Link(target)) if last || !todo.is_empty() => {
                    links += 1;
                    if links > 40 {
                        return Err(io::Error::from_raw_os_error(libc::ELOOP));
                    }
                    if target.is_absolute() {
                        done = PathBuf::new();
                    }
                    todo.extend(target.components().rev().map(|c| PathBuf::from(c.as_os_str())));
                }
                Some(Thing::File(_)) if !todo.is_empty() => {
                    return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
                }
                Some(_) => done = next,
                None => return Err(io::ErrorKind::NotFound.into()),
            }
        }
        Ok(done)
    }

    fn stat_at(&self, path: &Path) -> io::Result<Stat> {
        let tree = self.tree();
        // Stable whatever else is in the tree: FNV-1a of the path.
        let ino = path.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        });
        let thing = tree.get(path).ok_or(io::ErrorKind::NotFound)?;
        let (kind, len, mode) = match thing {
            Thing::File(bytes) => (FileKind::File, bytes.len() as u64, 0o644),
            Thing::Dir => (FileKind::Dir, 0, 0o755),
            Thing::Link(target) => (FileKind::Symlink, target.as_os_str().len() as u64, 0o777),
        };
        let ctime_ns = self.ctimes.get(path).copied().unwrap_or(0);
        let mode = self.modes.get(path).copied().unwrap_or(mode);
        let (uid, gid) = self.owners.get(path).copied().unwrap_or((self.uid, self.uid));
        Ok(Stat { kind, len, mode, uid, gid, dev: 1, ino, ctime_ns, born_ns: 0 })
    }
}

impl World for MemoryWorld {
    fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        let path = self.resolve(path, true)?;
        match self.tree().get(&path) {
            Some(Thing::File(bytes)) if bytes.len() as u64 > max => Err(io::ErrorKind::FileTooLarge.into()),
            Some(Thing::File(bytes)) => Ok(bytes.clone()),
            Some(Thing::Dir | Thing::Link(_)) => Err(io::ErrorKind::InvalidInput.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn read_canonical(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        if self.resolve(path, true)? != path {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.read(path, max)
    }

    fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.put(path, Thing::File(bytes.to_vec()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.tree().remove(path);
        Ok(())
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        self.stat_at(&self.resolve(path, false)?)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.stat_at(&self.resolve(path, true)?)
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let path = self.resolve(path, false)?;
        match self.tree().get(&path) {
            Some(Thing::Link(target)) => Ok(target.clone()),
            Some(Thing::File(_) | Thing::Dir) => Err(io::ErrorKind::InvalidInput.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        let dir = self.resolve(dir, true)?;
        Ok(self
            .tree()
            .keys()
            .filter(|key| key.parent() == Some(dir.as_path()))
            .filter_map(|key| key.file_name().map(OsString::from))
            .collect())
    }

    fn now(&self) -> SystemTime {
        self.now
    }

    fn env(&self, name: &str) -> Option<OsString> {
        self.env.get(std::ffi::OsStr::new(name)).cloned()
    }

    fn env_names(&self) -> Vec<OsString> {
        self.env.keys().cloned().collect()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(self.cwd.clone())
    }

    fn euid(&self) -> u32 {
        self.uid
    }

    fn account(&self, uid: u32) -> Option<Account> {
        let (name, home) = match uid {
            0 => ("root", "/root"),
            uid if uid == self.uid => ("user", "/home/user"),
            _ => return None,
        };
        Some(Account { name: name.to_owned(), uid, gid: uid, home: PathBuf::from(home) })
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryWorld, World};
    use std::path::Path;

    #[test]
    fn follows_links_before_parents() {
        let world = MemoryWorld::new("/ws").with_link("/ws/out", "/etc").with_file("/etc/passwd", "x");
        assert_eq!(world.read(Path::new("out/passwd"), 9).unwrap(), b"x");
        assert!(world.stat(Path::new("/ws/out/../ws")).is_ok());
        assert!(world.stat(Path::new("/ws/out/ws")).is_err());
    }
}
