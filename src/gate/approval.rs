//! A person's yes, bound to one digest.

/// How sure it is that the owner of the machine, and not the agent, answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A client of a protocol answered.
    Client,
    /// Somebody with the user's own rights answered.
    SameUser,
    /// A signature by an enrolled key, or another user of the machine.
    Presence,
}

impl Strength {
    /// The name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::SameUser => "same-user",
            Self::Presence => "presence",
        }
    }
}

/// A yes to exactly one digest. It is made by the prompt alone and is used up by [`super::authorize`].
#[derive(Debug)]
#[must_use]
pub struct Approval {
    pub(super) digest: String,
    pub(super) request_id: String,
    pub(super) decided_by: String,
    pub(super) strength: Strength,
}

impl Approval {
    /// The request that was answered.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// Who answered.
    pub fn decided_by(&self) -> &str {
        &self.decided_by
    }

    /// How sure that is.
    pub const fn strength(&self) -> Strength {
        self.strength
    }
}
