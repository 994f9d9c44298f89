//! The real machine.

use super::{Account, FileKind, Stat, World};
use rustix::fs::{Mode, OFlags};
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// The machine that toolctl runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct HostWorld;

fn stat_of(meta: &Metadata) -> Stat {
    let kind = kind_of(meta.file_type());
    Stat {
        kind,
        len: meta.len(),
        mode: meta.mode() & 0o7777,
        uid: meta.uid(),
        gid: meta.gid(),
        dev: meta.dev(),
        ino: meta.ino(),
        ctime_ns: meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec()),
    }
}

fn kind_of(kind: fs::FileType) -> FileKind {
    if kind.is_file() {
        FileKind::File
    } else if kind.is_dir() {
        FileKind::Dir
    } else if kind.is_symlink() {
        FileKind::Symlink
    } else {
        FileKind::Other
    }
}

/// The bytes of an open file, if it is a regular one of at most `max` bytes.
fn bytes_of(file: File, max: u64) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    // Files of the kernel say that they are empty; room for some of their text saves many small reads.
    let expected = usize::try_from(meta.len().min(max)).unwrap_or(0).max(4096);
    let mut bytes = Vec::with_capacity(expected + 1);
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {max} bytes")));
    }
    Ok(bytes)
}

/// Opens a path name by name and follows no symlink.
fn open_canonical(path: &Path) -> io::Result<File> {
    let mut dir = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut names = path.components().skip(1).peekable();
    while let Some(name) = names.next() {
        let Component::Normal(name) = name else { return Err(io::ErrorKind::InvalidInput.into()) };
        let flags = if names.peek().is_some() {
            OFlags::PATH | OFlags::DIRECTORY
        } else {
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY
        };
        dir = rustix::fs::openat(&dir, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    }
    Ok(File::from(dir))
}

impl World for HostWorld {
    fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        // O_NONBLOCK: opening a named pipe without a writer must not wait.
        let file =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
        bytes_of(file, max)
    }

    fn read_canonical(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        if !path.is_absolute() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        bytes_of(open_canonical(path)?, max)
    }

    fn head(&self, path: &Path, len: u64) -> io::Result<Vec<u8>> {
        let file =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // Room for all of it, or it is read in a dozen pieces.
        let expected = usize::try_from(meta.len().min(len)).unwrap_or(0);
        let mut bytes = Vec::with_capacity(expected + 1);
        file.take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn stream(&self, path: &Path) -> io::Result<(Box<dyn io::Read + Send>, Option<u64>)> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NOCTTY).open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let len = meta.is_file().then_some(meta.len());
        Ok((Box::new(file), len))
    }

    fn write_private(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let dir = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?);
        name.push(format!(".{}", std::process::id()));
        let temporary = dir.join(name);
        let _ = fs::remove_file(&temporary);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
            fs::rename(&temporary, path)?;
            File::open(dir)?.sync_all()
        });
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn lstat(&self, path: &Path) -> io::Result<Stat> {
        fs::symlink_metadata(path).map(|meta| stat_of(&meta))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        fs::metadata(path).map(|meta| stat_of(&meta))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        let mut names =
            fs::read_dir(dir)?.map(|e| e.map(|e| e.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn list_kinds(&self, dir: &Path) -> io::Result<Vec<(OsString, FileKind)>> {
        fs::read_dir(dir)?
            .map(|entry| {
                let entry = entry?;
                Ok((entry.file_name(), kind_of(entry.file_type()?)))
            })
            .collect()
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn env(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn env_names(&self) -> Vec<OsString> {
        std::env::vars_os().map(|(name, _)| name).collect()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    fn euid(&self) -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn account(&self, uid: u32) -> Option<Account> {
        // The file, not NSS: no library of the host is loaded into this process to find out who runs it.
        let bytes = self.read(Path::new("/etc/passwd"), 4 << 20).ok()?;
        String::from_utf8_lossy(&bytes).lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            let entry_uid = fields.nth(1)?.parse::<u32>().ok()?;
            let gid = fields.next()?.parse::<u32>().ok()?;
            let home = fields.nth(1)?;
            (entry_uid == uid && home.starts_with('/')).then(|| Account {
                name: name.to_owned(),
                uid,
                gid,
                home: PathBuf::from(home),
            })
        })
    }
}
