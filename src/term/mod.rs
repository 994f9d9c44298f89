//! The only module that prints: standard output and error, the terminal of the approval prompt, tables, diagnostics.
//!
//! No function here takes a plain string from outside: text is `'static`, [`crate::text::Escaped`], or a [`Text`] made
//! of such parts. What a tool wrote goes out through [`Ui::tool_output`] alone.

mod color;
mod output;
mod quote;
pub mod render;
mod report;
mod table;
mod text;
mod tty;
mod ui;

pub use color::ColorChoice;
pub use output::escape_output;
pub use quote::quote_argv;
pub use report::{write_json_report, write_text_report};
pub use table::Table;
pub use text::Text;
pub use tty::{Answer, NoTty, Tty};
pub use ui::{Captured, Format, OutputError, Ui, UiOptions, print_version};
