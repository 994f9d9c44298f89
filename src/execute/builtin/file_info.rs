//! `file_info`: what is at a path, without what is in it.
//!
//! The last name is not followed: of a symbolic link the link itself is told, and what it says. Text or binary, lines and
//! line ends are found out by reading the file, up to a bound; a digest is made only when asked for, of all of it.

use super::error::BuiltinError;
use super::io::Io;
use super::names::quote;
use super::root::{Root, Target, kind_words, stat_of};
use crate::text::escape;
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, OFlags, Stat};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;

/// The tool's name.
pub(super) const NAME: &str = "file_info";

/// A larger file is read only for its digest.
pub(super) const MAX_READ: u64 = 64 << 20;

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    #[serde(default)]
    sha256: bool,
}

/// Writes a line for each thing that is known.
pub(super) fn run(args: &Args, root: &Root, io: &mut Io<'_>) -> Result<(), BuiltinError> {
    let target = root.target(&args.path)?;
    let fd = target.open("look at", OFlags::PATH)?;
    let stat = stat_of(&fd).map_err(|errno| BuiltinError::system("look at", &args.path, errno))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if args.sha256 && !kind.is_file() {
        return Err(BuiltinError::Kind {
            path: escape(&args.path),
            kind: kind_words(kind),
            wanted: "a regular file",
            hint: "; only a file has a digest",
        });
    }
    let mut lines = vec![("path", quote(args.path.as_bytes()).into_owned()), ("kind", word(kind).to_owned())];
    if kind.is_file() {
        lines.push(("size", format!("{} bytes", stat.st_size)));
    }
    let bits = stat.st_mode & 0o7777;
    lines.push(("mode", format!("{bits:04o} {}", letters(bits))));
    lines.push(("owner", format!("{}:{}", stat.st_uid, stat.st_gid)));
    if kind.is_file() {
        lines.push(("hard links", stat.st_nlink.to_string()));
    }
    lines.push(("modified", time(stat.st_mtime, stat.st_mtime_nsec)));
    if kind.is_symlink() {
        lines.push(("target", link_target(&fd, &args.path)?));
    }
    if kind.is_file() {
        lines.extend(content(args, &target, &stat)?);
    }
    let mut text = String::new();
    for (name, value) in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
    io.put(text.as_bytes())
}

fn link_target(fd: &OwnedFd, path: &str) -> Result<String, BuiltinError> {
    rustix::fs::readlinkat(fd, "", Vec::new())
        .map(|target| quote(target.as_bytes()).into_owned())
        .map_err(|errno| BuiltinError::system("look at", path, errno))
}

/// What reading the file tells. A file that cannot be read is told as such, unless its digest was asked for.
fn content(
    args: &Args,
    target: &Target<'_>,
    seen: &Stat,
) -> Result<Vec<(&'static str, String)>, BuiltinError> {
    let size = u64::try_from(seen.st_size).unwrap_or(0);
    if size > MAX_READ && !args.sha256 {
        return Ok(vec![("content", format!("not looked at: larger than {} MiB", MAX_READ >> 20))]);
    }
    let (fd, stat) = match target.open_regular() {
        Ok(opened) => opened,
        Err(BuiltinError::System { errno, .. }) if !args.sha256 => {
            return Ok(vec![("content", format!("cannot be read: {}", std::io::Error::from(errno)))]);
        }
        Err(error) => return Err(error),
    };
    if (stat.st_dev, stat.st_ino) != (seen.st_dev, seen.st_ino) {
        return Err(BuiltinError::system("look at", &args.path, rustix::io::Errno::AGAIN));
    }
    let mut look = Look::default();
    let mut hash = Sha256::new();
    let mut file = File::from(fd);
    let mut buffer = vec![0; 64 * 1024];
    let mut bytes = 0;
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(BuiltinError::io("read", &args.path, &error)),
        };
        let part = buffer.get(..count).unwrap_or_default();
        bytes += count as u64;
        if args.sha256 {
            hash.update(part);
        } else if bytes > MAX_READ {
            return Ok(vec![("content", "not looked at: the file grows".to_owned())]);
        }
        look.at(part);
    }
    let mut lines = look.lines();
    if args.sha256 {
        let digest = hash.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        lines.push(("sha256", digest));
        if bytes != size {
            lines.push(("note", format!("{bytes} bytes were read: the file changed meanwhile")));
        }
    }
    Ok(lines)
}

/// What the bytes seen so far look like.
#[derive(Debug, Default)]
struct Look {
    any: bool,
    nul: bool,
    not_utf8: bool,
    /// The start of a character whose end is in the next part.
    tail: Vec<u8>,
    last: u8,
    line_feeds: u64,
    with_return: u64,
}

impl Look {
    fn at(&mut self, part: &[u8]) {
        self.any |= !part.is_empty();
        for byte in part {
            match byte {
                0 => self.nul = true,
                b'\n' => {
                    self.line_feeds += 1;
                    self.with_return += u64::from(self.last == b'\r');
                }
                _ => {}
            }
            self.last = *byte;
        }
        if !self.nul && !self.not_utf8 {
            self.tail.extend_from_slice(part);
            self.tail = match std::str::from_utf8(&self.tail) {
                Ok(_) => Vec::new(),
                Err(error) if error.error_len().is_none() => {
                    self.tail.get(error.valid_up_to()..).unwrap_or_default().to_vec()
                }
                Err(_) => {
                    self.not_utf8 = true;
                    Vec::new()
                }
            };
        }
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let content = match (self.any, self.nul, self.not_utf8 || !self.tail.is_empty()) {
            (false, ..) => "empty",
            (true, true, _) => "binary",
            (true, false, true) => "text, not UTF-8",
            (true, false, false) => "text",
        };
        let mut lines = vec![("content", content.to_owned())];
        if self.nul || !self.any {
            return lines;
        }
        let unended = if self.last == b'\n' { "" } else { ", the last without a line end" };
        let count = self.line_feeds + u64::from(self.last != b'\n');
        lines.push(("lines", format!("{count}{unended}")));
        let ends = match (self.line_feeds, self.with_return) {
            (0, _) => return lines,
            (_, 0) => "LF".to_owned(),
            (all, with) if all == with => "CRLF".to_owned(),
            (all, with) => format!("mixed, {} LF and {with} CRLF", all - with),
        };
        lines.push(("line ends", ends));
        lines
    }
}

const fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "file",
        FileType::Directory => "dir",
        FileType::Symlink => "link",
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Unknown => "unknown",
    }
}

/// `rwxr-xr-x`, with `s` and `t` as `ls` has them.
fn letters(bits: u32) -> String {
    let special = [(0o4000, 's'), (0o2000, 's'), (0o1000, 't')];
    let mut text = String::with_capacity(9);
    for (shift, (bit, letter)) in [6, 3, 0].into_iter().zip(special) {
        let three = bits >> shift;
        text.push(if three & 4 != 0 { 'r' } else { '-' });
        text.push(if three & 2 != 0 { 'w' } else { '-' });
        text.push(match (three & 1 != 0, bits & bit != 0) {
            (true, true) => letter,
            (false, true) => letter.to_ascii_uppercase(),
            (true, false) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// Seconds since 1970 as `YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ`.
pub(super) fn time(seconds: i64, nanos: u64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years are counted from March, so that the day that leap years add is the last of a year.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year_of_era + era * 400 + next_year;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}
