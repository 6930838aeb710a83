//! Where a target takes the arguments that ask for a format: found by trying, for the probes that do not say.

use super::asking;
use super::runs::Make;
use crate::catalogue::Derived;
use crate::config::{FORMAT_PLACE, Flag};
use crate::model::{OutputFormat, ProbeId};
use crate::probe::{self, Effect, Place, Probe, Promises};
use crate::run::{End, Observation, RunKey};
use agentnative_contract::error::Result;

/// So much of an output shows whether it is JSON, in bytes.
const HEAD: u64 = 4096;

/// What the search came to.
#[derive(Default)]
pub(super) struct Searched {
    /// The runs that were made, those that the plan has anyhow among them.
    pub observations: Vec<Observation>,
    /// The calls that were refused where the format is found elsewhere: not in the plan.
    pub refused: Vec<Probe>,
    /// For the reader: which place was found.
    pub notes: Vec<String>,
}

/// Finds the place for each declared probe that gives data, is refused with the format after its arguments, and
/// not without one; and writes it into its arguments. `probes` has those that are derived as well.
///
/// Where neither the configuration nor the help names a format, a place is tried only if a value that no tool
/// takes does no harm there: what stands behind the flag might name a file.
pub(super) fn find(
    declared: &mut [Probe],
    probes: &[Probe],
    promises: &Promises,
    make: &mut Make<'_>,
) -> Result<Searched> {
    let mut searched = Searched::default();
    // Planned or not: the place is that of other options as well.
    let asked = |probe: &Probe| Some(probe.plain(format_to_try(probe, promises)?));
    let after: Vec<RunKey> = declared.iter().filter_map(asked).collect();
    let mut seen = make(&after, probes)?;
    let of = |seen: &[Observation], id: &ProbeId| seen.iter().find(|seen| seen.key.probe == *id).cloned();
    let did = |probe: &Probe, seen: &Observation| matches!((&seen.end, probe.exit), (End::Exited(code), Some(exit)) if *code == exit);
    let left = |probe: &Probe, seen: &Observation| matches!(seen.end, End::Exited(_)) && !did(probe, seen);
    let bare = |probe: &Probe| {
        let bare = probes.iter().find(|bare| bare.is(Derived::NoFormat) && bare.of() == Some(&probe.name))?;
        Some(bare.plain(OutputFormat::Text))
    };
    let refused = declared.iter().filter(|probe| of(&seen, &probe.id).is_some_and(|seen| left(probe, &seen)));
    let without: Vec<RunKey> = refused.filter_map(bare).collect();
    let without = if without.is_empty() { Vec::new() } else { make(&without, probes)? };

    let mut found = None;
    for probe in declared.iter_mut() {
        let (Some(format), Some(refusal)) = (format_to_try(probe, promises), of(&seen, &probe.id)) else {
            continue;
        };
        let works = bare(probe).and_then(|bare| of(&without, &bare.probe)).filter(|seen| did(probe, seen));
        let Some(works) = works.filter(|_| left(probe, &refusal)) else { continue };
        for place in [Place::Front, Place::BehindFirst] {
            let Some(placed) = placed(probe, place, promises) else { continue };
            let answer = match is_named(probe, format, promises) {
                true => None,
                false => match asking::ask(&placed, promises, make)? {
                    Some(answer) => Some(answer),
                    None => continue,
                },
            };
            let tried = make(&[probe.plain(format)], std::slice::from_ref(&placed))?.pop();
            let Some(tried) = tried.filter(|tried| did(probe, tried) && prints_json(tried, &works)) else {
                continue;
            };
            // What was refused is kept as the run of another probe, and what worked is the run of this one.
            let refused = Probe {
                id: ProbeId::derived(Derived::Refused, Some(probe.name.clone())),
                name: format!("{}, format after the arguments", probe.name),
                formats: vec![format],
                ..probe.clone()
            };
            seen.retain(|seen| seen.key.probe != probe.id);
            seen.push(Observation { key: refused.plain(format), ..refusal });
            seen.push(tried);
            seen.extend(answer);
            searched.refused.push(refused);
            let call = strict_json::sanitize::line(placed.call(format, promises).join(" "));
            let note = format!(
                "the format option is accepted {}, as in `{call}`, and rejected after the arguments",
                place.words()
            );
            if found.is_none() {
                searched.notes.push(note);
            }
            found = found.or(Some(place));
            *probe = placed;
            break;
        }
    }
    // The probes that show no place, since they were not tried or end otherwise than declared in any call, are
    // called as those that show one, if these agree. A call in which that is the same place says nothing.
    let stayed = |probe: &Probe, place| {
        let did = of(&seen, &probe.id).is_some_and(|seen| did(probe, &seen));
        did && probe.place.is_none() && placed(probe, place, promises).is_some()
    };
    if let Some(place) = found.filter(|place| !declared.iter().any(|probe| stayed(probe, *place))) {
        for probe in declared.iter_mut().filter(|probe| probe.place.is_none()) {
            let Some(placed) = placed(probe, place, promises) else { continue };
            if of(&seen, &probe.id).is_none_or(|seen| left(probe, &seen)) {
                seen.retain(|seen| seen.key.probe != probe.id);
                *probe = placed;
            }
        }
    }
    searched.observations = seen;
    searched.observations.extend(without);
    Ok(searched)
}

/// The format that shows where a probe's is taken.
fn format_to_try(probe: &Probe, promises: &Promises) -> Option<OutputFormat> {
    let open =
        probe.gives_data() && !probe.args.is_empty() && !probe.args.iter().any(|arg| arg == FORMAT_PLACE);
    let is_asked = |format: OutputFormat| {
        probe.formats.contains(&format)
            && !probe.asking(format, promises).is_empty()
            && (is_named(probe, format, promises) || probe.is_open(promises) && probe.workspace.is_none())
    };
    [OutputFormat::Json, OutputFormat::Jsonl].into_iter().find(|format| open && is_asked(*format))
}

/// Whether the configuration or the help names this format.
fn is_named(probe: &Probe, format: OutputFormat, promises: &Promises) -> bool {
    promises.known_formats.contains(&format) || probe.asking.contains_key(&format)
}

/// The probe with the format at this place; none where that is after all arguments, or it has one already.
fn placed(probe: &Probe, place: Place, promises: &Promises) -> Option<Probe> {
    if probe.args.iter().any(|arg| arg == FORMAT_PLACE) {
        return None;
    }
    let at = match place {
        Place::Front => 0,
        Place::BehindFirst => probe.args.iter().position(|arg| !arg.starts_with('-'))? + 1,
    };
    (at < probe.args.len()).then(|| {
        let marked = |args: &[String]| [&args[..at], &[FORMAT_PLACE.to_owned()], &args[at..]].concat();
        let mut placed = Probe { args: marked(&probe.args), place: Some(place), ..probe.clone() };
        if let Some(unconfirmed) = probe.effect.as_ref().and_then(|effect| effect.unconfirmed.as_ref())
            && at <= unconfirmed.len()
        {
            // The confirmation goes there as well.
            let unconfirmed = marked(unconfirmed);
            let confirm = probe.flag(Flag::Confirm, promises).args().unwrap_or_default();
            placed.args = probe::placed(&unconfirmed, confirm, &placed, promises);
            placed.effect = placed.effect.map(|effect| Effect { unconfirmed: Some(unconfirmed), ..effect });
        }
        placed
    })
}

/// Whether a call prints JSON: a call that ignores the flag prints something else, or what it prints without one.
fn prints_json(seen: &Observation, without: &Observation) -> bool {
    let head = |seen: &Observation| seen.stdout.bytes.first(HEAD);
    let is_json = |text: &[u8]| text.trim_ascii_start().first().is_some_and(|byte| b"{[".contains(byte));
    let head_of_seen = head(seen);
    // Prose before the document is the matter of another check.
    is_json(&head_of_seen)
        || head_of_seen != head(without) && head_of_seen.split(|byte| *byte == b'\n').any(is_json)
}
