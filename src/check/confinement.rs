//! Creates the note of a report on runs that were confined less strongly than requested.

use agentnative_core::config::Isolation;
use agentnative_core::probe::Recording;
use agentnative_core::run::Confinement;

/// Describes what the runs could still access, if one of them was confined less strongly than the configuration
/// requested; else `None`. `namespaces_error` is the reason why the system has no namespaces.
pub(super) fn weaker_confinement_note(
    recording: &Recording,
    requested: Isolation,
    namespaces_error: Option<&str>,
) -> Option<String> {
    let reason = namespaces_error.map(|reason| format!(" (no namespaces: {reason})")).unwrap_or_default();
    let ports = if recording.profile.acts_elsewhere { ", and listen on TCP ports" } else { "" };
    match recording.confinement {
        Some(Confinement::Landlock) if requested != Isolation::Landlock => Some(format!(
            "runs were confined by Landlock and a filter on sockets{reason}: they could read the files of the user, see \
             other processes, connect to Unix sockets that are files{ports}"
        )),
        Some(Confinement::PartlyLandlock) => Some(format!(
            "isolation was only partly enforced{reason}: this kernel cannot restrict writes, connections and signals completely"
        )),
        Some(Confinement::None) if requested != Isolation::None => Some(format!(
            "isolation was not enforced: this system has neither namespaces nor Landlock{reason}"
        )),
        _ => None,
    }
}
