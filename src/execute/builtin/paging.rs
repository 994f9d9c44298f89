//! Long lists in parts: where a former part ended, the next begins.
//!
//! Lists are in the order in which a tree is gone through: a folder, then what is in it, names by their bytes. So a path
//! marks a place in the list even if it is no longer there.

use super::names::quote;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The path behind which a part begins.
#[derive(Debug)]
pub(super) struct Start(Vec<u8>);

/// Where a path stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It was in a former part, and all that is below it.
    Before,
    /// It was in a former part, but perhaps not all that is below it.
    OnTheWay,
    /// It belongs to this part or a later one.
    Behind,
}

impl Start {
    /// Behind this path, as a list shows it.
    pub(super) fn new(path: &str) -> Self {
        let path = path.strip_prefix("./").unwrap_or(path);
        Self(path.trim_end_matches('/').as_bytes().to_vec())
    }

    /// Where a path stands.
    pub(super) fn place(&self, path: &[u8]) -> Place {
        let (mut ours, mut theirs) = (self.0.split(|byte| *byte == b'/'), path.split(|byte| *byte == b'/'));
        loop {
            match (ours.next(), theirs.next()) {
                (Some(a), Some(b)) => match b.cmp(a) {
                    Ordering::Less => return Place::Before,
                    Ordering::Equal => {}
                    Ordering::Greater => return Place::Behind,
                },
                (None, Some(_)) => return Place::Behind,
                (_, None) => return Place::OnTheWay,
            }
        }
    }
}

/// How to ask for the next part, for a note; nothing if the last path cannot be an argument as it is shown.
pub(super) fn go_on(last: &[u8]) -> String {
    match quote(last) {
        Cow::Borrowed(path) if !path.is_empty() => format!("for the next part pass after={path}, "),
        Cow::Borrowed(_) | Cow::Owned(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Start};

    #[test]
    fn places_are_in_the_order_of_the_walk() {
        let start = Start::new("./a/m/");
        for (path, place) in [
            ("a", Place::OnTheWay),
            ("a/m", Place::OnTheWay),
            ("a/m/x", Place::Behind),
            ("a/l", Place::Before),
            ("a/l/x", Place::Before),
            ("a/ma", Place::Behind),
            ("a.b", Place::Behind),
            ("A", Place::Before),
            ("b", Place::Behind),
        ] {
            assert_eq!(start.place(path.as_bytes()), place, "{path}");
        }
    }
}
