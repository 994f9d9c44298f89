//! A decided call is not an authorised one.
fn skip(decided: toolctl::policy::Decided, terms: toolctl::execute::Terms<'_>) {
    let _ = toolctl::execute::run(decided, terms, None);
}
fn main() {}
