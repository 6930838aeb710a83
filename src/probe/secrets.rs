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
        Derived::Verbose => probe.flag(Flag::Verbose, promises).args(),
        _ => None,
    };
    let Some(options) = options else { return Vec::new() };
    let text = promises.default_format == OutputFormat::Text && promises.contract.is_none();
    let formats =
        if text { vec![OutputFormat::Text] } else { probe.formats.iter().copied().take(1).collect() };
    let call = |case, label: &str, args| Probe {
        args,
        asks_format: probe.asks_format && !text,
        formats: formats.clone(),
        exit: if kind == Derived::Verbose { None } else { probe.exit },
        ..made(kind, case, probe, label)
    };
    let label = match kind {
        Derived::Verbose => promises.label(Flag::Verbose, options),
        _ => options.join(" "),
    };
    let mut calls = vec![call(Case::Only, &label, placed(&probe.args, options, probe, promises))];
    if kind == Derived::Verbose && probe.begins_with_word() {
        // Many tools take it before the subcommand only.
        let case = Case::InFront(options.to_vec());
        calls.push(call(case, &format!("{label} in front"), [options, &probe.args].concat()));
    }
    calls
}
