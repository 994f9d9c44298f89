//! The matchers: one test of one value each. The vocabulary is closed and every matcher says what it needs.

mod equal;
mod glob;
mod number;
mod operand;
mod path;
mod quantifier;
mod regular;
mod selector;
mod size;
mod test;
mod text;

pub(super) use equal::{Equal, OneOf};
pub(super) use glob::{Pattern, TextGlob, is_plain};
pub(super) use number::{Bound, Compare};
pub(super) use operand::{Operand, show_all};
pub(super) use path::{Ext, Globs, PathPattern, Under};
pub(super) use quantifier::Quantifier;
pub(super) use regular::Regular;
pub(super) use selector::{ToolNames, wildcard};
pub(super) use size::{Measure, Size};
pub(super) use test::{At, Test};
pub(super) use text::{TextOp, TextTest};
