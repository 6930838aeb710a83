//! The program `agentnative`.

use agentnative::run::{LAUNCH_ARGUMENT, launcher_main};
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == LAUNCH_ARGUMENT) {
        return launcher_main();
    }
    ExitCode::from(2)
}
