//! The prompt's terminal, tried on pseudo-terminals.

use super::{Answer, NoTty, SETTLE, Tty, one_line};
use crate::term::Text;
use crate::text::escape;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const SOON: Duration = SETTLE.saturating_add(Duration::from_millis(300));

/// Both ends of a new pseudo-terminal: the keyboard and screen, and what the prompt opens.
fn pair() -> (OwnedFd, Tty) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let name = ptsname(&keyboard, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK;
    let fd = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
    (keyboard, Tty { fd, color: false })
}

fn press(keyboard: &OwnedFd, mut keys: &[u8]) {
    while !keys.is_empty() {
        keys = &keys[rustix::io::write(keyboard, keys).unwrap()..];
    }
}

/// The answer if the keys are pressed at these times after the question.
fn answer(keys: &[(Duration, &[u8])], patience: Duration) -> Answer {
    let (keyboard, tty) = pair();
    thread::scope(|scope| {
        let (began, begins) = mpsc::channel();
        let prompt = scope.spawn(move || {
            let start = Instant::now();
            began.send(start).unwrap();
            tty.read_line(start + patience).unwrap()
        });
        let start = begins.recv().unwrap();
        for (after, keys) in keys {
            thread::sleep((start + *after).saturating_duration_since(Instant::now()));
            press(&keyboard, keys);
        }
        prompt.join().unwrap()
    })
}

const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn a_line_is_the_answer() {
    let line = |text: &str| Answer::Line(text.to_owned());
    assert_eq!(answer(&[(SOON, b"yes\n")], PATIENCE), line("yes"));
    assert_eq!(answer(&[(SOON, b"yes\r")], PATIENCE), line("yes"));
    assert_eq!(answer(&[(SOON, b"\n")], PATIENCE), line(""));
    // Typed in pieces, and corrected with backspace, as the line mode of the terminal does it.
    let slow = SOON + Duration::from_millis(100);
    assert_eq!(answer(&[(SOON, b"yex\x7f"), (slow, b"s\n")], PATIENCE), line("yes"));
    assert_eq!(answer(&[(SOON, b"\xff\n")], PATIENCE), line("\u{fffd}"));
}

#[test]
fn what_was_typed_ahead_is_no_answer() {
    let (keyboard, tty) = pair();
    press(&keyboard, b"yes\nyes\n");
    thread::sleep(Duration::from_millis(50));
    assert_eq!(tty.read_line(Instant::now() + SOON).unwrap(), Answer::Timeout);
    // Nor is what comes in the first moments, whole lines or parts of one.
    let early = Duration::from_millis(100);
    assert_eq!(answer(&[(early, b"yes\n")], SOON), Answer::Timeout);
    assert_eq!(answer(&[(early, b"ye"), (SOON, b"s\n")], PATIENCE), Answer::Line("s".to_owned()));
}

#[test]
fn no_answer_is_a_timeout() {
    let start = Instant::now();
    assert_eq!(answer(&[(SOON, b"yes")], SOON + Duration::from_millis(200)), Answer::Timeout);
    assert!(start.elapsed() < PATIENCE);
    // A deadline that has passed already does not wait at all.
    let (_keyboard, tty) = pair();
    let start = Instant::now();
    assert_eq!(tty.read_line(start).unwrap(), Answer::Timeout);
    assert!(start.elapsed() < SETTLE);
}

#[test]
fn the_end_of_the_input_is_told() {
    assert_eq!(answer(&[(SOON, b"\x04")], PATIENCE), Answer::Eof);
    // The terminal window is closed.
    let (keyboard, tty) = pair();
    thread::scope(|scope| {
        let prompt = scope.spawn(move || tty.read_line(Instant::now() + PATIENCE));
        thread::sleep(SOON);
        drop(keyboard);
        assert_eq!(prompt.join().unwrap().unwrap(), Answer::Eof);
    });
}

#[test]
fn pasted_text_is_no_answer() {
    assert_eq!(answer(&[(SOON, b"yes\nrm -rf x\n")], PATIENCE), Answer::Unclear);
    assert_eq!(answer(&[(SOON, b"yes\n"), (SOON, b"yes\n")], PATIENCE), Answer::Unclear);
    let long = [b"y".repeat(4090), b"\n".to_vec()].concat();
    assert_eq!(answer(&[(SOON, &long)], PATIENCE), Answer::Unclear);
    // Nothing of it is left for whoever reads next.
    let (keyboard, tty) = pair();
    thread::scope(|scope| {
        let tty = &tty;
        let prompt = scope.spawn(move || tty.read_line(Instant::now() + PATIENCE).unwrap());
        thread::sleep(SOON);
        press(&keyboard, b"no\nrm -rf x\nls\npart");
        assert_eq!(prompt.join().unwrap(), Answer::Unclear);
    });
    assert_eq!(rustix::io::read(&tty.fd, &mut [0; 16]), Err(rustix::io::Errno::AGAIN));
}

#[test]
fn whole_lines_are_told_apart() {
    let line = |text: &str| Some(Answer::Line(text.to_owned()));
    assert_eq!(one_line(b"yes"), None);
    assert_eq!(one_line(b"yes\n"), line("yes"));
    assert_eq!(one_line(b"yes\r\n"), line("yes"));
    assert_eq!(one_line(b"\n"), line(""));
    assert_eq!(one_line(b"yes\nx"), Some(Answer::Unclear));
    assert_eq!(one_line(b"yes\n\n"), Some(Answer::Unclear));
    assert_eq!(one_line(b"yes\rx"), Some(Answer::Unclear));
}

#[test]
fn writes_escaped_text_and_knows_its_width() {
    let (keyboard, tty) = pair();
    let size = Winsize { ws_col: 97, ws_row: 20, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&keyboard, size).unwrap();
    assert_eq!(tty.width(), Some(97));
    tty.write(&Text::new().plain("runs ").escaped(&escape("ma\u{202e}in\n"))).unwrap();
    let mut screen = [0; 64];
    let count = rustix::io::read(&keyboard, &mut screen).unwrap();
    assert_eq!(&screen[..count], b"runs ma\\u{202e}in\\n");
}

/// Runs in a process of its own, started by the tests below with and without a terminal.
#[test]
#[ignore = "the other half of tests that start it"]
fn child() {
    match Tty::open(false) {
        Ok(tty) => {
            tty.write(&Text::new().plain("QUESTION\n")).unwrap();
            let answer = tty.read_line(Instant::now() + PATIENCE).unwrap();
            tty.write(&Text::new().plain("GOT ").escaped(&escape(&format!("{answer:?}"))).plain("\n"))
                .unwrap();
        }
        Err(NoTty::Open(_)) => println!("NO TERMINAL"),
        Err(NoTty::Background) => println!("BACKGROUND"),
    }
}

/// The arguments that run `child` alone.
const CHILD: [&str; 5] =
    ["--exact", "term::tty::tests::child", "--ignored", "--nocapture", "--test-threads=1"];

#[test]
fn asks_on_the_terminal_though_input_and_output_are_elsewhere() {
    use expectrl::{Expect as _, Session};
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    command.arg("-c").arg("echo no | \"$0\" \"$@\" >/dev/null 2>&1").arg(exe).args(CHILD);
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session.expect("QUESTION").unwrap();
    thread::sleep(SOON);
    session.send_line("yes").unwrap();
    session.expect("GOT Line(\"yes\")").unwrap();
}

#[test]
fn without_a_terminal_there_is_nobody_to_ask() {
    // A session of its own has no terminal, though the path is there.
    let exe = std::env::current_exe().unwrap();
    let out = Command::new("setsid").arg("-w").arg(exe).args(CHILD).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("NO TERMINAL"), "{text}");
}

#[test]
fn a_background_job_does_not_ask() {
    use expectrl::{Expect as _, Session};
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    // `set -m` gives the job a process group of its own, which is not the one in the foreground.
    command.arg("-c").arg("set -m; \"$0\" \"$@\" & wait").arg(exe).args(CHILD);
    let mut session = Session::spawn(command).unwrap();
    session.set_expect_timeout(Some(Duration::from_secs(20)));
    session.expect("BACKGROUND").unwrap();
}
