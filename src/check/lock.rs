//! Infers the lock of a target from the runs of its declared probes, and compares it with the stored lock or writes it.
//! A lock is the shape of the target's outputs at one time.

use super::contracts::LoadedContracts;
use super::judging::context;
use super::session::SessionOutput;
use agentnative_core::catalogue::Check;
use agentnative_core::files::AtomicFile;

use agentnative_contract::error::{Error, ErrorKind, Issue, Result};
use agentnative_contract::{OutputSpec, Payload};
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_core::probe::{Probe, Recording};
use agentnative_diff::interface::{InterfaceComparison, compare_interfaces};
use agentnative_diff::lock::{LOCK_FOLDER, Lock, lock_path};
use agentnative_diff::{Change, ChangeSeverity, compare};
use agentnative_output::pretty;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What `contract lock` does: write, compare or update a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Write a new lock; there must be none.
    Write,
    /// Compare with the existing lock.
    Check,
    /// Write the lock, replacing an existing one.
    Update,
}

/// The result of locking.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Locked {
    /// Name of the target.
    pub target: String,
    /// The folder that contains the lock.
    pub folder: String,
    /// The version that the target prints.
    pub version: Option<String>,
    /// Number of locked outputs: one per probe and format.
    pub promises: usize,
    /// Number of commands in the locked interface, including the target itself; absent if no interface is locked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<usize>,
    /// The lock was written.
    pub written: bool,
    /// No change breaks consumers.
    pub compatible: bool,
    /// The changes, by descending severity.
    pub changes: Vec<Change>,
    /// What was not compared in the interface, because only one side states it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    /// Why the interface is not locked, or which help pages were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Returns the checks that a session has to select, so that its runs suffice to infer a lock.
pub fn lock_checks() -> Vec<&'static Check> {
    vec![CheckId::P2ContractLocked.check(), CheckId::P2InterfaceLocked.check()]
}

/// Infers a lock from the runs of the declared probes in a recording.
pub(super) fn infer_lock(recording: &Recording) -> Result<Lock> {
    let contracts = LoadedContracts::load_for_recording(recording)?;
    Ok(agentnative_judge::learn(&context(recording, &contracts), &recording.target.name))
}

/// Returns those outputs in `others` that `probes` were not run for, because it is not known how to select their
/// format. They are returned as unknown outputs, so that a comparison does not report them as removed.
pub(super) fn not_requested(probes: &[Probe], others: &[OutputSpec]) -> Vec<OutputSpec> {
    let unknown = |other: &OutputSpec| {
        let (name, format) = (other.probe.as_ref()?, other.format.filter(|format| format.is_json())?);
        probes.iter().find(|probe| probe.omits_format_flag() && probe.name == *name)?;
        let why = format!(
            "{name} was not run in {}, because neither the help nor the configuration shows that `--output` selects a \
             format: see p2-output-format",
            format.name()
        );
        Some(OutputSpec::unknown(name, format, None, why))
    };
    others.iter().filter_map(unknown).collect()
}

/// Returns the reason if an output cannot be locked: it is unknown, or it is text although JSON was requested. Else
/// `None`.
fn why_not_lockable(output: &OutputSpec) -> Option<String> {
    let format = output.format.filter(|format| format.is_json());
    let is_prose = output.framing.is_none() && output.stdout() == Some(Payload::Any);
    let message = |format: OutputFormat| {
        let probe = output.probe.as_deref().unwrap_or_default();
        format!("{probe} · {} prints text that is not JSON: see p2-output-{}", format.name(), format.name())
    };
    output.unknown.clone().or_else(|| format.filter(|_| is_prose).map(message))
}

/// Infers the lock from the runs of a session with [`lock_checks`], then writes it or compares it with the stored lock,
/// as `mode` specifies.
///
/// # Errors
/// A configuration error if there is no configuration, or no lock to compare with; nothing run if no probe is
/// declared; findings if an output cannot be locked; a usage error if a lock to be written already exists.
pub fn lock(output: &SessionOutput, mode: LockMode) -> Result<Locked> {
    let Some(root) = &output.root else {
        return Err(Error::config("no agentnative.toml found; a lock is stored next to it")
            .hint("`agentnative init` writes one"));
    };
    let (old, new) = (&output.recording.lock, infer_lock(&output.recording)?);
    let locked = old.as_ref().and_then(|old| old.interface.as_ref());
    if new.promises.is_empty() && new.interface.is_none() && locked.is_none() {
        return Err(Error::nothing_run("no probe is declared, so there is nothing to lock")
            .hint("`agentnative check` shows the details"));
    }
    let not_lockable: Vec<String> = new.promises.iter().filter_map(why_not_lockable).collect();
    if mode != LockMode::Check && !not_lockable.is_empty() {
        let issue = |message: String| Issue { place: None, message };
        return Err(Error::findings("some probes have no output that can be locked")
            .issues(not_lockable.into_iter().map(issue).collect())
            .hint("`agentnative check` shows the details"));
    }
    let folder = lock_path(root, &new.target);
    check_presence(old.is_some(), mode, &folder)?;
    let mut changes = old.as_ref().map_or_else(Vec::new, |old| {
        let not_requested = not_requested(&output.recording.probes, &old.promises);
        compare(&old.comparable(), &[new.comparable_with(old), not_requested].concat())
    });
    let compared = locked.map(|locked| compare_interfaces(locked, new.interface.as_ref()));
    let InterfaceComparison { changes: of_interface, not_compared } = compared.unwrap_or_default();
    changes.extend(of_interface);
    changes.sort_by_key(|change| change.class);
    let note = interface_note(&output.recording, &new, mode);
    let written = mode != LockMode::Check && old.as_ref() != Some(&new);
    if written {
        write(&new, root, &folder)?;
    }
    let Lock { target, version, promises, interface } = new;
    Ok(Locked {
        target,
        folder: folder.display().to_string(),
        version,
        promises: promises.len(),
        commands: interface
            .filter(|_| mode != LockMode::Check || locked.is_some())
            .map(|one| one.commands.len()),
        written,
        compatible: changes.iter().all(|change| change.class != ChangeSeverity::Breaking),
        changes,
        not_compared,
        note,
    })
}

/// Returns why the interface is not locked, or what is missing in it.
fn interface_note(recording: &Recording, new: &Lock, mode: LockMode) -> Option<String> {
    let is_locked = recording.lock.as_ref().is_some_and(|old| old.interface.is_some());
    match &new.interface {
        None => Some("the target has no help pages, so the lock has no interface".to_owned()),
        Some(_) if mode == LockMode::Check && !is_locked => {
            Some("the interface is not locked; run `contract lock --update`".to_owned())
        }
        Some(_) => context(recording, &LoadedContracts::default()).interface()?.unread,
    }
}

/// Checks that a lock exists if it is to be compared, and does not exist if it is to be written.
fn check_presence(has_lock: bool, mode: LockMode, folder: &Path) -> Result<()> {
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

/// Writes a lock into `folder` below `root`, then removes stale files of an older lock. The older lock stays
/// unchanged until all files are written.
fn write(lock: &Lock, root: &Path, folder: &Path) -> Result<()> {
    let files = lock.files(pretty)?;
    for folder in [&root.join(LOCK_FOLDER), folder] {
        create_folder(folder)?;
    }
    let old = Lock::files_in(folder)?;
    let mut written = Vec::new();
    for (name, text) in &files {
        let file = AtomicFile::replace(&folder.join(name))?;
        file.write_contents(text.as_bytes())?;
        written.push(file);
    }
    written.into_iter().try_for_each(AtomicFile::persist)?;
    let is_stale = |path: &&PathBuf| !files.keys().any(|name| path.ends_with(name));
    old.iter()
        .filter(is_stale)
        .try_for_each(|path| fs::remove_file(path).map_err(|error| write_error(path, &error)))
}

/// Creates a folder if it is missing. Rejects a symbolic link, since a run may have created it to redirect the files.
fn create_folder(folder: &Path) -> Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(folder).map_err(|error| write_error(folder, &error))?;
            if found.is_symlink() {
                let message = format!("{} is a link; expected a folder with a lock", folder.display());
                return Err(Error::config(message).hint("remove the link"));
            }
            if found.is_dir() { Ok(()) } else { Err(write_error(folder, &error)) }
        }
        done => done.map_err(|error| write_error(folder, &error)),
    }
}

fn write_error(path: &Path, error: &io::Error) -> Error {
    Error::io(ErrorKind::Write, "write", path, error)
}
