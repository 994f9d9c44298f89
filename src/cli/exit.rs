//! Exit codes: one enum, documented in `docs/exit-codes.md`, the same whatever the output format.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Done, allowed, all passed.
    Ok,
    /// `check`, `doctor` and the like found something.
    Findings,
    /// The command line is not understood.
    Usage,
    /// The arguments are not JSON or break the schema.
    Arguments,
    /// A manifest, policy or setting cannot be loaded or needs trust.
    Config,
    /// There is no such tool.
    UnknownTool,
    /// The command selected nothing.
    NothingToDo,
    /// Denied by policy.
    Denied,
    /// An approval is needed and there is nobody to ask.
    ApprovalUnavailable,
    /// A person refused.
    Refused,
    /// Nobody answered in time.
    ApprovalTimeout,
    /// What was approved is not what would run.
    Stale,
    /// Nobody answered in time and the settings say to treat that as an error.
    ApprovalTimeoutThrown,
    /// The tool failed; its own code is in the result.
    ToolFailed,
    /// A signal ended the tool.
    ToolSignal,
    /// The tool outlived its timeout.
    ToolTimeout,
    /// A limit ended the tool.
    ToolLimit,
    /// The tool's result is not what it promised.
    BadResult,
    /// The sandbox cannot be enforced; nothing ran.
    SandboxUnavailable,
    /// toolctl itself failed.
    Internal,
    /// The output could not be written.
    Output,
    /// Interrupted by a signal, which the program re-raises.
    Interrupted,
}

impl Exit {
    /// Every way to end, for the documentation test.
    pub const ALL: [Self; 22] = [
        Self::Ok,
        Self::Findings,
        Self::Usage,
        Self::Arguments,
        Self::Config,
        Self::UnknownTool,
        Self::NothingToDo,
        Self::Denied,
        Self::ApprovalUnavailable,
        Self::Refused,
        Self::ApprovalTimeout,
        Self::Stale,
        Self::ApprovalTimeoutThrown,
        Self::ToolFailed,
        Self::ToolSignal,
        Self::ToolTimeout,
        Self::ToolLimit,
        Self::BadResult,
        Self::SandboxUnavailable,
        Self::Internal,
        Self::Output,
        Self::Interrupted,
    ];

    /// Of two items of a batch, the exit code that the batch ends with: the first of 130, 70, 74, 30, 4, 3, 5, the
    /// decisions, the tools' ends. 0 only if both succeeded.
    #[must_use]
    pub const fn or_worse(self, other: Self) -> Self {
        if other.weight() > self.weight() { other } else { self }
    }

    /// How much a code weighs in a batch. Those that no single item has weigh least.
    const fn weight(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Findings | Self::Usage | Self::NothingToDo => 1,
            Self::BadResult => 2,
            Self::ToolLimit => 3,
            Self::ToolTimeout => 4,
            Self::ToolSignal => 5,
            Self::ToolFailed => 6,
            Self::ApprovalTimeoutThrown => 7,
            Self::Stale => 8,
            Self::ApprovalTimeout => 9,
            Self::Refused => 10,
            Self::ApprovalUnavailable => 11,
            Self::Denied => 12,
            Self::UnknownTool => 13,
            Self::Arguments => 14,
            Self::Config => 15,
            Self::SandboxUnavailable => 16,
            Self::Output => 17,
            Self::Internal => 18,
            Self::Interrupted => 19,
        }
    }

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Arguments => 3,
            Self::Config => 4,
            Self::UnknownTool => 5,
            Self::NothingToDo => 6,
            Self::Denied => 10,
            Self::ApprovalUnavailable => 11,
            Self::Refused => 12,
            Self::ApprovalTimeout => 13,
            Self::Stale => 14,
            Self::ApprovalTimeoutThrown => 16,
            Self::ToolFailed => 20,
            Self::ToolSignal => 21,
            Self::ToolTimeout => 22,
            Self::ToolLimit => 23,
            Self::BadResult => 24,
            Self::SandboxUnavailable => 30,
            Self::Internal => 70,
            Self::Output => 74,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;
    use std::cmp::Ordering;
    use std::collections::BTreeSet;

    #[test]
    fn a_batch_ends_with_the_gravest_code() {
        let order = [130, 70, 74, 30, 4, 3, 5, 10, 11, 12, 13, 14, 16, 20, 21, 22, 23, 24];
        let mut sorted: Vec<Exit> =
            Exit::ALL.into_iter().filter(|exit| order.contains(&exit.code())).collect();
        sorted.sort_by(|a, b| if a.or_worse(*b) == *a { Ordering::Less } else { Ordering::Greater });
        assert_eq!(sorted.iter().map(|exit| exit.code()).collect::<Vec<_>>(), order);
        for exit in Exit::ALL {
            assert_eq!(Exit::Ok.or_worse(exit), exit);
            assert_eq!(exit.or_worse(Exit::Ok), exit);
        }
    }

    #[test]
    fn codes_are_distinct_and_documented() {
        let page = include_str!("../../docs/exit-codes.md");
        let codes: BTreeSet<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes.len(), Exit::ALL.len());
        for code in codes {
            assert!(page.contains(&format!("| {code} |")), "exit code {code} is not in docs/exit-codes.md");
        }
    }
}
