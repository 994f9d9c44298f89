//! A call whose arguments satisfy the schema and are canonical: they never change again.

use crate::canon::{CanonicalPath, CanonicalUrl};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A call with validated, canonical arguments (000 ValidatedToolCall). Immutable; only [`super::validate`] makes one.
#[derive(Debug)]
pub struct ValidatedCall {
    pub(super) tool_call_id: String,
    pub(super) tool_name: String,
    pub(super) args: Map<String, Value>,
    pub(super) canonical: String,
    pub(super) digest: String,
    pub(super) defaults: Vec<String>,
    pub(super) originals: BTreeMap<String, String>,
    pub(super) paths: BTreeMap<String, CanonicalPath>,
    pub(super) urls: BTreeMap<String, CanonicalUrl>,
}

impl ValidatedCall {
    /// The caller's id of this call.
    pub fn tool_call_id(&self) -> &str {
        &self.tool_call_id
    }

    /// The tool's name.
    pub fn tool_name(&self) -> &str {
        &self.tool_name
    }

    /// The arguments: validated, defaults filled in, declared paths and URIs canonical.
    pub const fn args(&self) -> &Map<String, Value> {
        &self.args
    }

    /// The canonical JSON of the arguments: what the tool receives, and what was hashed.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// `sha256:…` over the tool's name and the canonical arguments.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// JSON Pointers of the values that came from the schema's defaults.
    pub fn defaults(&self) -> &[String] {
        &self.defaults
    }

    /// JSON Pointer -> the caller's spelling, for every path or URI whose canonical form differs.
    pub const fn originals(&self) -> &BTreeMap<String, String> {
        &self.originals
    }

    /// JSON Pointer -> what was resolved, for every string declared `format: path`. Resolved once: policy judges the very
    /// answer that the argument was made from.
    pub const fn paths(&self) -> &BTreeMap<String, CanonicalPath> {
        &self.paths
    }

    /// JSON Pointer -> what was parsed, for every string declared `format: uri`.
    pub const fn urls(&self) -> &BTreeMap<String, CanonicalUrl> {
        &self.urls
    }
}
