//! Builds derived calls: the unknown words that they contain, and functions that create them.

use super::args::insert_last;
use super::definition::Probe;
use super::profile::TargetProfile;
use crate::catalogue::DerivedKind;
use crate::config::{CallConfig, FORMAT_PLACEHOLDER};
use crate::model::{Case, OutputFormat, ProbeId};
use std::time::Duration;

/// A flag that no program has.
pub const UNKNOWN_FLAG: &str = "--agentnative-unknown-flag";
/// A command that no program has.
pub const UNKNOWN_COMMAND: &str = "agentnative-unknown-command";
/// A value that no option has.
pub const UNKNOWN_VALUE: &str = "agentnative-unknown-value";
/// A format that no program has.
pub const UNKNOWN_FORMAT: &str = "agentnative-unknown-format";

/// Creates a derived call of the target itself. It runs in all formats and has no expected exit code.
pub(super) fn target_call(kind: DerivedKind, args: &[&str], timeout: Duration) -> Probe {
    let words = args.iter().map(|arg| (*arg).to_owned()).collect();
    Probe {
        id: ProbeId::derived(kind, None),
        name: args.join(" "),
        call: CallConfig { args: words, ..CallConfig::default() },
        exit: None,
        asks_format: true,
        formats: OutputFormat::ALL.to_vec(),
        flag_position: None,
        effect: None,
        timeout,
        writes: false,
        explored: None,
    }
}

/// Creates a derived call as a copy of a declared probe with another identity. Its name is that of the probe, followed
/// by `label`.
pub(super) fn derive_from(kind: DerivedKind, case: Case, probe: &Probe, label: &str) -> Probe {
    Probe {
        id: ProbeId::Derived { kind, source: Some(probe.name.clone()), case },
        name: format!("{}, {label}", probe.name),
        ..probe.clone()
    }
}

/// Inserts an option into `args`, arguments of a probe, where the probe accepts options. If the flag position was
/// determined or the target has no subcommands, this is the flag position. Else it is the end, or before a `--`.
pub fn insert_option(
    args: &[String],
    option: &[String],
    probe: &Probe,
    profile: &TargetProfile,
) -> Vec<String> {
    let flag_position = args.iter().position(|arg| arg == FORMAT_PLACEHOLDER);
    match flag_position.filter(|_| probe.flag_position.is_some() || profile.commands.is_empty()) {
        Some(index) => [&args[..=index], option, &args[index + 1..]].concat(),
        None => insert_last(args, option),
    }
}
