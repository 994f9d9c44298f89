//! Text that a tool, a manifest or a call supplied.

use super::escape::{Escaped, escape};
use std::fmt;

/// Text of unknown intent. It has no `Display`: the only way to print it is [`Untrusted::escape`].
///
/// ```compile_fail
/// let name = toolctl::text::Untrusted::new("x");
/// println!("{name}");
/// ```
///
/// ```
/// let name = toolctl::text::Untrusted::new("a\u{202e}b");
/// assert_eq!(name.escape().to_string(), "a\\u{202e}b");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Untrusted(String);

impl Untrusted {
    /// Marks text as untrusted.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The printable form.
    pub fn escape(&self) -> Escaped {
        escape(&self.0)
    }

    /// The exact text, for machines: comparing, hashing, JSON strings, the tool's own input. Never for a terminal.
    pub fn raw(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({})", self.escape())
    }
}
