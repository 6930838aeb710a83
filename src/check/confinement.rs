//! What the reader has to know of how runs were confined.

use agentnative_core::config::Isolation;
use agentnative_core::probe::Recording;
use agentnative_core::run::Confinement;

/// What the weakest way leaves open, of those that were to be stronger.
pub(super) fn note(recording: &Recording, asked: Isolation, no_namespaces: Option<&str>) -> Option<String> {
    let why = no_namespaces.map(|why| format!(" (no namespaces: {why})")).unwrap_or_default();
    let ports = if recording.profile.acts_elsewhere { ", and listen on TCP ports" } else { "" };
    match recording.confinement {
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
    }
}
