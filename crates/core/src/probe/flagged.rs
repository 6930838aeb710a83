//! Derives calls from declared probes by adding a common option after or before their arguments.

use super::derived_call::derive_from;
use super::{FlagPosition, Probe, TargetProfile};
use crate::catalogue::DerivedKind;
use crate::config::{CommonOption, FORMAT_PLACEHOLDER, insert_format_flag};
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;

pub(super) fn calls(
    kinds: &BTreeSet<DerivedKind>,
    declared: &[Probe],
    profile: &TargetProfile,
) -> Vec<Probe> {
    let data = || declared.iter().filter(|probe| probe.prints_data());
    let mut calls = Vec::new();
    if kinds.contains(&DerivedKind::Quiet) {
        calls.extend(
            declared.iter().filter_map(|probe| {
                with_option_after(DerivedKind::Quiet, CommonOption::Quiet, probe, profile)
            }),
        );
    }
    if kinds.contains(&DerivedKind::NoInput) {
        calls.extend(data().filter_map(|probe| {
            with_option_after(DerivedKind::NoInput, CommonOption::NoInput, probe, profile)
        }));
    }
    if kinds.contains(&DerivedKind::NoPager) {
        // Many tools accept it only before the subcommand.
        let both = |probe| {
            [
                with_option_after(DerivedKind::NoPager, CommonOption::NoPager, probe, profile),
                with_option_before(DerivedKind::NoPager, CommonOption::NoPager, probe, profile),
            ]
        };
        calls.extend(data().flat_map(both).flatten());
    }
    if kinds.contains(&DerivedKind::GlobalFlag) {
        // One probe shows whether the target accepts options there at all.
        let first = data().find(|probe| probe.begins_with_word());
        let flags = [CommonOption::Quiet, CommonOption::NoInput].into_iter();
        calls.extend(
            flags.filter_map(|flag| with_option_before(DerivedKind::GlobalFlag, flag, first?, profile)),
        );
        calls.extend(data().filter_map(|probe| with_format_last(probe, profile)));
    }
    calls
}

fn with_option_after(
    kind: DerivedKind,
    flag: CommonOption,
    probe: &Probe,
    profile: &TargetProfile,
) -> Option<Probe> {
    let flag_args = probe.common_option(flag, profile).args()?;
    let index = option_index(probe, profile);
    let both_formats = kind == DerivedKind::Quiet && probe.prints_data();
    let wanted: &[OutputFormat] =
        if both_formats { &[OutputFormat::Text, OutputFormat::Json] } else { &[OutputFormat::Text] };
    let mut formats: Vec<OutputFormat> =
        probe.formats.iter().copied().filter(|format| wanted.contains(format)).collect();
    if formats.is_empty() && probe.prints_data() {
        formats.clone_from(&probe.formats);
    }
    let args = [&probe.call.args[..index], flag_args, &probe.call.args[index..]].concat();
    let call = derive_from(kind, Case::Only, probe, &profile.label(flag, flag_args)).with_args(args);
    Some(Probe { formats, ..call })
}

/// Returns the index in the arguments of a probe at which options are inserted: after the arguments, but before a `--`.
/// If the target accepts options only at the flag position, it is that position.
pub(super) fn option_index(probe: &Probe, profile: &TargetProfile) -> usize {
    let flag_position = probe.call.args.iter().position(|arg| arg == FORMAT_PLACEHOLDER);
    // If the target has no subcommands, or accepts options only there, the flag position is that of all options.
    let is_option_position =
        probe.flag_position == Some(FlagPosition::AfterFirst) || profile.commands.is_empty();
    match flag_position.filter(|_| is_option_position) {
        Some(index) => index,
        None => probe.call.args.iter().position(|arg| arg == "--").unwrap_or(probe.call.args.len()),
    }
}

fn with_option_before(
    kind: DerivedKind,
    flag: CommonOption,
    probe: &Probe,
    profile: &TargetProfile,
) -> Option<Probe> {
    let flag_args = probe.common_option(flag, profile).args()?;
    let label = format!("{} in front", profile.label(flag, flag_args));
    let call = derive_from(kind, Case::InFront(flag_args.to_vec()), probe, &label);
    Some(Probe {
        formats: probe.formats.first().copied().into_iter().collect(),
        ..call.with_args([flag_args, &probe.call.args].concat())
    })
}

/// Returns the call of the probe with the format flag of `json` after all arguments. Returns `None` unless the probe
/// declares another position with `{format}`.
fn with_format_last(probe: &Probe, profile: &TargetProfile) -> Option<Probe> {
    const FORMAT: OutputFormat = OutputFormat::Json;
    let has_declared_position =
        probe.flag_position.is_none() && probe.call.args.iter().any(|arg| arg == FORMAT_PLACEHOLDER);
    let flag_args = probe.format_args(FORMAT, profile);
    if !has_declared_position || !probe.formats.contains(&FORMAT) || flag_args.is_empty() {
        return None;
    }
    let without_marker: Vec<String> =
        probe.call.args.iter().filter(|arg| *arg != FORMAT_PLACEHOLDER).cloned().collect();
    let args = insert_format_flag(&without_marker, flag_args);
    let label = format!("{} at the end", flag_args.join(" "));
    (args != probe.args_in(FORMAT, profile)).then(|| Probe {
        asks_format: false,
        formats: vec![FORMAT],
        ..derive_from(DerivedKind::GlobalFlag, Case::words(flag_args), probe, &label).with_args(args)
    })
}
