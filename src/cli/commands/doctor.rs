//! `toolctl doctor`: what this machine can enforce, found out by trying.

use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::session::Session;
use crate::sandbox::probe;
use crate::term::{Format, Table, Text};
use crate::text::escape;
use serde_json::json;

/// What usually forbids the namespaces, and what lifts it.
const WAYS_OUT: [&str; 3] = [
    "in a container, run it with --security-opt seccomp=unconfined and a /proc that is not masked",
    "on Ubuntu, allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    "check that /proc/sys/user/max_user_namespaces is not 0",
];

/// Runs the command.
pub(crate) fn run(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let report = probe();
    let verdict = match (report.ns, report.flat) {
        (true, _) => "ns",
        (false, true) => "flat",
        (false, false) => "none",
    };
    if session.ui.format() == Format::Human {
        let mut table = Table::new(&["layer", "state", "detail"]);
        for layer in &report.layers {
            let state = if layer.works { "works" } else { "missing" };
            table.row([escape(&layer.name), escape(state), escape(&layer.detail)]);
        }
        session.ui.table(&table)?;
        session.ui.line(&match verdict {
            "ns" => Text::new().good("tools run in the full sandbox").plain(" (backend ns)"),
            "flat" => Text::new()
                .warning("only the backend flat works here")
                .plain(": tools that need more than it can hold are refused"),
            _ => Text::new().bad("no sandbox can be enforced here").plain(": tools are refused"),
        })?;
        if verdict != "ns" {
            for way in WAYS_OUT {
                session.ui.line(&Text::new().plain("help: ").plain(way))?;
            }
        }
    } else {
        session.ui.document(&json!({
            "schema": "toolctl.doctor/v1", "backend": verdict, "probe": report,
        }))?;
    }
    Ok(if verdict == "none" { Exit::Findings } else { Exit::Ok })
}
