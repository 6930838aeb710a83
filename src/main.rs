//! `agentnative`: parse, dispatch, map an error to an exit code.

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == agentnative::run::LAUNCH) {
        return agentnative::run::launch();
    }
    // The program itself, also when its file was replaced or removed meanwhile.
    let executable = std::path::Path::new("/proc/self/exe");
    let executable = executable.read_link().unwrap_or_else(|_| executable.to_owned());
    ExitCode::from(agentnative::cli::main(args, &executable))
}
