//! The command line.
use std::process::ExitCode;
/// Runs the program.
pub fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == crate::sandbox::INIT_ARGUMENT) {
        return crate::sandbox::init_main(args);
    }
    ExitCode::SUCCESS
}
