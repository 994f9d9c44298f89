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

#[test]
fn toolctl_itself_is_a_program() {
    for backend in [BackendChoice::Ns, BackendChoice::Flat] {
        let mut case = Case::new("/bin/true", &[]).backend(backend);
        case.program = toolctl::sandbox::Program::SelfExe;
        case.argv = vec!["toolctl".into(), "--version".into()];
        let ended = case.run();
        assert_eq!((ended.cause, ended.exit_code), (EndCause::Exit, Some(0)), "{}", all(&ended));
    }
}

/// The defaults must be enough for what people write tools in.
#[test]
fn common_programs_start() {
    for (program, args, expected) in [
        ("/usr/bin/node", vec!["-e", "console.log(6*7)"], "42\n"),
        (
            "/usr/bin/python3",
            vec!["-c", "import ssl, subprocess; print(subprocess.getoutput('echo 42'))"],
            "42\n",
        ),
        ("/usr/bin/perl", vec!["-e", "print 6*7, qq(\n)"], "42\n"),
        ("/usr/bin/git", vec!["hash-object", "--stdin"], "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"),
        ("/bin/bash", vec!["-c", "cat <(echo 42)"], "42\n"),
        ("/usr/bin/jq", vec!["-n", "6*7"], "42\n"),
    ] {
        if !std::path::Path::new(program).exists() {
            continue;
        }
        let ended = Case::new(program, &args).run();
        assert_eq!(out(&ended), expected, "{program} {}", all(&ended));
    }
}

#[test]
fn the_plan_tells_what_will_be() {
    let dir = tempfile::tempdir().unwrap();
    let case = || Case::new("/bin/true", &[]).ro(dir.path());
    let plan = case().plan().unwrap();
    assert_eq!(plan.digest(), case().plan().unwrap().digest());
    let other = tempfile::tempdir().unwrap();
    assert_ne!(plan.digest(), case().rw(other.path()).plan().unwrap().digest());
    let report = plan.report();
    let bind = report.mounts.iter().find(|mount| mount.path == dir.path()).unwrap();
    assert_eq!(bind.access, "read");
    assert_eq!(report.env, ["HOME", "LANG", "PATH", "TMPDIR"]);
    assert_eq!((report.network.as_str(), report.effect_enforcement.as_str()), ("none", "kernel"));
    assert_eq!(case().off().plan().unwrap().report().effect_enforcement, "declared");
}
