//! A call before it is decided: parsing, validation, canonical JSON and the digest.

mod request;
mod validated;

pub use request::Call;
pub use validated::ValidatedCall;
