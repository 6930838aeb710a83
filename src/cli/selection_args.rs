//! The arguments that select checks, and the completion of their IDs.

use super::complete;
use crate::check::Selection;
use agentnative_core::catalogue;
use agentnative_core::model::{Edition, Layer};
use agentnative_output::whole_number;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use std::ffi::OsStr;

/// The options that select checks.
#[derive(clap::Args)]
pub(super) struct SelectionArgs {
    /// Run only the checks of these principles (repeatable; commas).
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = whole_number::<u8>(1..=255), add = complete::principles())]
    principle: Vec<u8>,
    /// Run only these checks (repeatable; commas). `*` matches any part of an ID, as in "p2-output-*". A
    /// check named here is run even if the configuration skips it.
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = Ids(checks), hide_possible_values = true)]
    check: Vec<String>,
    /// Leave these checks out (repeatable; commas). `*` matches any part of an ID.
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = Ids(checks), hide_possible_values = true)]
    skip: Vec<String>,
    /// Run only the checks of these layers: behavioral, source, project (repeatable; commas).
    #[arg(long, value_enum, value_name = "LAYER", value_delimiter = ',', hide_possible_values = true)]
    layer: Vec<Layer>,
    /// Check the requirements of this edition of the agent-native CLI standard [default: 0.6].
    #[arg(long, value_enum, value_name = "EDITION", hide_possible_values = true)]
    pub edition: Option<Edition>,
}

impl SelectionArgs {
    pub(super) fn selection(&self) -> Selection {
        Selection {
            principles: self.principle.clone(),
            layers: self.layer.clone(),
            checks: self.check.clone(),
            skip: self.skip.clone(),
            edition: self.edition,
        }
    }
}

/// A parser that accepts any text as an ID. The function in it returns the IDs that shell completion offers.
/// [`Selection`] rejects unknown IDs and patterns later, with a suggestion.
#[derive(Clone, Copy)]
pub(super) struct Ids(pub fn() -> Vec<PossibleValue>);

/// Returns the IDs of the checks.
pub(super) fn checks() -> Vec<PossibleValue> {
    let value = |check: &catalogue::Check| PossibleValue::new(check.id.as_str()).help(check.title.clone());
    catalogue::checks().iter().map(value).collect()
}

impl TypedValueParser for Ids {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}
