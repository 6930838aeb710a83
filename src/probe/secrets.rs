//! Calls that need a secret, given in each way that the target has for it.

use super::derive::{made, placed_last};
use super::{Probe, Promises};
use crate::catalogue::Derived;
use crate::config::Flag;
use crate::model::{Case, OutputFormat};
use std::collections::BTreeSet;

/// The calls of these kinds.
pub(super) fn calls(kinds: &BTreeSet<Derived>, declared: &[Probe], promises: &Promises) -> Vec<Probe> {
    let secret = declared.iter().filter(|probe| probe.secret);
    secret.flat_map(|probe| kinds.iter().filter_map(move |kind| call(*kind, probe, promises))).collect()
}

fn call(kind: Derived, probe: &Probe, promises: &Promises) -> Option<Probe> {
    let secret = promises.secret.as_ref()?;
    let options = match kind {
        Derived::SecretFile => secret.file.as_deref()?,
        Derived::SecretStdin => secret.stdin.as_deref()?,
        Derived::Verbose => probe.flag(Flag::Verbose, promises).args()?,
        _ => return None,
    };
    let label = match kind {
        Derived::Verbose => promises.label(Flag::Verbose, options),
        _ => options.join(" "),
    };
    let text = promises.default_format == OutputFormat::Text && promises.contract.is_none();
    let formats =
        if text { vec![OutputFormat::Text] } else { probe.formats.iter().copied().take(1).collect() };
    Some(Probe {
        args: placed_last(&probe.args, options),
        asks_format: probe.asks_format && !text,
        formats,
        exit: if kind == Derived::Verbose { None } else { probe.exit },
        ..made(kind, Case::Only, probe, &label)
    })
}
