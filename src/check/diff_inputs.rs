//! Reads the two inputs of `contract diff`: each is a contract, lock, recording, sample or command that describes
//! outputs.

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
use agentnative_diff::interface::{
    InterfaceComparison, ProgramInterface, compare_interfaces, read_interface_file,
};
use agentnative_diff::lock::Lock;
use agentnative_diff::{Change, SampleSide, compare, compare_sample, infer_spec, is_schema_file};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first bytes of every recording file.
const RECORDING_PREFIX: &[u8] = b"{\"recording\":";

/// One input of `contract diff`: the old or the new version of some outputs.
#[derive(Debug, Clone)]
pub struct DiffInput {
    /// The name as the user gave it: a path, a bundled contract or a command line.
    pub name: String,
    source: InputSource,
}

#[derive(Debug, Clone)]
enum InputSource {
    /// A contract; a schema file also counts as one.
    Contract(Arc<Contract>),
    /// A file of sample documents or records.
    Sample(PathBuf),
    /// The outputs of a target, from its lock or its runs.
    Outputs(TargetOutputs),
    /// The interface of a program, from a file.
    Interface(Box<ProgramInterface>),
}

#[derive(Debug, Clone)]
struct TargetOutputs {
    specs: Vec<OutputSpec>,
    /// The lock of the target, read or inferred from runs.
    lock: Lock,
    /// The probes whose runs the lock was inferred from; empty if the lock was read from files.
    probes: Vec<Probe>,
}

/// The result of comparing the two inputs of `contract diff`.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The changes, by descending severity.
    pub changes: Vec<Change>,
    /// Number of outputs that the old input describes.
    pub outputs: usize,
    /// The sample, if a sample was compared with a schema or contract; else `None`.
    pub sample: Option<ComparedSample>,
    /// What was not compared in the interface, because only one side states it.
    pub not_compared: Vec<String>,
}

/// A sample that was compared with a schema or contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ComparedSample {
    /// Whether the sample is the old or the new side.
    pub side: SampleSide,
    /// Whether the records are the events of a stream.
    #[serde(skip)]
    pub is_stream: bool,
    /// Number of documents or records in the sample.
    pub records: u64,
    /// Number of documents or records that the schema rejects.
    pub rejected: u64,
}

/// Compares an old with a new input. A sample is validated against a schema or contract; for any other comparison, the
/// schema of the sample is inferred. If both inputs have a lock, and the new runs printed an empty list or a null where
/// the old runs printed more, this is no change: the new runs gave no evidence.
///
/// # Errors
/// The errors of [`compare_sample`].
pub fn diff(old: &DiffInput, new: &DiffInput) -> Result<Comparison> {
    let (contract, sample, side) = match (&old.source, &new.source) {
        (InputSource::Contract(contract), InputSource::Sample(sample)) => (contract, sample, SampleSide::New),
        (InputSource::Sample(sample), InputSource::Contract(contract)) => (contract, sample, SampleSide::Old),
        (InputSource::Interface(_), _) | (_, InputSource::Interface(_)) => return diff_interfaces(old, new),
        _ => return diff_outputs(old, new),
    };
    let result = compare_sample(contract, sample, side)?;
    let is_stream = contract.framing().has_events();
    let sample = ComparedSample { side, is_stream, records: result.records, rejected: result.rejected };
    Ok(Comparison { changes: result.changes, outputs: 1, sample: Some(sample), ..Comparison::default() })
}

/// Compares two inputs of which at least one is only an interface.
fn diff_interfaces(old: &DiffInput, new: &DiffInput) -> Result<Comparison> {
    let interface = |input: &'_ DiffInput| {
        let missing = || Error::usage(format!("{} has no interface to compare", input.name));
        input.interface().cloned().ok_or_else(missing)
    };
    let InterfaceComparison { changes, not_compared } =
        compare_interfaces(&interface(old)?, Some(&interface(new)?));
    Ok(Comparison { changes, not_compared, outputs: 1, sample: None })
}

fn diff_outputs(old: &DiffInput, new: &DiffInput) -> Result<Comparison> {
    let (old_specs, new_specs) = (old.outputs()?, new.outputs()?);
    let comparable = match (old.lock(), new.lock()) {
        (Some(old), Some(new)) => new.comparable_with(old),
        _ => new_specs.clone(),
    };
    let outputs = old_specs.len();
    let all = [old_specs, not_requested(old.probes(), &new_specs)].concat();
    let mut changes = compare(&all, &[comparable, not_requested(new.probes(), &all[..outputs])].concat());
    let InterfaceComparison { changes: of_interface, not_compared } = match (old.interface(), new.interface())
    {
        (Some(old), Some(new)) => compare_interfaces(old, Some(new)),
        (None, None) => InterfaceComparison::default(),
        (with, _) => {
            let side = if with.is_some() { "old" } else { "new" };
            let not_compared = vec![format!("the interface: only the {side} side has one")];
            InterfaceComparison { not_compared, ..InterfaceComparison::default() }
        }
    };
    changes.extend(of_interface);
    changes.sort_by_key(|change| change.class);
    Ok(Comparison { changes, outputs, sample: None, not_compared })
}

/// Returns whether `name` is `NAME@VERSION`, where `NAME` is a bundled contract or a folder, and no file has this name.
fn is_versioned(name: &str) -> bool {
    let (contract, version) = split_version(name);
    let is_contract = || bundled_names().any(|known| known == contract) || Path::new(contract).is_dir();
    version.is_some() && !Path::new(name).exists() && is_contract()
}

impl DiffInput {
    /// Reads an input by its name: a schema file, a bundled contract, a contract folder, a version of a contract
    /// (`NAME@VERSION`), a lock folder, a recording, a file with an interface
    /// (KDL or JSON of `usage`, `interface.json`), or a file of samples.
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
        if is_file && let Some(interface) = read_interface_file(path)? {
            let source = InputSource::Interface(Box::new(interface));
            return Ok(Self { name: name.to_owned(), source });
        }
        let is_contract = !is_file || is_schema_file(path)?;
        let source = if is_contract { contract()? } else { InputSource::Sample(path.to_owned()) };
        Ok(Self { name: name.to_owned(), source })
    }

    /// Runs the probes of a command and infers its outputs from these runs. Uses the configuration in `options`; else
    /// the nearest one in the current folder or above; else the nearest one in the folder of the command or above.
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

    /// Infers the outputs of a target from the runs of its declared probes in a recording.
    fn of_runs(name: &str, recording: &Recording) -> Result<Self> {
        let lock = infer_lock(recording)?;
        if lock.promises.is_empty() && lock.interface.is_none() {
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

    /// Returns the specifications of the outputs that this input describes. The specification of a sample is inferred
    /// from its records.
    fn outputs(&self) -> Result<Vec<OutputSpec>> {
        Ok(match &self.source {
            InputSource::Contract(contract) => vec![OutputSpec::from_contract(contract)],
            InputSource::Sample(path) => vec![infer_spec(path)?],
            InputSource::Outputs(outputs) => outputs.specs.clone(),
            InputSource::Interface(_) => Vec::new(),
        })
    }

    fn target(&self) -> Option<&TargetOutputs> {
        match &self.source {
            InputSource::Outputs(outputs) => Some(outputs),
            InputSource::Contract(_) | InputSource::Sample(_) | InputSource::Interface(_) => None,
        }
    }

    /// Returns the interface of the target; `None` if the input has none.
    pub fn interface(&self) -> Option<&ProgramInterface> {
        match &self.source {
            InputSource::Interface(interface) => Some(interface),
            _ => self.lock().and_then(|lock| lock.interface.as_ref()),
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
