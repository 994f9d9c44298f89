//! `--report KIND[=FILE]`: reports for other programs, beside the normal output.

use super::failure::Failure;
use super::session::Session;
use crate::diag::{Code, Diagnostic};
use crate::term::render::{to_github, to_sarif};
use crate::term::{write_json_report, write_text_report};
use crate::text::{escape, nearest};
use serde_json::Value;
use std::path::PathBuf;

const KINDS: [&str; 3] = ["github", "json", "sarif"];

/// One report that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// SARIF 2.1.0.
    Sarif(PathBuf),
    /// The command's own document.
    Json(PathBuf),
    /// Workflow commands of GitHub Actions; without a file they go to the output, where the runner reads them.
    Github(Option<PathBuf>),
}

impl Report {
    /// Reads `KIND[=FILE]`.
    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let (kind, file) = match text.split_once('=') {
            Some((kind, file)) => (kind, Some(file)),
            None => (text, None),
        };
        let file = file.filter(|file| !file.is_empty()).map(PathBuf::from);
        let needs_file = |file: Option<PathBuf>| {
            file.ok_or_else(|| {
                let kind = escape(kind);
                Diagnostic::error(Code::UsageError, format!("`--report {kind}` needs a file"))
                    .help(format!("write `--report {kind}=FILE`"))
            })
        };
        match kind {
            "sarif" => needs_file(file).map(Self::Sarif),
            "json" => needs_file(file).map(Self::Json),
            "github" => Ok(Self::Github(file)),
            other => {
                let message = format!("there is no kind of report `{}`", escape(other));
                let help = nearest(other, KINDS).map_or_else(
                    || format!("there are {}", KINDS.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                Err(Diagnostic::error(Code::UsageError, message).help(help))
            }
        }
    }

    /// All of the command line, before anything is done.
    pub(crate) fn parse_all(texts: &[String]) -> Result<Vec<Self>, Failure> {
        texts.iter().map(|text| Self::parse(text).map_err(Failure::Usage)).collect()
    }
}

/// Writes all reports of these findings; `document` is the command's own.
pub(crate) fn write_reports(
    session: &mut Session<'_>,
    reports: &[Report],
    findings: &[Diagnostic],
    document: &Value,
) -> Result<(), Failure> {
    let start = session.start()?;
    for report in reports {
        match report {
            Report::Sarif(file) => {
                write_json_report(&start, file, &to_sarif(&session.files, findings))?;
            }
            Report::Json(file) => write_json_report(&start, file, document)?,
            Report::Github(Some(file)) => {
                write_text_report(&start, file, &to_github(&session.files, findings))?;
            }
            Report::Github(None) => session.ui.commands(&to_github(&session.files, findings))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Report;
    use std::path::PathBuf;

    #[test]
    fn reads_kinds_and_files() {
        let file = |name: &str| PathBuf::from(name);
        assert_eq!(Report::parse("sarif=a=b.sarif").unwrap(), Report::Sarif(file("a=b.sarif")));
        assert_eq!(Report::parse("json=x").unwrap(), Report::Json(file("x")));
        assert_eq!(Report::parse("github").unwrap(), Report::Github(None));
        assert_eq!(Report::parse("github=x").unwrap(), Report::Github(Some(file("x"))));
        for (text, help) in [
            ("sarif", "write `--report sarif=FILE`"),
            ("json=", "write `--report json=FILE`"),
            ("sarf=x", "did you mean `sarif`?"),
            ("", "there are github, json, sarif"),
        ] {
            assert_eq!(Report::parse(text).unwrap_err().help, [help], "{text}");
        }
    }
}
