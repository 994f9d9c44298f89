//! The strict JSON reader: one parser for files (values with places) and for call arguments (plain values).
//!
//! It is our own because what a call says must be one thing to everybody who reads it: two keys of one name, a number
//! that does not fit, half a surrogate pair or text after the document are read differently by different readers, and
//! are refused here.

mod build;
mod error;
mod number;
mod parser;
mod read;
mod remark;
mod tokens;

#[cfg(test)]
pub(super) mod tests;

pub use error::{JsonError, JsonErrorKind};
pub(super) use number::json_number;
pub use read::{JsonLimits, parse_arguments, parse_json, parse_outline, parse_value};
