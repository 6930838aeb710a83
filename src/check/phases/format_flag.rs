//! Verifies that `--output` selects a format, if neither the configuration nor the help says so.
//!
//! In many tools `--output` names a file. So each probe is first called with an unknown format value, in an empty
//! folder. The call must either work as usual or reject the value by name, and it must not write files.

use super::runs_so_far::{PhaseResult, RunsSoFar, ended_as_declared, join_all};
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{self, Probe, TargetProfile, UNKNOWN_FORMAT};
use agentnative_core::run::{Bytes, Observation, RunEnd};
use std::ops::ControlFlow;

/// Number of bytes at the start of a stream that are searched for the flag or its value.
const MAX_SEARCHED: u64 = 1 << 20;

/// Returns the declared probes. If the trial call of a probe does not show that `--output` selects a format, only the
/// format `text` remains in the probe.
pub(super) fn verify(
    mut declared: Vec<Probe>,
    profile: &TargetProfile,
    so_far: &RunsSoFar,
) -> PhaseResult<Vec<Probe>> {
    let questions = probe::format_flag_calls(&declared, profile);
    let runs = join_all(questions.iter().map(|question| so_far.plain_run(question, OutputFormat::Text)))?;
    let answer = |probe: &Probe| {
        let question = questions.iter().position(|question| question.source() == Some(&probe.name))?;
        runs[question]
    };
    let harmless = |probe: &Probe| answer(probe).is_some_and(|seen| is_harmless(seen, probe));
    // A call that fails in any case gives less evidence: it is enough if another probe has shown it.
    let is_shown = declared.iter().any(|probe| probe.prints_data() && harmless(probe));
    let fails = |probe: &Probe| {
        let failed =
            |seen: &Observation| !seen.wrote && matches!(seen.end, RunEnd::Exited(code) if code != 0);
        is_shown && !probe.prints_data() && answer(probe).is_some_and(failed)
    };
    let is_unverified = |probe: &&mut Probe| {
        let was_called = questions.iter().any(|question| question.source() == Some(&probe.name));
        was_called && !harmless(probe) && !fails(probe)
    };
    for probe in declared.iter_mut().filter(is_unverified) {
        probe.asks_format = false;
        probe.formats = vec![OutputFormat::Text];
    }
    ControlFlow::Continue(declared)
}

/// Returns whether `seen`, a run with an unknown format value, shows that `--output` does not name a file: it wrote no
/// files, and it either exited as declared or mentioned the option or the value.
pub(super) fn is_harmless(seen: &Observation, probe: &Probe) -> bool {
    if !matches!(seen.end, RunEnd::Exited(_)) {
        return false;
    }
    let mentions_format = |bytes: &Bytes| {
        let text = bytes.first(MAX_SEARCHED);
        let text = String::from_utf8_lossy(&text);
        text.contains("-output") || text.contains(UNKNOWN_FORMAT)
    };
    !seen.wrote
        && (ended_as_declared(probe, seen)
            || mentions_format(&seen.stderr.bytes)
            || mentions_format(&seen.stdout.bytes))
}
