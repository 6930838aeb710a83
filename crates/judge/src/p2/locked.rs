//! `p2-contract-locked`: compares output with the lock, a file that describes the last accepted output.

use crate::context::{CheckContext, RunView};
use crate::kit::find_invalid_stdout;
use crate::verdict::{Assertion, Judgement, Reason, inconclusive};
use agentnative_contract::{Contract, OutputSpec};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::Bytes;
use agentnative_diff::lock::{Lock, OutputInference};
use agentnative_diff::{Change, ChangeSeverity, compare};
use std::io::Read;
use strict_json::{Position, sanitize};

/// Maximum length of the target's version in a lock, in characters.
const MAX_VERSION: usize = 120;
/// Maximum length of a line of stderr that a message quotes, in characters.
const MAX_LINE: usize = 200;

/// Creates a lock from the runs of the declared probes: one output specification for each probe and format; and the
/// interface from the runs that printed help pages. If a run did not end as its probe expects, the specification contains
/// only this and the reason.
pub fn learn(context: &CheckContext, target: &str) -> Lock {
    let mut specs = Vec::new();
    for probe in context.sources() {
        for format in &probe.formats {
            let spec = learn_spec(context, probe, *format);
            specs.push(spec.unwrap_or_else(|reason| unlearnable_spec(context, probe, *format, reason)));
        }
    }
    Lock {
        interface: context.interface().and_then(|read| read.interface),
        ..Lock::new(target, version(context), specs)
    }
}

/// Returns the specification of an output that cannot be learnt. It contains the reason, the exit code and the last
/// line of stderr.
fn unlearnable_spec(
    context: &CheckContext,
    probe: &Probe,
    format: OutputFormat,
    reason: Reason,
) -> OutputSpec {
    let is_unusable = |run: &RunView| run.why_unusable().is_some();
    let run = learning_runs(context, probe, format).find(is_unusable);
    let code = run.as_ref().and_then(RunView::shell_code);
    let message = run.and_then(|run| run.lines(Stream::Stderr));
    let message = message.and_then(|lines| lines.into_iter().rfind(|line| !line.trim().is_empty()));
    let message = message.map_or_else(String::new, |line| {
        format!("; stderr: {}", sanitize::sanitize_capped(line.trim(), MAX_LINE))
    });
    OutputSpec::unknown(&probe.name, format, code, format!("{}{message}", reason.message))
}

/// Returns the runs from which the output specification of a probe in a format is learnt.
fn learning_runs<'a>(
    context: &'a CheckContext,
    probe: &'a Probe,
    format: OutputFormat,
) -> impl Iterator<Item = RunView<'a>> {
    context.runs_of(probe).filter(move |run| run.format() == format && run.expects_plain_stdout())
}

/// Judges `p2-contract-locked`: the output has no breaking change against the lock.
pub fn judge_against_lock(context: &CheckContext) -> Judgement {
    let Some(lock) = context.lock else {
        let words = "there is no lock next to the configuration: `agentnative contract lock` writes one";
        return Judgement::NotApplicable(words.into());
    };
    let assertions = lock.comparable().into_iter().flat_map(|old| compare_with_lock(context, lock, &old));
    Judgement::from_assertions(
        assertions,
        "the lock contains no output: accept the current output with `agentnative contract lock --update`",
    )
}

fn compare_with_lock(context: &CheckContext, lock: &Lock, old: &OutputSpec) -> Vec<Assertion> {
    let (Some(name), Some(format)) = (&old.probe, old.format) else { return Vec::new() };
    let locked = |probe: &&Probe| probe.name == *name && probe.formats.contains(&format);
    let Some(probe) = context.sources().find(locked) else {
        let words = "is locked but was not run: if it was removed on purpose, accept that with `agentnative contract lock --update`";
        return vec![inconclusive(format!("{name} · {} {words}", format.name()))];
    };
    let new = match learn_spec(context, probe, format) {
        Ok(new) => new,
        Err(reason) => return vec![inconclusive(reason)],
    };
    // Another check reports data that is no longer JSON.
    let is_not_json = |run: &RunView| {
        !run.bytes(Stream::Stdout).is_empty() && run.scan().first_structural_problem().is_some()
    };
    let mut data = learning_runs(context, probe, format).filter(|run| format.is_json() && run.gave_data());
    if let Some(run) = data.find(is_not_json) {
        return vec![inconclusive(run.not_parsed())];
    }
    let compared = Lock::new("", None, vec![new]).comparable_with(lock);
    let changes = compare(std::slice::from_ref(old), &compared);
    let assertions: Vec<Assertion> =
        changes.iter().filter_map(|change| judge_change(context, probe, format, change)).collect();
    if assertions.is_empty() { vec![Ok(())] } else { assertions }
}

fn judge_change(
    context: &CheckContext,
    probe: &Probe,
    format: OutputFormat,
    change: &Change,
) -> Option<Assertion> {
    let run = context.plain_run(probe, format)?;
    let detail = format!("{}: {}", change.rule, with_place(change));
    match change.class {
        ChangeSeverity::Breaking if change.rule == "diff-stdout-changed" && !run.gave_data() => {
            Some(misplaced_by_failure(&run).unwrap_or_else(|| broken(&run, change, detail)))
        }
        ChangeSeverity::Breaking => Some(broken(&run, change, detail)),
        ChangeSeverity::Undecided => Some(inconclusive(format!("{}: {detail}", run.label()))),
        ChangeSeverity::Risky | ChangeSeverity::Compatible => None,
    }
}

/// Returns an inconclusive assertion if a failing run prints something to stdout that is not JSON. It refers to the
/// check that reports this. `None` if stdout has no such problem.
fn misplaced_by_failure(run: &RunView) -> Option<Assertion> {
    let check = match find_invalid_stdout(run)?.is_prose {
        true => CheckId::P2StderrDiagnostics,
        false => CheckId::P2ErrorJson,
    };
    let what = format!("stdout of the failing run {} is not JSON", run.label());
    Some(inconclusive(run.blocked_by(check, what)))
}

/// Returns the message of a change, preceded by its event and JSON pointer.
fn with_place(change: &Change) -> String {
    let event = change.event.as_ref().map_or_else(String::new, |event| format!("event `{event}`, "));
    let error = if change.in_error { "the error, " } else { "" };
    let pointer = if change.pointer.is_empty() { String::new() } else { format!("{}: ", change.pointer) };
    format!("{event}{error}{pointer}{}", change.message)
}

/// Fails at the place of a change in stdout. If stdout does not contain the place, fails at the nearest parent.
fn broken(run: &RunView, change: &Change, detail: String) -> Assertion {
    let bytes = run.bytes(Stream::Stdout);
    if change.in_error || bytes.is_empty() || run.format() != OutputFormat::Json {
        return run.failed(&change.rule, detail);
    }
    // A missing value is reported at its parent.
    let mut pointer = change.pointer.replace('*', "0");
    let position = loop {
        if let Some(position) = run.locate(&pointer) {
            break position;
        }
        match pointer.rfind('/') {
            Some(end) => pointer.truncate(end),
            None => break Position::START,
        }
    };
    run.failed_at(&change.rule, Stream::Stdout, position, detail)
}

/// Learns the output specification of a probe in a format from its runs. Fails with the reason if the runs do not show
/// it.
fn learn_spec(context: &CheckContext, probe: &Probe, format: OutputFormat) -> Result<OutputSpec, Reason> {
    let mut learner = OutputInference::new(&probe.name, format)
        .expected_exit_code(probe.exit.filter(|_| probe.prints_data()));
    let (mut plain, mut contract, mut data) = (false, None, false);
    for run in learning_runs(context, probe, format) {
        plain |= run.variant() == Variant::Plain;
        run.usable()?;
        let none = || run.why_unusable().unwrap_or_else(|| format!("{} did not end", run.label()).into());
        let code = run.shell_code().ok_or_else(none)?;
        data = code == 0 || run.gave_data();
        contract = context.contract_of(&run);
        let open = |stream| move || Box::new(run.bytes(stream).reader()) as Box<dyn Read + Send>;
        learner
            .add_run(code, &open(Stream::Stdout), &open(Stream::Stderr))
            .map_err(|error| format!("cannot read the output of {}: {error}", run.label()))?;
    }
    if !plain {
        return Err(format!("{} · {} was not run", probe.name, format.name()).into());
    }
    let learnt = learner.spec();
    Ok(match contract.filter(|contract| data || is_about_failures(contract)) {
        Some(contract) => merge_contract_spec(contract, learnt),
        None => learnt,
    })
}

fn is_about_failures(contract: &Contract) -> bool {
    !contract.exit_codes().is_empty() || contract.error_stream().is_some()
}

/// Returns the specification that a contract declares, with the exit codes that were learnt from this probe. Learnt
/// values also fill in what the contract does not specify.
fn merge_contract_spec(contract: &Contract, learnt: OutputSpec) -> OutputSpec {
    let spec = OutputSpec::from_contract(contract);
    OutputSpec {
        probe: learnt.probe,
        format: learnt.format,
        framing: spec.framing.or(learnt.framing),
        exits: learnt.exits,
        errors: spec.errors.or(learnt.errors),
        ..spec
    }
}

/// Returns the first line of the output of `--version`; `None` if the call failed or printed nothing.
fn version(context: &CheckContext) -> Option<String> {
    let probe = context.derived_probes(DerivedKind::Version).next()?;
    let run = context.plain_run(probe, OutputFormat::Text).filter(|run| run.exit() == Some(0))?;
    let line = first_line(run.bytes(Stream::Stdout))?;
    let line = sanitize::sanitize_capped(line.trim(), MAX_VERSION).to_string();
    (!line.is_empty()).then_some(line)
}

fn first_line(bytes: &Bytes) -> Option<String> {
    let mut window = [0; 1024];
    let length = bytes.read_at(0, &mut window).ok()?;
    Some(String::from_utf8_lossy(&window[..length]).lines().next()?.to_owned())
}
