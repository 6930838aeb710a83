//! Loads the contracts of probes and assigns each to its output format.

use agentnative_contract::error::{Error, Result};
use agentnative_contract::{Contract, ContractFiles, contract_path};
use agentnative_core::config::Contracts;
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{Probe, Recording};
use std::collections::BTreeMap;
use std::path::Path;

/// Loaded contracts. The key is the name by which probes refer to a contract: a bundled name or an absolute path.
#[derive(Default)]
pub(super) struct LoadedContracts(BTreeMap<String, Contract>);

impl LoadedContracts {
    /// Loads the contracts that the probes of a recording name: bundled ones, and those whose files the recording
    /// contains. Reads no file.
    pub fn load_for_recording(recording: &Recording) -> Result<Self> {
        let mut loaded = Self::default();
        for name in recording.probes.iter().flat_map(|probe| probe.call.contract.names()) {
            loaded.load_with(name, || match recording.contracts.get(name) {
                Some(files) if contract_path(Path::new(""), name).is_some() => {
                    Contract::from_files(name, files).map_err(|error| recorded_contract_error(name, error))
                }
                _ => Contract::bundled(name),
            })?;
        }
        Ok(loaded)
    }

    /// Returns the files of the contracts that these probes name. The keys are the names of the contracts.
    pub(super) fn files(&self, probes: &[Probe]) -> BTreeMap<String, ContractFiles> {
        let names = probes.iter().flat_map(|probe| probe.call.contract.names());
        names.filter_map(|name| Some((name.clone(), self.0.get(name)?.files()?))).collect()
    }

    pub const fn by_name(&self) -> &BTreeMap<String, Contract> {
        &self.0
    }

    /// Loads the contracts that a probe names, and makes their paths, which are relative to `root`, absolute. If both
    /// formats name the same contract, it stays only for the format that it describes.
    pub(super) fn load_absolute(&mut self, contracts: &mut Contracts, root: &Path) -> Result<()> {
        for name in [&mut contracts.json, &mut contracts.jsonl].into_iter().flatten() {
            if let Some(path) = contract_path(root, name) {
                *name = std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned();
            }
            self.load(name)?;
        }
        if let Some(name) = contracts.json.clone().filter(|name| contracts.jsonl.as_ref() == Some(name)) {
            match self.0[&name].framing().format() {
                OutputFormat::Jsonl => contracts.json = None,
                _ => contracts.jsonl = None,
            }
        }
        Ok(())
    }

    /// Makes all probes use a single contract, and only the output format that it describes. Returns the name that the
    /// probes now use for the contract, and the contract.
    pub(super) fn use_single_contract(
        &mut self,
        name: &str,
        root: &Path,
        probes: &mut [Probe],
    ) -> Result<(String, &Contract)> {
        let mut contracts = Contracts { json: Some(name.to_owned()), jsonl: Some(name.to_owned()) };
        self.load_absolute(&mut contracts, root)?;
        let format = if contracts.json.is_some() { OutputFormat::Json } else { OutputFormat::Jsonl };
        for probe in probes {
            probe.call.contract = contracts.clone();
            let only_in_scenarios = probe.runs_only_in_scenarios();
            if let Some(effect) = &mut probe.effect {
                effect.formats = vec![format];
            }
            if !only_in_scenarios {
                probe.formats = vec![format];
            }
            probe.call.format_flags.retain(|_, flag| flag.args().is_some());
        }
        let name = contracts.json.or(contracts.jsonl).unwrap_or_default();
        let contract = &self.0[&name];
        Ok((name, contract))
    }

    fn load(&mut self, name: &str) -> Result<()> {
        self.load_with(name, || Contract::by_name(Path::new("."), name))
    }

    fn load_with(&mut self, name: &str, load: impl FnOnce() -> Result<Contract>) -> Result<()> {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), load()?);
        }
        Ok(())
    }
}

fn recorded_contract_error(name: &str, error: Error) -> Error {
    Error {
        message: format!("the contract {name} of the recording cannot be used: {}", error.message),
        ..error
    }
}
