//! Reading files strictly: registered sources, a tree of values with spans, and decoders that collect every error.

mod decode;
mod files;
mod json;
mod node;
mod yaml;

pub use decode::{Decoder, MapReader, parse_duration_ms};
pub use files::{Files, Location};
pub use node::{Entry, Node, NodeKind};
