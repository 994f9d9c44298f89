//! Who calls and why: claims of the caller, never proof.

/// Whether a call is meant to happen or to be tried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RunMode {
    /// Effects are wanted, as far as the policy allows.
    #[default]
    Execute,
    /// Only reads may run (002 RunMode).
    Plan,
}

impl RunMode {
    /// `execute` or `plan`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Plan => "plan",
        }
    }
}

/// The caller's context (000 RunContext). Every field is a claim: it selects delegates and labels records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// The run that the call belongs to.
    pub run_id: Option<String>,
    /// The session.
    pub session_id: Option<String>,
    /// The user on whose behalf the agent works.
    pub user_id: Option<String>,
    /// The tenant.
    pub tenant_id: Option<String>,
    /// The chain of delegation, outermost agent first.
    pub agents: Vec<String>,
    /// The mode; plan wins whatever its source.
    pub mode: RunMode,
}

impl Context {
    /// The innermost agent, the one that makes the call.
    pub fn agent_name(&self) -> Option<&str> {
        self.agents.last().map(String::as_str)
    }
}
