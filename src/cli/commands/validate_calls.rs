//! `toolctl validate --calls`: the same for a file of calls, one a line, however long it is.
//!
//! A thread reads, some judge, and this one opens tools and prints, in the order of the file. What is on its way between
//! them is bounded, so memory does not grow with the file.

use crate::cli::args::ContextArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::judging::{Item, Judging};
use crate::cli::lines::{Chunk, Lines};
use crate::cli::session::{Session, context};
use crate::diag::{Code, Diagnostic};
use crate::term::{Format, Progress, Text};
use crate::text::escape;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Most failures that the one document of `--format json` lists.
const MAX_LISTED: usize = 1000;
/// Threads that judge: more would wait for the one that reads.
const MAX_WORKERS: usize = 8;
/// Chunks on their way for each of these threads.
const AHEAD: usize = 3;

/// What the printing thread is told.
enum Event {
    /// Lines were read; `None`: the input has ended.
    Read(Result<Option<Chunk>, Failure>),
    /// The lines of the chunk with this number were judged.
    Judged(usize, Judged),
}

/// The lines of a chunk, judged.
struct Judged {
    /// Valid calls of which nothing is to be said.
    valid: u64,
    items: Vec<(u64, Item)>,
    /// How far into the input they reach.
    read: u64,
}

/// What is said of all lines so far.
struct Report<'s, 'w> {
    session: &'s mut Session<'w>,
    judging: &'s Judging<'s>,
    progress: Progress,
    calls: u64,
    refused: u64,
    exit: Exit,
    listed: Vec<Value>,
}

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, file: &str, claims: &ContextArgs) -> Result<Exit, Failure> {
    let project = session.project()?;
    let ctx = context(claims, project.settings.agent_name.as_deref());
    let mut lines = Lines::open(session, file)?;
    let judging = Judging::new(session.world, &project, ctx, session.ui.format());
    let progress = session.ui.progress(lines.length());
    let listed = Vec::new();
    let mut report =
        Report { session, judging: &judging, progress, calls: 0, refused: 0, exit: Exit::Ok, listed };
    // The first lines are judged here: that opens the usual tools, and is all there is of a short file.
    if let Some(chunk) = lines.first()? {
        report.add(judge(&judging, &chunk))?;
        let read = chunk.read();
        if lines.length() != Some(read) {
            rest(&judging, &mut report, lines, read)?;
        }
    }
    report.finish(file)
}

fn judge(judging: &Judging<'_>, chunk: &Chunk) -> Judged {
    let (valid, items) = judging.lines(chunk.lines());
    Judged { valid, items, read: chunk.read() }
}

/// Judges what follows the first lines.
fn rest(judging: &Judging<'_>, report: &mut Report<'_, '_>, lines: Lines, read: u64) -> Result<(), Failure> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MAX_WORKERS);
    let (events, told) = channel();
    let (permit, permits) = channel();
    for _ in 0..workers * AHEAD {
        let _ = permit.send(());
    }
    // Not joined: it may wait for input that never comes after nobody wants it any more.
    let to = events.clone();
    std::thread::spawn(move || read_all(lines, read, &permits, &to));
    std::thread::scope(|scope| {
        let queues: Vec<Sender<(usize, Chunk)>> = (0..workers)
            .map(|_| {
                let (queue, chunks) = channel::<(usize, Chunk)>();
                let events = events.clone();
                scope.spawn(move || {
                    for (at, chunk) in chunks {
                        if events.send(Event::Judged(at, judge(judging, &chunk))).is_err() {
                            return;
                        }
                    }
                });
                queue
            })
            .collect();
        collect(report, &told, &queues, &permit)
    })
}

/// Reads to the end, a chunk a permit.
fn read_all(mut lines: Lines, mut read: u64, permits: &Receiver<()>, to: &Sender<Event>) {
    while permits.recv().is_ok() {
        let next = lines.next(read);
        let more = matches!(next, Ok(Some(_)));
        if let Ok(Some(chunk)) = &next {
            read = chunk.read();
        }
        if to.send(Event::Read(next)).is_err() || !more {
            return;
        }
    }
}

/// Hands chunks to the threads and reports them in their order.
fn collect(
    report: &mut Report<'_, '_>,
    told: &Receiver<Event>,
    queues: &[Sender<(usize, Chunk)>],
    permit: &Sender<()>,
) -> Result<(), Failure> {
    let (mut given, mut reported, mut ended) = (0, 0, false);
    let mut early: BTreeMap<usize, Judged> = BTreeMap::new();
    while !ended || reported < given {
        // A thread holds a sender as long as it lives, so nothing comes only if all are gone.
        match told.recv().map_err(|_| lost())? {
            Event::Read(Ok(Some(chunk))) => {
                let queue = queues.get(given % queues.len()).ok_or_else(lost)?;
                queue.send((given, chunk)).map_err(|_| lost())?;
                given += 1;
            }
            Event::Read(Ok(None)) => ended = true,
            Event::Read(Err(failure)) => return Err(failure),
            Event::Judged(at, judged) => {
                early.insert(at, judged);
            }
        }
        while let Some(judged) = early.remove(&reported) {
            report.add(judged)?;
            reported += 1;
            // The reader has gone if the input has ended.
            let _ = permit.send(());
        }
    }
    Ok(())
}

fn lost() -> Failure {
    Failure::Internal(anyhow::anyhow!("a thread that judges calls was lost"))
}

impl Report<'_, '_> {
    /// Adds the lines of a chunk.
    fn add(&mut self, judged: Judged) -> Result<(), Failure> {
        self.calls += judged.valid;
        for (number, item) in judged.items {
            let item = match item {
                Item::Unopened(call) => self.judging.open(self.session, number, *call),
                Item::Valid(_) | Item::Refused(_) => item,
            };
            self.calls += 1;
            match item {
                Item::Valid(None) => {}
                Item::Valid(Some(document)) => self.session.ui.document(&document)?,
                Item::Unopened(_) => return Err(lost()),
                Item::Refused(refusal) => {
                    self.refused += 1;
                    self.exit = self.exit.or_worse(refusal.exit);
                    if let Some(document) = refusal.document {
                        self.list(document)?;
                    }
                    let session = &mut *self.session;
                    self.progress.aside(|| session.ui.diagnostics(&session.files, &refusal.diagnostics))?;
                }
            }
        }
        self.progress.step(judged.read, self.calls, "calls");
        // What is remembered of the disk grows with the paths in the calls, and ages.
        self.session.world.look_again();
        Ok(())
    }

    fn list(&mut self, document: Value) -> Result<(), Failure> {
        if self.session.ui.format() == Format::Ndjson {
            self.session.ui.document(&document)?;
        } else if self.listed.len() < MAX_LISTED {
            self.listed.push(document);
        }
        Ok(())
    }

    fn finish(self, file: &str) -> Result<Exit, Failure> {
        drop(self.progress);
        if self.calls == 0 {
            let message = format!("there is no call in `{}`", escape(file));
            return Err(Failure::NothingToDo(
                Diagnostic::error(Code::NothingToDo, message)
                    .help(r#"write one call a line: {"toolCallId": "c1", "toolName": "NAME", "args": {}}"#),
            ));
        }
        let ui = &mut self.session.ui;
        match ui.format() {
            Format::Human => {
                let text = Text::new().number(self.calls - self.refused).plain(" of ").number(self.calls);
                let tail = if self.calls == 1 { " call is valid" } else { " calls are valid" };
                ui.line(&text.plain(tail))?;
            }
            Format::Json => {
                let omitted = self.refused - u64::try_from(self.listed.len()).unwrap_or(0);
                ui.document(&json!({
                    "schema": "toolctl.validations/v1", "success": self.refused == 0, "calls": self.calls,
                    "refused": self.refused, "failures": self.listed, "omitted": omitted,
                }))?;
            }
            Format::Ndjson => {}
        }
        Ok(self.exit)
    }
}
