//! Declared calls with a common option: after the subcommand, and on its other side.

use super::derived_call::made;
use super::{Place, Probe, TargetProfile};
use crate::catalogue::Derived;
use crate::config::{FORMAT_PLACE, Flag, place_format};
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;

/// The calls of these kinds.
pub(super) fn calls(kinds: &BTreeSet<Derived>, declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    let data = || declared.iter().filter(|probe| probe.gives_data());
    let mut calls = Vec::new();
    if kinds.contains(&Derived::Quiet) {
        calls.extend(declared.iter().filter_map(|probe| behind(Derived::Quiet, Flag::Quiet, probe, profile)));
    }
    if kinds.contains(&Derived::NoInput) {
        calls.extend(data().filter_map(|probe| behind(Derived::NoInput, Flag::NoInput, probe, profile)));
    }
    if kinds.contains(&Derived::NoPager) {
        // Many tools take it before the subcommand only.
        let both = |probe| {
            [
                behind(Derived::NoPager, Flag::NoPager, probe, profile),
                in_front(Derived::NoPager, Flag::NoPager, probe, profile),
            ]
        };
        calls.extend(data().flat_map(both).flatten());
    }
    if kinds.contains(&Derived::GlobalFlag) {
        // One shows whether an option is taken there at all.
        let first = data().find(|probe| probe.begins_with_word());
        let flags = [Flag::Quiet, Flag::NoInput].into_iter();
        calls.extend(flags.filter_map(|flag| in_front(Derived::GlobalFlag, flag, first?, profile)));
        calls.extend(data().filter_map(|probe| format_behind(probe, profile)));
    }
    calls
}

/// The call with a common option after its arguments.
fn behind(kind: Derived, flag: Flag, probe: &Probe, profile: &TargetProfile) -> Option<Probe> {
    let asking = probe.flag(flag, profile).args()?;
    let at = place_behind(probe, profile);
    let shows_all = kind == Derived::Quiet && probe.gives_data();
    let shown: &[OutputFormat] =
        if shows_all { &[OutputFormat::Text, OutputFormat::Json] } else { &[OutputFormat::Text] };
    let mut formats: Vec<OutputFormat> =
        probe.formats.iter().copied().filter(|format| shown.contains(format)).collect();
    if formats.is_empty() && probe.gives_data() {
        formats.clone_from(&probe.formats);
    }
    let args = [&probe.call.args[..at], asking, &probe.call.args[at..]].concat();
    let call = made(kind, Case::Only, probe, &profile.label(flag, asking)).with_args(args);
    Some(Probe { formats, ..call })
}

/// Where in its arguments a probe has its options: after them, but before a `--`.
pub(super) fn place_behind(probe: &Probe, profile: &TargetProfile) -> usize {
    let marked = probe.call.args.iter().position(|arg| arg == FORMAT_PLACE);
    // Where options stand in a call without subcommands, and where they are taken only there, is their place.
    let beside = probe.place == Some(Place::BehindFirst) || profile.commands.is_empty();
    match marked.filter(|_| beside) {
        Some(at) => at,
        None => probe.call.args.iter().position(|arg| arg == "--").unwrap_or(probe.call.args.len()),
    }
}

/// The call with a common option before all its arguments.
fn in_front(kind: Derived, flag: Flag, probe: &Probe, profile: &TargetProfile) -> Option<Probe> {
    let asking = probe.flag(flag, profile).args()?;
    let label = format!("{} in front", profile.label(flag, asking));
    let call = made(kind, Case::InFront(asking.to_vec()), probe, &label);
    Some(Probe {
        formats: probe.formats.first().copied().into_iter().collect(),
        ..call.with_args([asking, &probe.call.args].concat())
    })
}

/// The call with the json option after its arguments, where the declared place is another.
fn format_behind(probe: &Probe, profile: &TargetProfile) -> Option<Probe> {
    const FORMAT: OutputFormat = OutputFormat::Json;
    let is_declared_place = probe.place.is_none() && probe.call.args.iter().any(|arg| arg == FORMAT_PLACE);
    let asking = probe.asking(FORMAT, profile);
    if !is_declared_place || !probe.formats.contains(&FORMAT) || asking.is_empty() {
        return None;
    }
    let bare: Vec<String> = probe.call.args.iter().filter(|arg| *arg != FORMAT_PLACE).cloned().collect();
    let args = place_format(&bare, asking);
    let label = format!("{} at the end", asking.join(" "));
    (args != probe.args_in(FORMAT, profile)).then(|| Probe {
        asks_format: false,
        formats: vec![FORMAT],
        ..made(Derived::GlobalFlag, Case::words(asking), probe, &label).with_args(args)
    })
}
