//! The built-in tools: toolctl itself, re-executed inside the sandbox as `__builtin NAME`.
//!
//! Canonical JSON arguments come on stdin, the result goes to stdout and messages for people to stderr. The sandbox
//! around the process is what holds; the code here still never opens anything but the path that was decided.

mod delete_file;
mod edit_file;
mod entry;
mod error;
mod file_info;
mod find;
mod find_files;
mod io;
mod list_dir;
mod move_file;
mod names;
mod paging;
mod place;
mod read_file;
mod read_lines;
mod root;
mod run_command;
mod search_sink;
mod search_text;
mod tree;
mod walk;
mod write_file;

#[cfg(test)]
mod tests;

pub use entry::{main, run};
pub use io::BuiltinExit;
