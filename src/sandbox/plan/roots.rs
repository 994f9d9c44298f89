//! What every sandbox shows: the system's programs and libraries, and the few files of /etc that they need.

use super::tree::{Tree, canonical, entry};
use crate::sandbox::linux::job::{Access, Net};
use crate::world::{FileKind, World};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Devices that every sandbox has.
pub(in crate::sandbox) const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"];

/// Folders of the system's programs and libraries.
pub(super) const PROGRAM_ROOTS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const ALWAYS: [&str; 3] = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"];
const WITH_NETWORK: [&str; 11] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/protocols",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
];

/// Whether a path is one that every sandbox, or every sandbox with the host's network, shows for reading. Nobody asked for
/// it, so it need not be told.
pub fn shown_everywhere(path: &Path) -> bool {
    PROGRAM_ROOTS.iter().chain(&ALWAYS).chain(&WITH_NETWORK).any(|root| path == Path::new(root))
}

/// The parts of a private root.
#[derive(Debug, Default)]
pub(super) struct Root {
    pub tree: Tree,
    /// Symlinks to make.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Small files to write.
    pub files: Vec<(PathBuf, OsString)>,
}

impl Root {
    /// Shows a path of the host, following a symlink by showing its target and remaking the link. What is not there is
    /// left out.
    pub(super) fn show(&mut self, world: &dyn World, path: &Path, access: Access) {
        let Ok(stat) = world.lstat(path) else { return };
        if stat.kind != FileKind::Symlink {
            if matches!(stat.kind, FileKind::Dir | FileKind::File) {
                self.tree.put_new(entry(path, stat, access));
            }
            return;
        }
        let Ok(text) = world.read_link(path) else { return };
        let Ok(real) = canonical(world, path) else { return };
        let Ok(stat) = world.stat(&real) else { return };
        self.links.push((path.to_path_buf(), text));
        if self.tree.covering(&real).is_none() && matches!(stat.kind, FileKind::Dir | FileKind::File) {
            self.tree.put_new(entry(&real, stat, access));
        }
    }

    /// The system's programs, libraries and the files of /etc that they need.
    pub(super) fn show_system(&mut self, world: &dyn World, net: Net) {
        for path in PROGRAM_ROOTS {
            self.show(world, Path::new(path), Access::ReadExec);
        }
        for path in ALWAYS {
            self.show(world, Path::new(path), Access::Read);
        }
        if net == Net::Host {
            for path in WITH_NETWORK {
                self.show(world, Path::new(path), Access::Read);
            }
        } else {
            self.write("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n".to_owned());
            self.write("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n".to_owned());
        }
        self.write_accounts(world);
    }

    /// Two accounts at most: the real lists name people and services that are none of the tool's business.
    fn write_accounts(&mut self, world: &dyn World) {
        let mut passwd = "root:x:0:0:root:/tmp/home:/bin/sh\n".to_owned();
        let mut group = "root:x:0:\n".to_owned();
        let account = world.account(world.euid()).filter(|account| account.uid != 0);
        if let Some(account) = account {
            let name: String =
                account.name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(passwd, "{name}:x:{}:{}::/tmp/home:/bin/sh", account.uid, account.gid);
            let _ = writeln!(group, "{name}:x:{}:", account.gid);
        }
        self.write("/etc/passwd", passwd);
        self.write("/etc/group", group);
    }

    fn write(&mut self, path: &str, text: String) {
        self.files.push((PathBuf::from(path), OsString::from(text)));
    }

    /// The host's whole tree, without the kernel's own file systems and the shared temporary folder.
    pub(super) fn show_all(&mut self, world: &dyn World, write: bool, exec: bool) {
        let names = world.list(Path::new("/")).unwrap_or_default();
        for name in names {
            let path = Path::new("/").join(&name);
            if ["/proc", "/sys", "/dev", "/tmp"].iter().any(|skip| path == Path::new(skip)) {
                continue;
            }
            let programs = PROGRAM_ROOTS.iter().chain(&["/opt", "/nix", "/gnu"]);
            let exec = exec || programs.into_iter().any(|root| path == Path::new(root));
            self.show(world, &path, access_for(write, exec));
        }
    }
}

/// The access of a bind.
pub(super) const fn access_for(write: bool, exec: bool) -> Access {
    match (write, exec) {
        (false, false) => Access::Read,
        (false, true) => Access::ReadExec,
        (true, false) => Access::Write,
        (true, true) => Access::WriteExec,
    }
}
