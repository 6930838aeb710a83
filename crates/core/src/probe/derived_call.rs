//! Calls that are made, not declared.

use super::args::placed_last;
use super::definition::Probe;
use super::profile::TargetProfile;
use crate::catalogue::Derived;
use crate::config::{CallConfig, FORMAT_PLACE};
use crate::model::{Case, OutputFormat, ProbeId};
use std::time::Duration;

/// An unknown flag.
pub const UNKNOWN_FLAG: &str = "--agentnative-unknown-flag";
/// A command that no program has.
pub const UNKNOWN_COMMAND: &str = "agentnative-unknown-command";
/// A value that no option has.
pub const UNKNOWN_VALUE: &str = "agentnative-unknown-value";
/// A format that no program has.
pub const UNKNOWN_FORMAT: &str = "agentnative-unknown-format";

/// A call of the target itself.
pub(super) fn bare(kind: Derived, args: &[&str], timeout: Duration) -> Probe {
    let words = args.iter().map(|arg| (*arg).to_owned()).collect();
    Probe {
        id: ProbeId::derived(kind, None),
        name: args.join(" "),
        call: CallConfig { args: words, ..CallConfig::default() },
        exit: None,
        asks_format: true,
        formats: OutputFormat::ALL.to_vec(),
        place: None,
        effect: None,
        timeout,
        writes: false,
    }
}

/// A declared probe as the source of a derived one.
pub(super) fn made(kind: Derived, case: Case, probe: &Probe, label: &str) -> Probe {
    Probe {
        id: ProbeId::Derived { kind, from: Some(probe.name.clone()), case },
        name: format!("{}, {label}", probe.name),
        ..probe.clone()
    }
}

/// `args` of a probe with an option where its options are accepted: where the format option is, if that place was found
/// or is the only one, in a call without subcommands; else last.
pub fn placed(args: &[String], option: &[String], probe: &Probe, profile: &TargetProfile) -> Vec<String> {
    let marked = args.iter().position(|arg| arg == FORMAT_PLACE);
    match marked.filter(|_| probe.place.is_some() || profile.commands.is_empty()) {
        Some(at) => [&args[..=at], option, &args[at + 1..]].concat(),
        None => placed_last(args, option),
    }
}
