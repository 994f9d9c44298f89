//! Argument schemas: compiled, checked, explained. The only user of the jsonschema crate.
//!
//! A schema is refused, with the place of every fault, unless all of it is understood and local. What the schema says
//! beyond validity (defaults, paths, URIs, secrets, the type of a flag) is read here too, so that no other module
//! interprets JSON Schema.

mod annotate;
mod compile;
mod defaults;
mod dialect;
mod explain;
mod graph;
mod issue;
mod keywords;
mod lint;
mod options;
mod reference;
mod shape;
mod show;
mod words;

pub use annotate::{Declared, Located};
pub use compile::{Schema, SchemaFault, SchemaWarning};
pub use dialect::Dialect;
pub use issue::Issue;
pub use options::SchemaOptions;
pub use shape::Primitive;

#[cfg(test)]
mod tests;
