//! The folders that a built-in tool needs for writing: not the whole workspace, but the one that holds the names it changes.
//!
//! A file is replaced, moved or deleted through its folder, so a bind of the file itself would not do. Both ends of a move
//! have to lie in one bind, since nothing is renamed from one to another.

use super::prepare::Prepared;
use crate::manifest::{BuiltinReach, Exec, builtin_reach};
use crate::model::Effect;
use crate::policy::Decided;
use crate::world::{FileKind, World};
use std::path::{Path, PathBuf};

/// What a call touches of the files that its sandbox shows.
pub(crate) fn reach(prepared: &Prepared) -> BuiltinReach {
    match &prepared.tool.tool.exec {
        Exec::Builtin(name) => builtin_reach(name),
        Exec::Command(_) => BuiltinReach::Workspace,
    }
}

/// The paths of the call's arguments, absolute: of a link that is not followed the link itself.
pub(crate) fn named(decided: &Decided) -> impl Iterator<Item = PathBuf> {
    decided.call().paths().values().map(|path| PathBuf::from(path.link().unwrap_or_else(|| path.absolute())))
}

/// The folder that a built-in tool writes in, if its call changes nothing but the paths it names. Nothing lies between it and
/// the workspace that is a link: it was decided in this form.
pub(crate) fn written(world: &dyn World, prepared: &Prepared, decided: &Decided) -> Option<PathBuf> {
    let changes = match reach(prepared) {
        BuiltinReach::Arguments | BuiltinReach::Trees => decided.effects().contains(Effect::Write),
        BuiltinReach::Workspace => false,
    };
    let workspace = prepared.project.workspace.as_path();
    let mut common: Option<PathBuf> = None;
    for path in named(decided).filter(|path| path.starts_with(workspace)) {
        let folder = if path == workspace { workspace } else { path.parent().unwrap_or(workspace) };
        common = Some(common.map_or_else(|| folder.to_path_buf(), |known| shared(&known, folder)));
    }
    let folder = common.filter(|_| changes)?;
    // A folder that is to be made is made in the nearest one that is there.
    let there = |dir: &&Path| world.lstat(dir).is_ok_and(|stat| stat.kind == FileKind::Dir);
    folder.ancestors().find(there).filter(|dir| dir.starts_with(workspace)).map(Path::to_path_buf)
}

/// Cuts the writable binds down to `folder`; what they showed besides stays readable.
pub(crate) fn narrow(folder: &Path, read_only: &mut Vec<PathBuf>, read_write: &mut Vec<PathBuf>) {
    let mut inside = Vec::new();
    for bind in std::mem::take(read_write) {
        if bind.starts_with(folder) {
            inside.push(bind);
        } else {
            if folder.starts_with(&bind) {
                inside.push(folder.to_path_buf());
            }
            read_only.push(bind);
        }
    }
    inside.sort();
    inside.dedup();
    *read_write = inside;
}

fn shared(a: &Path, b: &Path) -> PathBuf {
    a.ancestors().find(|dir| b.starts_with(dir)).unwrap_or(Path::new("/")).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::{narrow, shared};
    use std::path::{Path, PathBuf};

    fn paths(texts: &[&str]) -> Vec<PathBuf> {
        texts.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn only_the_folder_stays_writable() {
        for (folder, write, writable, readable) in [
            ("/ws/src", &["/ws"][..], &["/ws/src"][..], &["/ws"][..]),
            ("/ws", &["/ws"], &["/ws"], &[]),
            // What a rule's limits left is never widened.
            ("/ws", &["/ws/out"], &["/ws/out"], &[]),
            ("/ws/src", &["/ws/out"], &[], &["/ws/out"]),
            ("/ws/src/a", &["/ws/out", "/ws/src"], &["/ws/src/a"], &["/ws/out", "/ws/src"]),
            ("/ws/src", &["/ws", "/ws/src"], &["/ws/src"], &["/ws"]),
            ("/ws/src", &["/ws/srcs"], &[], &["/ws/srcs"]),
        ] {
            let (mut read_only, mut read_write) = (Vec::new(), paths(write));
            narrow(Path::new(folder), &mut read_only, &mut read_write);
            assert_eq!((read_write, read_only), (paths(writable), paths(readable)), "{folder} {write:?}");
        }
    }

    #[test]
    fn two_folders_share_the_nearest_above() {
        for (a, b, both) in
            [("/w/a", "/w/b", "/w"), ("/w/a", "/w/a/b", "/w/a"), ("/w/a", "/w/ab", "/w"), ("/w", "/w", "/w")]
        {
            assert_eq!(shared(Path::new(a), Path::new(b)), Path::new(both));
            assert_eq!(shared(Path::new(b), Path::new(a)), Path::new(both));
        }
    }
}
