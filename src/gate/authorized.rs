//! The one maker of the only value that can be executed.

use super::Approval;
use crate::canon::sha256;
use crate::policy::{Action, Decided};
use crate::sandbox::{Plan, Stdin};

/// A call that may be executed, once. Its fields are private and it is neither `Clone` nor `Deserialize`.
#[derive(Debug)]
#[must_use]
pub struct AuthorizedCall {
    decided: Decided,
    plan: Plan,
    stdin: Stdin,
    approval: Option<Approval>,
}

/// The parts of an authorised call, for the execution that uses it up.
#[derive(Debug)]
pub struct Authorized {
    /// The decided call.
    pub decided: Decided,
    /// The sandbox that holds it.
    pub plan: Plan,
    /// What the tool finds on its standard input.
    pub stdin: Stdin,
    /// Who approved it, if it had to be.
    pub approval: Option<Approval>,
}

impl AuthorizedCall {
    /// The parts. The authorisation is used up.
    pub fn into_parts(self) -> Authorized {
        Authorized { decided: self.decided, plan: self.plan, stdin: self.stdin, approval: self.approval }
    }
}

/// Why a call may not be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// The policy denies it.
    #[error("the policy denies the call")]
    Denied,
    /// It needs an approval and has none.
    #[error("the call needs an approval")]
    ApprovalRequired,
    /// The approval is for something else than what would run.
    #[error("what was approved is not what would run")]
    Stale,
    /// The rule asks for a stronger approval than this one.
    #[error("the rule asks for a stronger approval")]
    TooWeak,
}

/// Everything that would run, as one digest: the call, the tool's definition, programs and sandbox, the policy.
///
/// `definition` is the digest of the resolved manifest, `policy` that of the policy set.
pub fn approval_digest(decided: &Decided, plan: &Plan, definition: &str, policy: &str) -> String {
    let parts = [
        "toolctl.approval/v1",
        decided.call().digest(),
        &decided.tool().name,
        definition,
        &plan.digest(),
        policy,
        &decided.decision().rule.id,
    ];
    sha256(parts.join("\n").as_bytes())
}

/// Makes the authorisation, if the decision allows the call or the approval is for exactly this digest.
///
/// `digest` has to be [`approval_digest`] recomputed from what is about to run.
///
/// # Errors
/// Everything but an allow, or an ask with its approval, is an error. The values are given up: nothing is left to run.
pub fn authorize(
    decided: Decided,
    plan: Plan,
    stdin: Stdin,
    approval: Option<Approval>,
    digest: &str,
) -> Result<AuthorizedCall, GateError> {
    match decided.decision().action {
        Action::Deny => return Err(GateError::Denied),
        Action::Allow => {}
        Action::Ask => {
            let Some(approval) = &approval else { return Err(GateError::ApprovalRequired) };
            if approval.digest != digest {
                return Err(GateError::Stale);
            }
            if decided.decision().strength.is_some_and(|needed| needed > approval.strength) {
                return Err(GateError::TooWeak);
            }
        }
    }
    Ok(AuthorizedCall { decided, plan, stdin, approval })
}
