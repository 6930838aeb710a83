//! How calls are expected to end, and what to declare where none shows it.

use agentnative_core::catalogue::Derived;
use agentnative_core::model::CheckId;
use agentnative_core::probe::{Probe, TargetProfile};

/// Where only wrong calls fail: one reason for all checks of failures.
pub const NO_FAILURE: &str = "no probe fails: declare one with its exit code, such as `exit = 1`";

/// What to do when no probe that succeeds can decide: declare one, in these formats, such as `json or jsonl`;
/// empty where any will do.
pub fn declare_success(formats: &str) -> String {
    format!("declare a probe that succeeds{}", in_formats(formats))
}

/// The same, where it has to fail.
pub fn declare_failure(formats: &str) -> String {
    format!("declare a probe that fails{}, such as `exit = 1`", in_formats(formats))
}

fn in_formats(formats: &str) -> String {
    if formats.is_empty() { String::new() } else { format!(" in {formats}") }
}

/// An exit code for people.
pub fn display_exit(exit: Option<i32>) -> String {
    exit.map_or_else(|| "none".to_owned(), |code| code.to_string())
}

/// The check that judges how the runs of this probe end.
pub fn exit_check(profile: &TargetProfile, probe: &Probe) -> CheckId {
    match probe.exit {
        _ if is_plain_call(probe) => CheckId::P2ExitUsage,
        Some(0) => CheckId::P2ExitSuccess,
        // Where wrong calls have the code of general errors, a declared probe is about the latter.
        Some(1) => CheckId::P2ExitError,
        Some(77) => CheckId::P2ExitAuth,
        Some(78) => CheckId::P2ExitConfig,
        Some(code) if code == profile.conventions.usage => CheckId::P2ExitUsage,
        _ => CheckId::P2ExitError,
    }
}

/// A derived probe of the target itself, not a declared one asked in another way.
pub fn is_plain_call(probe: &Probe) -> bool {
    [Derived::UnknownFlag, Derived::UnknownCommand].into_iter().any(|kind| probe.is(kind))
}
