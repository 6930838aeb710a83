//! The checks of principle 3: help, examples and version.

mod examples;
mod examples_parse;
mod help;
mod version;

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P3Help, help::help),
    (CheckId::P3CommandHelp, help::command_help),
    (CheckId::P3Examples, examples::examples),
    (CheckId::P3CommandExamples, examples::command_examples),
    (CheckId::P3ExamplesValid, examples::valid),
    (CheckId::P3ExamplesParse, examples_parse::parse),
    (CheckId::P3Version, version::version),
    (CheckId::P3VersionShort, version::version_short),
    (CheckId::P3About, help::about),
];
