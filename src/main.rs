//! The `toolctl` binary: everything lives in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolctl::cli::main()
}
