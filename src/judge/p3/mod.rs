//! The checks of principle 3: help, examples and version.

mod examples;
mod examples_parse;
mod help;
mod version;

use super::Row;
use crate::model::{CheckId, OutputFormat};

/// A contract for the whole target does not take the place of the check.
const NEVER: &[OutputFormat] = &[];
/// Such a contract has its own way to refuse a call.
const ANY: &[OutputFormat] = &[OutputFormat::Json, OutputFormat::Jsonl];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P3Help, help::help, NEVER),
    (CheckId::P3CommandHelp, help::command_help, NEVER),
    (CheckId::P3Examples, examples::examples, NEVER),
    (CheckId::P3CommandExamples, examples::command_examples, NEVER),
    (CheckId::P3ExamplesValid, examples::valid, NEVER),
    (CheckId::P3ExamplesParse, examples_parse::parse, ANY),
    (CheckId::P3Version, version::version, NEVER),
];
