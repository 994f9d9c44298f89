//! Compile-fail tests: what the types forbid. Each has a passing twin, so that it fails for the right reason.

#[test]
fn types_forbid() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/types/pass/*.rs");
    cases.compile_fail("tests/types/fail/*.rs");
}
