//! `toolctl trust`: shows what a project asks for, then remembers that its files may act.

use crate::cli::args::TrustArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::reach::{Aspects, Difference, POLICY_ASPECTS, Reach, TOOL_ASPECTS, policy_faults};
use crate::cli::session::Session;
use crate::diag::{Code, Diagnostic};
use crate::project::{Change, Project, TrustEntryState, TrustRecord, TrustState, list_trust, revoke_trust};
use crate::term::{Answer, Format, Table, Text, Tty};
use crate::text::{Escaped, escape};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the question waits for an answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &TrustArgs) -> Result<Exit, Failure> {
    if args.list {
        session.check_environment()?;
        return list(session);
    }
    if let Some(dir) = &args.dir {
        let base = session.start()?;
        session.global.directory = Some(base.join(dir));
    }
    if args.revoke {
        session.check_environment()?;
        return revoke(session);
    }
    let offer = Offer::read(session, args)?;
    offer.show(session)?;
    if !args.dry_run {
        if !agreed(session)? {
            session.ui.say(&Text::new().plain("not trusted: nothing was recorded"))?;
            return Ok(Exit::Refused);
        }
        let kept = serde_json::to_string(&offer.reach).map_err(|error| Failure::Internal(error.into()))?;
        offer.project.trust(session.world, &offer.record, &kept).map_err(|fault| Failure::of(vec![fault]))?;
    }
    offer.conclude(session, args)?;
    Ok(Exit::Ok)
}

/// A project as it is shown before it is trusted.
struct Offer {
    project: Project,
    record: TrustRecord,
    reach: Reach,
    /// What was shown when it was trusted before.
    before: Option<Reach>,
    faults: Vec<Diagnostic>,
    /// Who owns its files, besides the person who runs the program: shown to root.
    owners: Vec<String>,
}

impl Offer {
    fn read(session: &mut Session<'_>, args: &TrustArgs) -> Result<Self, Failure> {
        let project = session.open(None)?;
        if project.root.is_none() {
            return Err(Failure::NothingToDo(
                Diagnostic::error(Code::NothingToDo, "there is no project here that could be trusted")
                    .help("a project has a `toolctl.yaml` or a `tools.d` folder at its root")
                    .help("a folder without them needs no trust: the built-in tools and your own work in it"),
            ));
        }
        let project = project.once_trusted(session.world).map_err(|fault| Failure::Config(vec![fault]))?;
        let (tools, found) = project.catalog().all(session.world, &mut session.files);
        // What only waits for trust is listed as what it will be; what an outer layer forbids stays left out.
        let left_out = project.warnings.iter().filter(|warning| warning.code == Code::ConfigBadSetting);
        let mut faults: Vec<Diagnostic> = left_out.cloned().chain(found).collect();
        let policies = project.policies(session.world, &mut session.files).unwrap_or_else(|found| {
            faults.extend(found);
            Vec::new()
        });
        faults.extend(policy_faults(&session.files, &policies));
        let record = project.prepare_trust(session.world, &tools, args.author).map_err(Failure::of)?;
        let manifests =
            tools.iter().filter_map(|found| Some((found.tool.file.as_deref()?, &*found.tool.digest)));
        let texts = policies.iter().map(|node| (node.path.as_path(), node.digest.as_str()));
        let read: Vec<(&Path, &str)> = manifests.chain(texts).collect();
        if !project.is_what_is_recorded(&record, &read) {
            return Err(Failure::Config(vec![
                Diagnostic::error(
                    Code::ConfigNeedsTrust,
                    "the project's files changed while they were read, so nothing was recorded",
                )
                .help("find out what writes there, then run `toolctl trust` again"),
            ]));
        }
        let reach = Reach::of(session, &project, &tools, &policies, &record);
        let before = project.kept_reach(session.world).and_then(|text| serde_json::from_str(&text).ok());
        let owners = owners(session, &record);
        Ok(Self { project, record, reach, before, faults, owners })
    }

    fn changes(&self) -> &[Change] {
        match &self.project.trust {
            TrustState::Changed(changes) => changes,
            TrustState::NoProject | TrustState::Trusted { .. } | TrustState::Untrusted => &[],
        }
    }

    fn differences(&self) -> Vec<Difference> {
        self.before.as_ref().map(|before| self.reach.since(before)).unwrap_or_default()
    }

    fn show(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        if session.ui.format() == Format::Human {
            self.show_changes(session)?;
            sections(session, "tool", &self.reach.tools, &TOOL_ASPECTS)?;
            sections(session, "policy", &self.reach.policies, &POLICY_ASPECTS)?;
            sections(session, "setting that loosens", &self.reach.settings, &["says", "at"])?;
            for owner in &self.owners {
                let line = Text::new().warning("its files belong to ").escaped(&escape(owner));
                session.ui.say(&line.plain(", who can then decide what runs as root"))?;
            }
        }
        session.ui.diagnostics(&session.files, &self.faults)?;
        Ok(())
    }

    fn show_changes(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let changes = self.changes();
        if changes.is_empty() {
            return Ok(());
        }
        session.ui.say(&Text::new().strong("changed since it was trusted"))?;
        for change in changes {
            let line = Text::new().plain("  ").escaped(&escape(&format!("{:<9}", change.kind.as_str())));
            session.ui.say(&line.escaped(&escape(&change.path.to_string_lossy())))?;
        }
        for difference in self.differences() {
            session.ui.say(&Text::new().plain("  ").escaped(&escape(&in_words(&difference))))?;
        }
        Ok(())
    }

    fn conclude(&self, session: &mut Session<'_>, args: &TrustArgs) -> Result<(), Failure> {
        let root = self.record.root().to_string_lossy().into_owned();
        if session.ui.format() != Format::Human {
            let document = self.document(args, &root);
            return Ok(session.ui.document(&document)?);
        }
        let was_author = self.project.trust == TrustState::Trusted { author: true };
        let follows = match (args.dry_run, args.author) {
            (true, _) => "nothing was recorded: to trust it, leave out --dry-run",
            (false, true) => "trusted as its author; edits are followed",
            (false, false) if was_author => {
                "trusted as it is now; any change asks again, and your edits are no longer followed (--author)"
            }
            (false, false) => "trusted as it is now; any change asks again",
        };
        Ok(session.ui.say(&Text::new().escaped(&escape(&root)).plain(": ").plain(follows))?)
    }

    fn document(&self, args: &TrustArgs, root: &str) -> Value {
        let differences: Vec<Value> = self
            .differences()
            .iter()
            .map(|found| {
                json!({"what": found.what, "aspect": found.aspect, "before": found.before, "now": found.now})
            })
            .collect();
        let changes: Vec<Value> = self
            .changes()
            .iter()
            .map(|change| json!({"file": change.path.to_string_lossy(), "change": change.kind.as_str()}))
            .collect();
        json!({
            "schema": "toolctl.trust/v1", "root": root, "trusted": !args.dry_run, "dryRun": args.dry_run,
            "author": args.author, "digest": self.record.digest(),
            "files": self.record.files().collect::<Vec<_>>(), "reach": self.reach, "owners": self.owners,
            "changes": changes, "differences": differences,
        })
    }
}

/// `git_log: network no -> yes`.
fn in_words(found: &Difference) -> String {
    let none = "nothing";
    let (before, now) = (found.before.as_deref(), found.now.as_deref());
    match (&found.aspect, before, now) {
        (Some(aspect), before, now) => {
            format!("{}: {aspect} {} -> {}", found.what, before.unwrap_or(none), now.unwrap_or(none))
        }
        (None, None, now) => format!("{}: new: {}", found.what, now.unwrap_or(none)),
        (None, Some(_), _) => format!("{}: gone", found.what),
    }
}

fn sections(
    session: &mut Session<'_>,
    what: &'static str,
    things: &BTreeMap<String, Aspects>,
    order: &[&str],
) -> Result<(), Failure> {
    if things.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[what, "", ""]);
    for (name, aspects) in things {
        let mut name = escape(name);
        for aspect in order {
            if let Some(text) = aspects.get(*aspect) {
                table.row([std::mem::replace(&mut name, escape("")), escape(aspect), escape(text)]);
            }
        }
    }
    let width = None;
    for line in table.render(width).lines() {
        session.ui.say(&Text::new().escaped(&escape(line)))?;
    }
    Ok(())
}

/// The owners of a project's files besides root, if root is about to obey them.
fn owners(session: &Session<'_>, record: &TrustRecord) -> Vec<String> {
    if session.world.euid() != 0 {
        return Vec::new();
    }
    let uids: BTreeSet<u32> = record
        .files()
        .filter_map(|path| session.world.stat(&record.root().join(path)).ok())
        .map(|stat| stat.uid)
        .filter(|uid| *uid != 0)
        .collect();
    let name = |uid: u32| match session.world.account(uid) {
        Some(account) => format!("{} (uid {uid})", account.name),
        None => format!("uid {uid}"),
    };
    uids.into_iter().map(name).collect()
}

/// Asks a person who sits at a terminal. Without one the command itself is the explicit step, as in CI.
fn agreed(session: &Session<'_>) -> Result<bool, Failure> {
    // With -q nothing was shown that a question could be about.
    let shown = session.ui.format() == Format::Human && !session.global.quiet;
    if !shown || session.no_prompt() || !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    let Ok(tty) = Tty::open(session.ui.err_color()) else { return Ok(true) };
    let failed = |error: std::io::Error| Failure::Internal(error.into());
    let question = Text::new().strong("Trust these files?").plain(" Type yes, or anything else for no: ");
    tty.write(&question).map_err(failed)?;
    let answer = tty.read_line(Instant::now() + PATIENCE).map_err(failed)?;
    Ok(answer == Answer::Line("yes".to_owned()))
}

fn revoke(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let start = session.start()?;
    let (root, was) = revoke_trust(session.world, &start).map_err(|fault| Failure::of(vec![fault]))?;
    if session.ui.format() == Format::Human {
        let text = if was { "no longer trusted" } else { "it was not trusted" };
        session.ui.say(&Text::new().plain(text))?;
    } else {
        session.ui.document(&json!({
            "schema": "toolctl.trust/v1", "trusted": false, "changed": was, "root": root.to_string_lossy(),
        }))?;
    }
    Ok(Exit::Ok)
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let entries = list_trust(session.world).map_err(|fault| Failure::of(vec![fault]))?;
    if session.ui.format() != Format::Human {
        let trusted: Vec<Value> = entries
            .iter()
            .map(|entry| {
                json!({
                    "path": entry.path.to_string_lossy(), "author": entry.author, "at": entry.at,
                    "state": entry.state.as_str(),
                })
            })
            .collect();
        session.ui.document(&json!({"schema": "toolctl.trusted/v1", "projects": trusted}))?;
        return Ok(Exit::Ok);
    }
    if entries.is_empty() {
        session.ui.line(&Text::new().plain("no project is trusted"))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["project", "trust", ""]);
    for entry in &entries {
        let trust: Escaped = escape(if entry.author { "as its author" } else { "as it was" });
        let remark = match entry.state {
            TrustEntryState::Kept => String::new(),
            TrustEntryState::Suspended => {
                "suspended: a call made a control file; look, then trust again".to_owned()
            }
            TrustEntryState::Gone => {
                let path = entry.path.to_string_lossy();
                format!(
                    "the folder has gone; forget it: toolctl trust --revoke {}",
                    crate::term::quote_argv(&[&*path])
                )
            }
            TrustEntryState::Damaged => {
                "a record that cannot be read and counts for nothing; remove it".to_owned()
            }
        };
        table.row([escape(&entry.path.to_string_lossy()), trust, escape(&remark)]);
    }
    session.ui.table(&table)?;
    Ok(Exit::Ok)
}
