//! Words of other programs on our command line: what they mean here.
//!
//! clap proposes words that are spelt alike, and for an option that it does not know to pass it as a value, which for
//! `--yes` leads nowhere.

use clap::error::{ContextKind, ContextValue, ErrorKind};

const WORDS: [(&[&str], &str); 9] = [
    (&["call", "exec", "execute", "invoke"], "a tool is called with: toolctl run TOOL"),
    (&["list", "ls"], "tools are listed with: toolctl tools list"),
    (&["lint", "verify"], "files are checked with: toolctl check"),
    (
        &["approve", "--approve", "--yes", "-y", "--force"],
        "what asks is answered on the terminal; for what needs no question write a rule: toolctl policy explain TOOL",
    ),
    (&["dry-run", "--dry-run", "simulate"], "what would happen is shown by: toolctl plan TOOL"),
    (&["--no-sandbox", "--unsafe"], "what a sandbox permits stands in the manifest: toolctl tools show TOOL"),
    (&["--timeout"], "a tool's timeout stands in its manifest, as `sandbox.timeout`"),
    (&["--json"], "every command prints JSON with: --format json"),
    (&["allow", "grant"], "what may run is written in a policy: toolctl policy show"),
];

/// The same error with a hint for a word that is known from elsewhere, and without the one to pass an option as a value.
pub(crate) fn explained(mut error: clap::Error) -> clap::Error {
    let kind = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => return error,
    };
    let Some(ContextValue::String(word)) = error.get(kind) else { return error };
    let known = WORDS.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, hint)| *hint);
    if kind == ContextKind::InvalidArg {
        error.remove(ContextKind::Suggested);
    }
    if let Some(hint) = known {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.to_owned().into()]));
    }
    error
}
