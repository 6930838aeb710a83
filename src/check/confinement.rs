//! What the reader has to know of how runs were confined.

use crate::config::Isolation;
use crate::probe::Recording;
use crate::run::Confinement;
use agentnative_contract::named;
use std::collections::BTreeSet;

/// So many probes are named.
const MOST_NAMES: usize = 5;

/// What the weakest way leaves open, of those that were to be stronger; and which probes missed the network.
pub(super) fn notes(recording: &Recording, asked: Isolation, no_namespaces: Option<&str>) -> Vec<String> {
    let why = no_namespaces.map(|why| format!(" (no namespaces: {why})")).unwrap_or_default();
    let ports = if recording.promises.acts_elsewhere { ", and listen on TCP ports" } else { "" };
    let open = match recording.confinement {
        Some(Confinement::Landlock) if asked != Isolation::Landlock => Some(format!(
            "runs were confined by Landlock and a filter on sockets{why}: they could read the files of the user, see \
             other processes, connect to Unix sockets that are files{ports}"
        )),
        Some(Confinement::PartlyLandlock) => Some(format!(
            "isolation was only partly enforced{why}: this kernel cannot restrict all of writes, connections and signals"
        )),
        Some(Confinement::None) if asked != Isolation::None => {
            Some(format!("isolation was not enforced: this system has neither namespaces nor Landlock{why}"))
        }
        _ => None,
    };
    let missed = recording.observations.iter().filter(|seen| seen.missed_network);
    let missed: BTreeSet<&str> = missed.map(|seen| recording.name_of(&seen.key)).collect();
    let missed = (!missed.is_empty()).then(|| {
        let calls = named(missed.iter(), MOST_NAMES);
        format!("without a network, {calls} could not connect: declare `network = true` if they need one")
    });
    open.into_iter().chain(missed).collect()
}
