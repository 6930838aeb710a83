//! Calls that need a secret, given in each way that the target has for it.

use super::derived_call::{made, placed};
use super::{Probe, TargetProfile};
use crate::catalogue::Derived;
use crate::config::Flag;
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;

/// The calls of these kinds.
pub(super) fn calls(kinds: &BTreeSet<Derived>, declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    let secret = declared.iter().filter(|probe| probe.has_secret(profile));
    secret.flat_map(|probe| kinds.iter().flat_map(move |kind| of_kind(*kind, probe, profile))).collect()
}

fn of_kind(kind: Derived, probe: &Probe, profile: &TargetProfile) -> Vec<Probe> {
    let Some(secret) = &profile.conventions.secret else { return Vec::new() };
    let options = match kind {
        Derived::SecretFile if probe.call.secret => secret.file.as_deref(),
        // There is one standard input.
        Derived::SecretStdin if probe.call.secret && probe.call.stdin.is_none() => secret.stdin.as_deref(),
        Derived::Verbose => return verbose(probe, profile),
        _ => None,
    };
    let made = |options: &[String]| {
        let args = placed(&probe.call.args, options, probe, profile);
        call(kind, Case::Only, &options.join(" "), args, probe, profile)
    };
    options.map(made).into_iter().collect()
}

/// Options beside the verbose one that print more details, where the help lists them.
const DEBUG: [&str; 2] = ["--debug", "--trace"];

/// The calls with each option that prints more details, behind the arguments and, since many tools accept it there
/// only, in front of the subcommand.
fn verbose(probe: &Probe, profile: &TargetProfile) -> Vec<Probe> {
    let declared = probe.flag(Flag::Verbose, profile).args();
    let debug = DEBUG.map(|name| [name.to_owned()]);
    let listed = debug.iter().filter(|option| profile.options.contains(&option[0]));
    let listed = listed.map(<[String; 1]>::as_slice).filter(|option| declared != Some(option));
    let of_declared = declared.map(|options| (Case::Only, options, profile.label(Flag::Verbose, options)));
    let of_listed = listed.map(|option| (Case::words([&*option[0]]), option, option[0].clone()));
    let mut calls = Vec::new();
    for (case, options, label) in of_declared.into_iter().chain(of_listed) {
        let made = |case, label: &str, args| call(Derived::Verbose, case, label, args, probe, profile);
        calls.push(made(case, &label, placed(&probe.call.args, options, probe, profile)));
        if probe.begins_with_word() {
            let case = Case::InFront(options.to_vec());
            calls.push(made(case, &format!("{label} in front"), [options, &probe.call.args].concat()));
        }
    }
    calls
}

/// A call of a probe with these arguments.
fn call(
    kind: Derived,
    case: Case,
    label: &str,
    args: Vec<String>,
    probe: &Probe,
    profile: &TargetProfile,
) -> Probe {
    let text = profile.conventions.default_format == OutputFormat::Text && profile.contract.is_none();
    let formats =
        if text { vec![OutputFormat::Text] } else { probe.formats.iter().copied().take(1).collect() };
    Probe {
        asks_format: probe.asks_format && !text,
        formats,
        exit: if kind == Derived::Verbose { None } else { probe.exit },
        ..made(kind, case, probe, label).with_args(args)
    }
}
