//! Reads the interface of the target: the help pages of all its commands, and what vanished from them.

use super::runs_so_far::{PhaseResult, RunsSoFar};
use crate::check::interface::ReadsInterface;
use agentnative_core::interface::{InterfaceCall, interface_probe, read_interface, try_vanished};
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::Probe;
use agentnative_core::run::{Observation, RunKey};
use std::ops::ControlFlow;

/// Returns the probes whose runs show the interface, or requests these runs. `help` is the probe of `mycli --help`, and
/// `root` its run. Commands and options of the older interface in `reads` that vanished are tried.
pub(super) fn interface_runs(
    reads: &ReadsInterface<'_>,
    help: &Probe,
    root: &Observation,
    so_far: &RunsSoFar,
) -> PhaseResult<Vec<Probe>> {
    let find = |key: &RunKey| so_far.find(key);
    let request = |calls: Vec<InterfaceCall>| {
        ControlFlow::Break(
            calls.iter().map(|args| (interface_probe(args, help), OutputFormat::Text)).collect(),
        )
    };
    let read = match read_interface(root, &find) {
        ControlFlow::Continue(read) => read,
        ControlFlow::Break(calls) => return request(calls),
    };
    if let (Some(reference), Some(interface)) = (reads.reference, &read.interface)
        && let ControlFlow::Break(calls) = try_vanished(reference, interface, &find)
    {
        return request(calls);
    }
    ControlFlow::Continue(so_far.interface_calls().map(|args| interface_probe(args, help)).collect())
}
