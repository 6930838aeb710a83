//! The interface of a target: its commands, options and arguments, read from runs that printed help pages.
//!
//! Pure: [`read_interface`] returns what the help pages describe, or the calls that it still needs, and
//! [`try_vanished`] requests calls with commands and options that an older interface has and the help no longer lists.
//! [`recorded_interface`] combines all this for the runs of a recording.

mod call;
mod completions;
mod hidden;
mod hidden_commands;
mod pages;
mod probes;

pub use call::{InterfaceCall, interface_probe};
pub use hidden::try_vanished;
pub use pages::{ReadInterface, read_interface};

use crate::catalogue::DerivedKind;
use crate::explore::FindRun;
use crate::model::{OutputFormat, ProbeId};
use crate::probe::Probe;
use crate::run::RunKey;
use agentnative_diff::interface::ProgramInterface;

/// Returns the interface that recorded runs of these probes show; `None` if the runs of help pages were not made.
pub fn recorded_interface<'r>(probes: &[&'r Probe], find: &FindRun<'r>) -> Option<ReadInterface> {
    let help = ProbeId::derived(DerivedKind::Help, None);
    let root = find(&RunKey::plain_run_key(help, OutputFormat::Text)).flatten()?;
    let read = read_interface(root, find).continue_value()?;
    let complete = |interface: ProgramInterface| {
        let mut interface = completions::with_completions(interface, find);
        let ids = || probes.iter().map(|probe| &probe.id);
        interface = hidden::with_hidden_options(interface, ids(), find);
        interface = hidden_commands::with_hidden_commands(interface, ids(), find);
        for probe in probes.iter().filter(|probe| probe.is_declared()) {
            let mut runs =
                probe.formats.iter().filter_map(|format| find(&probe.plain_run(*format)).flatten());
            if let Some(seen) = runs.next() {
                probes::add_probe(&mut interface, probe, seen);
            }
        }
        interface
    };
    Some(ReadInterface { interface: read.interface.map(complete), ..read })
}
