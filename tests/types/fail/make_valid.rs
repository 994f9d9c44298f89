//! A validated call comes from validation alone.
fn main() {
    let _ = toolctl::call::ValidatedCall {
        tool_call_id: String::new(),
        tool_name: String::new(),
        args: Default::default(),
        canonical: String::new(),
        digest: String::new(),
        defaults: Vec::new(),
        originals: Default::default(),
    };
}
