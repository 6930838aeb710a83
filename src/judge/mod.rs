//! The checks' logic: a pure function of observations. No process, no clock, no file.

mod case;
mod contracts;
mod data;
mod ending;
mod errors;
mod exits;
mod locked;
mod offers;
mod output;
mod parity;
pub mod project;
mod read;
mod sameness;
mod scan;
mod shape;
pub mod source;
mod verdict;

pub use case::Case;
pub use locked::{Learnt, learn};

use crate::probe;
use crate::report::CheckResult;
use crate::report::catalogue::Check;
use agentnative_contract::Framing;
use std::time::Duration;
use verdict::Judgement;

/// What to do when no declared probe can decide.
const DECLARE: &str =
    "declare a probe that is expected to succeed ([[probe]] in agentnative.toml, or --probe)";
/// The same, where it has to be in json or jsonl, in json, in jsonl, or in both.
const DECLARE_DATA: &str = "declare a probe that is expected to succeed in json or jsonl ([[probe]] in agentnative.toml, or --probe)";
const DECLARE_JSON: &str =
    "declare a probe that is expected to succeed in json ([[probe]] in agentnative.toml, or --probe)";
const DECLARE_JSONL: &str =
    "declare a probe that is expected to succeed in jsonl ([[probe]] in agentnative.toml, or --probe)";
const DECLARE_BOTH: &str = "declare a probe that is expected to succeed in json and in jsonl ([[probe]] in agentnative.toml, or --probe)";
/// What to do when no failing probe can decide.
const DECLARE_FAILING: &str =
    "declare a probe that is expected to fail ([[probe]] with `exit`, or --probe \"1:…\")";

/// The same, where it has to be in json or jsonl.
const DECLARE_FAILING_DATA: &str =
    "declare a probe that is expected to fail in json or jsonl ([[probe]] with `exit`, or --probe \"1:…\")";

/// What gives a verdict.
type Logic = fn(&Case) -> Judgement;

/// The logic of each behavioral check.
const LOGIC: &[(&str, Logic)] = &[
    ("p2-output-format", output::format),
    ("p2-output-json", output::json),
    ("p2-output-jsonl", output::jsonl),
    ("p2-output-pure", output::pure),
    ("p2-output-complete", sameness::complete),
    ("p2-output-stable", sameness::stable),
    ("p2-output-parity", parity::parity),
    ("p2-json-strict", data::strict),
    ("p2-json-interop", data::interop),
    ("p2-jsonl-newline", data::newline),
    ("p2-jsonl-prompt", data::prompt),
    ("p2-stderr-diagnostics", errors::diagnostics),
    ("p2-error-json", errors::error_json),
    ("p2-exit-success", exits::success),
    ("p2-exit-error", exits::error),
    ("p2-exit-usage", exits::usage),
    ("p2-exit-auth", exits::auth),
    ("p2-exit-config", exits::config),
    ("p2-exit-consistent", exits::consistent),
    ("p2-completes", ending::completes),
    ("p2-broken-pipe", ending::broken_pipe),
    ("p2-contract-schema", contracts::schema),
    ("p2-contract-stream", contracts::stream),
    ("p2-contract-exit", contracts::exit),
    ("p2-contract-locked", locked::locked),
    ("p2-envelope", sameness::envelope),
    ("p2-schema-print", offers::schema),
    ("p2-json-alias", offers::alias),
    ("p2-more-formats", offers::more_formats),
    ("p2-raw", offers::raw),
];

/// The rules that a contract for the whole target takes the place of: it has one format and its own way
/// to ask for it, its own error channel and exit codes.
const REPLACED: &[&str] = &[
    "p2-output-format",
    "p2-output-parity",
    "p2-error-json",
    "p2-exit-error",
    "p2-exit-usage",
    "p2-exit-auth",
    "p2-exit-config",
    "p2-contract-locked",
    "p2-envelope",
    "p2-json-alias",
];

/// The verdict on each of `checks`, in their order. A check without logic here belongs to another layer
/// and gives none.
pub fn judge(case: &Case, checks: &[&Check]) -> Vec<CheckResult> {
    checks
        .iter()
        .filter_map(|check| {
            let (id, logic) = LOGIC.iter().find(|(id, _)| *id == check.id)?;
            let judgement = match replaced(case, id) {
                Some(name) => {
                    Judgement::NotApplicable(format!("the contract {name} says what holds instead"))
                }
                None => complete(case, check, logic(case)),
            };
            Some(judgement.result(check))
        })
        .collect()
}

/// The contract for the whole target that takes the place of a check: by [`REPLACED`], or since its one
/// format is not the check's.
fn replaced<'a>(case: &'a Case, id: &str) -> Option<&'a str> {
    let name = case.promises.contract.as_deref()?;
    let of_other_format = match case.contracts.get(name)?.framing() {
        Framing::Document => matches!(id, "p2-output-jsonl" | "p2-jsonl-newline" | "p2-jsonl-prompt"),
        Framing::Lines => id == "p2-output-json",
    };
    (of_other_format || REPLACED.contains(&id)).then_some(name)
}

/// What was seen is enough only when all runs that the check needs were made: an interrupted check, or a
/// recording of other checks, has fewer.
fn complete(case: &Case, check: &Check, judgement: Judgement) -> Judgement {
    let reason = match &judgement {
        Judgement::Pass(_) => String::new(),
        Judgement::Unverified(reason) => format!("{reason}; "),
        _ => return judgement,
    };
    let declared = case.probes.iter().filter(|probe| probe.is_declared()).cloned().collect();
    let (_, needed) = probe::plan(&[check], declared, case.promises, Duration::ZERO);
    match needed.iter().filter(|key| !case.has(key)).count() {
        0 => judgement,
        missing => Judgement::Unverified(format!(
            "{reason}{missing} of the {} runs that it needs were not made",
            needed.len()
        )),
    }
}

/// The IDs of the checks that have logic here, in no particular order.
pub fn ids() -> impl Iterator<Item = &'static str> {
    LOGIC.iter().map(|(id, _)| *id)
}

/// An exit code for people.
fn shown(exit: Option<i32>) -> String {
    exit.map_or_else(|| "none".to_owned(), |code| code.to_string())
}
