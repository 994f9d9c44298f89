//! Reading files strictly: registered sources, a tree of values with spans, and decoders that collect every error.

mod decode;
mod files;
mod json;
mod load;
mod node;
mod outline;
mod owner;
mod yaml;

pub use decode::{Decoder, MapReader, parse_duration_ms};
pub use files::{Files, Location};
pub use json::{
    JsonError, JsonErrorKind, JsonLimits, parse_arguments, parse_json, parse_outline, parse_value,
};
pub use load::{MAX_FILE_BYTES, Read, Source, read_outline, read_source, read_source_with};
pub use node::{Entry, Node, NodeKind};
pub use outline::{Outline, Part};
pub use owner::check_owner;
pub use yaml::{AliasBudget, parse_yaml, parse_yaml_with};
