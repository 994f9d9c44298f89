//! Tool manifests: the model, the decoder, argv templates and the embedded built-in tools.

mod builtin;
mod command;
mod decode;
mod fill;
mod interpreter;
mod lint;
mod program;
mod properties;
mod schema_check;
mod template;
#[cfg(test)]
mod testing;
mod tool;

pub use builtin::{BUILTIN_NAMES, BuiltinReach, builtin_effects, builtin_reach, builtin_source};
pub use decode::{Origin, decode, decode_compiled, is_tool_name};
pub use fill::{FillEnv, FillError, fill, fill_command, fill_paths};
pub use interpreter::is_interpreter;
pub use lint::{lint, unsupported};
pub use program::{DEFAULT_PATH, ProgramError, resolve_program};
pub use template::{CTX_FIELDS, TemplateError};
pub use tool::{
    ArgvElement, Exec, OutputKind, RequiresApproval, Retry, StdinSource, Template, TemplatePart, Tool,
};
