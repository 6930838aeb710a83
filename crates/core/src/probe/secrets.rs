//! Calls that need a secret, with each way of passing it that the target declares.

use super::derived_call::{derive_from, insert_option};
use super::{Probe, TargetProfile};
use crate::catalogue::DerivedKind;
use crate::config::CommonOption;
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;

pub(super) fn calls(
    kinds: &BTreeSet<DerivedKind>,
    declared: &[Probe],
    profile: &TargetProfile,
) -> Vec<Probe> {
    let secret = declared.iter().filter(|probe| probe.has_secret(profile));
    secret.flat_map(|probe| kinds.iter().flat_map(move |kind| calls_of(*kind, probe, profile))).collect()
}

fn calls_of(kind: DerivedKind, probe: &Probe, profile: &TargetProfile) -> Vec<Probe> {
    let Some(secret) = &profile.conventions.secret else { return Vec::new() };
    let options = match kind {
        DerivedKind::SecretFile if probe.call.secret => secret.file.as_deref(),
        // A declared stdin leaves no stdin for the secret.
        DerivedKind::SecretStdin if probe.call.secret && probe.call.stdin.is_none() => {
            secret.stdin.as_deref()
        }
        DerivedKind::Verbose => return verbose_calls(probe, profile),
        _ => None,
    };
    let with_options = |options: &[String]| {
        let args = insert_option(&probe.call.args, options, probe, profile);
        call(kind, Case::Only, &options.join(" "), args, probe, profile)
    };
    options.map(with_options).into_iter().collect()
}

/// Options, in addition to the declared one, that print more details. They are tried if the help lists them.
const DEBUG_OPTIONS: [&str; 2] = ["--debug", "--trace"];

/// Returns the probe's call with each option that prints more details. The option comes after the arguments and, in a
/// second call, before the subcommand, since many tools accept it only there.
fn verbose_calls(probe: &Probe, profile: &TargetProfile) -> Vec<Probe> {
    let declared = probe.common_option(CommonOption::Verbose, profile).args();
    let debug = DEBUG_OPTIONS.map(|name| [name.to_owned()]);
    let listed = debug.iter().filter(|option| profile.options.contains(&option[0]));
    let listed = listed.map(<[String; 1]>::as_slice).filter(|option| declared != Some(option));
    let from_declared =
        declared.map(|options| (Case::Only, options, profile.label(CommonOption::Verbose, options)));
    let from_listed = listed.map(|option| (Case::words([&*option[0]]), option, option[0].clone()));
    let mut calls = Vec::new();
    for (case, options, label) in from_declared.into_iter().chain(from_listed) {
        let call_with =
            |case, label: &str, args| call(DerivedKind::Verbose, case, label, args, probe, profile);
        calls.push(call_with(case, &label, insert_option(&probe.call.args, options, probe, profile)));
        if probe.begins_with_word() {
            let case = Case::InFront(options.to_vec());
            calls.push(call_with(case, &format!("{label} in front"), [options, &probe.call.args].concat()));
        }
    }
    calls
}

fn call(
    kind: DerivedKind,
    case: Case,
    label: &str,
    args: Vec<String>,
    probe: &Probe,
    profile: &TargetProfile,
) -> Probe {
    let prints_text = profile.conventions.default_format == OutputFormat::Text && profile.contract.is_none();
    let formats =
        if prints_text { vec![OutputFormat::Text] } else { probe.formats.iter().copied().take(1).collect() };
    Probe {
        asks_format: probe.asks_format && !prints_text,
        formats,
        exit: if kind == DerivedKind::Verbose { None } else { probe.exit },
        ..derive_from(kind, case, probe, label).with_args(args)
    }
}
