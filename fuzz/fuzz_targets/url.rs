//! Canonical URLs: never panics, and a canonical form is its own.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolctl::canon::canonical_url;

fuzz_target!(|text: &str| {
    let Ok(url) = canonical_url(text) else { return };
    let again = canonical_url(url.text()).expect("a canonical URL is one");
    assert_eq!(again.text(), url.text());
    assert_eq!(again.host(), url.host());
});
