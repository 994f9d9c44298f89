//! The gate: approval requests, the prompt, and the one maker of [`AuthorizedCall`].
//!
//! An `ask` needs an [`Approval`] of exactly the digest of what would run; only a prompt that read a person's
//! answer makes one. An [`AuthorizedCall`] has private fields, is neither `Clone` nor `Deserialize`, and is consumed
//! by its execution.

mod approval;
mod authorized;
mod prompt;
mod request;

pub use approval::{Approval, ChangedPolicy};
pub use authorized::{Authorized, AuthorizedCall, GateError, approval_digest, authorize};
pub use prompt::{Answered, PromptError, approve_by_timeout, ask};
pub use request::{ApprovalRequest, Asked, Detail, sandbox_line};
