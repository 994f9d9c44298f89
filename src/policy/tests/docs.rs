//! The examples of the user guide are policies that load, and whose own examples hold.

use super::{Code, load};
use crate::policy::{Action, Role, Strength, builtin_text, check_examples};

const GUIDE: &str = include_str!("../../../docs/policies.md");

/// The fenced blocks with this info string.
fn blocks(info: &str) -> Vec<&'static str> {
    let fence = format!("```{info}\n");
    let parts = GUIDE.split(&fence).skip(1);
    parts.filter_map(|part| part.split_once("\n```").map(|(block, _)| block)).collect()
}

#[test]
fn every_policy_of_the_guide_loads_and_its_examples_hold() {
    let blocks = blocks("yaml");
    assert!(blocks.len() >= 3, "the guide has its examples");
    for block in blocks {
        let file = load(block).unwrap_or_else(|faults| panic!("{faults:#?}\n{block}"));
        let failed = check_examples(&file);
        assert!(failed.is_empty(), "{failed:#?}\n{block}");
    }
}

#[test]
fn every_single_rule_of_the_guide_loads() {
    let blocks = blocks("yaml rule");
    assert!(blocks.len() >= 4, "the guide has its rules");
    for block in blocks {
        let text = super::host(block);
        assert!(load(&text).is_ok(), "{:#?}\n{text}", load(&text).err());
    }
}

#[test]
fn the_guide_names_every_word_of_the_language() {
    let operators = "eq in not_in gt ge lt le exists minBytes maxBytes minItems maxItems each some prefix suffix \
                     contains glob regex under path ext case ref any all not unless match notMatch mask limits \
                     remember strength from always mode trustHints vars reasonDefault";
    let own = [
        Action::CHOICES.map(|(name, _)| name),
        Role::CHOICES.map(|(name, _)| name),
        Strength::CHOICES.map(|(name, _)| name),
    ]
    .concat();
    for word in operators.split_whitespace().chain(own) {
        let known = GUIDE.contains(&format!("`{word}"))
            || GUIDE.contains(&format!("{word}:"))
            || GUIDE.contains(&format!("role: {word}"));
        assert!(known, "{word}");
    }
    for line in builtin_text().lines().filter_map(|line| line.trim().strip_prefix("- id: ")) {
        assert!(GUIDE.contains(line), "the guide says what `{line}` of the built-in policy does");
    }
}

#[test]
fn every_page_of_a_code_has_an_example_that_triggers_it() {
    let codes = Code::ALL.iter().filter(|code| code.as_str().starts_with("policy/"));
    let mut tried = 0;
    for code in codes {
        let page = code.page();
        assert!(page.starts_with(&format!("# {}\n", code.as_str())), "{}", code.as_str());
        assert!(page.lines().count() >= 10, "{} has a page", code.as_str());
        for block in page.split("```yaml wrong\n").skip(1).filter_map(|part| part.split_once("\n```")) {
            let faults = load(block.0).err().unwrap_or_default();
            assert!(faults.iter().any(|fault| fault.code == *code), "{}: {faults:#?}", code.as_str());
            tried += 1;
        }
        for block in page.split("```yaml right\n").skip(1).filter_map(|part| part.split_once("\n```")) {
            assert!(load(block.0).is_ok(), "{}: {:#?}", code.as_str(), load(block.0).err());
        }
    }
    assert!(tried >= 9, "pages show what is wrong");
}
