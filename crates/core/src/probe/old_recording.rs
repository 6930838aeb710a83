//! Reads recordings of versions 1 to 3, which identify a probe only by its name.

use super::{Probe, Recording, derive_calls};
use crate::catalogue::DerivedKind;
use crate::model::{Case, ProbeId};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// The first version of recordings that contains the identities of probes.
pub(super) const FIRST_WITH_IDS: u32 = 4;

/// Parses the head (first line) of an old recording. The identities of derived calls still lack their case, which
/// [`complete_ids`] adds.
pub(super) fn parse_head(head: &[u8]) -> serde_json::Result<Recording> {
    let mut head: Value = serde_json::from_slice(head)?;
    let probes = head.get_mut("probes").and_then(Value::as_array_mut);
    for probe in probes.into_iter().flatten().filter_map(Value::as_object_mut) {
        let id = match probe.remove("role") {
            Some(role @ Value::Object(_)) => {
                json!({ "kind": role["derived"]["kind"], "from": role["derived"]["of"] })
            }
            _ => probe.get("name").cloned().unwrap_or_default(),
        };
        probe.entry("id").or_insert(id);
    }
    serde_json::from_value(head)
}

/// Adds the missing cases to the identities of the derived calls in an old recording.
pub(super) fn complete_ids(recording: &mut Recording) {
    let kinds: BTreeSet<DerivedKind> = recording.probes.iter().filter_map(|probe| probe.id.kind()).collect();
    let declared: Vec<Probe> = recording.probes.iter().filter(|probe| probe.is_declared()).cloned().collect();
    let planned = derive_calls(&kinds, &declared, &recording.profile, Duration::ZERO);
    for probe in &mut recording.probes {
        if let ProbeId::Derived { kind, source: from, case: case @ Case::Only } = &mut probe.id
            && *kind != DerivedKind::Refused
        {
            let is_planned = |planned: &&Probe| {
                planned.is_kind(*kind)
                    && planned.source() == from.as_deref()
                    && old_name(planned) == probe.name
            };
            match planned.iter().find(is_planned) {
                Some(planned) => probe.id.clone_from(&planned.id),
                None => *case = Case::words([&probe.name]),
            }
        }
    }
}

/// Returns the name of a probe in recordings of versions 1 to 3. In these versions, the name of a call with an option
/// that a variable can replace did not contain the variable.
fn old_name(probe: &Probe) -> &str {
    match &probe.id {
        ProbeId::Derived { case: Case::OptionOf(variable), .. } => {
            let suffix = format!(" for {variable}");
            probe.name.strip_suffix(&suffix).unwrap_or(&probe.name)
        }
        _ => &probe.name,
    }
}
