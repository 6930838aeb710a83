//! The calls that read an interface, and their identities.

use crate::catalogue::DerivedKind;
use crate::config::Workspace;
use crate::model::{Case, OutputFormat, ProbeId};
use crate::probe::{Probe, UNKNOWN_FLAG};
use crate::run::{Observation, RunEnd, RunKey};

/// The arguments of a call that reads an interface: a help call, or a call that ends with an unknown flag.
pub type InterfaceCall = Vec<String>;

/// Maximum length of a help page that is read, in bytes.
const MAX_PAGE: u64 = 1 << 20;
/// Maximum length of an error message that is read, in bytes.
const MAX_ERROR: u64 = 64 << 10;

/// Returns the probe of a call that reads an interface. `help` is the probe of `mycli --help`.
pub fn interface_probe(args: &InterfaceCall, help: &Probe) -> Probe {
    let mut probe = Probe {
        id: id(args),
        name: format!("interface: {}", args.join(" ")),
        exit: None,
        ..help.clone().with_args(args.clone())
    };
    if probe.is_kind(DerivedKind::VanishedOption) {
        probe.call.workspace.get_or_insert(Workspace::Empty);
    }
    probe
}

/// Returns the key of the run of a call that reads an interface.
pub(super) fn key(args: &InterfaceCall) -> RunKey {
    RunKey::plain_run_key(id(args), OutputFormat::Text)
}

fn id(args: &InterfaceCall) -> ProbeId {
    let tries_option = args.iter().any(|arg| arg == UNKNOWN_FLAG);
    let kind = if tries_option { DerivedKind::VanishedOption } else { DerivedKind::Interface };
    ProbeId::Derived { kind, source: None, case: Case::words(args) }
}

/// Returns the arguments of the call with the unknown flag that `id` identifies; `None` for another call.
pub(super) fn call_with_unknown_flag(id: &ProbeId) -> Option<&InterfaceCall> {
    match id {
        ProbeId::Derived { kind: DerivedKind::VanishedOption, case: Case::Words(args), .. } => Some(args),
        _ => None,
    }
}

/// Returns the help page that a run printed.
pub(super) fn page(seen: &Observation) -> Vec<u8> {
    seen.help_page(MAX_PAGE)
}

/// Returns what a run printed to stderr and stdout.
pub(super) fn output(seen: &Observation) -> String {
    let bytes = [seen.stderr.bytes.first(MAX_ERROR), seen.stdout.bytes.first(MAX_ERROR)].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether a run failed by itself.
pub(super) fn fails(seen: &Observation) -> bool {
    matches!(seen.end, RunEnd::Exited(code) if code != 0)
}

/// Returns the line with which a run rejects the unknown flag; `None` if it does not reject it.
pub(super) fn rejection(seen: &Observation) -> Option<String> {
    let text = output(seen);
    text.lines().find(|line| names_unknown_flag(line)).filter(|_| fails(seen)).map(str::to_owned)
}

/// Returns whether a line names the unknown flag. Parsers with options such as `-json` print one dash.
pub(super) fn names_unknown_flag(line: &str) -> bool {
    line.contains(UNKNOWN_FLAG.trim_start_matches('-'))
}
