//! A person's yes, bound to one digest.

use crate::policy::Strength;

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
