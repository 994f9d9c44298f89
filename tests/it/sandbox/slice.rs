//! The shortest way through every backend.

use super::kit::{Case, all, out};
use toolctl::sandbox::{Backend, BackendChoice, EndCause};

#[test]
fn every_backend_runs_a_program() {
    for (case, backend) in [
        (Case::new("/bin/true", &[]), Backend::Ns),
        (Case::new("/bin/true", &[]).backend(BackendChoice::Flat), Backend::Flat),
        (Case::new("/bin/true", &[]).off(), Backend::None),
    ] {
        let ended = case.run();
        assert_eq!(
            (ended.cause, ended.exit_code, ended.backend),
            (EndCause::Exit, Some(0), backend),
            "{}",
            all(&ended)
        );
    }
}

#[test]
fn a_bound_file_is_read_and_stdin_arrives() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("note");
    std::fs::write(&file, "content").unwrap();
    for backend in [BackendChoice::Ns, BackendChoice::Flat] {
        let ended = Case::new("/bin/cat", &[file.to_str().unwrap(), "-"])
            .ro(&file)
            .stdin("+input")
            .backend(backend)
            .run();
        assert_eq!(out(&ended), "content+input", "{}", all(&ended));
    }
}
