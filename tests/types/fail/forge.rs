//! An authorisation cannot be put together by hand.
fn forge(decided: toolctl::policy::Decided, plan: toolctl::sandbox::Plan) -> toolctl::gate::AuthorizedCall {
    toolctl::gate::AuthorizedCall { decided, plan, stdin: toolctl::sandbox::Stdin::Null, approval: None }
}
fn main() {}
