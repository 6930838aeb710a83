//! `agentnative list`

use super::group;
use crate::catalogue::Check;
use crate::check::Selection;
use crate::model::{Layer, Level};
use agentnative_contract::error::Result;
use agentnative_output::{Cell, Output, Tone};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative list
  agentnative list --layer source --json")]
pub(super) struct ListArgs {
    /// List only the checks of these principles (repeatable; commas).
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = group::SELECTION)]
    principle: Vec<u8>,
    /// List only the checks of these layers: behavioral, source, project (repeatable; commas).
    #[arg(
        long,
        value_enum,
        value_name = "LAYER",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = group::SELECTION
    )]
    layer: Vec<Layer>,
}

/// A check in the list.
#[derive(Serialize, JsonSchema)]
pub(super) struct CheckEntry<'a> {
    /// Its ID.
    id: &'a str,
    /// The principle it belongs to.
    principle: u8,
    /// Its level.
    level: Level,
    /// What it looks at.
    layer: Layer,
    /// Its requirement, in one line.
    title: &'a str,
}

impl<'a> From<&'a Check> for CheckEntry<'a> {
    fn from(check: &'a Check) -> Self {
        Self {
            id: check.id.as_str(),
            principle: check.principle,
            level: check.level,
            layer: check.layer,
            title: &check.title,
        }
    }
}

pub(super) fn run(args: ListArgs, output: &mut Output) -> Result<u8> {
    let selection = Selection { principles: args.principle, layers: args.layer, ..Selection::default() };
    let entries: Vec<CheckEntry> = selection.resolve()?.into_iter().map(CheckEntry::from).collect();
    output.emit_records("list", true, &entries, &entries, |page| {
        page.table(0, &entries.iter().map(row).collect::<Vec<_>>());
    })?;
    Ok(0)
}

fn row(entry: &CheckEntry) -> Vec<Cell> {
    let tone = match entry.level {
        Level::Must => Tone::Strong,
        Level::Should => Tone::Plain,
        Level::May => Tone::Dim,
    };
    vec![
        Cell::new(Tone::Plain, entry.id),
        Cell::new(tone, entry.level.name()),
        Cell::new(Tone::Plain, entry.layer.name()),
        Cell::new(Tone::Plain, entry.title),
    ]
}
