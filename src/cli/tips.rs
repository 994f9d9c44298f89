//! What is said to somebody who writes an argument of a tool as if it were one of toolctl's.

use crate::term::quote_argv;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// The words behind which a tool is called.
const CALLS: [&str; 4] = ["run", "plan", "validate", "explain"];

/// The error with a tip how an argument of a tool is written, where that is what was meant. What is near to an option of
/// toolctl, or known from other programs, keeps the tip that it has.
pub(crate) fn with_tip(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let calls = words.iter().any(|word| CALLS.iter().any(|name| word == name));
    let told = [ContextKind::SuggestedArg, ContextKind::Suggested];
    if error.kind() != ErrorKind::UnknownArgument
        || !calls
        || told.iter().any(|kind| error.get(*kind).is_some())
    {
        return error;
    }
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else { return error };
    let flag = meant(found, words);
    let tip = format!("an argument of the tool is written {flag}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// `-a count=3` for `count=3`, `--count=3` and `--count 3`.
fn meant(found: &str, words: &[OsString]) -> String {
    let Some(name) = found.strip_prefix("--") else {
        let pair = found.contains('=') && !found.starts_with('-');
        return if pair { quote_argv(&["-a", found]).to_string() } else { "-a NAME=VALUE".to_owned() };
    };
    let with_value = format!("{found}=");
    let value = words.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_string_lossy();
        match word.strip_prefix(&with_value) {
            Some(value) => Some(value.to_owned()),
            None if word == found => {
                let next = words.get(at + 1)?.to_string_lossy().into_owned();
                (!next.starts_with('-')).then_some(next)
            }
            None => None,
        }
    });
    let value = value.unwrap_or_else(|| "VALUE".to_owned());
    quote_argv(&["-a", &format!("{name}={value}")]).to_string()
}

#[cfg(test)]
mod tests {
    use super::with_tip;
    use crate::cli::args::parse;
    use crate::cli::foreign::explained;
    use std::ffi::OsString;

    #[test]
    fn an_argument_of_the_tool_is_told_from_an_option() {
        for (line, tip) in [
            (&["toolctl", "run", "t", "count=3"][..], Some("written -a count=3")),
            (&["toolctl", "run", "t", "--count", "3"], Some("written -a count=3")),
            (&["toolctl", "plan", "t", "--count=a b"], Some("written -a 'count=a b'")),
            (&["toolctl", "run", "t", "--count"], Some("written -a count=VALUE")),
            (&["toolctl", "policy", "explain", "t", "3"], Some("written -a NAME=VALUE")),
            // An option that is nearly right, and a command that calls no tool, have nothing to do with it.
            (&["toolctl", "run", "t", "--arg", "{}"], None),
            (&["toolctl", "check", "--strct"], None),
        ] {
            let words: Vec<OsString> = line.iter().map(OsString::from).collect();
            let text = with_tip(explained(parse(&words).unwrap_err()), &words).to_string();
            assert_eq!(text.contains("an argument of the tool"), tip.is_some(), "{text}");
            assert!(tip.is_none_or(|tip| text.contains(tip)), "{text}");
        }
    }
}
