//! What the caller's environment says about the network and a tool was not given.
//!
//! Behind a proxy every program works in the shell and none in a clean environment, and the program's own message, a
//! connection refused, does not lead there. A tool that failed is told about with the names, never the values.

use crate::diag::Diagnostic;
use crate::sandbox::PlanReport;
use crate::world::World;

/// Variables by which common programs find a proxy or the certificates of one.
const NAMES: [&str; 12] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
];

/// Those that are set here and not passed on, if the tool has the network at all. The report is made only if it matters.
pub(crate) fn withheld(world: &dyn World, report: impl FnOnce() -> PlanReport) -> Vec<&'static str> {
    let mut names: Vec<_> = NAMES.into_iter().filter(|name| world.env(name).is_some()).collect();
    if !names.is_empty() {
        let report = report();
        names.retain(|name| report.network != "none" && !report.env.iter().any(|given| given == name));
    }
    names
}

/// Adds the names to what is said of a tool that failed.
pub(crate) fn with_withheld(diagnostic: Diagnostic, withheld: &[&str]) -> Diagnostic {
    if withheld.is_empty() {
        return diagnostic;
    }
    diagnostic
        .note(format!("set here and not given to the tool: {}", withheld.join(", ")))
        .help("if it needs one, name it in `sandbox.env.forward` of the manifest and in `forwardableEnv` of your own settings")
}
