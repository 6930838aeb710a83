//! What the declared probes of a target promise now, and the lock that keeps what was accepted.

use super::contracts::LoadedContracts;
use super::judging::context;
use super::session::SessionOutput;
use agentnative_core::catalogue::Check;
use agentnative_core::files::WholeFile;

use agentnative_contract::error::{Error, ErrorKind, Issue, Result};
use agentnative_contract::{OutputSpec, Payload};
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_core::probe::{Probe, Recording};
use agentnative_diff::lock::{LOCK_FOLDER, Lock, lock_path};
use agentnative_diff::{Change, Class, compare};
use agentnative_output::pretty;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is done with a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Write one where there is none.
    Write,
    /// Compare with the one that is there.
    Check,
    /// Write it, whether there is one or not.
    Update,
}

/// The result of locking.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Locked {
    /// Name of the target.
    pub target: String,
    /// The folder of its lock.
    pub folder: String,
    /// The version that the target prints.
    pub version: Option<String>,
    /// Number of locked outputs: one per probe and format.
    pub promises: usize,
    /// The lock was written.
    pub written: bool,
    /// No change breaks consumers.
    pub compatible: bool,
    /// The changes, by descending severity.
    pub changes: Vec<Change>,
}

/// The checks whose runs show what a target promises.
pub fn promise_checks() -> Vec<&'static Check> {
    vec![CheckId::P2ContractLocked.check()]
}

/// Learns what the declared probes of a recording promise.
pub(super) fn learn(recording: &Recording) -> Result<Lock> {
    let contracts = LoadedContracts::of(recording)?;
    Ok(agentnative_judge::learn(&context(recording, &contracts), &recording.target.name))
}

/// The outputs of another side of which these probes show nothing, since they were not asked for formats: that they
/// are missing is no sign that they are gone.
pub(super) fn unasked(probes: &[Probe], others: &[OutputSpec]) -> Vec<OutputSpec> {
    let unknown = |other: &OutputSpec| {
        let (name, format) = (other.probe.as_ref()?, other.format.filter(|format| format.is_json())?);
        probes.iter().find(|probe| probe.is_unasked() && probe.name == *name)?;
        let why = format!(
            "{name} was not asked for {}, since neither help nor configuration says that `--output` chooses a format: \
             see p2-output-format",
            format.name()
        );
        Some(OutputSpec::unknown(name, format, None, why))
    };
    others.iter().filter_map(unknown).collect()
}

/// Why an output cannot be locked, if so.
fn not_lockable(promise: &OutputSpec) -> Option<String> {
    let format = promise.format.filter(|format| format.is_json());
    let prose = promise.framing.is_none() && promise.stdout() == Some(Payload::Any);
    let words = |format: OutputFormat| {
        let probe = promise.probe.as_deref().unwrap_or_default();
        format!("{probe} · {} prints text that is not JSON: see p2-output-{}", format.name(), format.name())
    };
    promise.unknown.clone().or_else(|| format.filter(|_| prose).map(words))
}

/// Locks what a session of [`promise_checks`] showed, or compares it with the lock beside its configuration.
///
/// # Errors
/// Configuration, when there is no configuration, or no lock to compare with; nothing run, when no probe is
/// declared; findings, when some probe says nothing that can be locked; usage, when there is a lock already.
pub fn lock(output: &SessionOutput, mode: LockMode) -> Result<Locked> {
    let Some(root) = &output.root else {
        return Err(Error::config("no agentnative.toml found; a lock is stored next to it")
            .hint("`agentnative init` writes one"));
    };
    let (old, new) = (&output.recording.lock, learn(&output.recording)?);
    if new.promises.is_empty() {
        return Err(Error::nothing_run("no probe is declared, so there is nothing to lock")
            .hint("`agentnative check` shows the details"));
    }
    let refused: Vec<String> = new.promises.iter().filter_map(not_lockable).collect();
    if mode != LockMode::Check && !refused.is_empty() {
        let issue = |message: String| Issue { place: None, message };
        return Err(Error::findings("some probes have no output that can be locked")
            .issues(refused.into_iter().map(issue).collect())
            .hint("`agentnative check` shows the details"));
    }
    let folder = lock_path(root, &new.target);
    fits(old.is_some(), mode, &folder)?;
    let changes = old.as_ref().map_or_else(Vec::new, |old| {
        let unasked = unasked(&output.recording.probes, &old.promises);
        compare(&old.compared(), &[new.compared_with(old), unasked].concat())
    });
    let written = mode != LockMode::Check && old.as_ref() != Some(&new);
    if written {
        write(&new, root, &folder)?;
    }
    let Lock { target, version, promises } = new;
    Ok(Locked {
        target,
        folder: folder.display().to_string(),
        version,
        promises: promises.len(),
        written,
        compatible: changes.iter().all(|change| change.class != Class::Breaking),
        changes,
    })
}

/// Whether there is a lock in `folder` where one is compared with, and none where one is written.
fn fits(has_lock: bool, mode: LockMode, folder: &Path) -> Result<()> {
    match (has_lock, mode) {
        (false, LockMode::Check) => Err(Error::config(format!("no lock found at {}", folder.display()))
            .hint("`agentnative contract lock` writes it")),
        (true, LockMode::Write) => {
            Err(Error::usage(format!("a lock already exists at {}", folder.display()))
                .hint("--check compares with it, --update accepts the current output"))
        }
        _ => Ok(()),
    }
}

/// Writes a lock into `folder` below `root`, and removes the files of an older lock that it does not have. The older
/// lock stays as it is until all files are written.
fn write(lock: &Lock, root: &Path, folder: &Path) -> Result<()> {
    let files = lock.files(pretty)?;
    for folder in [&root.join(LOCK_FOLDER), folder] {
        own_folder(folder)?;
    }
    let old = Lock::listed(folder)?;
    let mut written = Vec::new();
    for (name, text) in &files {
        let file = WholeFile::replace(&folder.join(name))?;
        file.fill(text.as_bytes())?;
        written.push(file);
    }
    written.into_iter().try_for_each(WholeFile::finish)?;
    let is_stale = |path: &&PathBuf| !files.keys().any(|name| path.ends_with(name));
    old.iter()
        .filter(is_stale)
        .try_for_each(|path| fs::remove_file(path).map_err(|error| failed(path, &error)))
}

/// Makes a folder if there is none. A link is not followed: a run may have made it.
fn own_folder(folder: &Path) -> Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(folder).map_err(|error| failed(folder, &error))?;
            if found.is_symlink() {
                let message = format!("{} is a link; expected a folder with a lock", folder.display());
                return Err(Error::config(message).hint("remove the link"));
            }
            if found.is_dir() { Ok(()) } else { Err(failed(folder, &error)) }
        }
        done => done.map_err(|error| failed(folder, &error)),
    }
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::io(ErrorKind::Write, "write", path, error)
}
