//! Checks a command from Rust code: `cargo run --example check_a_command -- COMMAND [ARGS]...`
//!
//! The program `agentnative` is not needed: the library carries what runs the command.

use agentnative::check::{Selection, Session, SessionOptions, TargetSelector};
use agentnative::config::ProbeConfig;
use agentnative::model::Status;
use agentnative_contract::error::Result;
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

fn run() -> Result<ExitCode> {
    let command: Vec<_> = std::env::args_os().skip(1).collect();
    let options = SessionOptions {
        // Ways to call the command that change nothing, each after the exit code that it should end with.
        probes: vec![ProbeConfig::from_flag("--version")?, ProbeConfig::from_flag("2:--no-such-flag")?],
        ..SessionOptions::default()
    };
    let session = Session::new(TargetSelector::command(command), options);
    let report = session.check(&Selection::default().resolve()?)?;
    for result in report.results.iter().filter(|result| result.status == Status::Fail) {
        println!("{}: {}", result.id, result.message);
    }
    println!("conformant: {}, verified: {}", report.conformant, report.verified);
    Ok(report.exit_code(false).into())
}
