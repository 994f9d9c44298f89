//! The registry of diagnostic codes. A code never changes its meaning; each has a page in `docs/diagnostics`.

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// A stable identifier of a kind of finding or failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// Every code, in the order of the registry.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The code as written in messages and JSON: `family/name`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// One line on what the code means.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim(),)+ }
            }

            /// The page shown by `toolctl explain`, in Markdown.
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/diagnostics/", $text, ".md")),)+
                }
            }
        }
    };
}

codes! {
    /// A file is not valid YAML.
    SourceYaml = "source/yaml",
    /// A file or an argument document is not valid JSON.
    SourceJson = "source/json",
    /// A key stands twice in one mapping.
    SourceDuplicateKey = "source/duplicate-key",
    /// A file is too large, too deep or expands to too much.
    SourceTooLarge = "source/too-large",
    /// A file cannot be read.
    SourceUnreadable = "source/unreadable",
    /// A file could have been changed by somebody else.
    SourceUnsafeOwner = "source/unsafe-owner",
    /// A value has the wrong type.
    SourceWrongType = "source/wrong-type",
    /// A value is of the right type but not one that is accepted here.
    SourceBadValue = "source/bad-value",
    /// A key that is needed is missing.
    SourceMissingKey = "source/missing-key",
    /// A key is not known here.
    SourceUnknownKey = "source/unknown-key",
    /// A tool's name is not `[A-Za-z0-9_-]{1,64}` or not the stem of its file.
    ManifestBadName = "manifest/bad-name",
    /// A tool's `parameters` or `outputSchema` is not a usable JSON Schema.
    ManifestBadSchema = "manifest/bad-schema",
    /// A placeholder in a tool's command cannot be filled in.
    ManifestBadTemplate = "manifest/bad-template",
    /// A placeholder stands inside text that a shell or an interpreter parses.
    ManifestShellTemplate = "manifest/shell-template",
    /// An input example does not satisfy the tool's own schema.
    ManifestBadExample = "manifest/bad-example",
    /// A tool asks for a feature that this version does not carry out.
    ManifestUnsupported = "manifest/unsupported",
    /// A schema uses a `format` that is not checked.
    ManifestUnknownFormat = "manifest/unknown-format",
    /// A keyword of a schema has no effect where it stands.
    ManifestIdleKeyword = "manifest/idle-keyword",
    /// The schema accepts arguments that it does not know.
    ManifestOpenArguments = "manifest/open-arguments",
    /// A valid call may lack an argument that the command needs.
    ManifestOptionalPlaceholder = "manifest/optional-placeholder",
    /// The call supplies the program that an interpreter runs.
    ManifestCodeFromArgument = "manifest/code-from-argument",
    /// Two statements of a manifest cannot both be true.
    ManifestContradiction = "manifest/contradiction",
    /// The tool runs without a sandbox.
    ManifestNoSandbox = "manifest/no-sandbox",
    /// The tool's sandbox permits far more than tools need.
    ManifestWideSandbox = "manifest/wide-sandbox",
    /// A command line, which every process can read, holds a secret.
    ManifestSecretInCommand = "manifest/secret-in-command",
    /// A manifest holds a secret as the value of a variable.
    ManifestSecretInEnvironment = "manifest/secret-in-environment",
    /// Two manifests define one tool name.
    ManifestDuplicateTool = "manifest/duplicate-tool",
    /// A rule speaks of a tool that no manifest defines.
    PolicyUnknownTool = "policy/unknown-tool",
    /// A condition speaks of an argument that the tool's schema does not have.
    PolicyUnknownArgument = "policy/unknown-argument",
    /// An operator does not fit the type that the schema gives.
    PolicyTypeMismatch = "policy/type-mismatch",
    /// A condition uses an operator that does not exist.
    PolicyUnknownOperator = "policy/unknown-operator",
    /// A `${vars.…}` or `{…}` reference names nothing.
    PolicyUnknownVariable = "policy/unknown-variable",
    /// A glob or regular expression cannot be compiled.
    PolicyBadPattern = "policy/bad-pattern",
    /// Two rules have one id.
    PolicyDuplicateRule = "policy/duplicate-rule",
    /// A grant has no condition and does not say `always: true`.
    PolicyEmptyWhen = "policy/empty-when",
    /// A reason refers to something that a reason cannot show.
    PolicyBadReason = "policy/bad-reason",
    /// An effect is not one of read, write, execute, external, unknown.
    PolicyBadEffect = "policy/bad-effect",
    /// A key does not go with the role of its file.
    PolicyBadRole = "policy/bad-role",
    /// A rule's own `match` or `notMatch` example does not hold.
    PolicyExampleFailed = "policy/example-failed",
    /// A condition asks for a value that the tool's schema does not permit (L003).
    PolicyImpossibleValue = "policy/impossible-value",
    /// A rule's conditions contradict each other (L004).
    PolicyUnsatisfiable = "policy/unsatisfiable",
    /// A grant changes no decision, since another one covers it (L005).
    PolicyRedundant = "policy/redundant",
    /// A grant never counts, since a guard denies all that it grants (L006).
    PolicyShadowedGrant = "policy/shadowed-grant",
    /// An `unless` excepts nothing, or everything (L007).
    PolicyIdleUnless = "policy/idle-unless",
    /// A rule allows every call of a tool that does more than read (L009).
    PolicyOverBroad = "policy/over-broad",
    /// A rule allows calls that no sandbox holds back (L010).
    PolicyUnconfined = "policy/unconfined",
    /// A regular expression probably matches other texts than it looks (L011).
    PolicyLooseRegex = "policy/loose-regex",
    /// A path pattern probably matches fewer files than it looks (L012).
    PolicyLooseGlob = "policy/loose-glob",
    /// A path is compared as text (L013).
    PolicyTextOfPath = "policy/text-of-path",
    /// A condition needs an argument that a call may leave out (L014).
    PolicyOptionalArgument = "policy/optional-argument",
    /// Files that a guard denies can be reached through another tool (L015).
    PolicyOtherDoor = "policy/other-door",
    /// Nobody says what a tool, or some calls of it, may do (L016).
    PolicyMissingEffects = "policy/missing-effects",
    /// An effect entry is never reached (L016).
    PolicyUnreachableEffect = "policy/unreachable-effect",
    /// A delegate's grant can never change the decision (L017).
    PolicyIdleDelegate = "policy/idle-delegate",
    /// An exemption from approval exempts from nothing (L018).
    PolicyIdleExemption = "policy/idle-exemption",
    /// A tool is classified as reading and looks as if it writes (L021).
    PolicyReadThatWrites = "policy/read-that-writes",
    /// A rule that stops calls does not say why (L023).
    PolicyMissingReason = "policy/missing-reason",
    /// A reason would show a secret (L023).
    PolicySecretReason = "policy/secret-reason",
    /// A guard looks for the flags of a command line as text (L024).
    PolicyTextOfCommand = "policy/text-of-command",
    /// A grant rests on what the caller says of itself.
    PolicyClaim = "policy/claim",
    /// A policy uses a feature that this version does not carry out.
    PolicyUnsupported = "policy/unsupported",
    /// A rule, or the default, denies the call.
    PolicyDenied = "policy/denied",
    /// A rule could not be evaluated, so the call is denied.
    PolicyError = "policy/error",
    /// Plan mode denies the effect of this call.
    PolicyPlanMode = "policy/plan-mode",
    /// The call would write to files that control toolctl.
    PolicyControlFiles = "policy/control-files",
    /// The arguments are not one JSON object.
    CallNotJson = "call/not-json",
    /// An object in the arguments has a key twice.
    CallDuplicateKey = "call/duplicate-key",
    /// A number in the arguments cannot be kept exactly.
    CallNumberRange = "call/number-range",
    /// The arguments are larger or deeper than allowed.
    CallTooLarge = "call/too-large",
    /// The arguments do not satisfy the tool's schema.
    CallSchema = "call/schema",
    /// A line of a file with calls is no call.
    CallBadShape = "call/bad-shape",
    /// An `-a` flag cannot be turned into an argument.
    CallBadFlag = "call/bad-flag",
    /// An argument declared as a path or URI has no canonical form.
    CallBadPath = "call/bad-path",
    /// A value cannot be handed to the tool's program as it is.
    CallUnsafeArgument = "call/unsafe-argument",
    /// There is no tool of that name.
    CallUnknownTool = "call/unknown-tool",
    /// A setting has a value that is not allowed in its place.
    ConfigBadSetting = "config/bad-setting",
    /// The project has not been trusted by you.
    ConfigNeedsTrust = "config/needs-trust",
    /// The workspace may not be this folder.
    ConfigWorkspace = "config/workspace",
    /// A `TOOLCTL_` variable is not known.
    ConfigEnvironment = "config/environment",
    /// The call needs an approval and there is nobody to ask.
    ApprovalRequired = "approval/required",
    /// A person refused the call.
    ApprovalRefused = "approval/refused",
    /// Nobody answered in time.
    ApprovalTimeout = "approval/timeout",
    /// What would run is not what was decided or approved.
    ApprovalStale = "approval/stale",
    /// The tool's program, or the interpreter of its script, is not there.
    RunProgramMissing = "run/program-missing",
    /// The tool ended with a failure of its own.
    RunToolFailed = "run/tool-failed",
    /// The tool was ended by a signal.
    RunSignal = "run/signal",
    /// The tool ran longer than its timeout.
    RunTimeout = "run/timeout",
    /// The tool was ended by one of its limits.
    RunLimit = "run/limit",
    /// The tool's result is not what its manifest promises.
    RunBadResult = "run/bad-result",
    /// The tool created a file that would control toolctl or later programs.
    RunControlFileCreated = "run/control-file-created",
    /// The sandbox that the call needs cannot be enforced here; nothing ran.
    SandboxUnavailable = "sandbox/unavailable",
    /// The tool's sandbox asks for something that cannot be given.
    SandboxBadRequest = "sandbox/bad-request",
    /// toolctl itself failed.
    InternalError = "internal/error",
    /// The output could not be written.
    OutputError = "output/error",
    /// The call was interrupted.
    Interrupted = "internal/interrupted",
    /// The command line is not understood.
    UsageError = "usage/error",
    /// The command selected nothing.
    NothingToDo = "usage/nothing-to-do",
}

impl Code {
    /// Whether this is an opinion of `check` alone: `run` works all the same, so a person may decide to live with it.
    pub const fn is_lint(self) -> bool {
        matches!(
            self,
            Self::ManifestIdleKeyword
                | Self::ManifestOpenArguments
                | Self::ManifestOptionalPlaceholder
                | Self::ManifestCodeFromArgument
                | Self::ManifestContradiction
                | Self::ManifestNoSandbox
                | Self::ManifestWideSandbox
                | Self::ManifestSecretInCommand
                | Self::ManifestSecretInEnvironment
                | Self::PolicyImpossibleValue
                | Self::PolicyUnsatisfiable
                | Self::PolicyRedundant
                | Self::PolicyShadowedGrant
                | Self::PolicyIdleUnless
                | Self::PolicyOverBroad
                | Self::PolicyUnconfined
                | Self::PolicyLooseRegex
                | Self::PolicyLooseGlob
                | Self::PolicyTextOfPath
                | Self::PolicyOptionalArgument
                | Self::PolicyOtherDoor
                | Self::PolicyMissingEffects
                | Self::PolicyUnreachableEffect
                | Self::PolicyIdleDelegate
                | Self::PolicyIdleExemption
                | Self::PolicyReadThatWrites
                | Self::PolicyMissingReason
                | Self::PolicySecretReason
                | Self::PolicyTextOfCommand
                | Self::PolicyClaim
        )
    }

    /// The code with this text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }

    /// The code that a person means: as it stands in a message (`error[call/schema]:`), without its family if that is
    /// plain, or the number of a lint that its page gives (`L009`).
    pub fn meant_by(text: &str) -> Option<Self> {
        let bare = text.split_once('[').map_or(text, |(_, rest)| rest);
        let bare = bare.split(']').next().unwrap_or(bare).trim().trim_end_matches(':').to_ascii_lowercase();
        let only = |found: &dyn Fn(Self) -> bool| {
            let mut all = Self::ALL.iter().copied().filter(|code| found(*code));
            all.next().filter(|_| all.next().is_none())
        };
        let is_lint = bare
            .strip_prefix('l')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|digit| digit.is_ascii_digit()));
        if is_lint {
            let named = format!("Lint {}", bare.to_ascii_uppercase());
            return Self::ALL.iter().copied().find(|code| code.page().contains(&named));
        }
        Self::parse(&bare).or_else(|| only(&|code| code.name() == bare))
    }

    /// The part behind the family: `denied` of `policy/denied`.
    pub fn name(self) -> &'static str {
        self.as_str().split_once('/').map_or("", |(_, name)| name)
    }

    /// The part before the name: `policy` of `policy/denied`.
    pub fn family(self) -> &'static str {
        self.as_str().split_once('/').map_or("", |(family, _)| family)
    }
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[test]
    fn a_code_is_found_as_people_write_it() {
        for (text, expected) in [
            ("policy/denied", Some(Code::PolicyDenied)),
            ("error[policy/denied]:", Some(Code::PolicyDenied)),
            ("[call/schema]", Some(Code::CallSchema)),
            ("Policy/Denied", Some(Code::PolicyDenied)),
            ("denied", Some(Code::PolicyDenied)),
            ("plan-mode", Some(Code::PolicyPlanMode)),
            // Of several families.
            ("error", None),
            ("duplicate-key", None),
            ("policy", None),
            ("", None),
            ("L", None),
            ("L9999", None),
        ] {
            assert_eq!(Code::meant_by(text), expected, "{text}");
        }
        for code in Code::ALL {
            assert_eq!(format!("{}/{}", code.family(), code.name()), code.as_str());
            assert_eq!(Code::meant_by(code.as_str()), Some(*code));
        }
    }
}
