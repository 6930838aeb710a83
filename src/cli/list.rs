//! The command `agentnative list`.

use super::group;
use crate::check::Selection;
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::{Check, Requirement, requirements};
use agentnative_core::model::{Edition, Layer, Level};
use agentnative_output::{Output, Row, StyledText, Tone, whole_number};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative list
  agentnative list --layer source --json
  agentnative list --standard --principle 4")]
pub(super) struct ListArgs {
    /// List only the checks of these principles (repeatable; commas).
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = whole_number::<u8>(1..=255), help_heading = group::SELECTION)]
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
    /// List the requirements of the standard, each with the checks that decide it, or why there is none.
    #[arg(long, conflicts_with = "layer", help_heading = group::SELECTION)]
    standard: bool,
    /// List only what this edition of the standard has [default: 0.6].
    #[arg(long, value_enum, value_name = "EDITION", hide_possible_values = true, help_heading = group::SELECTION)]
    edition: Option<Edition>,
}

/// An entry of the list.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Listed<'a> {
    /// A check.
    Check(CheckEntry<'a>),
    /// A requirement of the standard.
    Requirement(RequirementEntry<'a>),
}

/// A check in the list.
#[derive(Serialize, JsonSchema)]
pub(super) struct CheckEntry<'a> {
    /// ID of the check.
    id: &'a str,
    /// Number of the principle that the check belongs to.
    principle: u8,
    /// Level of the check.
    level: Level,
    /// Layer of the check: behavioral, source or project.
    layer: Layer,
    /// Requirement of the check, in one line.
    title: &'a str,
}

/// A requirement in the list.
#[derive(Serialize, JsonSchema)]
pub(super) struct RequirementEntry<'a> {
    /// ID of the requirement, such as `p5-must-dry-run`.
    id: &'a str,
    /// Number of the principle that the requirement belongs to.
    principle: u8,
    /// Level of the requirement.
    level: Level,
    /// The edition of the standard that added it; 0.5 stands for 0.5 and earlier editions.
    since: Edition,
    /// Summary of the requirement.
    title: &'a str,
    /// The checks that decide the requirement.
    checks: Vec<DecidingCheck<'a>>,
    /// Reason, if no check decides the requirement.
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<&'a str>,
}

/// A check that decides a requirement.
#[derive(Serialize, JsonSchema)]
struct DecidingCheck<'a> {
    /// ID of the check.
    id: &'a str,
    /// Part of the requirement that the check decides; absent if it decides all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a str>,
}

impl<'a> From<&'a Requirement> for RequirementEntry<'a> {
    fn from(requirement: &'a Requirement) -> Self {
        let deciding = |check: &'static Check| DecidingCheck {
            id: check.id.as_str(),
            part: check.standard_part.as_deref(),
        };
        Self {
            id: &requirement.id,
            principle: requirement.principle(),
            level: requirement.level(),
            since: requirement.since,
            title: &requirement.says,
            checks: requirement.checks().map(deciding).collect(),
            without: requirement.without.as_deref(),
        }
    }
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

pub(super) fn run(args: ListArgs, output: &mut Output) -> Result<()> {
    let edition = args.edition.unwrap_or_default();
    let selection = Selection {
        principles: args.principle,
        layers: args.layer,
        edition: Some(edition),
        ..Selection::default()
    };
    let entries: Vec<Listed> = if args.standard {
        let of_principle = |requirement: &&Requirement| {
            selection.principles.is_empty() || selection.principles.contains(&requirement.principle())
        };
        let in_edition = requirements().iter().filter(|requirement| requirement.is_in(edition));
        let selected: Vec<_> = in_edition.filter(of_principle).collect();
        if selected.is_empty() {
            return Err(Error::usage("the standard has no such principle; expected 1 to 8"));
        }
        selected.into_iter().map(|requirement| Listed::Requirement(requirement.into())).collect()
    } else {
        selection.resolve()?.into_iter().map(|check| Listed::Check(check.into())).collect()
    };
    output.rows("list", &entries)
}

impl Row for Listed<'_> {
    fn cells(&self) -> Vec<StyledText> {
        match self {
            Self::Check(check) => {
                let tone = match check.level {
                    Level::Must => Tone::Strong,
                    Level::Should => Tone::Normal,
                    Level::May => Tone::Dim,
                };
                let level = StyledText::new(tone, check.level.name());
                vec![
                    StyledText::plain(check.id),
                    level,
                    StyledText::plain(check.layer.name()),
                    StyledText::plain(check.title),
                ]
            }
            Self::Requirement(requirement) => {
                let ids: Vec<&str> = requirement.checks.iter().map(|check| check.id).collect();
                let decided =
                    requirement.without.map_or_else(|| StyledText::plain(ids.join(" ")), StyledText::dim);
                let since = requirement.since;
                let new =
                    (since > Edition::OLDEST).then(|| StyledText::dim(format!("since {}", since.name())));
                [StyledText::plain(requirement.id), decided].into_iter().chain(new).collect()
            }
        }
    }
}
