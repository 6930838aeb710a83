//! The expected exit codes of calls, and what to declare if no probe shows them.

use crate::context::CheckContext;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CallOutcome, CheckId, OutputFormat, ProbeId, Stream};
use agentnative_core::probe::{Probe, TargetProfile};

/// Message of the checks that need a failing call, if only calls with invalid usage fail.
pub const NO_FAILURE: &str = "no probe fails: declare one with its exit code, such as `exit = 1`";

/// Returns advice for a check that lacks a successful probe, such as `declare a probe that succeeds in json or jsonl`.
/// `formats` is the end of this text; if it is empty, any format is sufficient.
pub fn declare_success(formats: &str) -> String {
    format!("declare a probe that succeeds{}", in_formats(formats))
}

/// Returns advice for a check that lacks a failing probe. `formats` has the same meaning as in [`declare_success`].
pub fn declare_failure(formats: &str) -> String {
    format!("declare a probe that fails{}, such as `exit = 1`", in_formats(formats))
}

fn in_formats(formats: &str) -> String {
    if formats.is_empty() { String::new() } else { format!(" in {formats}") }
}

pub fn display_exit(exit: Option<i32>) -> String {
    exit.map_or_else(|| "none".to_owned(), |code| code.to_string())
}

/// Returns the check that judges the exit code of `probe`, such as `p2-exit-success` for a probe that should exit with
/// 0. No one declares the code of an explored call that fails, so it only has to be the same in each run.
pub fn exit_check(profile: &TargetProfile, probe: &Probe) -> CheckId {
    match probe.exit {
        _ if is_invalid_usage(probe) => CheckId::P2ExitUsage,
        _ if probe.is_source() && probe.has_outcome(CallOutcome::Invalid) => CheckId::P2ExitUsage,
        exit if probe.explored.is_some() && exit != Some(0) => CheckId::P2ExitConsistent,
        Some(0) => CheckId::P2ExitSuccess,
        // If invalid usage has the code of general errors, a declared probe is about the latter.
        Some(1) => CheckId::P2ExitError,
        Some(77) => CheckId::P2ExitAuth,
        Some(78) => CheckId::P2ExitConfig,
        Some(code) if code == profile.conventions.usage => CheckId::P2ExitUsage,
        _ => CheckId::P2ExitError,
    }
}

/// True for a call of the target itself with an unknown flag or an unknown command, which agentnative derives.
pub fn is_invalid_usage(probe: &Probe) -> bool {
    [DerivedKind::UnknownFlag, DerivedKind::UnknownCommand].into_iter().any(|kind| probe.is_kind(kind))
}

/// True if the target fails in the same way without arguments, according to an explored call: then it may not have
/// rejected the invalid word of `probe`, but refused to work in this folder.
pub fn fails_anyway(context: &CheckContext, probe: &Probe) -> bool {
    let without_arguments = ProbeId::Explored { explored: Vec::new(), stdin: None };
    let bare = context.all_probes.iter().find(|other| other.id == without_arguments);
    let bare = bare.and_then(|bare| context.context_of(&bare.id).plain_run(bare, OutputFormat::Text));
    let (Some(bare), Some(run)) = (bare, context.plain_run(probe, OutputFormat::Text)) else { return false };
    let prints_the_same = |stream| bare.normalized_lines(stream) == run.normalized_lines(stream);
    is_invalid_usage(probe)
        && run.exit() != Some(0)
        && run.exit() == bare.exit()
        && [Stream::Stdout, Stream::Stderr].into_iter().all(prints_the_same)
}
