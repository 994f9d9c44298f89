//! The approval prompt on the terminal device.
//!
//! It shows all that will run, takes one line in the terminal's own line mode, has a deadline, ignores what was typed
//! before it appeared, and reads everything but the one word as no. Nothing of the terminal's settings is changed, so
//! there is nothing to restore when a signal ends it.

use super::{Approval, ApprovalRequest};
use crate::model::EffectSet;
use crate::policy::Strength;
use crate::term::{Answer, NoTty, Text, Tty};
use crate::text::escape;
use std::io;
use std::time::{Duration, Instant};

/// How a person answered.
#[derive(Debug)]
pub enum Answered {
    /// Yes.
    Approved(Approval),
    /// No: another word, an empty line or end of file.
    Refused,
    /// Nothing until the deadline.
    TimedOut,
}

/// Why nobody could be asked.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// There is no terminal, or it is not ours to use now.
    #[error("there is no terminal to ask on: {0}")]
    NoTerminal(#[from] NoTty),
    /// The terminal failed while it was used.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
}

/// Asks on `/dev/tty`, whatever stdin and stdout are.
///
/// # Errors
/// [`PromptError::NoTerminal`] if there is nobody to ask; a terminal that fails half-way is an error too, never a yes.
pub fn ask(request: &ApprovalRequest, timeout: Duration, color: bool) -> Result<Answered, PromptError> {
    let tty = Tty::open(color)?;
    ask_on(&tty, request, timeout)
}

fn ask_on(tty: &Tty, request: &ApprovalRequest, timeout: Duration) -> Result<Answered, PromptError> {
    let deadline = Instant::now() + timeout;
    tty.write(&draw(request, false, tty.width(), timeout))?;
    loop {
        let answer = match tty.read_line(deadline)? {
            Answer::Line(line) => line,
            Answer::Eof => {
                tty.write(&Text::new().plain("\n").plain("no answer: refused\n"))?;
                return Ok(Answered::Refused);
            }
            Answer::Unclear => {
                tty.write(&Text::new().plain("several lines at once are no answer: refused\n"))?;
                return Ok(Answered::Refused);
            }
            Answer::Timeout => {
                tty.write(&Text::new().plain("\n").plain("nobody answered in time: refused\n"))?;
                return Ok(Answered::TimedOut);
            }
        };
        if answer == "all" && has_cut(request) {
            let left = deadline.saturating_duration_since(Instant::now());
            tty.write(&draw(request, true, tty.width(), left))?;
            continue;
        }
        if answer == request.word() {
            tty.write(&Text::new().plain("approved\n"))?;
            return Ok(Answered::Approved(Approval {
                digest: request.approval_digest.clone(),
                request_id: request.request_id.clone(),
                decided_by: "terminal".to_owned(),
                strength: Strength::SameUser,
            }));
        }
        tty.write(&Text::new().plain("refused\n"))?;
        return Ok(Answered::Refused);
    }
}

fn has_cut(request: &ApprovalRequest) -> bool {
    request.details.iter().any(|detail| detail.view(false).1 > 0)
}

/// The whole prompt, the question included.
fn draw(request: &ApprovalRequest, all: bool, width: Option<u16>, left: Duration) -> Text {
    let mut text = Text::new().plain("\n── approval needed ");
    for _ in 19..width.unwrap_or(78).clamp(40, 78) {
        text = text.plain("─");
    }
    text = text.plain("\n");
    for detail in &request.details {
        let (shown, cut) = detail.view(all);
        text = label(text, detail.label).escaped(&escape(&shown)).plain("\n");
        if cut > 0 {
            text = label(text, "").warning("! ").number(cut);
            text = text.plain(" more characters are not shown; type `all` to see them\n");
        }
        if detail.hidden > 0 {
            text = label(text, "").warning("! ").number(detail.hidden);
            text = text.plain(if detail.hidden == 1 {
                " hidden character is shown as an escape\n"
            } else {
                " hidden characters are shown as escapes\n"
            });
        }
        for word in &detail.mixed {
            text = label(text, "").warning("! ").code(word);
            text = text.plain(" mixes letters of alphabets that look alike\n");
        }
    }
    text = label(text, "digest").escaped(&escape(&request.approval_digest)).plain("\n");
    text = label(text, "time").number(left.as_secs()).plain(" s left, then it is denied\n");
    text.plain("\nType ").code(&escape(request.word())).plain(" to run it once; anything else refuses: ")
}

/// A label in a column of its own.
fn label(text: Text, label: &'static str) -> Text {
    const COLUMN: &str = "          ";
    text.strong(label).plain(COLUMN.get(label.len()..).unwrap_or(" "))
}

/// The yes of `timeoutAction: approve`: recorded as the clock's, and only for calls whose sandbox is that of a read.
pub fn approve_by_timeout(request: &ApprovalRequest, effects: EffectSet) -> Option<Approval> {
    effects.is_only_read().then(|| Approval {
        digest: request.approval_digest.clone(),
        request_id: request.request_id.clone(),
        decided_by: "timeout".to_owned(),
        strength: Strength::SameUser,
    })
}
