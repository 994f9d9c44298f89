//! Protected names that did not exist before a call and exist after it are moved out of the way, so that nothing reads
//! them before a person has looked.

use std::fs;
use std::path::{Path, PathBuf};

/// Moves each path into `folder` (a folder of toolctl's own state), or beside itself under an inert name where that is
/// another file system. Returns where each went; `None` means that it is still where it was.
pub(super) fn quarantine(created: &[PathBuf], folder: &Path, id: &str) -> Vec<(PathBuf, Option<PathBuf>)> {
    created
        .iter()
        .enumerate()
        .map(|(index, path)| (path.clone(), move_away(path, folder, &format!("{id}-{index}"))))
        .collect()
}

fn move_away(path: &Path, folder: &Path, id: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let kept = folder.join(format!("{id}-{name}"));
    if fs::create_dir_all(folder).is_ok() && fs::rename(path, &kept).is_ok() {
        return Some(kept);
    }
    let beside = path.with_file_name(format!(".quarantine-{id}-{}", name.trim_start_matches('.')));
    fs::rename(path, &beside).ok().map(|()| beside)
}

#[cfg(test)]
mod tests {
    use super::quarantine;
    use std::fs;

    #[test]
    fn moves_files_and_folders() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("ws/.git/hooks")).unwrap();
        fs::write(dir.path().join("ws/.git/hooks/pre-commit"), "x").unwrap();
        let created = [dir.path().join("ws/.git/hooks"), dir.path().join("ws/missing")];
        let moved = quarantine(&created, &dir.path().join("state/quarantine"), "call1");
        assert!(!created[0].exists());
        assert!(moved[0].1.as_ref().unwrap().join("pre-commit").exists());
        assert_eq!(moved[1].1, None);
    }
}
