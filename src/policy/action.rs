//! The decisions of the lattice allow < ask < deny, and what goes with an `ask`.

use std::fmt;
use std::time::Duration;

/// What is to happen to a call, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

impl Action {
    /// `allow`, `ask` or `deny`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The names and values, for decoders.
    pub(super) const CHOICES: [(&'static str, Self); 3] =
        [("allow", Self::Allow), ("ask", Self::Ask), ("deny", Self::Deny)];
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How strong an approval has to be, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strength {
    /// A client of the MCP server answered for its user.
    Client,
    /// A person with the shell of the same user.
    SameUser,
    /// A signature by an enrolled key, or another user of the machine.
    Presence,
}

impl Strength {
    /// `client`, `same-user` or `presence`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::SameUser => "same-user",
            Self::Presence => "presence",
        }
    }

    pub(super) const CHOICES: [(&'static str, Self); 3] =
        [("client", Self::Client), ("same-user", Self::SameUser), ("presence", Self::Presence)];
}

/// Whether the answer to an `ask` may be remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Remember {
    /// `remember: false`.
    No,
    /// `remember: true`: as long as the approval stage permits.
    Yes,
    /// At most this long.
    For(Duration),
}

impl Remember {
    /// The stricter of two.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, rest) | (rest, Self::Yes) => rest,
            (Self::For(a), Self::For(b)) => Self::For(a.min(b)),
        }
    }
}

/// The role of a policy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Decides; the host files of inner layers can only tighten.
    Host,
    /// Can only tighten, for the agents that its `for` names.
    Delegate,
    /// Holds guards only; tightens from any layer.
    Guard,
}

impl Role {
    /// `host`, `delegate` or `guard`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Delegate => "delegate",
            Self::Guard => "guard",
        }
    }

    pub(super) const CHOICES: [(&'static str, Self); 3] =
        [("host", Self::Host), ("delegate", Self::Delegate), ("guard", Self::Guard)];
}
