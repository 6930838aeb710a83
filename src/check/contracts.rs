//! The contracts that probes are held to: found, loaded, and bound to the format that they are about.

use crate::config::Contracts;
use crate::model::OutputFormat;
use crate::probe::Probe;
use agentnative_contract::error::Result;
use agentnative_contract::{Contract, contract_path};
use std::collections::BTreeMap;
use std::path::Path;

/// Contracts by their name, as probes have it.
#[derive(Default)]
pub(super) struct LoadedContracts(BTreeMap<String, Contract>);

impl LoadedContracts {
    /// The contracts of probes whose names are bound already, as those of a recording are.
    pub fn of(probes: &[Probe]) -> Result<Self> {
        let mut loaded = Self::default();
        for probe in probes {
            for name in [&probe.contract.json, &probe.contract.jsonl].into_iter().flatten() {
                loaded.load(name)?;
            }
        }
        Ok(loaded)
    }

    /// All of them, by name.
    pub const fn by_name(&self) -> &BTreeMap<String, Contract> {
        &self.0
    }

    /// Makes the names in `contracts` independent of the folder `root` that they are relative to, and
    /// leaves a contract that is named for both formats to the one that it is about.
    pub(super) fn bind(&mut self, contracts: &mut Contracts, root: &Path) -> Result<()> {
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

    /// Holds all probes to one contract, in its one format, and nothing else. Gives the name as probes have
    /// it, and the contract.
    pub(super) fn hold_all(
        &mut self,
        name: &str,
        root: &Path,
        probes: &mut [Probe],
    ) -> Result<(String, &Contract)> {
        let mut contracts = Contracts { json: Some(name.to_owned()), jsonl: Some(name.to_owned()) };
        self.bind(&mut contracts, root)?;
        let format = if contracts.json.is_some() { OutputFormat::Json } else { OutputFormat::Jsonl };
        for probe in probes {
            probe.contract = contracts.clone();
            probe.formats = vec![format];
            probe.asking.retain(|_, asking| asking.args().is_some());
        }
        let name = contracts.json.or(contracts.jsonl).unwrap_or_default();
        let contract = &self.0[&name];
        Ok((name, contract))
    }

    fn load(&mut self, name: &str) -> Result<()> {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), Contract::named(Path::new("."), name)?);
        }
        Ok(())
    }
}
