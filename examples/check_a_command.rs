//! Checks a command from Rust code: `cargo run --example check_a_command -- COMMAND [ARGS]...`
//!
//! The program `agentnative` is not needed: the library contains the helper that runs the command.

use agentnative::{Check, Error, Status};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            error.kind.exit_code().into()
        }
    }
}

fn run() -> Result<ExitCode, Error> {
    let mut command = std::env::args_os().skip(1);
    // Calls that change nothing, with the expected exit code before a colon if it is not 0.
    let check = Check::command(command.next().unwrap_or_default()).args(command);
    let report = check.probe("--version").probe("2:--no-such-flag").run()?;
    for result in report.results.iter().filter(|result| result.status == Status::Fail) {
        println!("{}: {}", result.id, result.message);
    }
    println!("conformant: {}, verified: {}", report.conformant, report.verified);
    Ok(report.exit_code(false).into())
}
