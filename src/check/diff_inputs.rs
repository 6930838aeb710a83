//! The two inputs of `contract diff`: what each promises, wherever that is told.

use super::lock::{learn, promise_checks, unasked};
use super::progress::Observer;
use super::session::{ConfigSource, Session, SessionOptions};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::{CONTRACT_FILE, Contract, OutputSpec, contract_path, names, split_version};
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

/// How a recording begins.
const RECORDING: &[u8] = b"{\"recording\":";

/// One of the two.
#[derive(Debug, Clone)]
pub struct DiffInput {
    /// The name that was passed.
    pub name: String,
    source: Source,
}

/// What an input is.
#[derive(Debug, Clone)]
enum Source {
    /// A contract, or a schema that stands for one.
    Contract(Arc<Contract>),
    /// A file of documents or records.
    Sample(PathBuf),
    /// The outputs of a target.
    Outputs(TargetOutputs),
}

/// The outputs of a target, of its lock or its runs.
#[derive(Debug, Clone)]
struct TargetOutputs {
    promises: Vec<OutputSpec>,
    /// What it is a lock of, or what a lock of it would be.
    lock: Lock,
    /// The probes that they were learnt from, if they were.
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

/// What was compared of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ComparedSample {
    /// The side that it is.
    pub side: SampleSide,
    /// They are the events of a stream.
    #[serde(skip)]
    pub is_stream: bool,
    /// Number of documents or records.
    pub records: u64,
    /// Number of those that the schema rejects.
    pub rejected: u64,
}

/// Compares an old and a new side. A sample is validated against a schema or contract; against anything else, its schema
/// is inferred. Between two sides that are learnt from runs, an empty list or a null is no change.
///
/// # Errors
/// Those of [`compare_sample`].
pub fn diff(old: &DiffInput, new: &DiffInput) -> Result<Comparison> {
    let (contract, sample, side) = match (&old.source, &new.source) {
        (Source::Contract(contract), Source::Sample(sample)) => (contract, sample, SampleSide::New),
        (Source::Sample(sample), Source::Contract(contract)) => (contract, sample, SampleSide::Old),
        _ => return diff_outputs(old, new),
    };
    let compared = compare_sample(contract, sample, side)?;
    let is_stream = contract.framing().has_events();
    let sample = ComparedSample { side, is_stream, records: compared.records, rejected: compared.rejected };
    Ok(Comparison { changes: compared.changes, outputs: 1, sample: Some(sample) })
}

fn diff_outputs(old: &DiffInput, new: &DiffInput) -> Result<Comparison> {
    let (before, now) = (old.outputs()?, new.outputs()?);
    let promises = match (old.lock(), new.lock()) {
        (Some(before), Some(now)) => now.compared_with(before),
        _ => now.clone(),
    };
    let outputs = before.len();
    let all = [before, unasked(old.probes(), &now)].concat();
    let changes = compare(&all, &[promises, unasked(new.probes(), &all[..outputs])].concat());
    Ok(Comparison { changes, outputs, sample: None })
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
        let contract = || Contract::named(Path::new(""), name).map(|one| Source::Contract(Arc::new(one)));
        if path.is_dir() && !path.join(CONTRACT_FILE).is_file() {
            return Ok(Self::of_lock(name, Lock::read(path)?, Vec::new()));
        }
        if is_versioned(name) {
            return Ok(Self { name: name.to_owned(), source: contract()? });
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
        let is_contract = !is_file || is_schema_file(path)?;
        let source = if is_contract { contract()? } else { Source::Sample(path.to_owned()) };
        Ok(Self { name: name.to_owned(), source })
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
        Ok(Self::of_lock(name, lock, recording.probes.clone()))
    }

    fn of_lock(name: &str, lock: Lock, probes: Vec<Probe>) -> Self {
        let source = Source::Outputs(TargetOutputs { promises: lock.compared(), lock, probes });
        Self { name: name.to_owned(), source }
    }

    /// What it promises; of a sample, as far as that shows it.
    fn outputs(&self) -> Result<Vec<OutputSpec>> {
        Ok(match &self.source {
            Source::Contract(contract) => vec![OutputSpec::of_contract(contract)],
            Source::Sample(path) => vec![infer_spec(path)?],
            Source::Outputs(outputs) => outputs.promises.clone(),
        })
    }

    fn target(&self) -> Option<&TargetOutputs> {
        match &self.source {
            Source::Outputs(outputs) => Some(outputs),
            Source::Contract(_) | Source::Sample(_) => None,
        }
    }

    fn lock(&self) -> Option<&Lock> {
        self.target().map(|outputs| &outputs.lock)
    }

    fn probes(&self) -> &[Probe] {
        self.target().map_or(&[], |outputs| &outputs.probes)
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
