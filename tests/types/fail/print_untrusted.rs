//! Untrusted text cannot be printed raw.
fn main() {
    let text = toolctl::text::Untrusted::new("from a tool");
    println!("{text}");
}
