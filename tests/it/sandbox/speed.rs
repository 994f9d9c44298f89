//! What a sandbox costs, beside a spawned spawn of the same program. Ignored: it wants a release build and a quiet machine.

use super::kit::{BOTH, Case};
use std::process::Command;
use std::time::{Duration, Instant};
use toolctl::sandbox::{Stdin, run};

fn row(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times[times.len() * percent / 100].as_micros();
    println!("{name:<12} min {:>6} p10 {:>6} median {:>6} us", at(0), at(10), at(50));
}

#[test]
#[ignore = "a measurement, not a check"]
fn measure() {
    const ROUNDS: usize = 200;
    let mut spawned = Vec::new();
    let mut plans = Vec::new();
    let mut runs: Vec<(String, Vec<Duration>)> = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        Command::new("/bin/true").status().unwrap();
        spawned.push(begin.elapsed());
        let mut cases: Vec<(String, Case)> =
            BOTH.iter().map(|b| (format!("{b:?}"), Case::new("/bin/true", &[]).backend(*b))).collect();
        cases.push(("Off".to_owned(), Case::new("/bin/true", &[]).off()));
        let net = Case::new("/bin/true", &[]).network(toolctl::model::AllowNetwork::Yes);
        cases.push(("Ns, network".to_owned(), net));
        for (name, case) in cases {
            let begin = Instant::now();
            let plan = case.plan().unwrap();
            plans.push(begin.elapsed());
            let begin = Instant::now();
            assert_eq!(run(plan, Stdin::Null, None).unwrap().exit_code, Some(0));
            let time = begin.elapsed();
            match runs.iter_mut().find(|(known, _)| *known == name) {
                Some((_, times)) => times.push(time),
                None => runs.push((name, vec![time])),
            }
        }
    }
    row("plain spawn", spawned);
    row("plan", plans);
    for (name, times) in runs {
        row(&name, times);
    }
}
