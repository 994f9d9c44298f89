//! The strict JSON reader: never panics, and what it accepts has a stable canonical form.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolctl::canon::canonical_json;
use toolctl::source::{JsonLimits, parse_value};

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = parse_value(bytes, JsonLimits::default()) else { return };
    let canonical = canonical_json(&value).expect("an accepted value has a canonical form");
    let again = parse_value(canonical.as_bytes(), JsonLimits::default()).expect("the canonical form is JSON");
    assert_eq!(canonical, canonical_json(&again).expect("and has a canonical form"));
});
