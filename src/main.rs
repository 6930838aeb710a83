//! `agentnative`: parse, dispatch, map an error to an exit code.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

use signal_hook::consts::SIGXFSZ;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::Builder;

/// What the work needs, however little `ulimit -s` leaves the first thread.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    // A limit on the size of files (`ulimit -f`) is an error that is reported, and not the end of this process.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop).unwrap_or_default();
    let work = || {
        let args: Vec<_> = std::env::args_os().collect();
        agentnative::cli::main(&args)
    };
    let code = match Builder::new().name("main".to_owned()).stack_size(STACK).spawn(work) {
        // A panic was told by its own thread.
        Ok(thread) => thread.join().unwrap_or(101),
        // Where there is no other thread there is this one.
        Err(_) => work(),
    };
    ExitCode::from(code)
}
