//! Neither can an approval.
fn forge() -> toolctl::gate::Approval {
    toolctl::gate::Approval {
        digest: String::new(),
        request_id: String::new(),
        decided_by: String::new(),
        strength: toolctl::policy::Strength::Presence,
    }
}
fn main() {}
