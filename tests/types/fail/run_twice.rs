//! An authorisation is used up by one execution.
fn twice(call: toolctl::gate::AuthorizedCall, terms: toolctl::execute::Terms<'_>) {
    let _ = toolctl::execute::run(call, terms, None);
    let _ = toolctl::execute::run(call, terms, None);
}
fn main() {}
