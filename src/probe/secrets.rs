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
    let made = |options: &[String]| {
        let args = placed(&probe.args, options, probe, promises);
        call(kind, Case::Only, &options.join(" "), args, probe, promises)
    };
    options.map(made).into_iter().collect()
}

/// Options beside the verbose one that print more details, where the help lists them.
const DEBUG: [&str; 2] = ["--debug", "--trace"];

/// The calls with each option that prints more details, behind the arguments and, since many tools accept it there
/// only, in front of the subcommand.
fn verbose(probe: &Probe, promises: &Promises) -> Vec<Probe> {
    let declared = probe.flag(Flag::Verbose, promises).args();
    let debug = DEBUG.map(|name| [name.to_owned()]);
    let listed = debug.iter().filter(|option| promises.options.contains(&option[0]));
    let listed = listed.map(<[String; 1]>::as_slice).filter(|option| declared != Some(option));
    let of_declared = declared.map(|options| (Case::Only, options, promises.label(Flag::Verbose, options)));
    let of_listed = listed.map(|option| (Case::words([&*option[0]]), option, option[0].clone()));
    let mut calls = Vec::new();
    for (case, options, label) in of_declared.into_iter().chain(of_listed) {
        let made = |case, label: &str, args| call(Derived::Verbose, case, label, args, probe, promises);
        calls.push(made(case, &label, placed(&probe.args, options, probe, promises)));
        if probe.begins_with_word() {
            let case = Case::InFront(options.to_vec());
            calls.push(made(case, &format!("{label} in front"), [options, &probe.args].concat()));
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
    promises: &Promises,
) -> Probe {
    let text = promises.default_format == OutputFormat::Text && promises.contract.is_none();
    let formats =
        if text { vec![OutputFormat::Text] } else { probe.formats.iter().copied().take(1).collect() };
    Probe {
        args,
        asks_format: probe.asks_format && !text,
        formats,
        exit: if kind == Derived::Verbose { None } else { probe.exit },
        ..made(kind, case, probe, label)
    }
}
