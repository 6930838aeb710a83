//! `agentnative contract diff`

use super::sides::{self, Side};
use agentnative_contract::diff::{Change, Class};
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Cell, Output, OutputFormat, Page, Tone};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

#[derive(clap::Args)]
pub(super) struct DiffArgs {
    /// The old and the new side: each a schema file, a bundled contract's name, a contract folder, a
    /// lock folder, a recording of `check --record`, or a file of samples (.json, .jsonl, .ndjson).
    #[arg(value_name = "OLD NEW", num_args = 0..=2)]
    sides: Vec<String>,
    #[command(flatten)]
    live: sides::LiveArgs,
}

/// What changed between two sides.
#[derive(Serialize, JsonSchema)]
pub(super) struct Diff {
    /// The old side, as it was named.
    old: String,
    /// The new side, as it was named.
    new: String,
    #[serde(flatten)]
    counts: Counts,
    /// The changes, the worst first.
    changes: Vec<Change>,
}

/// How many changes there are of each class.
#[derive(Serialize, JsonSchema, Clone, Copy)]
struct Counts {
    /// They break readers.
    breaking: usize,
    /// It could not be told whether they do.
    undecided: usize,
    /// They break readers that rely on what was not quite promised.
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

pub(super) fn run(args: &DiffArgs, output: &mut Output) -> Result<u8> {
    let (old, new) = sides::both(&args.sides, &args.live, output)?;
    let mut changes = sides::changes(&old, &new);
    let unknown = [("old", &old.unknown), ("new", &new.unknown)].into_iter();
    changes.extend(unknown.flat_map(|(side, reasons)| {
        reasons
            .iter()
            .map(move |reason| Change::undecided(&format!("the {side} side says nothing: {reason}")))
    }));
    changes.sort_by_key(|change| change.class);
    let count = |class: Class| changes.iter().filter(|change| change.class == class).count();
    let counts = Counts {
        breaking: count(Class::Breaking),
        undecided: count(Class::Undecided),
        risky: count(Class::Risky),
        compatible: count(Class::Compatible),
    };
    let diff = Diff { old: old.name.clone(), new: new.name.clone(), counts, changes };
    let ok = counts.breaking == 0;
    match output.config().format {
        OutputFormat::Text => output.text(&page(&diff, &old, output))?,
        OutputFormat::Json => output.document("contract diff", ok, &diff)?,
        OutputFormat::Jsonl => {
            diff.changes.iter().try_for_each(|change| output.record(&Line::Change { change }))?;
            output.record(&Line::Summary { old: &diff.old, new: &diff.new, counts })?;
        }
    }
    if ok {
        return Ok(0);
    }
    let many = if counts.breaking == 1 { "change" } else { "changes" };
    output.error(&Error::general(format!("{} breaking {many}", counts.breaking)));
    Ok(1)
}

fn page(diff: &Diff, old: &Side, output: &Output) -> String {
    let mut page = Page::new(output.config());
    let quiet = output.config().quiet;
    for change in &diff.changes {
        if quiet && change.class == Class::Compatible {
            continue;
        }
        page.blank();
        told(change, &mut page);
    }
    page.blank();
    if diff.changes.is_empty() {
        let what = if old.promises.len() == 1 { "" } else { " in any output" };
        page.line(0, &[Cell::new(Tone::Good, format!("no difference{what}"))]);
        return page.finish();
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
    page.finish()
}

/// A change, as a compiler tells of it.
pub(super) fn told(change: &Change, page: &mut Page) {
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
    let pointer = if change.pointer.is_empty() { "(whole)" } else { &change.pointer };
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
    if let Some(witness) = &change.witness {
        detail("possible now", &witness.document.to_string());
        detail("old readers", &witness.rejected);
    }
}

fn short(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    strict_json::sanitize::capped(&text, 200)
}
