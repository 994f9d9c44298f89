//! How a schema is compiled where the answer has to be that of another validator.

use super::dialect::Dialect;

/// What is asked of a schema beside what it says itself. The default is how toolctl reads the schemas of tools, and the
/// program knows no other; comparing verdicts with a test suite or another validator needs the other settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaOptions {
    /// The draft of a schema without `$schema`.
    pub dialect: Dialect,
    /// `format` decides about validity. The specification leaves that open since 2019-09.
    pub assert_formats: bool,
    /// A default that breaks the schema it stands in is a fault, and not only a warning. The specification calls
    /// `default` an annotation, so it changes no verdict; but toolctl fills it in, and then the call is refused
    /// whatever the caller does.
    pub refuse_bad_defaults: bool,
}

impl SchemaOptions {
    /// Verdicts of the specification alone: formats do not decide, defaults are not judged.
    pub const VERDICTS: Self =
        Self { dialect: Dialect::Draft202012, assert_formats: false, refuse_bad_defaults: false };
}

impl Default for SchemaOptions {
    fn default() -> Self {
        Self { dialect: Dialect::Draft202012, assert_formats: true, refuse_bad_defaults: true }
    }
}
