//! A person's yes, bound to one digest.

use super::approval_digest;
use crate::policy::{Decided, Strength};
use crate::sandbox::Plan;

/// The digests of the policies when somebody was asked, and now.
#[derive(Debug, Clone, Copy)]
pub struct ChangedPolicy<'a> {
    /// When somebody was asked.
    pub asked: &'a str,
    /// Now.
    pub now: &'a str,
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
    /// The approval under a policy that changed while somebody was asked, and that asks as well: it stands if all else is
    /// what was approved. Otherwise it stays for what it was for, and [`super::authorize`] refuses it.
    pub fn under(
        self,
        decided: &Decided,
        plan: &Plan,
        definition: &str,
        policies: ChangedPolicy<'_>,
    ) -> Self {
        let digest = |policy| approval_digest(decided, plan, definition, policy);
        if digest(policies.asked) == self.digest {
            Self { digest: digest(policies.now), ..self }
        } else {
            self
        }
    }

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
