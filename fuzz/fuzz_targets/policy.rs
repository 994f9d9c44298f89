//! The policy decoder: never panics, and either decodes or says why.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolctl::source::{Decoder, Files, parse_yaml};

fuzz_target!(|text: &str| {
    let mut files = Files::new();
    let id = files.add("fuzz.yaml", text);
    let Ok(node) = parse_yaml(&files, id) else { return };
    let mut decoder = Decoder::new();
    let file = toolctl::policy::decode(&mut decoder, &node);
    assert!(file.is_some() || decoder.has_errors());
});
