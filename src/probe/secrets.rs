//! Calls that need a secret, given in each way that the target has for it.

use super::derive::{made, placed};
use super::{Probe, Promises};
use crate::catalogue::Derived;
use crate::config::Flag;
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;

/// The calls of these kinds.
pub(super) fn calls(kinds: &BTreeSet<Derived>, declared: &[Probe], promises: &Promises) -> Vec<Probe> {
    let secret = declared.iter().filter(|probe| probe.has_secret(promises));
    secret.flat_map(|probe| kinds.iter().flat_map(move |kind| of_kind(*kind, probe, promises))).collect()
}

fn of_kind(kind: Derived, probe: &Probe, promises: &Promises) -> Vec<Probe> {
    let Some(secret) = &promises.secret else { return Vec::new() };
    let options = match kind {
        Derived::SecretFile if probe.secret => secret.file.as_deref(),
        // There is one standard input.
        Derived::SecretStdin if probe.secret && probe.stdin.is_none() => secret.stdin.as_deref(),
        Derived::Verbose => return verbose(probe, promises),
        _ => None,
    };
    options
        .map(|options| with(kind, Case::Only, options, &options.join(" "), probe, promises))
        .into_iter()
        .collect()
}

/// Options beside the verbose one that print more details, where the help lists them.
const DEBUG: [&str; 2] = ["--debug", "--trace"];

/// The calls with each option that prints more details, behind the arguments and, since many tools accept it there
/// only, in front of the subcommand.
fn verbose(probe: &Probe, promises: &Promises) -> Vec<Probe> {
    let declared = probe.flag(Flag::Verbose, promises).args().map(<[String]>::to_vec);
    let label = declared
        .as_ref()
        .map(|options| (promises.label(Flag::Verbose, options), Case::Only, options.clone()));
    let listed = DEBUG.into_iter().filter(|name| promises.options.iter().any(|option| option == name));
    let listed = listed.filter(|name| declared.as_ref().is_none_or(|options| options != &[*name]));
    let debug = listed.map(|name| (name.to_owned(), Case::words([name]), vec![name.to_owned()]));
    let mut calls = Vec::new();
    for (label, case, options) in label.into_iter().chain(debug) {
        calls.push(with(Derived::Verbose, case, &options, &label, probe, promises));
        if probe.begins_with_word() {
            let in_front = with(
                Derived::Verbose,
                Case::InFront(options.clone()),
                &options,
                &format!("{label} in front"),
                probe,
                promises,
            );
            calls.push(Probe { args: [&options[..], &probe.args].concat(), ..in_front });
        }
    }
    calls
}

/// A call of a probe with these options.
fn with(
    kind: Derived,
    case: Case,
    options: &[String],
    label: &str,
    probe: &Probe,
    promises: &Promises,
) -> Probe {
    let text = promises.default_format == OutputFormat::Text && promises.contract.is_none();
    let formats =
        if text { vec![OutputFormat::Text] } else { probe.formats.iter().copied().take(1).collect() };
    Probe {
        args: placed(&probe.args, options, probe, promises),
        asks_format: probe.asks_format && !text,
        formats,
        exit: if kind == Derived::Verbose { None } else { probe.exit },
        ..made(kind, case, probe, label)
    }
}
