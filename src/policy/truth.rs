//! Truth with doubt: a condition is true, false, unknown or in error (strong Kleene logic).
//!
//! The order of the parts never matters: false wins in a conjunction, then error, then unknown; true wins in a
//! disjunction, then error, then unknown.

/// What a condition says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// A value that it needs is not there. The text says which.
    Unknown(String),
    /// It cannot be evaluated. The text says why; it is escaped.
    Error(String),
}

impl Truth {
    /// `true`, `false`, `unknown` or `error`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Unknown(_) => "unknown",
            Self::Error(_) => "error",
        }
    }

    /// Why it is unknown or in error.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::True | Self::False => None,
            Self::Unknown(why) | Self::Error(why) => Some(why),
        }
    }

    /// The conjunction of two values.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::Error(why), _) | (_, Self::Error(why)) => Self::Error(why),
            (Self::Unknown(why), _) | (_, Self::Unknown(why)) => Self::Unknown(why),
            (Self::True, Self::True) => Self::True,
        }
    }

    /// The disjunction of two values.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::True, _) | (_, Self::True) => Self::True,
            (Self::Error(why), _) | (_, Self::Error(why)) => Self::Error(why),
            (Self::Unknown(why), _) | (_, Self::Unknown(why)) => Self::Unknown(why),
            (Self::False, Self::False) => Self::False,
        }
    }

    /// The opposite; doubt stays doubt.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown(_) | Self::Error(_) => self,
        }
    }

    /// True if all of them say so, false if all of them say so, else unknown: one subject seen from several sides.
    pub(super) fn agree(values: impl IntoIterator<Item = bool>, why: &str) -> Self {
        let mut seen = None;
        for value in values {
            match seen {
                None => seen = Some(value),
                Some(other) if other != value => return Self::Unknown(why.to_owned()),
                Some(_) => {}
            }
        }
        seen.map_or_else(|| Self::Unknown(why.to_owned()), Self::from)
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth;

    fn values() -> [Truth; 4] {
        [Truth::True, Truth::False, Truth::Unknown("u".to_owned()), Truth::Error("e".to_owned())]
    }

    #[test]
    fn order_of_parts_means_nothing_and_de_morgan_holds() {
        for a in values() {
            for b in values() {
                assert_eq!(a.clone().and(b.clone()), b.clone().and(a.clone()));
                assert_eq!(a.clone().or(b.clone()), b.clone().or(a.clone()));
                let left = a.clone().and(b.clone()).negate();
                assert_eq!(left, a.clone().negate().or(b.negate()));
            }
        }
    }

    #[test]
    fn false_hides_an_error_and_nothing_else_does() {
        let error = || Truth::Error("e".to_owned());
        assert_eq!(error().and(Truth::False), Truth::False);
        assert_eq!(error().and(Truth::True), error());
        assert_eq!(error().and(Truth::Unknown(String::new())), error());
        assert_eq!(error().or(Truth::False), error());
        assert_eq!(error().or(Truth::True), Truth::True);
    }

    #[test]
    fn sides_that_differ_are_unknown() {
        assert_eq!(Truth::agree([true, true], "w"), Truth::True);
        assert_eq!(Truth::agree([false], "w"), Truth::False);
        assert_eq!(Truth::agree([true, false], "w"), Truth::Unknown("w".to_owned()));
    }
}
