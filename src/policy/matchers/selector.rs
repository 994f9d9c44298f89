//! Tool names: by name, in a list, or by a pattern with `*` over the tools that there are.

use super::show_all;
use crate::policy::truth::Truth;
use crate::text::Span;

/// Names and patterns of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct ToolNames {
    pub(in crate::policy) names: Vec<String>,
    /// The place of each.
    pub(in crate::policy) spans: Vec<Span>,
    /// `not_in`.
    pub(in crate::policy) negated: bool,
}

impl ToolNames {
    /// Whether a tool of this name is selected.
    pub(in crate::policy) fn selects(&self, tool: &str) -> bool {
        self.names.iter().any(|name| wildcard(name, tool)) != self.negated
    }

    pub(super) fn eval(&self, tool: Option<&str>) -> Truth {
        tool.map_or_else(
            || Truth::Unknown("the tool is not given".to_owned()),
            |tool| Truth::from(self.selects(tool)),
        )
    }

    pub(super) fn text(&self) -> String {
        let word = if self.negated { "not_in" } else { "in" };
        format!("{word} {}", show_all(self.names.iter().map(String::as_str)))
    }
}

/// Whether `text` is `pattern`, in which `*` stands for any characters.
pub(in crate::policy) fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        // The part before this one may stand at its first place: later ones only leave less.
        if let Some(part) = last.replace(part) {
            let Some((_, after)) = rest.split_once(part) else { return false };
            rest = after;
        }
    }
    last.map_or_else(|| rest.is_empty(), |last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, expected) in [
            ("*", "x", true),
            ("git_*", "git_log", true),
            ("git_*", "git", false),
            ("*_log", "git_log", true),
            ("a*b*c", "abxbc", true),
            ("a*b*c", "ac", false),
            ("ab*bc", "abc", false),
            ("git", "git", true),
            ("git", "gitx", false),
            ("a**b", "ab", true),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} {text}");
        }
    }
}
