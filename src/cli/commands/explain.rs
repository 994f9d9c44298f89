//! `toolctl explain CODE`: the page of a diagnostic code.

use crate::cli::args::ExplainArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::Session;
use crate::diag::{Code, Diagnostic};
use crate::term::{Format, Table, Text};
use crate::text::{escape, nearest};
use serde_json::json;

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>, args: &ExplainArgs) -> Result<Exit, Failure> {
    let Some(text) = &args.code else { return list(session, Code::ALL) };
    if let Some(row) = EXIT_CODES.lines().find_map(|line| exit_row(line, text)) {
        return exit_code(session, row);
    }
    let family: Vec<Code> =
        Code::ALL.iter().copied().filter(|code| code.family() == text.trim_end_matches('/')).collect();
    if !family.is_empty() {
        return list(session, &family);
    }
    let Some(code) = Code::meant_by(text) else { return Err(unknown(text)) };
    if session.ui.format() == Format::Human {
        for line in code.page().lines() {
            session.ui.line(&Text::new().escaped(&escape(line)))?;
        }
    } else {
        session.ui.document(&json!({
            "schema": "toolctl.explain/v1", "code": code.as_str(), "summary": code.summary(), "page": code.page(),
        }))?;
    }
    Ok(Exit::Ok)
}

/// The page of exit codes, whose tables are what is said of one.
const EXIT_CODES: &str = include_str!("../../../docs/exit-codes.md");

/// An exit code, what it means, and what a caller can do.
type ExitRow<'a> = (u8, &'a str, &'a str);

/// A row of the page's table, if it is that of `code`.
fn exit_row<'a>(line: &'a str, code: &str) -> Option<ExitRow<'a>> {
    let mut cells = line.strip_prefix('|')?.trim_end().strip_suffix('|')?.split('|').map(str::trim);
    let number = cells.next().filter(|number| *number == code)?;
    Some((number.parse().ok()?, cells.next()?, cells.next()?))
}

fn exit_code(session: &mut Session<'_>, (code, meaning, advice): ExitRow<'_>) -> Result<Exit, Failure> {
    if session.ui.format() == Format::Human {
        session.ui.line(&Text::new().escaped(&escape(&format!("exit code {code}: {meaning}"))))?;
        session.ui.line(&Text::new().escaped(&escape(advice)))?;
    } else {
        session.ui.document(&json!({
            "schema": "toolctl.explain/v1", "exit": code, "summary": meaning, "advice": advice,
        }))?;
    }
    Ok(Exit::Ok)
}

fn unknown(text: &str) -> Failure {
    let fault = Diagnostic::error(Code::UsageError, format!("there is no code `{}`", escape(text)));
    let codes = || Code::ALL.iter().copied();
    let near = nearest(text, codes().map(Code::as_str)).map(str::to_owned).or_else(|| {
        // A name of several families, or a misspelt one.
        let name = nearest(text, codes().map(Code::name))?;
        let all: Vec<&str> = codes().filter(|code| code.name() == name).map(Code::as_str).collect();
        Some(all.join("` or `"))
    });
    let fault = match near {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault,
    };
    Failure::Usage(fault.help("list all codes: toolctl explain"))
}

fn list(session: &mut Session<'_>, codes: &[Code]) -> Result<Exit, Failure> {
    if session.ui.format() == Format::Human {
        let mut table = Table::new(&["code", "meaning"]);
        for code in codes {
            table.row([escape(code.as_str()), escape(code.summary())]);
        }
        session.ui.table(&table)?;
    } else {
        let codes: Vec<_> =
            codes.iter().map(|code| json!({"code": code.as_str(), "summary": code.summary()})).collect();
        session.ui.document(&json!({"schema": "toolctl.explain/v1", "codes": codes}))?;
    }
    Ok(Exit::Ok)
}
