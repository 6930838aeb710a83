//! `agentnative contract diff`

use super::progress::drawn;
use crate::check::{ConfigSource, DiffInput, SessionOptions, diff};
use crate::config::ProbeConfig;
use crate::run::RunnerOptions;
use agentnative_contract::diff::{Change, Class, Elsewhere};
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Cell, Output, Page, Tone};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 no breaking change, 1 a breaking change; with --strict also one that is undecided.

Examples:
  agentnative contract diff dexter-flat dexter-nested # exit 1
  agentnative contract diff --strict list.schema.json list.json
  agentnative contract diff --old-command mycli --new-command ./mycli"
)]
pub(super) struct DiffArgs {
    /// Old and new side, each a schema file, a bundled contract, a contract folder, a lock folder, a
    /// recording (`check --record`) or a file of samples (.json, .jsonl, .ndjson).
    #[arg(value_name = "OLD NEW", num_args = 0..=2)]
    sides: Vec<String>,
    /// Take the output of this command as the old side; the configuration declares its probes.
    #[arg(long, value_name = "COMMAND")]
    old_command: Option<String>,
    /// Take the output of this command as the new side.
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

/// What changed between two sides.
#[derive(Serialize, JsonSchema)]
pub(super) struct Diff {
    /// The name of the old side.
    old: String,
    /// The name of the new side.
    new: String,
    #[serde(flatten)]
    counts: Counts,
    /// The changes, by descending severity.
    changes: Vec<Change>,
}

/// How many changes there are of each class.
#[derive(Serialize, JsonSchema, Clone, Copy)]
struct Counts {
    /// They break consumers.
    breaking: usize,
    /// The comparison could not decide it.
    undecided: usize,
    /// They break consumers that rely on more than was guaranteed.
    risky: usize,
    /// They break nobody.
    compatible: usize,
}

/// A line of `contract diff --output jsonl`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Change {
        #[serde(flatten)]
        change: &'a Change,
    },
    Summary {
        old: &'a str,
        new: &'a str,
        #[serde(flatten)]
        counts: Counts,
    },
}

pub(super) fn run(args: &DiffArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    let (old, new) = args.inputs(output, runner)?;
    let changes = diff(&old, &new);
    let count = |class: Class| changes.iter().filter(|change| change.class == class).count();
    let counts = Counts {
        breaking: count(Class::Breaking),
        undecided: count(Class::Undecided),
        risky: count(Class::Risky),
        compatible: count(Class::Compatible),
    };
    let undecided = if args.strict { counts.undecided } else { 0 };
    let ok = counts.breaking == 0 && undecided == 0;
    let data = Diff { old: old.name.clone(), new: new.name, counts, changes };
    let summary = Line::Summary { old: &data.old, new: &data.new, counts };
    let lines = data.changes.iter().map(|change| Line::Change { change }).chain([summary]);
    output.emit_records("contract diff", ok, &data, lines, |page| show(&data, &old, page))?;
    if ok {
        return Ok(0);
    }
    let unmet =
        [(counts.breaking, "breaking"), (undecided, "undecided")].into_iter().filter(|(count, _)| *count > 0);
    let unmet: Vec<String> = unmet.map(|(count, class)| format!("{count} {class}")).collect();
    let many = if counts.breaking + undecided == 1 { "change" } else { "changes" };
    output.error(&Error::findings(format!("{} {many}", unmet.join(" and "))));
    Ok(1)
}

impl DiffArgs {
    fn inputs(&self, output: &mut Output, runner: &RunnerOptions) -> Result<(DiffInput, DiffInput)> {
        let mut named = self.sides.iter();
        let mut input = |command: &Option<String>| match command {
            Some(command) => Some(self.run(command, output, runner)),
            None => named.next().map(|name| DiffInput::read(name)),
        };
        let (old, new) = (input(&self.old_command), input(&self.new_command));
        match (old, new, named.next()) {
            (Some(old), Some(new), None) => Ok((old?, new?)),
            (_, _, extra) => {
                let many = if extra.is_some() { "more than two sides" } else { "fewer than two sides" };
                let error = Error::usage(format!("{many}; expected an old and a new one"));
                Err(error.hint(
                    "agentnative contract diff OLD NEW; --old-command or --new-command replaces a side",
                ))
            }
        }
    }

    fn run(&self, command: &str, output: &mut Output, runner: &RunnerOptions) -> Result<DiffInput> {
        let options = SessionOptions {
            config: self.config.clone().map_or(ConfigSource::Nearest, ConfigSource::File),
            probes: ProbeConfig::from_flags(&self.probe)?,
            runner: runner.clone(),
            ..SessionOptions::default()
        };
        let input = DiffInput::of_command(command, options, &mut drawn(output))?;
        output.clear_progress();
        Ok(input)
    }
}

fn show(diff: &Diff, old: &DiffInput, page: &mut Page) {
    let quiet = page.config().quiet;
    for change in &diff.changes {
        if quiet && change.class == Class::Compatible {
            continue;
        }
        page.blank();
        show_change(change, page);
    }
    page.blank();
    if diff.changes.is_empty() {
        let what = if old.promises.len() == 1 { "" } else { " in any output" };
        return page.line(0, &[Cell::new(Tone::Good, format!("no difference{what}"))]);
    }
    let counts = [
        (diff.counts.breaking, Class::Breaking),
        (diff.counts.undecided, Class::Undecided),
        (diff.counts.risky, Class::Risky),
        (diff.counts.compatible, Class::Compatible),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, class)| format!("{count} {}", class.name()))
        .collect();
    page.line(0, &[Cell::new(Tone::Strong, counts.join(", "))]);
}

/// A change, as a compiler reports it.
pub(super) fn show_change(change: &Change, page: &mut Page) {
    let tone = match change.class {
        Class::Breaking => Tone::Bad,
        Class::Undecided => Tone::Open,
        Class::Risky => Tone::Warn,
        Class::Compatible => Tone::Good,
    };
    let head = Cell::new(tone, format!("{}[{}]: ", change.class.name(), change.rule));
    page.line(0, &[head, Cell::new(Tone::Strong, &change.message)]);
    let mut place: Vec<String> = Vec::new();
    place.extend(change.probe.as_ref().map(|probe| format!("probe {probe}")));
    place.extend(change.format.map(|format| format.name().to_owned()));
    place.extend(change.event.as_ref().map(|event| format!("event {event}")));
    place.extend(change.in_error.then(|| "error object".to_owned()));
    let pointer = if change.pointer.is_empty() { "(root)" } else { &change.pointer };
    let within = if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
    page.line(
        2,
        &[Cell::new(Tone::Dim, "--> "), Cell::new(Tone::Strong, pointer), Cell::new(Tone::Dim, within)],
    );
    let mut detail = |label: &str, text: &str| {
        page.labelled(4, &Cell::new(Tone::Dim, format!("= {label}: ")), text);
    };
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
    if let Some(witness) = &change.witness {
        detail("now possible", &witness.document.to_string());
        detail("old consumers", &witness.rejected);
    }
}

/// Another output with the same change.
fn other_place(other: &Elsewhere) -> String {
    let probe = other.probe.as_ref().map(|probe| format!("probe {probe}"));
    let place = [probe, other.format.map(|format| format.name().to_owned()), other.pointer.clone()];
    place.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    strict_json::sanitize::capped(&text, 200)
}
