//! A line for people, made of parts that are safe to print.

use crate::text::Escaped;
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;

/// Text in styled parts. A part is written in the source of this program or escaped; nothing else can get in.
///
/// ```
/// use toolctl::term::Text;
/// use toolctl::text::Untrusted;
///
/// let name = Untrusted::new("pay\u{202e}");
/// let line = Text::new().plain("tool ").code(&name.escape()).plain(" has ").number(2).plain(" rules");
/// assert_eq!(line.to_plain(), "tool `pay\\u{202e}` has 2 rules");
/// ```
///
/// ```compile_fail
/// let read = String::from("from outside");
/// toolctl::term::Text::new().plain(&read);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    parts: Vec<(Style, String)>,
}

impl Text {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    fn part(mut self, style: Style, text: impl Into<String>) -> Self {
        self.parts.push((style, text.into()));
        self
    }

    /// Text of this program.
    #[must_use]
    pub fn plain(self, text: &'static str) -> Self {
        self.part(Style::new(), text)
    }

    /// Text of this program that stands out.
    #[must_use]
    pub fn strong(self, text: &'static str) -> Self {
        self.part(Style::new().bold(), text)
    }

    /// Text of this program that stands back.
    #[must_use]
    pub fn dim(self, text: &'static str) -> Self {
        self.part(Style::new().dimmed(), text)
    }

    /// Text of this program that says all is well.
    #[must_use]
    pub fn good(self, text: &'static str) -> Self {
        self.part(AnsiColor::Green.on_default().bold(), text)
    }

    /// Text of this program that warns.
    #[must_use]
    pub fn warning(self, text: &'static str) -> Self {
        self.part(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// Text of this program that says something is wrong.
    #[must_use]
    pub fn bad(self, text: &'static str) -> Self {
        self.part(AnsiColor::Red.on_default().bold(), text)
    }

    /// Text from outside, escaped.
    #[must_use]
    pub fn escaped(self, text: &Escaped) -> Self {
        self.part(Style::new(), text.as_str())
    }

    /// Text from outside, escaped, that stands out.
    #[must_use]
    pub fn strong_escaped(self, text: &Escaped) -> Self {
        self.part(Style::new().bold(), text.as_str())
    }

    /// A name or a piece of code, escaped, between backticks.
    #[must_use]
    pub fn code(self, text: &Escaped) -> Self {
        self.part(Style::new(), "`").part(Style::new().bold(), text.as_str()).part(Style::new(), "`")
    }

    /// A number.
    #[must_use]
    pub fn number(self, number: impl TryInto<u128>) -> Self {
        let text = number.try_into().map_or_else(|_| "?".to_owned(), |number| number.to_string());
        self.part(Style::new(), text)
    }

    /// Another text behind this one.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// The characters alone.
    pub fn to_plain(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The characters, with colours if `color`.
    pub(super) fn render(&self, color: bool) -> String {
        if !color {
            return self.to_plain();
        }
        self.parts.iter().fold(String::new(), |mut out, (style, text)| {
            let _ = write!(out, "{style}{text}{style:#}");
            out
        })
    }
}

impl From<&Escaped> for Text {
    fn from(text: &Escaped) -> Self {
        Self::new().escaped(text)
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Self::new().plain(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Text;
    use crate::text::escape;

    #[test]
    fn colours_wrap_parts_and_change_no_character() {
        let text = Text::new().bad("no").plain(": ").code(&escape("a\u{200b}b")).number(3_u8);
        assert_eq!(text.render(false), "no: `a\\u{200b}b`3");
        assert_eq!(text.render(true), "\u{1b}[1m\u{1b}[31mno\u{1b}[0m: `\u{1b}[1ma\\u{200b}b\u{1b}[0m`3");
        assert_eq!(Text::new().number(-1_i32).to_plain(), "?");
    }
}
