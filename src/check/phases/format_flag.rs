//! Whether `--output` chooses a format, where neither the configuration nor the help says so.
//!
//! It is often the name of a file. So each call is first made with a value that no tool takes, in an empty folder:
//! it has to do there what it does otherwise, or to refuse the value by name, and to write nothing.

use super::runs_so_far::{RunsSoFar, Step, ended_as_declared, join};
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{self, Probe, TargetProfile, UNKNOWN_FORMAT};
use agentnative_core::run::{Bytes, End, Observation};
use std::ops::ControlFlow;

/// The part of a stream that is searched, in bytes.
const MAX_SEARCHED: u64 = 1 << 20;

/// The declared probes, without the formats of those for which `--output` may not be a format.
pub(super) fn verified(
    mut declared: Vec<Probe>,
    profile: &TargetProfile,
    so_far: &RunsSoFar,
) -> Step<Vec<Probe>> {
    let questions = probe::questions(&declared, profile);
    let runs = join(questions.iter().map(|question| so_far.plain(question, OutputFormat::Text)))?;
    let answer = |probe: &Probe| {
        let question = questions.iter().position(|question| question.of() == Some(&probe.name))?;
        runs[question]
    };
    let harmless = |probe: &Probe| answer(probe).is_some_and(|seen| is_harmless(seen, probe));
    // A call that fails anyway shows less: it is enough where another has shown it.
    let shown = declared.iter().any(|probe| probe.gives_data() && harmless(probe));
    let fails = |probe: &Probe| {
        let failed = |seen: &Observation| !seen.wrote && matches!(seen.end, End::Exited(code) if code != 0);
        shown && !probe.gives_data() && answer(probe).is_some_and(failed)
    };
    let closed = |probe: &&mut Probe| {
        let asked = questions.iter().any(|question| question.of() == Some(&probe.name));
        asked && !harmless(probe) && !fails(probe)
    };
    for probe in declared.iter_mut().filter(closed) {
        probe.asks_format = false;
        probe.formats = vec![OutputFormat::Text];
    }
    ControlFlow::Continue(declared)
}

/// Whether a call with an unknown format shows that `--output` names no file.
pub(super) fn is_harmless(seen: &Observation, probe: &Probe) -> bool {
    if !matches!(seen.end, End::Exited(_)) {
        return false;
    }
    let names = |bytes: &Bytes| {
        let text = bytes.first(MAX_SEARCHED);
        let text = String::from_utf8_lossy(&text);
        text.contains("-output") || text.contains(UNKNOWN_FORMAT)
    };
    !seen.wrote && (ended_as_declared(probe, seen) || names(&seen.stderr.bytes) || names(&seen.stdout.bytes))
}
