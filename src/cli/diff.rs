//! The command `agentnative contract diff`.

use super::complete;
use super::progress::progress_observer;
use crate::check::{
    ComparedSample, Comparison, ConfigSource, DiffInput, InterfaceReading, SessionOptions, diff,
};
use agentnative_contract::counted;
use agentnative_contract::error::{Error, Result};
use agentnative_core::config::ProbeConfig;
use agentnative_core::run::RunnerOptions;
use agentnative_diff::{Change, ChangeSeverity, Evidence, OtherOutput, SampleSide};
use agentnative_output::{Output, Page, StyledText, Tone};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 no breaking change, 1 a breaking change; with --strict also an undecided change.

Examples:
  agentnative contract diff dexter-flat dexter-nested # exit 1
  agentnative contract diff --strict list.schema.json list.json
  agentnative contract diff --old-command mycli --new-command ./mycli"
)]
pub(super) struct DiffArgs {
    /// Old and new side, each a schema file, a bundled contract, a contract folder, a lock folder, a
    /// recording (`check --record`), a file of samples (.json, .jsonl, .ndjson), or an interface
    /// (`interface.json`, or KDL or JSON of `usage`).
    #[arg(value_name = "OLD NEW", num_args = 0..=2, add = complete::contracts())]
    sides: Vec<String>,
    /// Take the interface and the output of this command as the old side; the configuration declares its
    /// probes.
    #[arg(long, value_name = "COMMAND")]
    old_command: Option<String>,
    /// Take the interface and the output of this command as the new side.
    #[arg(long, value_name = "COMMAND")]
    new_command: Option<String>,
    /// Configuration of both commands [default: the nearest agentnative.toml, from this folder upwards,
    /// else from the folder of the command].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Add a probe of both commands, split as in a shell (repeatable).
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true)]
    probe: Vec<String>,
    /// Fail if a change is undecided.
    #[arg(long)]
    strict: bool,
}

/// Maximum length of a line about what was not compared, in characters.
const MAX_NOT_COMPARED: usize = 300;

/// The result of comparing an old with a new side.
#[derive(Serialize, JsonSchema)]
pub(super) struct Diff {
    /// The name of the old side.
    old: String,
    /// The name of the new side.
    new: String,
    #[serde(flatten)]
    counts: ChangeCounts,
    /// The sample, if a sample was compared with a schema or contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    sample: Option<ComparedSample>,
    /// The changes, by descending severity.
    changes: Vec<Change>,
    /// What was not compared in the interface, because only one side states it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_compared: Vec<String>,
}

/// Number of changes of each class.
#[derive(Serialize, JsonSchema, Clone, Copy)]
struct ChangeCounts {
    /// Number of changes that break consumers.
    breaking: usize,
    /// Number of changes that the comparison could not classify.
    undecided: usize,
    /// Number of changes that break only consumers that rely on more than was guaranteed.
    risky: usize,
    /// Number of changes that break no consumers.
    compatible: usize,
}

/// A line of `contract diff --output jsonl`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ChangeLine<'a> {
    Change {
        #[serde(flatten)]
        change: &'a Change,
    },
    Summary {
        old: &'a str,
        new: &'a str,
        #[serde(flatten)]
        counts: ChangeCounts,
        #[serde(skip_serializing_if = "Option::is_none")]
        sample: Option<ComparedSample>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        not_compared: &'a [String],
    },
}

pub(super) fn run(args: &DiffArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    let (old, new) = args.inputs(output, runner)?;
    let Comparison { changes, outputs, sample, not_compared } = diff(&old, &new)?;
    let count = |class: ChangeSeverity| changes.iter().filter(|change| change.class == class).count();
    let counts = ChangeCounts {
        breaking: count(ChangeSeverity::Breaking),
        undecided: count(ChangeSeverity::Undecided),
        risky: count(ChangeSeverity::Risky),
        compatible: count(ChangeSeverity::Compatible),
    };
    let undecided = if args.strict { counts.undecided } else { 0 };
    let ok = counts.breaking == 0 && undecided == 0;
    let data = Diff { old: old.name, new: new.name, counts, sample, changes, not_compared };
    let (old, new, not_compared) = (&data.old, &data.new, &data.not_compared);
    let summary = ChangeLine::Summary { old, new, counts, sample, not_compared };
    let lines = data.changes.iter().map(|change| ChangeLine::Change { change }).chain([summary]);
    output.emit_records("contract diff", ok, &data, lines, |page| show(&data, outputs, page))?;
    if ok {
        return Ok(0);
    }
    let unmet = count_by_class(&[
        (counts.breaking, ChangeSeverity::Breaking),
        (undecided, ChangeSeverity::Undecided),
    ]);
    let many = if counts.breaking + undecided == 1 { "change" } else { "changes" };
    output.error(&Error::findings(format!("{} {many}", unmet.join(" and "))));
    Ok(1)
}

/// A side of the comparison, as the user gave it.
enum Side<'a> {
    Command(&'a str),
    Named(&'a str),
}

impl DiffArgs {
    fn inputs(&self, output: &mut Output, runner: &RunnerOptions) -> Result<(DiffInput, DiffInput)> {
        let mut named = self.sides.iter();
        let mut side = |command| match command {
            Some(command) => Some(Side::Command(command)),
            None => named.next().map(|name| Side::Named(name)),
        };
        let (old, new) = (side(self.old_command.as_deref()), side(self.new_command.as_deref()));
        let mut input = |side, reading| match side {
            Side::Command(command) => self.run(command, reading, output, runner),
            Side::Named(name) => DiffInput::read(name),
        };
        match (old, new, named.next()) {
            (Some(old), Some(new), None) => {
                let old = input(old, InterfaceReading::Always)?;
                let known = old.interface().cloned().map(Box::new);
                let new = input(new, known.map_or(InterfaceReading::Always, InterfaceReading::ComparedWith))?;
                Ok((old, new))
            }
            (_, _, extra) => {
                let many = if extra.is_some() { "more than two sides" } else { "fewer than two sides" };
                let error = Error::usage(format!("{many}; expected an old and a new one"));
                Err(error.hint(
                    "agentnative contract diff OLD NEW; --old-command or --new-command replaces a side",
                ))
            }
        }
    }

    fn run(
        &self,
        command: &str,
        interface: InterfaceReading,
        output: &mut Output,
        runner: &RunnerOptions,
    ) -> Result<DiffInput> {
        let options = SessionOptions {
            config: self.config.clone().map_or(ConfigSource::Nearest, ConfigSource::File),
            probes: ProbeConfig::from_flags(&self.probe)?,
            interface,
            runner: runner.clone(),
            ..SessionOptions::default()
        };
        let input = DiffInput::of_command(command, options, &mut progress_observer(output))?;
        output.clear_progress();
        Ok(input)
    }
}

fn show(diff: &Diff, outputs: usize, page: &mut Page) {
    show_result(diff, outputs, page);
    show_not_compared(&diff.not_compared, page);
}

/// Shows what was not compared in the interface, one line for each kind.
pub(super) fn show_not_compared(not_compared: &[String], page: &mut Page) {
    for what in not_compared {
        let what = strict_json::sanitize::sanitize_capped(what, MAX_NOT_COMPARED);
        page.line(0, &[StyledText::dim("not compared: "), StyledText::plain(what)]);
    }
}

fn show_result(diff: &Diff, outputs: usize, page: &mut Page) {
    let quiet = page.config().quiet;
    let shown = diff.changes.iter().filter(|change| !(quiet && change.class == ChangeSeverity::Compatible));
    let names = diff.sample.map(|sample| match sample.side {
        SampleSide::Old => (&*diff.old, &*diff.new),
        SampleSide::New => (&*diff.new, &*diff.old),
    });
    show_changes(shown, names.map(|(sample, _)| sample), page);
    page.blank();
    if diff.changes.is_empty() {
        let what = match diff.sample {
            Some(sample) => format!(" in {}", records(sample)),
            None if outputs == 1 => String::new(),
            None => " in any output".to_owned(),
        };
        return page.line(0, &[StyledText::new(Tone::Success, format!("no difference{what}"))]);
    }
    let counts = count_by_class(&[
        (diff.counts.breaking, ChangeSeverity::Breaking),
        (diff.counts.undecided, ChangeSeverity::Undecided),
        (diff.counts.risky, ChangeSeverity::Risky),
        (diff.counts.compatible, ChangeSeverity::Compatible),
    ]);
    page.line(0, &[StyledText::strong(counts.join(", "))]);
    if let Some((sample, (_, schema))) = diff.sample.zip(names).filter(|(sample, _)| sample.records > 0) {
        let line = format!("{schema} rejects {} of {}", sample.rejected, records(sample));
        page.line(0, &[StyledText::plain(&line)]);
    }
}

/// Formats the classes with a count above 0: `2 breaking`, `1 risky`.
fn count_by_class(counts: &[(usize, ChangeSeverity)]) -> Vec<String> {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, class)| format!("{count} {}", class.name())).collect()
}

fn records(sample: ComparedSample) -> String {
    counted(sample.records, if sample.is_stream { "record" } else { "document" })
}

/// Shows changes. Those in the same variant of a union form a group. A generated document that demonstrates several
/// changes is printed once, above them. `sample` is the file name of the sample, which is shown with evidence from it.
pub(super) fn show_changes<'c>(
    changes: impl Iterator<Item = &'c Change>,
    sample: Option<&str>,
    page: &mut Page,
) {
    let document = |change: &'c Change| change.witness.as_ref().map(|witness| witness.document.to_string());
    let group_key = |change: &'c Change| {
        let place = (&change.probe, change.format, &change.event, change.in_error);
        let (variant, document) = match change.variant.first() {
            Some(variant) => (Some(variant), None),
            None => (None, Some(document(change)?)),
        };
        Some((place, variant, document))
    };
    for of_variant in grouped(changes, group_key) {
        let name = of_variant.first().and_then(|change| change.variant.first());
        let indent = if name.is_some() { 2 } else { 0 };
        if let Some(name) = name {
            page.blank();
            page.line(0, &[StyledText::strong(format!("in the variant with {name}:"))]);
        }
        for of_document in grouped(of_variant.into_iter(), document) {
            let several = of_document.len() > 1;
            if several {
                if name.is_none() {
                    page.blank();
                }
                show_witnesses(&of_document, indent, page);
            }
            for change in of_document {
                page.blank();
                show_change(change, indent, !several, page);
                if let (Some(evidence), Some(file)) = (&change.evidence, sample) {
                    show_evidence(evidence, file, indent, page);
                }
            }
        }
    }
}

/// Groups changes by key; the groups are in the order of their first changes. A change without a key (`None`) is a
/// group of its own.
fn grouped<'c, K: PartialEq>(
    changes: impl Iterator<Item = &'c Change>,
    key: impl Fn(&'c Change) -> Option<K>,
) -> Vec<Vec<&'c Change>> {
    let mut groups: Vec<(Option<K>, Vec<&Change>)> = Vec::new();
    for change in changes {
        let key = key(change);
        match groups.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
            Some((_, group)) => group.push(change),
            None => groups.push((key, vec![change])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Shows the generated document that demonstrates these changes, and why consumers of the old output reject it.
fn show_witnesses(changes: &[&Change], indent: usize, page: &mut Page) {
    let mut rejected: Vec<&str> = Vec::new();
    for witness in changes.iter().filter_map(|change| change.witness.as_ref()) {
        if rejected.is_empty() {
            detail("now possible", &witness.document.to_string(), indent, page);
        }
        if !rejected.contains(&&*witness.rejected) {
            rejected.push(&witness.rejected);
        }
    }
    rejected.iter().for_each(|rejected| detail("old consumers", rejected, indent, page));
}

/// Shows a change in the style of a compiler error.
fn show_change(change: &Change, indent: usize, with_witness: bool, page: &mut Page) {
    let tone = match change.class {
        ChangeSeverity::Breaking => Tone::Error,
        ChangeSeverity::Undecided => Tone::Hint,
        ChangeSeverity::Risky => Tone::Warn,
        ChangeSeverity::Compatible => Tone::Success,
    };
    let head = StyledText::new(tone, format!("{}[{}]: ", change.class.name(), change.rule));
    page.line(indent, &[head, StyledText::strong(&change.message)]);
    let mut place: Vec<String> = Vec::new();
    place.extend(
        change.command.as_ref().filter(|name| !name.is_empty()).map(|name| format!("command {name}")),
    );
    place.extend(change.probe.as_ref().map(|probe| format!("probe {probe}")));
    place.extend(change.format.map(|format| format.name().to_owned()));
    place.extend(change.event.as_ref().map(|event| format!("event {event}")));
    place.extend(change.in_error.then(|| "error object".to_owned()));
    place.extend(change.variant.iter().skip(1).map(|name| format!("variant with {name}")));
    let pointer = if change.pointer.is_empty() { "(root)" } else { &change.pointer };
    let within = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    let arrow = [StyledText::dim("--> "), StyledText::strong(pointer), StyledText::dim(within)];
    page.line(indent + 2, &arrow);
    let mut detail = |label: &str, text: &str| detail(label, text, indent + 4, page);
    for (label, value) in [("old", &change.old), ("new", &change.new)] {
        if let Some(value) = value {
            detail(label, &short(value));
        }
    }
    if let Some(note) = &change.note {
        detail("note", note);
    }
    if !change.also.is_empty() {
        detail("also in", &change.also.iter().map(other_place).collect::<Vec<_>>().join("; "));
    }
    if with_witness {
        show_witnesses(&[change], indent + 4, page);
    }
}

/// Shows the places in a sample file that demonstrate a change.
fn show_evidence(evidence: &Evidence, file: &str, indent: usize, page: &mut Page) {
    for place in &evidence.places {
        let numbers = place.line.into_iter().chain(place.column).map(|number| format!(":{number}"));
        let pointer = if place.pointer.is_empty() { "(root)" } else { &place.pointer };
        detail("found at", &format!("{file}{}: {pointer}", numbers.collect::<String>()), indent + 4, page);
    }
    let more = evidence.count - evidence.places.len() as u64;
    if more > 0 {
        detail("found at", &counted(more, "more place"), indent + 4, page);
    }
}

fn detail(label: &str, text: &str, indent: usize, page: &mut Page) {
    page.labelled(indent, &StyledText::dim(format!("= {label}: ")), text);
}

/// Formats the place of another output that has the same change: `probe list, json, /items`.
fn other_place(other: &OtherOutput) -> String {
    if let Some(command) = &other.command {
        return command.clone();
    }
    let probe = other.probe.as_ref().map(|probe| format!("probe {probe}"));
    let place = [probe, other.format.map(|format| format.name().to_owned()), other.pointer.clone()];
    place.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    strict_json::sanitize::sanitize_capped(&text, 200)
}
