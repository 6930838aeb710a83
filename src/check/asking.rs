//! What is asked before a target is asked for formats: whether `--output` chooses one, where nobody says so.
//!
//! It is often the name of a file. So each call is first made with a value that no tool takes, in an empty folder:
//! it has to do there what it does otherwise, or to refuse the value by name, and to write nothing.

use super::runs::Make;
use crate::model::OutputFormat;
use crate::probe::{self, Probe, Promises, UNKNOWN_FORMAT};
use crate::run::{Bytes, End, Observation, RunKey};
use agentnative_contract::error::Result;

/// More of a stream is not looked through, in bytes.
const MOST: u64 = 1 << 20;

/// Asks the open ones among the declared probes; those whose answer is not harmless are asked for no format from
/// now on. Gives the runs.
pub(super) fn settle(
    declared: &mut [Probe],
    promises: &Promises,
    make: &mut Make<'_>,
) -> Result<Vec<Observation>> {
    let questions = probe::questions(declared, promises);
    let keys: Vec<RunKey> = questions.iter().map(|question| question.plain(OutputFormat::Text)).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let seen = make(&keys, &questions)?;
    let answer = |probe: &Probe| {
        let question = questions.iter().position(|question| question.of() == Some(&probe.name))?;
        seen.iter().find(|seen| seen.key == keys[question])
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
    Ok(seen)
}

/// Asks one probe; the run, if the answer is harmless.
pub(super) fn ask(probe: &Probe, promises: &Promises, make: &mut Make<'_>) -> Result<Option<Observation>> {
    let Some(question) = probe::questions(std::slice::from_ref(probe), promises).pop() else {
        return Ok(None);
    };
    let seen = make(&[question.plain(OutputFormat::Text)], &[question])?.pop();
    Ok(seen.filter(|seen| is_harmless(seen, probe)))
}

fn is_harmless(seen: &Observation, probe: &Probe) -> bool {
    let End::Exited(code) = seen.end else { return false };
    let names = |bytes: &Bytes| {
        let text = bytes.first(MOST);
        let text = String::from_utf8_lossy(&text);
        text.contains("-output") || text.contains(UNKNOWN_FORMAT)
    };
    let as_declared = probe.exit == Some(code);
    !seen.wrote && (as_declared || names(&seen.stderr.bytes) || names(&seen.stdout.bytes))
}
