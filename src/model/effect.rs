//! What a call may do to the world.

use std::fmt;

/// One kind of effect, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// Looks, changes nothing.
    Read,
    /// Nobody classified it.
    Unknown,
    /// Changes files of the workspace.
    Write,
    /// Runs programs that are not the tool's own.
    Execute,
    /// Reaches beyond this machine.
    External,
}

impl Effect {
    /// All effects, mildest first.
    pub const ALL: [Self; 5] = [Self::Read, Self::Unknown, Self::Write, Self::Execute, Self::External];

    /// The name used in files and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Unknown => "unknown",
            Self::Write => "write",
            Self::Execute => "execute",
            Self::External => "external",
        }
    }

    /// The effect with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.as_str() == name)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A set of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EffectSet(u8);

impl EffectSet {
    /// The set without any effect; classification never ends with it.
    pub const EMPTY: Self = Self(0);

    /// The set of one effect.
    pub const fn of(effect: Effect) -> Self {
        Self(effect.bit())
    }

    /// Whether the effect is in the set.
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & effect.bit() != 0
    }

    /// Adds an effect.
    #[must_use]
    pub const fn with(self, effect: Effect) -> Self {
        Self(self.0 | effect.bit())
    }

    /// The union of two sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set has no effect.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set is exactly {read}.
    pub const fn is_only_read(self) -> bool {
        self.0 == Effect::Read.bit()
    }

    /// The members, mildest first.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL.into_iter().filter(move |effect| self.contains(*effect))
    }

    /// The most severe member by read < unknown < write < execute < external; `Unknown` for the empty set.
    pub fn worst(self) -> Effect {
        self.iter().last().unwrap_or(Effect::Unknown)
    }
}

impl FromIterator<Effect> for EffectSet {
    fn from_iter<I: IntoIterator<Item = Effect>>(iter: I) -> Self {
        iter.into_iter().fold(Self::EMPTY, Self::with)
    }
}
