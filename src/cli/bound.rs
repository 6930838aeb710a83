//! The contracts that probes are held to: found, loaded, and bound to the format that they are about.

use crate::config::{Contracts, TargetConfig};
use crate::probe::Probe;
use crate::report::OutputFormat;
use agentnative_contract::error::Result;
use agentnative_contract::{Contract, Framing, contract_path};
use std::collections::BTreeMap;
use std::path::Path;

/// Contracts by their name, as probes have it.
pub(super) type Bound = BTreeMap<String, Contract>;

/// Makes the names in `contracts` independent of the folder `root` that they are relative to, and leaves
/// a contract that is named for both formats to the one that it is about.
pub(super) fn bind(contracts: &mut Contracts, root: &Path, bound: &mut Bound) -> Result<()> {
    for name in [&mut contracts.json, &mut contracts.jsonl].into_iter().flatten() {
        if let Some(path) = contract_path(root, name) {
            *name = std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned();
        }
        load(name, bound)?;
    }
    if let Some(name) = contracts.json.clone().filter(|name| contracts.jsonl.as_ref() == Some(name)) {
        match bound[&name].framing() {
            Framing::Document => contracts.jsonl = None,
            Framing::Lines => contracts.json = None,
        }
    }
    Ok(())
}

/// The contracts of probes whose names are bound already, as those of a recording are.
pub(super) fn load_all(probes: &[Probe]) -> Result<Bound> {
    let mut bound = Bound::new();
    for probe in probes {
        for name in [&probe.contract.json, &probe.contract.jsonl].into_iter().flatten() {
            load(name, &mut bound)?;
        }
    }
    Ok(bound)
}

fn load(name: &str, bound: &mut Bound) -> Result<()> {
    if !bound.contains_key(name) {
        bound.insert(name.to_owned(), Contract::named(Path::new("."), name)?);
    }
    Ok(())
}

/// Puts a contract in the place of what the configuration says of the whole target: the one format, how
/// it is asked for, the error channel and the exit codes. Gives its name as probes have it.
pub(super) fn replace(
    name: &str,
    target: &mut TargetConfig,
    probes: &mut [Probe],
    bound: &mut Bound,
) -> Result<String> {
    let mut contracts = Contracts { json: Some(name.to_owned()), jsonl: Some(name.to_owned()) };
    bind(&mut contracts, Path::new("."), bound)?;
    let (format, asking) = match contracts.json {
        Some(_) => (OutputFormat::Json, &mut target.formats.json),
        None => (OutputFormat::Jsonl, &mut target.formats.jsonl),
    };
    let name = contracts.json.clone().or_else(|| contracts.jsonl.clone()).unwrap_or_default();
    let contract = &bound[&name];
    if let Some(ask) = contract.ask() {
        *asking = ask.to_vec();
    }
    target.errors = contract.errors().unwrap_or(target.errors);
    let codes = contract.exit_codes();
    if !codes.is_empty() {
        target.exit_codes = codes;
    }
    for probe in probes {
        probe.contract = contracts.clone();
        probe.formats = vec![format];
    }
    Ok(name)
}
