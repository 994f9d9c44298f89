//! What the types forbid: each file of `tests/types/fail` has to fail to compile, with the error beside it. The twin of
//! them all is below: the same steps in the right order do compile.

use toolctl::call::{Call, CallEnv, validate};
use toolctl::execute::{self, Terms};
use toolctl::gate::{Approval, AuthorizedCall, authorize};
use toolctl::policy::{self, Decided, PolicySet, ToolFacts};
use toolctl::sandbox::{Plan, Stdin};

/// The right order, written as a function: it is enough that it compiles.
fn in_the_right_order<F: FnOnce(&Decided) -> Plan>(
    call: Call,
    schema: &toolctl::schema::Schema,
    env: &CallEnv<'_>,
    tool: std::sync::Arc<ToolFacts>,
    facts: &policy::FactEnv<'_>,
    policies: &PolicySet,
    ctx: &toolctl::model::Context,
    sandbox: F,
    approval: Option<Approval>,
    terms: Terms<'_>,
) -> Option<execute::Outcome> {
    let valid = validate(call, schema, env).ok()?;
    let decided =
        policy::decide(policy::classify(policy::facts(valid, tool, facts), policies, ctx), policies, ctx);
    let plan = sandbox(&decided);
    let digest = toolctl::gate::approval_digest(&decided, &plan, "", &policies.digest());
    let authorized: AuthorizedCall = authorize(decided, plan, Stdin::Null, approval, &digest).ok()?;
    let (_, outcome) = execute::run(authorized, terms, None).ok()?;
    let shown = toolctl::text::Untrusted::new("text").escape().to_string();
    (shown == "text").then_some(outcome)
}

#[test]
fn the_types_forbid_what_they_should() {
    // Named, so that the twin counts as used.
    type Twin<'a> = fn(
        Call,
        &'a toolctl::schema::Schema,
        &'a CallEnv<'a>,
        std::sync::Arc<ToolFacts>,
        &'a policy::FactEnv<'a>,
        &'a PolicySet,
        &'a toolctl::model::Context,
        fn(&Decided) -> Plan,
        Option<Approval>,
        Terms<'a>,
    ) -> Option<execute::Outcome>;
    let _: Twin<'_> = in_the_right_order::<fn(&Decided) -> Plan>;
    trybuild::TestCases::new().compile_fail("tests/types/fail/*.rs");
}
