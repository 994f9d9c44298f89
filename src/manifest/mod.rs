//! Tool manifests: the model, the decoder, argv templates and the embedded built-in tools.

mod builtin;
mod tool;

pub use builtin::{BUILTIN_NAMES, builtin_effects, builtin_source};
pub use tool::{
    ArgvElement, Exec, OutputKind, RequiresApproval, Retry, StdinSource, Template, TemplatePart, Tool,
};
