//! The built-in host policy: what holds where no outer or trusted policy is host.

use super::decode::decode;
use super::set::PolicySource;
use crate::canon::sha256;
use crate::diag::Diagnostic;
use crate::model::Layer;
use crate::source::{Decoder, Files, parse_yaml};

const TEXT: &str = include_str!("builtin.yaml");

/// The text of the built-in policy, for `policy show`.
pub const fn text() -> &'static str {
    TEXT
}

/// The built-in policy. Its places are in no file that a person could open, so none is ever shown.
pub(super) fn source() -> Result<PolicySource, Vec<Diagnostic>> {
    let mut files = Files::new();
    let id = files.add("builtin.yaml", TEXT);
    let node = parse_yaml(&files, id).map_err(without_places)?;
    let mut decoder = Decoder::new();
    match decode(&mut decoder, &node) {
        Some(file) => Ok(PolicySource {
            file,
            layer: Layer::Builtin,
            trusted: true,
            path: "builtin.yaml".into(),
            text_digest: sha256(TEXT.as_bytes()),
        }),
        None => Err(without_places(decoder.into_diagnostics())),
    }
}

fn without_places(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let bare = |d: Diagnostic| Diagnostic { primary: None, related: Vec::new(), ..d };
    diagnostics.into_iter().map(bare).collect()
}
