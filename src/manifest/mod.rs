//! Tool manifests: the model, the decoder, argv templates and the embedded built-in tools.

mod tool;

pub use tool::{
    ArgvElement, Exec, OutputKind, RequiresApproval, Retry, StdinSource, Template, TemplatePart, Tool,
};
