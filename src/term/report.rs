//! Reports for machines that go beside the normal output, into files.

use super::output::escape_json;
use super::ui::OutputError;
use crate::text::escape;
use rustix::fs::{CWD, Mode, OFlags, openat};
use serde::Serialize;
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// Writes a JSON document to a file, hidden characters as escapes.
pub fn write_json_report<T: Serialize + ?Sized>(
    start: &Path,
    file: &Path,
    value: &T,
) -> Result<(), OutputError> {
    let json = serde_json::to_string_pretty(value)?;
    // The ends of lines are the layout's: inside strings they are escapes already.
    let lines: Vec<String> = json.lines().map(escape_json).collect();
    write_text_report(start, file, &(lines.join("\n") + "\n"))
}

/// Writes text to a file, in place of what was in it.
///
/// Below `start`, the folder that is reported about, no symbolic link is followed and nothing is waited for: its author
/// could have put a link to a file of the user where reports are usually written, or a pipe that nobody reads.
pub fn write_text_report(start: &Path, file: &Path, text: &str) -> Result<(), OutputError> {
    let path = start.join(file);
    let write = || match path.strip_prefix(start) {
        Ok(below) => open_below(start, below)?.write_all(text.as_bytes()),
        Err(_) => std::fs::write(&path, text),
    };
    write().map_err(|source| OutputError::File { path: escape(&path.to_string_lossy()), source })
}

/// Opens name by name: not every kernel and filter lets `openat2` through.
fn open_below(start: &Path, below: &Path) -> std::io::Result<File> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir = openat(CWD, start, folder, Mode::empty())?;
    let mut names = below.components().peekable();
    while let Some(name) = names.next() {
        let name = name.as_os_str();
        if names.peek().is_some() {
            dir = openat(&dir, name, folder | OFlags::NOFOLLOW, Mode::empty())?;
            continue;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&dir, name, flags, Mode::from_raw_mode(0o666))?);
        if !file.metadata()?.is_file() {
            return Err(ErrorKind::InvalidInput.into());
        }
        file.set_len(0)?;
        return Ok(file);
    }
    Err(ErrorKind::IsADirectory.into())
}

#[cfg(test)]
mod tests {
    use super::write_text_report;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn links_below_the_start_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (start, out) = (dir.path().join("project"), dir.path().join("out"));
        fs::create_dir_all(start.join("real")).unwrap();
        fs::create_dir(&out).unwrap();
        fs::write(out.join("mine"), "mine").unwrap();
        symlink(out.join("mine"), start.join("link")).unwrap();
        symlink("../out", start.join("folder")).unwrap();
        symlink("nowhere", start.join("dangling")).unwrap();
        let absolute = start.join("link");
        for bad in ["link", "folder/mine", "folder/new", "dangling", "real", "none/x"] {
            assert!(write_text_report(&start, Path::new(bad), "x").is_err(), "{bad}");
        }
        assert!(write_text_report(&start, &absolute, "x").is_err());
        assert_eq!(fs::read_to_string(out.join("mine")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
        fs::write(start.join("real/old"), "longer than before").unwrap();
        for good in [Path::new("new"), Path::new("real/old"), Path::new("../out/mine"), &start.join("a")] {
            write_text_report(&start, good, "x").unwrap();
            assert_eq!(fs::read_to_string(start.join(good)).unwrap(), "x", "{}", good.display());
        }
    }
}
