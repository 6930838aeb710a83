//! The command `agentnative check`.

use super::check_args::CheckArgs;
use super::check_one::check;
use super::report_files::ensure_distinct_files;
use super::{check_all, watch};
use agentnative_contract::error::{Result, signal_exit_code};
use agentnative_core::run::RunnerOptions;
use agentnative_output::Output;
use std::path::PathBuf;

pub(super) fn run(args: &CheckArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    if args.fleet.all.is_some() {
        return check_all::run(args, output, runner);
    }
    let others = [&args.record, &args.write_baseline].into_iter().flatten().map(PathBuf::as_path);
    ensure_distinct_files(&args.report, others, output)?;
    if args.watch {
        return watch::run(args, output, runner);
    }
    let checked = check(args, output, runner, None)?;
    Ok(checked.signal.map_or(checked.code, signal_exit_code))
}
