//! An authorisation is used up by one execution.
fn twice(
    call: toolctl::gate::AuthorizedCall,
    first: toolctl::execute::Terms<'_>,
    second: toolctl::execute::Terms<'_>,
) {
    let _ = toolctl::execute::run(call, first);
    let _ = toolctl::execute::run(call, second);
}
fn main() {}
