//! Canonical forms: of paths, URLs and JSON values, and the digest over them.
//!
//! Two spellings of one thing must look the same to policy, approval, cache, audit and the tool. Everything that
//! decides whether two spellings are one is here.

mod digest;
mod json;
mod path;
mod pointer;
mod url;

pub use digest::sha256;
pub use json::{CanonicalJsonError, canonical_json, canonical_number, settle_numbers};
pub use path::{CanonicalPath, PathError, canonical_path, is_under};
pub use pointer::{escape_token, push_token};
pub use url::{CanonicalUrl, UrlError, canonical_url};
