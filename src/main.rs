//! `agentnative`: parse, dispatch, map an error to an exit code.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

use agentnative::run::{LAUNCH_ARGUMENT, launcher_main};
use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = env::args_os().collect();
    if args.get(1).is_some_and(|argument| argument == LAUNCH_ARGUMENT) {
        return launcher_main();
    }
    // The program itself, also when its file is replaced or removed meanwhile.
    ExitCode::from(agentnative::cli::main(&args, Path::new("/proc/self/exe")))
}
