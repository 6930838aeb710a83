//! The inputs of `contract diff`: reads the outputs that a contract, lock, recording, sample or command describes.

use super::lock::{infer_lock, lock_checks, not_requested};
use super::progress::Observer;
use super::session::{ConfigSource, Session, SessionOptions};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::{
    CONTRACT_FILE, Contract, OutputSpec, bundled_names, contract_path, split_version,
};
use agentnative_core::config::Config;
use agentnative_core::probe::{Probe, Recording};
use agentnative_core::targets::TargetSelector;
use agentnative_diff::lock::Lock;
use agentnative_diff::{Change, SampleSide, compare, compare_sample, infer_spec, is_schema_file};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// First bytes of a recording.
const RECORDING_PREFIX: &[u8] = b"{\"recording\":";

/// The old or the new side of a comparison.
#[derive(Debug, Clone)]
pub struct DiffInput {
    /// The name or command line of the side.
    pub name: String,
    source: InputSource,
}

#[derive(Debug, Clone)]
enum InputSource {
    /// A contract, or a schema file.
    Contract(Arc<Contract>),
    /// A file of sample documents or records.
    Sample(PathBuf),
    /// The outputs of a target, from its lock or its runs.
    Outputs(TargetOutputs),
}

#[derive(Debug, Clone)]
struct TargetOutputs {
    specs: Vec<OutputSpec>,
    /// The lock of the target, read or inferred from runs.
    lock: Lock,
    /// The probes of the runs; empty for a lock that was read.
    probes: Vec<Probe>,
}

/// The result of comparing two inputs.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The changes, by descending severity.
    pub changes: Vec<Change>,
    /// Number of outputs of the old side.
    pub outputs: usize,
    /// What was compared of a sample, if one side is a sample and the other a schema or contract.
    pub sample: Option<ComparedSample>,
}

/// The part of a sample that was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ComparedSample {
    /// Side of the sample.
    pub side: SampleSide,
    /// Whether the records are the events of a stream.
    #[serde(skip)]
    pub is_stream: bool,
    /// Number of documents or records.
    pub records: u64,
    /// Number of documents or records that the schema rejects.
    pub rejected: u64,
}

/// Compares an old and a new side. A sample is validated against a schema or contract; against anything else, its
/// schema is inferred. Between two sides inferred from runs, an empty list or a null is no change.
///
/// # Errors
/// The errors of [`compare_sample`].
pub fn diff(old: &DiffInput, new: &DiffInput) -> Result<Comparison> {
    let (contract, sample, side) = match (&old.source, &new.source) {
        (InputSource::Contract(contract), InputSource::Sample(sample)) => (contract, sample, SampleSide::New),
        (InputSource::Sample(sample), InputSource::Contract(contract)) => (contract, sample, SampleSide::Old),
        _ => return diff_outputs(old, new),
    };
    let result = compare_sample(contract, sample, side)?;
    let is_stream = contract.framing().has_events();
    let sample = ComparedSample { side, is_stream, records: result.records, rejected: result.rejected };
    Ok(Comparison { changes: result.changes, outputs: 1, sample: Some(sample) })
}

fn diff_outputs(old: &DiffInput, new: &DiffInput) -> Result<Comparison> {
    let (old_specs, new_specs) = (old.outputs()?, new.outputs()?);
    let comparable = match (old.lock(), new.lock()) {
        (Some(old), Some(new)) => new.comparable_with(old),
        _ => new_specs.clone(),
    };
    let outputs = old_specs.len();
    let all = [old_specs, not_requested(old.probes(), &new_specs)].concat();
    let changes = compare(&all, &[comparable, not_requested(new.probes(), &all[..outputs])].concat());
    Ok(Comparison { changes, outputs, sample: None })
}

/// Returns whether a name has the form `NAME@VERSION` of a known contract, and no file has this name.
fn is_versioned(name: &str) -> bool {
    let (contract, version) = split_version(name);
    let is_contract = || bundled_names().any(|known| known == contract) || Path::new(contract).is_dir();
    version.is_some() && !Path::new(name).exists() && is_contract()
}

impl DiffInput {
    /// Reads the side with this name: a schema file, a bundled contract, a contract folder, a version of a contract
    /// (`NAME@VERSION`), a lock folder, a recording, or a file of samples.
    ///
    /// # Errors
    /// If it is none of them, or cannot be read. A missing data file is a usage error; a missing contract (a word
    /// without a dot or a slash) or schema (`*.schema.json`) is a configuration error.
    pub fn read(name: &str) -> Result<Self> {
        let path = Path::new(name);
        let contract =
            || Contract::by_name(Path::new(""), name).map(|one| InputSource::Contract(Arc::new(one)));
        if path.is_dir() && !path.join(CONTRACT_FILE).is_file() {
            return Ok(Self::of_lock(name, Lock::read(path)?, Vec::new()));
        }
        if is_versioned(name) {
            return Ok(Self { name: name.to_owned(), source: contract()? });
        }
        // A word without a dot or a slash is the name of a contract.
        let named_file = contract_path(Path::new(""), name).is_some() || path.extension().is_some();
        if named_file && !name.ends_with(".schema.json") {
            path.metadata().map_err(|error| Error::data_file(path, &error))?;
        }
        let is_file = named_file && path.is_file();
        if is_file && is_recording(path)? {
            return Self::of_runs(name, &Recording::read(path)?);
        }
        let is_contract = !is_file || is_schema_file(path)?;
        let source = if is_contract { contract()? } else { InputSource::Sample(path.to_owned()) };
        Ok(Self { name: name.to_owned(), source })
    }

    /// Infers the outputs of a command from runs of its probes. The configuration is the one in the options, else the
    /// nearest in this folder or above, else the nearest to the command.
    ///
    /// # Errors
    /// A usage error if the command cannot be split into words; the errors of [`Session::run`]; an interruption after
    /// a signal.
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
        let output = session.run(&lock_checks(), observer)?;
        if let Some(signal) = output.signal {
            return Err(Error::interrupted(signal, "interrupted; nothing was compared"));
        }
        Self::of_runs(command, &output.recording)
    }

    /// Infers the outputs of the declared probes of a recording.
    fn of_runs(name: &str, recording: &Recording) -> Result<Self> {
        let lock = infer_lock(recording)?;
        if lock.promises.is_empty() {
            let message =
                format!("no probe of {} is declared, so there is nothing to compare", recording.target.name);
            return Err(Error::config(message).hint("declare probes in agentnative.toml or with --probe"));
        }
        Ok(Self::of_lock(name, lock, recording.probes.clone()))
    }

    fn of_lock(name: &str, lock: Lock, probes: Vec<Probe>) -> Self {
        let source = InputSource::Outputs(TargetOutputs { specs: lock.comparable(), lock, probes });
        Self { name: name.to_owned(), source }
    }

    /// Returns the outputs of the side; those of a sample are inferred from it.
    fn outputs(&self) -> Result<Vec<OutputSpec>> {
        Ok(match &self.source {
            InputSource::Contract(contract) => vec![OutputSpec::from_contract(contract)],
            InputSource::Sample(path) => vec![infer_spec(path)?],
            InputSource::Outputs(outputs) => outputs.specs.clone(),
        })
    }

    fn target(&self) -> Option<&TargetOutputs> {
        match &self.source {
            InputSource::Outputs(outputs) => Some(outputs),
            InputSource::Contract(_) | InputSource::Sample(_) => None,
        }
    }

    fn lock(&self) -> Option<&Lock> {
        self.target().map(|outputs| &outputs.lock)
    }

    fn probes(&self) -> &[Probe] {
        self.target().map_or(&[], |outputs| &outputs.probes)
    }
}

fn is_recording(path: &Path) -> Result<bool> {
    let unreadable = |error| Error::data_file(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    let mut head = Vec::new();
    file.take(RECORDING_PREFIX.len() as u64).read_to_end(&mut head).map_err(unreadable)?;
    Ok(head == RECORDING_PREFIX)
}
