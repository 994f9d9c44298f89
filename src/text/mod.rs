//! Text and where it came from: spans, untrusted text and its visible form.
//!
//! Nothing here reads or prints; every other module may use it.

mod escape;
mod mixed;
mod near;
mod span;
mod untrusted;

pub use escape::{Escaped, escape, has_hidden, is_hidden};
pub use mixed::mixed_words;
pub use near::nearest;
pub use span::{FileId, Span};
pub use untrusted::Untrusted;
