//! The two inputs of `contract diff`: what each promises, wherever that is told.

use super::lock::{learn, promise_checks, unasked};
use super::progress::Observer;
use super::session::{ConfigSource, Session, SessionOptions};
use crate::config::Config;
use crate::probe::{Probe, Recording};
use crate::target::TargetSelector;
use agentnative_contract::diff::{Change, compare};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::lock::Lock;
use agentnative_contract::{
    CONTRACT_FILE, Contract, OutputSpec, contract_path, is_schema_file, names, split_version,
};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// How a recording begins.
const RECORDING: &[u8] = b"{\"recording\":";

/// One of the two.
#[derive(Debug, Clone)]
pub struct DiffInput {
    /// The name that was passed.
    pub name: String,
    /// What it promises.
    pub promises: Vec<OutputSpec>,
    /// What it is a lock of, or what a lock of it would be.
    lock: Option<Lock>,
    /// The probes that it was learnt from, if it was.
    probes: Vec<Probe>,
}

/// What changed from one to the other, the worst first. What was seen of no data (an empty list, a null of
/// the day) is no change where both are learnt from runs.
pub fn diff(old: &DiffInput, new: &DiffInput) -> Vec<Change> {
    let promises = match (&old.lock, &new.lock) {
        (Some(before), Some(now)) => now.compared_with(before),
        _ => new.promises.clone(),
    };
    let before = [old.promises.clone(), unasked(&old.probes, &new.promises)].concat();
    compare(&before, &[promises, unasked(&new.probes, &old.promises)].concat())
}

/// Whether a name stands for a version of a contract, and no file has this name.
fn is_versioned(name: &str) -> bool {
    let (contract, version) = split_version(name);
    let is_contract = || names().any(|known| known == contract) || Path::new(contract).is_dir();
    version.is_some() && !Path::new(name).exists() && is_contract()
}

impl DiffInput {
    /// What a name stands for: a schema file, a bundled contract, a contract folder, a version of a contract
    /// (`NAME@VERSION`), a lock folder, a recording, or a file of samples.
    ///
    /// # Errors
    /// When it is none of them, or cannot be read. What is not there is a wrong call where a file is named, and
    /// a fault of configuration where a contract (a word without a dot or a slash) or a schema
    /// (`*.schema.json`) is.
    pub fn read(name: &str) -> Result<Self> {
        let path = Path::new(name);
        if path.is_dir() && !path.join(CONTRACT_FILE).is_file() {
            let lock = Lock::read(path)?;
            return Ok(Self { lock: Some(lock.clone()), ..Self::of(name, lock.compared()) });
        }
        if is_versioned(name) {
            let contract = Contract::named(Path::new(""), name)?;
            return Ok(Self::of(name, vec![OutputSpec::of_contract(&contract)]));
        }
        // A word without a dot or a slash is the name of a contract.
        let named_file = contract_path(Path::new(""), name).is_some() || path.extension().is_some();
        if named_file && !name.ends_with(".schema.json") {
            path.metadata().map_err(|error| Error::data(path, &error))?;
        }
        let is_file = named_file && path.is_file();
        if is_file && is_recording(path)? {
            return Self::of_runs(name, &Recording::read(path)?);
        }
        let promise = if !is_file || is_schema_file(path)? {
            OutputSpec::of_contract(&Contract::named(Path::new(""), name)?)
        } else {
            OutputSpec::of_samples(path)?
        };
        Ok(Self::of(name, vec![promise]))
    }

    /// What a command promises by what it does, called with the probes of the configuration: that of the
    /// options, else the nearest of this folder or above, else the one beside the command.
    ///
    /// # Errors
    /// Usage, when it cannot be split into words; those of [`Session::run`]; interrupted, when a signal
    /// told us to stop.
    pub fn of_command(
        command: &str,
        mut options: SessionOptions,
        observer: &mut Observer<'_>,
    ) -> Result<Self> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| Error::usage(format!("`{command}` cannot be split into words")))?;
        if options.config == ConfigSource::Nearest
            && let Some(path) = Config::find(Path::new("."))?
        {
            options.config = ConfigSource::File(path);
        }
        let session = Session::new(TargetSelector::command(words), options);
        let output = session.run(&promise_checks(), observer)?;
        if let Some(signal) = output.signal {
            return Err(Error::interrupted(signal, "interrupted; nothing was compared"));
        }
        Self::of_runs(command, &output.recording)
    }

    /// What the runs of a recording show of its declared probes.
    fn of_runs(name: &str, recording: &Recording) -> Result<Self> {
        let lock = learn(recording)?;
        if lock.promises.is_empty() {
            let message =
                format!("no probe of {} is declared, so there is nothing to compare", recording.target.name);
            return Err(Error::config(message).hint("declare probes in agentnative.toml or with --probe"));
        }
        let probes = recording.probes.clone();
        Ok(Self { lock: Some(lock.clone()), probes, ..Self::of(name, lock.compared()) })
    }

    fn of(name: &str, promises: Vec<OutputSpec>) -> Self {
        Self { name: name.to_owned(), promises, lock: None, probes: Vec::new() }
    }
}

/// Whether a file begins as a recording does.
fn is_recording(path: &Path) -> Result<bool> {
    let unreadable = |error| Error::data(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    let mut head = Vec::new();
    file.take(RECORDING.len() as u64).read_to_end(&mut head).map_err(unreadable)?;
    Ok(head == RECORDING)
}
