//! The call once more, as it was typed: so that the next command that a message names can be typed as it is printed.

use super::args::{CallArgs, Global, ModeArg};
use super::prepare::Prepared;
use super::session::Session;
use crate::call::ValidatedCall;
use crate::term::quote_argv;
use crate::text::escape;
use std::ffi::OsString;

/// In bytes. A longer line is no help to anybody.
const LONGEST: usize = 300;

/// `toolctl COMMAND TOOL` with the options of this call. Where they cannot be typed again, because they came from stdin, or
/// had better not be, because they are secret or long, it says in words that they are the same.
pub(crate) fn again(global: &Global, command: &[&str], args: &CallArgs, secret: bool) -> String {
    let line = quote_argv(&words(global, command, args));
    if secret || args.args.as_deref() == Some("-") || line.as_str().len() > LONGEST {
        return format!("toolctl {} {} with the same arguments", command.join(" "), escape(&args.tool));
    }
    line.to_string()
}

impl Prepared {
    /// [`again`] for a call that was read; secrets are found by the tool's schema.
    pub(crate) fn again(
        &self,
        session: &Session<'_>,
        command: &[&str],
        args: &CallArgs,
        call: &ValidatedCall,
    ) -> String {
        let secrets = self.tool.schema.secrets(&serde_json::Value::Object(call.args().clone()));
        again(&session.global, command, args, !secrets.is_empty())
    }
}

fn words(global: &Global, command: &[&str], args: &CallArgs) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["toolctl".into()];
    if let Some(directory) = &global.directory {
        words.extend(["-C".into(), directory.into()]);
    }
    words.extend(command.iter().map(OsString::from));
    words.push((&args.tool).into());
    let mut option = |name: &str, value: &str| words.extend([name.into(), value.into()]);
    if let Some(json) = &args.args {
        option("--args", json);
    }
    for arg in &args.arg {
        option("-a", arg);
    }
    let context = &args.context;
    if context.mode == ModeArg::Plan {
        option("--mode", "plan");
    }
    for (name, value) in [
        ("--run-id", &context.run_id),
        ("--session-id", &context.session_id),
        ("--user-id", &context.user_id),
        ("--tenant-id", &context.tenant_id),
    ] {
        if let Some(value) = value {
            option(name, value);
        }
    }
    for agent in &context.agent {
        option("--agent", agent);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::again;
    use crate::cli::args::{Command, parse};
    use std::ffi::OsString;

    fn said(line: &[&str], secret: bool) -> String {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        let cli = parse(&words).unwrap();
        let Command::Run(run) = cli.command else { panic!("not a run") };
        again(&cli.global, &["policy", "explain"], &run.call, secret)
    }

    #[test]
    fn what_was_typed_is_typed_again() {
        let long = format!("x={}", "y".repeat(400));
        let same = "toolctl policy explain t with the same arguments";
        for (line, expected) in [
            (&["toolctl", "run", "t"][..], "toolctl policy explain t"),
            (
                &["toolctl", "-q", "-C", "a b", "run", "t", "-a", "path=.env", "-a", "n:=[1]"],
                "toolctl -C 'a b' policy explain t -a path=.env -a 'n:=[1]'",
            ),
            (
                &["toolctl", "run", "t", "--args", "{}", "--mode", "plan", "--agent", "r", "--run-id", "1"],
                "toolctl policy explain t --args '{}' --mode plan --run-id 1 --agent r",
            ),
            (&["toolctl", "run", "t", "--args", "-"], same),
            (&["toolctl", "run", "t", "-a", &long], same),
        ] {
            assert_eq!(said(line, false), expected);
        }
        // A secret is not repeated, and without one the same line is.
        assert_eq!(said(&["toolctl", "run", "t", "-a", "token=x"], true), same);
        assert_eq!(
            said(&["toolctl", "run", "t", "-a", "token=x"], false),
            "toolctl policy explain t -a token=x"
        );
    }
}
