//! What the types forbid: each file of `tests/types/fail` has to fail to compile, with the error beside it. The twin of
//! them all is below: the same steps in the right order do compile.

use toolctl::call::{Call, CallEnv, validate};
use toolctl::execute::{self, Terms};
use toolctl::gate::{Approval, AuthorizedCall, authorize};
use toolctl::policy::{self, Decided, FactEnv, PolicySet, ToolFacts};
use toolctl::sandbox::{Plan, Stdin};

/// What surrounds one call.
struct Given<'a> {
    schema: &'a toolctl::schema::Schema,
    env: CallEnv<'a>,
    tool: std::sync::Arc<ToolFacts>,
    facts: FactEnv<'a>,
    policies: &'a PolicySet,
    ctx: &'a toolctl::model::Context,
    sandbox: fn(&Decided) -> Plan,
}

/// The right order, written as a function: it is enough that it compiles.
fn in_the_right_order(
    call: Call,
    given: Given<'_>,
    approval: Option<Approval>,
    terms: Terms<'_>,
) -> Option<execute::Outcome> {
    let Given { schema, env, tool, facts, policies, ctx, sandbox } = given;
    let valid = validate(call, schema, &env).ok()?;
    let facts = policy::facts(valid, tool, &facts);
    let decided = policy::decide(policy::classify(facts, policies, ctx), policies, ctx);
    let plan = sandbox(&decided);
    let digest = toolctl::gate::approval_digest(&decided, &plan, "", &policies.digest());
    let authorized: AuthorizedCall = authorize(decided, plan, Stdin::Null, approval, &digest).ok()?;
    let (_, outcome) = execute::run(authorized, terms).ok()?;
    let shown = toolctl::text::Untrusted::new("text").escape().to_string();
    (shown == "text").then_some(outcome)
}

#[test]
fn the_types_forbid_what_they_should() {
    // Named, so that the twin counts as used.
    let _ = in_the_right_order;
    trybuild::TestCases::new().compile_fail("tests/types/fail/*.rs");
}
