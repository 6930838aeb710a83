//! The checks of principle 2: structured output, errors and exit codes.

mod contracts;
mod determinism;
mod documented;
mod errors;
mod exits;
mod further_formats;
pub mod locked;
mod optional_features;
mod output;
mod parity;
pub mod project_files;
mod schemas;
mod termination;
mod well_formed;

use super::Row;
use crate::model::{CheckId, OutputFormat};
use agentnative_contract::Against;
use project_files::ProjectFiles;
use strict_json::Class;

/// A contract for the whole target does not take the place of the check.
const NEVER: &[OutputFormat] = &[];
/// Such a contract says itself what holds.
const ANY: &[OutputFormat] = &[OutputFormat::Json, OutputFormat::Jsonl];
/// One that has no JSON lines does.
const DOCUMENT: &[OutputFormat] = &[OutputFormat::Json];
/// One that has nothing but JSON lines does.
const LINES: &[OutputFormat] = &[OutputFormat::Jsonl];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P2OutputFormat, output::format, ANY),
    (CheckId::P2OutputJson, |context| output::parsed(context, OutputFormat::Json), LINES),
    (CheckId::P2OutputJsonl, |context| output::parsed(context, OutputFormat::Jsonl), DOCUMENT),
    (CheckId::P2OutputPure, output::pure, NEVER),
    (CheckId::P2OutputComplete, determinism::complete, NEVER),
    (CheckId::P2OutputStable, determinism::stable, NEVER),
    (CheckId::P2OutputParity, parity::parity, ANY),
    (CheckId::P2JsonStrict, |context| well_formed::without(context, Class::Strict), NEVER),
    (CheckId::P2JsonInterop, |context| well_formed::without(context, Class::Interop), NEVER),
    (CheckId::P2JsonlNewline, well_formed::newline, DOCUMENT),
    (CheckId::P2JsonlPrompt, well_formed::prompt, DOCUMENT),
    (CheckId::P2StderrDiagnostics, errors::diagnostics, NEVER),
    (CheckId::P2ErrorJson, errors::error_json, ANY),
    (CheckId::P2ExitSuccess, |context| exits::code(context, CheckId::P2ExitSuccess, 0), NEVER),
    (CheckId::P2ExitError, exits::error, ANY),
    (CheckId::P2ExitUsage, exits::usage, ANY),
    (CheckId::P2ExitAuth, |context| exits::code(context, CheckId::P2ExitAuth, 77), ANY),
    (CheckId::P2ExitConfig, |context| exits::code(context, CheckId::P2ExitConfig, 78), ANY),
    (CheckId::P2ExitConsistent, exits::consistent, NEVER),
    (CheckId::P2ExitDocumented, |context| ProjectFiles::of(context).exit_documented(), NEVER),
    (CheckId::P2Completes, termination::completes, NEVER),
    (CheckId::P2BrokenPipe, termination::broken_pipe, NEVER),
    (CheckId::P2ContractSchema, |context| contracts::keeps(context, Against::Schema), NEVER),
    (CheckId::P2ContractStream, |context| contracts::keeps(context, Against::Stream), NEVER),
    (CheckId::P2ContractExit, |context| contracts::keeps(context, Against::Exit), NEVER),
    (CheckId::P2ContractLocked, locked::locked, ANY),
    (CheckId::P2Envelope, determinism::envelope, ANY),
    (CheckId::P2SchemaPrint, optional_features::schema, NEVER),
    (CheckId::P2JsonAlias, optional_features::alias, ANY),
    (CheckId::P2MoreFormats, further_formats::more, NEVER),
    (CheckId::P2Raw, further_formats::raw, NEVER),
    (CheckId::P2SchemaFile, |context| ProjectFiles::of(context).schema_file(), NEVER),
];
