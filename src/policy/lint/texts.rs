//! Strings: as texts, and as the paths that they mean.

use super::field::Field;
use super::language::{Language, exists};
use super::logic::Says;
use super::refute::{Said, lengths, membership};
use crate::policy::matchers::{Globs, Measure, Operand, Test, TextOp};

/// Whether some string satisfies everything that is said.
pub(super) fn possible(field: &Field, said: &[Said<'_>]) -> bool {
    let (low, high) = lengths(said, field.bytes, (Measure::MinBytes, Measure::MaxBytes));
    if low > high || same_regex_twice(said) {
        return false;
    }
    text_possible(field, said, (low, high)) && path_possible(said)
}

/// One expression that has to match and not to.
fn same_regex_twice(said: &[Said<'_>]) -> bool {
    said.iter().any(|(test, says)| {
        let Test::Regular(regular) = test else { return false };
        let contrary = |(other, says): &Said<'_>| {
            matches!(other, Test::Regular(other) if *says == Says::False && regular.is_same(other))
        };
        *says == Says::True && said.iter().any(contrary)
    })
}

/// The languages that a text has to be in, and those that it may not be in.
#[derive(Default)]
struct Sides {
    inside: Vec<Language>,
    outside: Vec<Language>,
}

impl Sides {
    fn add(&mut self, language: Language, says: Says) {
        match says {
            Says::True => self.inside.push(language),
            Says::False => self.outside.push(language),
            Says::Doubt => {}
        }
    }

    fn possible(&self, values: &Language) -> bool {
        if self.inside.is_empty() && self.outside.is_empty() {
            return true;
        }
        exists(values, &self.inside, &self.outside) != Some(false)
    }
}

fn text_possible(field: &Field, said: &[Said<'_>], (low, high): (u64, u64)) -> bool {
    let mut sides = Sides::default();
    let fits = |text: &str| {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        length >= low
            && length <= high
            && said.iter().all(|(test, says)| {
                let Test::Regular(regular) = test else { return true };
                regular.matches(text) == (*says == Says::True)
            })
    };
    if let Some(choices) = &field.choices {
        let mut language = Language::new(false);
        choices
            .iter()
            .filter_map(|v| v.as_str())
            .filter(|text| fits(text))
            .for_each(|t| language.add_text(t));
        sides.add(language, Says::True);
    }
    for one in said {
        if let Some((values, inside, fold)) = membership(*one) {
            let mut language = Language::new(fold);
            let texts = values.iter().filter_map(|value| value.as_str());
            // Without `case: fold` the text is known, so that it can be tried.
            texts.filter(|text| fold || !inside || fits(text)).for_each(|text| language.add_text(text));
            sides.add(language, if inside { Says::True } else { Says::False });
        } else if let Some(language) = of_text(one.0, one.1) {
            sides.add(language, one.1);
        }
    }
    sides.possible(&Language::all())
}

/// The texts of which a test holds; `None` if that is not known. Of a test that has to fail a part will do.
fn of_text(test: &Test, says: Says) -> Option<Language> {
    if let Test::Text(test) = test {
        let mut language = Language::new(test.fold);
        for part in &test.parts {
            match part {
                Operand::Literal(value) => {
                    let (before, behind) = (test.op != TextOp::Prefix, test.op != TextOp::Suffix);
                    language.add_part(value.as_str()?, before, behind);
                }
                Operand::Ref(_) if says == Says::True => return None,
                Operand::Ref(_) => {}
            }
        }
        return Some(language);
    }
    let Test::Glob(glob) = test else { return None };
    let mut language = Language::new(glob.fold);
    for pattern in &glob.patterns {
        if !language.add_glob(pattern.text()) && says == Says::True {
            return None;
        }
    }
    Some(language)
}

fn path_possible(said: &[Said<'_>]) -> bool {
    let mut sides = Sides::default();
    for (test, says) in said {
        if let Some(language) = of_path(test, *says) {
            sides.add(language, *says);
        }
    }
    sides.possible(&Language::paths())
}

/// The paths of which a test holds; as [`of_text`].
fn of_path(test: &Test, says: Says) -> Option<Language> {
    if let Test::Under(under) = test {
        let mut language = Language::new(under.fold);
        under.folders.iter().for_each(|folder| language.add_folder(&folder.text, folder.absolute));
        return (under.refs.is_empty() || says == Says::False).then_some(language);
    }
    if let Test::Ext(ext) = test {
        let mut language = Language::new(ext.fold);
        ext.extensions.iter().for_each(|extension| language.add_extension(extension));
        return Some(language);
    }
    let Test::Path(globs) = test else { return None };
    of_globs(globs, says)
}

fn of_globs(globs: &Globs, says: Says) -> Option<Language> {
    let mut language = Language::new(globs.fold);
    let relative = globs.relative.iter().map(|pattern| (pattern, false));
    for (pattern, absolute) in relative.chain(globs.absolute.iter().map(|pattern| (pattern, true))) {
        let itself = !absolute && pattern.matches(".") == Some(true);
        if !language.add_path_glob(pattern.text(), absolute, itself) && says == Says::True {
            return None;
        }
    }
    Some(language)
}
