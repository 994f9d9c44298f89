//! The life of processes: every one of them ends, and the reason is known.

use super::kit::{BOTH, Case, all, out, try_to};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolctl::sandbox::{BackendChoice, Cancel, EndCause, Stdin, run};

fn every() -> [fn(Case) -> Case; 3] {
    [|case| case, |case| case.backend(BackendChoice::Flat), Case::off]
}

fn short(case: Case) -> Case {
    let mut case = case;
    case.with(|config| config.timeout = Some(Duration::from_millis(300)));
    case
}

#[test]
fn time_is_up() {
    for script in [
        "sleep 100",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
        "exec >&- 2>&- <&-; sleep 100",
        "kill -STOP $$",
        "sleep 100 & kill -STOP $!; wait",
        "while :; do :; done",
    ] {
        for backend in BOTH {
            let begin = Instant::now();
            let ended = short(Case::sh(script)).backend(backend).run();
            assert_eq!(ended.cause, EndCause::Timeout, "{script} {}", all(&ended));
            assert!(begin.elapsed() < Duration::from_millis(2500), "{script} {:?}", begin.elapsed());
            assert!(ended.duration >= Duration::from_millis(300));
        }
    }
    let ended = short(Case::sh("exit 3")).run();
    assert_eq!((ended.cause, ended.exit_code), (EndCause::Exit, Some(3)));
}

#[test]
fn nothing_stays_behind() {
    for change in every() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("beat");
        let begin = Instant::now();
        let case = change(try_to(&["daemon", file.to_str().unwrap()]).rw(dir.path()));
        let ended = case.run();
        assert_eq!(ended.cause, EndCause::Exit, "{}", all(&ended));
        assert!(begin.elapsed() < Duration::from_millis(1500), "{:?}", begin.elapsed());
        let beats = std::fs::metadata(&file).unwrap().len();
        assert!(beats > 0, "the daemon ran");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(std::fs::metadata(&file).unwrap().len(), beats, "the daemon is gone");
    }
}

#[test]
fn a_held_pipe_holds_nobody() {
    for change in every() {
        let begin = Instant::now();
        let ended = change(Case::sh("sleep 100 & echo started")).run();
        assert_eq!((ended.cause, out(&ended).as_str()), (EndCause::Exit, "started\n"), "{}", all(&ended));
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
        // What finishes within the grace is still heard.
        let ended = change(Case::sh("(sleep 0.01; echo late) & echo started")).run();
        assert_eq!(out(&ended), "started\nlate\n");
    }
}

#[test]
fn output_has_a_limit() {
    for change in every() {
        for (script, stdout) in
            [("yes", true), ("yes >&2", false), ("head -c 70000 /dev/zero; sleep 9", true)]
        {
            let mut case = Case::sh(script);
            case.with(|config| config.max_output_bytes = Some(65536));
            let ended = change(case).run();
            if ended.backend == toolctl::sandbox::Backend::None && script.starts_with("head") {
                // Without a configuration the default limit counts.
                continue;
            }
            assert_eq!(ended.cause, EndCause::Output, "{script}");
            let kept = if stdout { &ended.stdout } else { &ended.stderr };
            assert!(kept.len() == 65536 || kept.len() == 1 << 20, "{}", kept.len());
        }
    }
    let ended = Case::sh("head -c 65536 /dev/zero").set(|c| c.max_output_bytes = Some(65536)).run();
    assert_eq!((ended.cause, ended.stdout.len()), (EndCause::Exit, 65536));
}

#[test]
fn input_that_nobody_reads_blocks_nobody() {
    for change in every() {
        let ended = change(Case::sh("exit 4").stdin(vec![b'x'; 10 << 20])).run();
        assert_eq!((ended.cause, ended.exit_code), (EndCause::Exit, Some(4)), "{}", all(&ended));
        let ended = change(Case::sh("wc -c; echo y >&2").stdin(vec![b'x'; 10 << 20])).run();
        assert_eq!(out(&ended).trim(), "10485760");
    }
}

#[test]
fn memory_has_a_limit() {
    for kind in ["private", "shared", "children"] {
        for backend in BOTH {
            let ended =
                try_to(&["memory", kind, "400"]).backend(backend).set(|c| c.max_memory_mb = Some(100)).run();
            assert_eq!(ended.cause, EndCause::Memory, "{kind} {}", all(&ended));
            assert!(ended.peak_memory_kib.unwrap() > 100 << 10);
        }
    }
    let ended = try_to(&["memory", "forked", "60"]).set(|c| c.max_memory_mb = Some(100)).run();
    assert_eq!(ended.cause, EndCause::Exit, "shared pages count once: {}", all(&ended));
    let ended = Case::sh("dd if=/dev/zero of=/tmp/a bs=1M count=45 2>/dev/null; exec 9</tmp/a; exit 0")
        .set(|c| c.max_memory_mb = Some(100))
        .run();
    assert_eq!(ended.cause, EndCause::Exit, "{}", all(&ended));
}

#[test]
fn processes_have_a_limit() {
    for backend in BOTH {
        let ended = try_to(&["bomb"]).backend(backend).set(|c| c.max_processes = Some(40)).run_short();
        match ended.cause {
            EndCause::Processes => {}
            // The kernel's own limit let no more be made, and time ran out.
            EndCause::Timeout => assert!(out(&ended).trim().parse::<u32>().unwrap() <= 40, "{}", all(&ended)),
            other => panic!("{other:?} {}", all(&ended)),
        }
    }
}

impl Case {
    fn run_short(self) -> toolctl::sandbox::Ended {
        self.set(|c| c.timeout = Some(Duration::from_millis(800))).run()
    }
}

#[test]
fn signals_and_orphans_are_ordinary() {
    for change in every() {
        let ended = change(Case::sh("kill -TERM $$")).run();
        assert_eq!((ended.cause, ended.signal, ended.exit_code), (EndCause::Signal, Some(15), None));
        let ended = change(Case::sh("kill -ABRT $$")).run();
        assert_eq!((ended.cause, ended.signal), (EndCause::Signal, Some(6)));
        let ended = change(try_to(&["orphans", "500"])).run();
        assert_eq!(out(&ended), "done\n", "{}", all(&ended));
    }
}

#[test]
fn processor_time_has_a_limit() {
    for backend in BOTH {
        let ended = Case::sh("while :; do :; done").backend(backend).set(|c| c.cpu_seconds = Some(1)).run();
        assert_eq!(ended.cause, EndCause::Cpu, "{}", all(&ended));
    }
}

#[test]
fn a_run_can_be_cancelled() {
    for change in every() {
        let cancel = Arc::new(Cancel::new().unwrap());
        let other = Arc::clone(&cancel);
        let plan = change(Case::sh("sleep 100")).plan().unwrap();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            other.cancel();
        });
        let begin = Instant::now();
        let ended = run(plan, Stdin::Null, Some(&cancel)).unwrap();
        thread.join().unwrap();
        assert_eq!(ended.cause, EndCause::Cancelled, "{}", all(&ended));
        assert!(begin.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn temp_folders_on_the_host_go_away() {
    for change in [every()[1], every()[2]] {
        let ended = change(Case::sh("echo x >$TMPDIR/x; echo $TMPDIR; echo $HOME; pwd")).run();
        let text = out(&ended);
        let folder = PathBuf::from(text.lines().next().unwrap());
        assert!(folder.starts_with("/tmp") && !folder.exists(), "{}", all(&ended));
    }
}
