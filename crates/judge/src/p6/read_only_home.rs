//! `p6-read-only-home`: a call that only reads does not need a writable home.

use crate::context::{CheckContext, RunView};
use crate::kit::{declare_success, difference};
use crate::traceback;
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::model::{Stream, Variant};

/// Judges `p6-read-only-home`: calls end as usual, or name the file, if the home is read-only.
pub fn read_only_home(context: &CheckContext) -> Judgement {
    let runs =
        context.probes.iter().copied().flat_map(|probe| context.runs_under(probe, Variant::ReadOnlyHome));
    Judgement::from_assertions(runs.map(|run| judge_run(&run)), declare_success(""))
}

/// The exit code for an error of the configuration or the environment.
const CONFIGURATION: i32 = 78;

fn judge_run(run: &RunView) -> Assertion {
    let plain = run.plain()?;
    let (code, expected) = (run.exited()?, plain.exited()?);
    let lines = || run.lines(Stream::Stderr).ok_or_else(|| run.too_long());
    if code == expected {
        if run.format().is_json() && plain.parsed().is_ok() {
            run.parsed()?;
            let differs = |other: &RunView| difference(&other.scan().shape, &plain.scan().shape);
            if let Some(difference) = differs(run) {
                let again = run.context.repeated_runs(run.probe, run.format())?;
                if again.iter().any(|again| differs(again).is_some()) {
                    return inconclusive(format!("the data of {} change from run to run", plain.label()));
                }
                let detail = format!("with a read-only home, the data differ: {difference}");
                return run.failed_at_pointer("data", &difference.pointer, detail);
            }
        }
        return Ok(());
    }
    if expected != 0 {
        return inconclusive(format!("{} fails with a writable home as well", run.label()));
    }
    let lines = lines()?;
    let is_allowed = [1, CONFIGURATION].contains(&code);
    let names_file = lines.iter().any(|line| line.contains('/'));
    if is_allowed && names_file && traceback::find(&lines).is_none() {
        return Ok(());
    }
    let what = if names_file { "" } else { " and names no file" };
    let detail = format!("exits with {code}{what} if the home is read-only, expected {expected}");
    run.failed_at_reason("fails", Stream::Stderr, detail)
}
