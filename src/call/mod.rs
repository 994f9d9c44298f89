//! A call before it is decided: parsing, validation, canonical JSON and the digest.

mod error;
mod flags;
mod line;
mod parse;
mod request;
mod validate;
mod validated;

pub use crate::canon::{canonical_json, sha256};
pub use error::CallError;
pub use flags::args_from_flags;
pub use line::parse_call;
pub use parse::{parse_args, parse_arguments_string};
pub use request::Call;
pub use validate::{CallEnv, accept, validate};
pub use validated::ValidatedCall;
