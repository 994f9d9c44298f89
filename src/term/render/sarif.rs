//! Diagnostics as SARIF 2.1.0, which code hosts and editors read.
//!
//! Paths are relative to the folder that toolctl was started in, columns count characters, and each code that occurs is a
//! rule with its page as help.

use crate::diag::{Code, Diagnostic, Label, Severity};
use crate::source::Files;
use crate::text::Span;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A SARIF log with one run.
#[derive(Debug, Serialize)]
pub struct SarifLog {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    invocations: [Invocation; 1],
    results: Vec<SarifResult>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
    help: Help,
    default_configuration: Configuration,
}

#[derive(Debug, Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Debug, Serialize)]
struct Message {
    text: String,
}

#[derive(Debug, Serialize)]
struct Help {
    text: &'static str,
    markdown: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Place>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Place>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    /// Counted from 1 among the related ones; absent for the primary one.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

/// The diagnostics as a SARIF log.
pub fn to_sarif(files: &Files, diagnostics: &[Diagnostic]) -> SarifLog {
    let mut codes: Vec<Code> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let results = diagnostics.iter().map(|diagnostic| result(files, diagnostic, &codes)).collect();
    let rules = codes.iter().map(|code| rule(*code, diagnostics)).collect();
    let driver = Driver { name: "toolctl", version: env!("CARGO_PKG_VERSION"), rules };
    SarifLog {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool { driver },
            column_kind: "unicodeCodePoints",
            invocations: [Invocation { execution_successful: true }],
            results,
        }],
    }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A code as a rule. Its level is the highest that occurs.
fn rule(code: Code, diagnostics: &[Diagnostic]) -> Rule {
    let of_it = diagnostics.iter().filter(|diagnostic| diagnostic.code == code);
    let severity = of_it.map(|diagnostic| diagnostic.severity).max().unwrap_or(Severity::Warning);
    Rule {
        id: code.as_str(),
        short_description: Message { text: code.summary().to_owned() },
        help: Help { text: code.page(), markdown: code.page() },
        default_configuration: Configuration { level: level(severity) },
    }
}

fn result(files: &Files, diagnostic: &Diagnostic, codes: &[Code]) -> SarifResult {
    let more = diagnostic.notes.iter().chain(&diagnostic.help);
    let text = more.fold(diagnostic.message.clone(), |text, line| text + "\n" + line);
    SarifResult {
        rule_id: diagnostic.code.as_str(),
        rule_index: codes.binary_search(&diagnostic.code).unwrap_or_default(),
        level: level(diagnostic.severity),
        message: Message { text },
        locations: diagnostic.primary.iter().filter_map(|label| location(files, label, None)).collect(),
        related_locations: diagnostic
            .related
            .iter()
            .enumerate()
            .filter_map(|(at, label)| location(files, label, Some(at + 1)))
            .collect(),
    }
}

fn location(files: &Files, label: &Label, id: Option<usize>) -> Option<Place> {
    let span = label.span;
    let path = files.path(span.file);
    // What is embedded is in no file.
    if path.to_string_lossy().starts_with("builtin:") {
        return None;
    }
    let start = files.location(span);
    let end = files.location(Span::new(span.file, span.end, span.end));
    Some(Place {
        id,
        physical_location: Physical {
            artifact_location: Artifact {
                uri: uri(path),
                uri_base_id: path.is_relative().then_some("%SRCROOT%"),
            },
            region: Region {
                start_line: start.line,
                start_column: start.column,
                end_line: end.line,
                end_column: end.column,
            },
        },
        message: (!label.text.is_empty()).then(|| Message { text: label.text.clone() }),
    })
}

/// A path as a URI reference: relative stays relative, the rest is `file:`.
fn uri(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut out = if path.is_absolute() { "file://".to_owned() } else { String::new() };
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
