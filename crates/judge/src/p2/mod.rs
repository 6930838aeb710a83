//! The checks of principle 2: structured output, errors and exit codes.

mod contracts;
mod determinism;
mod documented;
mod empty;
mod errors;
mod exits;
mod further_formats;
mod interface;
mod locale;
pub mod locked;
mod optional_features;
mod order;
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
    (CheckId::P2OutputJson, |context| output::judge_json_syntax(context, OutputFormat::Json)),
    (CheckId::P2OutputJsonl, |context| output::judge_json_syntax(context, OutputFormat::Jsonl)),
    (CheckId::P2OutputPure, output::judge_output_purity),
    (CheckId::P2OutputComplete, determinism::judge_output_completeness),
    (CheckId::P2OutputStable, determinism::judge_output_stability),
    (CheckId::P2OutputParity, parity::parity),
    (CheckId::P2JsonStrict, |context| well_formed::judge_problem_severity(context, ProblemSeverity::Strict)),
    (CheckId::P2JsonInterop, |context| {
        well_formed::judge_problem_severity(context, ProblemSeverity::Interop)
    }),
    (CheckId::P2JsonlNewline, well_formed::newline),
    (CheckId::P2JsonlPrompt, well_formed::prompt),
    (CheckId::P2StderrDiagnostics, errors::diagnostics),
    (CheckId::P2ErrorJson, errors::error_json),
    (CheckId::P2ExitSuccess, |context| exits::judge_exit_code(context, CheckId::P2ExitSuccess, 0)),
    (CheckId::P2ExitError, exits::judge_error_exit),
    (CheckId::P2ExitUsage, exits::judge_usage_exit),
    (CheckId::P2ExitAuth, |context| exits::judge_exit_code(context, CheckId::P2ExitAuth, 77)),
    (CheckId::P2ExitConfig, |context| exits::judge_exit_code(context, CheckId::P2ExitConfig, 78)),
    (CheckId::P2ExitConsistent, exits::judge_exit_consistency),
    (CheckId::P2ExitDocumented, |context| ProjectEvidence::collect(context).exit_documented()),
    (CheckId::P2Completes, termination::completes),
    (CheckId::P2BrokenPipe, termination::broken_pipe),
    (CheckId::P2ContractSchema, |context| contracts::judge_rules(context, Against::Schema)),
    (CheckId::P2ContractStream, |context| contracts::judge_rules(context, Against::Stream)),
    (CheckId::P2ContractExit, |context| contracts::judge_rules(context, Against::Exit)),
    (CheckId::P2ContractLocked, locked::judge_against_lock),
    (CheckId::P2InterfaceLocked, interface::judge_against_lock),
    (CheckId::P2Envelope, determinism::judge_common_envelope),
    (CheckId::P2SchemaPrint, optional_features::schema),
    (CheckId::P2JsonAlias, optional_features::judge_json_alias),
    (CheckId::P2MoreFormats, further_formats::judge_more_formats),
    (CheckId::P2Raw, further_formats::judge_raw_output),
    (CheckId::P2OutputOrder, order::judge_order),
    (CheckId::P2OutputEmpty, empty::judge_empty_lists),
    (CheckId::P2OutputLocale, locale::judge_locales),
    (CheckId::P2OutputVersion, optional_features::judge_output_version),
    (CheckId::P2SchemaFile, |context| ProjectEvidence::collect(context).schema_file()),
];
