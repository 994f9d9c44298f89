//! An authorisation cannot be read from a file.
fn read(text: &str) -> toolctl::gate::AuthorizedCall {
    serde_json::from_str(text).unwrap()
}
fn main() {}
