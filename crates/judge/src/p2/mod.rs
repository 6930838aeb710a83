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

use super::row::CheckRow;
use agentnative_contract::Against;
use agentnative_core::model::{CheckId, OutputFormat};
use project_files::ProjectEvidence;
use strict_json::ProblemSeverity;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P2OutputFormat, output::format),
    (CheckId::P2OutputJson, |context| output::parsed(context, OutputFormat::Json)),
    (CheckId::P2OutputJsonl, |context| output::parsed(context, OutputFormat::Jsonl)),
    (CheckId::P2OutputPure, output::pure),
    (CheckId::P2OutputComplete, determinism::complete),
    (CheckId::P2OutputStable, determinism::stable),
    (CheckId::P2OutputParity, parity::parity),
    (CheckId::P2JsonStrict, |context| well_formed::judge_problem_class(context, ProblemSeverity::Strict)),
    (CheckId::P2JsonInterop, |context| well_formed::judge_problem_class(context, ProblemSeverity::Interop)),
    (CheckId::P2JsonlNewline, well_formed::newline),
    (CheckId::P2JsonlPrompt, well_formed::prompt),
    (CheckId::P2StderrDiagnostics, errors::diagnostics),
    (CheckId::P2ErrorJson, errors::error_json),
    (CheckId::P2ExitSuccess, |context| exits::judge_exit_code(context, CheckId::P2ExitSuccess, 0)),
    (CheckId::P2ExitError, exits::error),
    (CheckId::P2ExitUsage, exits::usage),
    (CheckId::P2ExitAuth, |context| exits::judge_exit_code(context, CheckId::P2ExitAuth, 77)),
    (CheckId::P2ExitConfig, |context| exits::judge_exit_code(context, CheckId::P2ExitConfig, 78)),
    (CheckId::P2ExitConsistent, exits::consistent),
    (CheckId::P2ExitDocumented, |context| ProjectEvidence::collect(context).exit_documented()),
    (CheckId::P2Completes, termination::completes),
    (CheckId::P2BrokenPipe, termination::broken_pipe),
    (CheckId::P2ContractSchema, |context| contracts::judge_rules(context, Against::Schema)),
    (CheckId::P2ContractStream, |context| contracts::judge_rules(context, Against::Stream)),
    (CheckId::P2ContractExit, |context| contracts::judge_rules(context, Against::Exit)),
    (CheckId::P2ContractLocked, locked::locked),
    (CheckId::P2Envelope, determinism::envelope),
    (CheckId::P2SchemaPrint, optional_features::schema),
    (CheckId::P2JsonAlias, optional_features::alias),
    (CheckId::P2MoreFormats, further_formats::more),
    (CheckId::P2Raw, further_formats::raw),
    (CheckId::P2SchemaFile, |context| ProjectEvidence::collect(context).schema_file()),
];
