//! The program `agentnative`: runs the command line and returns its exit code.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

use signal_hook::consts::SIGXFSZ;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::Builder;

/// Stack size of the thread that does the work, in bytes; `ulimit -s` may leave the main thread too little.
const STACK_SIZE: usize = 8 << 20;

fn main() -> ExitCode {
    // Exceeding a file size limit (`ulimit -f`) then returns an error instead of killing this process.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop).unwrap_or_default();
    let work = || {
        let args: Vec<_> = std::env::args_os().collect();
        agentnative::cli::main(&args)
    };
    let code = match Builder::new().name("main".to_owned()).stack_size(STACK_SIZE).spawn(work) {
        // The panic hook of the thread has already printed the message.
        Ok(thread) => thread.join().unwrap_or(101),
        // If no thread can be started, use this one.
        Err(_) => work(),
    };
    ExitCode::from(code)
}
