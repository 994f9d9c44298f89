//! JSON Pointers (RFC 6901): written while walking a value.

/// A key as a reference token: `~` becomes `~0`, `/` becomes `~1`.
pub fn escape_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The pointer of a member of the value that `parent` points to.
pub fn push_token(parent: &str, key: &str) -> String {
    format!("{parent}/{}", escape_token(key))
}
