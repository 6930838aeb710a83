//! The same call has the same output: complete, each time, and with one shape for each command.

use crate::context::{CheckContext, RunView};
use crate::kit::{Difference, declare_success, differences, ends_early, list_first};
use crate::scan::Scan;
use crate::verdict::{Assertion, Judgement, Reason, Unmet, inconclusive};
use agentnative_contract::list_names;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{OutputFormat, Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::Bytes;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read};
use std::sync::Arc;

/// Maximum number of keys that a message lists.
const MAX_NAMED: usize = 6;

impl RunView<'_> {
    /// Returns the parsed structure of stdout. Fails with the reason if stdout is not valid JSON or is truncated.
    fn complete_scan(&self) -> Result<Arc<Scan>, Reason> {
        self.parsed().map_err(|reason| {
            if self.usable().is_ok() && self.is_truncated() { self.truncation_reason() } else { reason }
        })
    }

    /// True if the JSON on stdout ends too early, although the same call printed longer and complete JSON under another
    /// condition, such as into a file.
    pub fn is_truncated(&self) -> bool {
        if self.scan().first_structural_problem().is_none_or(|problem| !ends_early(problem.kind)) {
            return false;
        }
        let others = [Variant::File, Variant::Plain, Variant::SlowReader];
        let under = |variant| self.context.find_run_under(self.probe, self.format(), variant);
        others.into_iter().filter_map(under).any(|other| {
            other.gave_data()
                && other.scan().first_structural_problem().is_none()
                && other.observation.stdout.bytes.len() > self.observation.stdout.bytes.len()
        })
    }
}

/// Judges `p2-output-complete`: the same complete output arrives through a pipe, at a slow consumer and in a file.
pub fn judge_output_completeness(context: &CheckContext) -> Judgement {
    let json = context.data_probes().flat_map(|probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().filter_map(|format| {
            if !probe.formats.contains(&format) {
                return None;
            }
            Some(same_for_each_consumer(context, probe, format))
        })
    });
    let text = context.data_probes().filter_map(|probe| text_for_each_consumer(context, probe));
    Judgement::from_assertions(json.chain(text), declare_success("json or jsonl"))
}

/// Capacity of a pipe in bytes. Shorter output fits into the pipe and cannot be truncated by a slow consumer.
const PIPE: u64 = 64 * 1024;

/// Compares the text that a call without a format flag prints to a pipe, to a slow consumer and to a file. Returns
/// `None` for text that fits into a pipe: such a call is only run once.
fn text_for_each_consumer<'a>(context: &'a CheckContext<'a>, probe: &'a Probe) -> Option<Assertion> {
    let call = context.derived_from(DerivedKind::NoFormat, probe).next()?;
    let plain = context.plain_run(call, OutputFormat::Text)?;
    let is_long = plain.observation.stdout.bytes.len() >= PIPE;
    let is_judged = probe.formats.contains(&OutputFormat::Text) && is_long && plain.usable().is_ok();
    is_judged.then(|| same_text(context, plain))
}

fn same_text<'a>(context: &'a CheckContext<'a>, plain: RunView<'a>) -> Assertion {
    let length = |run: &RunView| run.observation.stdout.bytes.len();
    let keys = [Variant::SlowReader, Variant::File]
        .map(|variant| plain.observation.key.with_condition((variant, 0)));
    let mut readers = vec![plain];
    for key in &keys {
        let run = context.run_or_request(key, &keys)?;
        run.usable()?;
        readers.push(run);
    }
    let Some(longest) = readers.iter().max_by_key(|run| length(run)) else { return Ok(()) };
    match readers.iter().find(|run| length(run) < length(longest) && is_prefix(run, longest)) {
        Some(cut) => truncated_at(cut, &readers),
        None => Ok(()),
    }
}

/// True if the stdout of `run` is a prefix of the stdout of `complete`.
fn is_prefix(run: &RunView, complete: &RunView) -> bool {
    let bytes = &run.observation.stdout.bytes;
    same_content(bytes.reader(), complete.observation.stdout.bytes.reader().take(bytes.len()))
}

fn same_for_each_consumer(context: &CheckContext, probe: &Probe, format: OutputFormat) -> Assertion {
    let mut readers = Vec::new();
    for variant in [Variant::Plain, Variant::SlowReader, Variant::File] {
        let Some(run) = context.find_run_under(probe, format, variant) else {
            return inconclusive(format!("{} was not run under {}", probe.name, variant.name()));
        };
        run.usable()?;
        readers.push(run);
    }
    let is_truncated = |run: &RunView| run.usable().is_ok() && run.is_truncated();
    if let Some(cut) = context.runs_with_same_stdout(probe, format).find(is_truncated) {
        return truncated_at(&cut, &readers);
    }
    if readers
        .windows(2)
        .all(|pair| same_bytes(&pair[0].observation.stdout.bytes, &pair[1].observation.stdout.bytes))
    {
        return Ok(());
    }
    if let Some(run) = readers.iter().find(|run| run.scan().first_structural_problem().is_some()) {
        return Err(run.not_parsed().into());
    }
    // The bytes may differ, by times and IDs; only missing values count.
    let size = |run: &RunView| run.scan().shape.total_count();
    if readers.iter().all(|run| size(run) >= size(&readers[0])) {
        return Ok(());
    }
    context.repeated_runs(probe, format)?;
    let again = |run: &RunView| matches!(run.variant(), Variant::Plain | Variant::Repeat);
    let repeats: Vec<RunView> = context.same_data(probe, format).into_iter().filter(again).collect();
    let steady = repeats.iter().map(size).collect::<BTreeSet<_>>();
    let Some(expected) = steady.first().copied().filter(|_| steady.len() == 1 && repeats.len() > 1) else {
        return Ok(()); // The number of values varies, and each output is complete.
    };
    match readers.iter().find(|run| size(run) < expected) {
        Some(run) => run.failed_at_start(
            "values-missing",
            Stream::Stdout,
            format!("only {} of {expected} values arrive under {}", size(run), run.condition()),
        ),
        None => Ok(()),
    }
}

fn truncated_at(cut: &RunView, readers: &[RunView]) -> Assertion {
    let length = cut.observation.stdout.bytes.len();
    let longest = readers.iter().map(|run| run.observation.stdout.bytes.len()).max().unwrap_or(length);
    let problem = cut.scan().first_structural_problem().map(|problem| problem.position);
    let detail = format!("stdout is truncated after {length} of {longest} bytes under {}", cut.condition());
    match problem {
        Some(at) => cut.failed_at("cut", Stream::Stdout, at, detail),
        None => cut.failed("cut", detail),
    }
}

pub(super) fn same_bytes(a: &Bytes, b: &Bytes) -> bool {
    (a.identity() == b.identity() && a.len() == b.len()) || same_content(a.reader(), b.reader())
}

fn same_content(a: impl Read, b: impl Read) -> bool {
    let (mut left, mut right) =
        (BufReader::with_capacity(64 * 1024, a), BufReader::with_capacity(64 * 1024, b));
    loop {
        let (Ok(left_bytes), Ok(right_bytes)) = (left.fill_buf(), right.fill_buf()) else { return false };
        let same = left_bytes.len().min(right_bytes.len());
        if same == 0 || left_bytes[..same] != right_bytes[..same] {
            return left_bytes.len() == right_bytes.len() && same == 0;
        }
        left.consume(same);
        right.consume(same);
    }
}

/// Judges `p2-output-stable`: the JSON of each run of a call has the same keys and types as the JSON of its earlier
/// runs.
pub fn judge_output_stability(context: &CheckContext) -> Judgement {
    let calls = context.data_probes().flat_map(|probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().map(move |format| (probe, format))
    });
    let assertions = calls.flat_map(|(probe, format)| {
        let mut before: Vec<(RunView, Arc<Scan>)> = Vec::new();
        let mut assertions = Vec::new();
        for run in context.runs_with_same_stdout(probe, format) {
            match run.complete_scan() {
                Ok(scan) => {
                    let compared = same_shape(&before, &run, &scan);
                    // Later runs are compared with runs of equal shape.
                    if compared.iter().all(Result::is_ok) {
                        before.push((run, scan));
                    }
                    assertions.extend(compared);
                }
                Err(reason) => {
                    assertions.push(inconclusive(reason));
                    if run.variant() == Variant::Plain {
                        break; // The other runs show the same.
                    }
                }
            }
        }
        assertions
    });
    Judgement::from_assertions(assertions, declare_success("json or jsonl"))
}

/// Compares the keys and types in the JSON of `run` with those of earlier runs. Returns a failure for each kind of
/// difference, a pass if there is none, and nothing if `before` is empty.
fn same_shape(before: &[(RunView, Arc<Scan>)], run: &RunView, scan: &Scan) -> Vec<Assertion> {
    let found = before.iter().find_map(|(other, seen)| {
        let all = differences(&seen.shape, &scan.shape);
        (!all.is_empty()).then_some((other, all))
    });
    let Some((other, all)) = found else {
        return if before.is_empty() { Vec::new() } else { vec![Ok(())] };
    };
    let of_kind = |kind| all.iter().filter(|found| found.kind == kind).collect::<Vec<_>>();
    let kinds = ["keys", "types"].into_iter().map(of_kind).filter(|found| !found.is_empty());
    let finding = |found: Vec<&Difference>| {
        let all: Vec<String> = found.iter().map(ToString::to_string).collect();
        let detail = format!("the output differs from that of {}: {}", other.label(), list_first(&all));
        run.failed_at_pointer(found[0].kind, &found[0].pointer, detail)
    };
    kinds.map(finding).collect()
}

/// Judges `p2-envelope`: all commands print the same top-level object.
pub fn judge_common_envelope(context: &CheckContext) -> Judgement {
    let mut objects: Vec<(RunView, Vec<String>)> = Vec::new();
    let mut assertions = Vec::new();
    let mut commands = 0;
    for run in context.data_probes().filter_map(|probe| context.plain_run(probe, OutputFormat::Json)) {
        commands += 1;
        match run.parsed() {
            Ok(scan) if scan.shape.object_count() == 1 => {
                objects.push((run, scan.shape.members().map(|(key, _)| key.to_owned()).collect()));
            }
            Ok(_) => {
                let detail =
                    "the document is not an object; expected the same top-level object for all commands";
                assertions.push(run.failed_at_start("not-object", Stream::Stdout, detail));
            }
            Err(reason) => assertions.push(inconclusive(reason)),
        }
    }
    // The keys of most commands, else those of the first.
    let alike = |keys: &Vec<String>| objects.iter().filter(|(_, other)| other == keys).count();
    if let Some((reference, expected)) = objects.iter().rev().max_by_key(|(_, keys)| alike(keys)) {
        assertions.extend(objects.iter().map(|(run, keys)| match keys == expected {
            true => Ok(()),
            false => {
                let shown = |keys: &[String]| match keys {
                    [] => "none".to_owned(),
                    keys => list_names(keys.iter(), MAX_NAMED),
                };
                let (expected, found) = (shown(expected), shown(keys));
                let reference = &reference.probe.name;
                let detail = format!(
                    "commands have different top-level keys: expected {expected} as in `{reference}`, found {found}"
                );
                run.failed_at_start("keys", Stream::Stdout, detail)
            }
        }));
    }
    if commands < 2 && !assertions.iter().any(|assertion| matches!(assertion, Err(Unmet::Failed(_)))) {
        return Judgement::unverified(
            "a comparison needs two commands: declare a probe of another one in json",
        );
    }
    Judgement::from_assertions(assertions, declare_success("json"))
}
