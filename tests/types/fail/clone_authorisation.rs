//! An authorisation has no copy.
fn copy(call: &toolctl::gate::AuthorizedCall) -> toolctl::gate::AuthorizedCall {
    Clone::clone(call)
}
fn main() {}
