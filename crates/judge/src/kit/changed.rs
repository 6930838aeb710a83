//! The files that a run changed in its workspace and its home, without caches, logs and temporary files.

use crate::context::{CheckContext, RunView};
use crate::verdict::Reason;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_core::probe::Probe;
use agentnative_core::run::{Area, Changes, FileChange, FileKind};
use std::collections::BTreeSet;
use strict_json::sanitize;

const READING_CALLS: [DerivedKind; 4] =
    [DerivedKind::Help, DerivedKind::Version, DerivedKind::UnknownFlag, DerivedKind::UnknownCommand];
/// Maximum number of changes that are named; others are counted.
const MAX_NAMED: usize = 3;
/// Maximum length of a path in messages, in characters.
const MAX_PATH: usize = 60;
/// Folders of the home for caches, logs and temporary files, which are not results.
const SCRATCH_FOLDERS: [&str; 8] = ["cache", "caches", "cacache", "log", "logs", "state", "temp", "tmp"];

pub struct RunChanges<'a> {
    /// Created, modified and removed files, except caches, logs and temporary files.
    pub all: Vec<&'a FileChange>,
    /// True if the recording does not list all changes.
    pub is_truncated: bool,
    /// Number of further changes that calls such as `--help`, which should only read, make as well. The check
    /// `p5-read-only` reports them.
    reported_elsewhere: usize,
}

impl<'a> RunChanges<'a> {
    /// Returns the changes of `run`, without changes that reading calls such as `--help` make as well. Returns an error
    /// if the changes are unknown.
    pub fn from_run(run: &RunView<'a>) -> Result<Self, Reason> {
        let mut changed = Self::excluding(run, |_| false)?;
        let read: Vec<&FileChange> = changes_of_reading_calls(run.context).collect();
        let same = |change: &FileChange| {
            read.iter().any(|other| other.area == change.area && other.path == change.path)
        };
        let (own, shared): (Vec<_>, Vec<_>) = changed.all.into_iter().partition(|change| !same(change));
        // Files that any first call creates in a fresh home do not belong to this call.
        let is_first = |change: &&&FileChange| change.area == Area::Home && change.before.is_none();
        changed.reported_elsewhere = shared.iter().filter(|change| !is_first(change)).count();
        changed.all = own;
        changed.ensure_decidable(run)
    }

    /// Returns an error if no relevant change is listed, but the recording omits some changes, which may be relevant.
    fn ensure_decidable(self, run: &RunView<'_>) -> Result<Self, Reason> {
        match self.all.is_empty() && self.is_truncated {
            true => {
                Err(format!("{} changes too many files to distinguish caches from results", run.label())
                    .into())
            }
            false => Ok(self),
        }
    }

    pub const fn from_list(all: Vec<&'a FileChange>) -> Self {
        Self { all, is_truncated: false, reported_elsewhere: 0 }
    }

    /// Returns the change in this list with the area and the path of `change`.
    pub fn find(&self, change: &FileChange) -> Option<&'a FileChange> {
        self.all.iter().copied().find(|own| own.area == change.area && own.path == change.path)
    }

    /// Returns true if the run made no relevant change. Returns an error if it only made changes that `p5-read-only`
    /// reports.
    pub fn changed_nothing(&self, run: &RunView<'_>) -> Result<bool, Reason> {
        if self.is_empty() && self.reported_elsewhere > 0 {
            let what = format!("{} only changes files that reading calls change as well", run.label());
            return Err(run.blocked_by(CheckId::P5ReadOnly, what));
        }
        Ok(self.is_empty())
    }

    /// Returns the changes of a call that should only read. Configuration files in the home are ignored, like caches
    /// and logs.
    pub fn of_reading_call(run: &RunView<'a>) -> Result<Self, Reason> {
        let file = run.context.profile.conventions.config_file.as_deref();
        Self::excluding(run, |path| path.starts_with(".config/") || Some(path) == file)
    }

    fn excluding(run: &RunView<'a>, ignored: impl Fn(&str) -> bool) -> Result<Self, Reason> {
        let changes = recorded_changes(run)?;
        let is_ignored = |change: &FileChange| {
            change.area == Area::Home && (is_scratch(&change.path) || ignored(&change.path))
        };
        let (ignored, counted): (Vec<_>, Vec<_>) = changes.list.iter().partition(|change| is_ignored(change));
        // Parent folders of ignored files.
        let parents: BTreeSet<&str> = ignored
            .iter()
            .flat_map(|change| change.path.match_indices('/').map(|(end, _)| &change.path[..end]))
            .collect();
        let is_parent = |change: &FileChange| {
            let made = change.before.is_none() && change.after.as_ref().is_some_and(is_folder);
            change.area == Area::Home && made && parents.contains(change.path.as_str())
        };
        let all = counted.into_iter().filter(|change| !is_parent(change)).collect();
        Self { all, is_truncated: changes.count > changes.list.len(), reported_elsewhere: 0 }
            .ensure_decidable(run)
    }

    /// True if the run made a relevant change, including changes that reading calls such as `--help` make as well.
    pub fn changed_anything(&self) -> bool {
        !self.is_empty() || self.reported_elsewhere > 0
    }

    /// True if the run made no relevant change, apart from changes that reading calls such as `--help` make as well.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns all files and folders that a run created in its home, including caches and logs.
    pub fn created_in_home(run: &RunView<'a>) -> Result<Self, Reason> {
        let changes = recorded_changes(run)?;
        let is_made = |change: &&FileChange| change.area == Area::Home && change.before.is_none();
        let is_truncated = changes.count > changes.list.len();
        Self { all: changes.list.iter().filter(is_made).collect(), is_truncated, reported_elsewhere: 0 }
            .ensure_decidable(run)
    }

    /// Returns the changes in words: "creates `a`, removes `b` and 3 more".
    pub fn in_words(&self) -> String {
        // A created folder is implied by its files.
        let is_parent = |change: &FileChange| {
            let below = format!("{}/", change.path);
            let is_made = change.before.is_none() && change.after.as_ref().is_some_and(is_folder);
            is_made
                && self.all.iter().any(|other| other.area == change.area && other.path.starts_with(&below))
        };
        let named: Vec<&&FileChange> = self.all.iter().filter(|change| !is_parent(change)).collect();
        let mut words: Vec<String> =
            named.iter().take(MAX_NAMED).map(|change| change_in_words(change)).collect();
        match named.len().saturating_sub(MAX_NAMED) {
            0 if self.is_truncated => words.push("more".into()),
            0 => {}
            more => words.push(format!("{more} more")),
        }
        agentnative_contract::join_words(words, "and")
    }
}

/// Returns the file changes of a run, as recorded. An error states why they are unknown.
pub fn recorded_changes<'a>(run: &RunView<'a>) -> Result<&'a Changes, Reason> {
    if let Some(changes) = &run.observation.changes {
        return Ok(changes);
    }
    run.ended()?;
    let label = run.label();
    Err(format!("the changes of {label} are unknown: its folders are too large or unreadable, or the recording does not contain the changes").into())
}

/// Returns the probes that should only read: declared ones without an effect, and calls such as `--help` and
/// `--version`.
pub fn reading_probes<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = &'a Probe> {
    let own = READING_CALLS.into_iter().flat_map(|kind| context.derived_probes(kind));
    context.sources().filter(|probe| probe.effect.is_none()).chain(own)
}

/// Returns the file changes by calls that should only read, in the text format.
fn changes_of_reading_calls<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = &'a FileChange> {
    let probes = reading_probes(context).filter(|probe| probe.call.workspace.is_some());
    let runs = probes.filter_map(|probe| context.plain_run(probe, OutputFormat::Text));
    runs.filter_map(|run| run.observation.changes.as_ref()).flat_map(|changes| &changes.list)
}

pub fn is_folder(entry: &agentnative_core::run::FileEntry) -> bool {
    entry.kind == FileKind::Folder
}

/// True for a change in the workspace that is neither a cache nor a hidden file.
pub fn is_result(change: &FileChange) -> bool {
    let is_hidden = |part: &str| part.len() > 1 && part.starts_with('.') || part.contains("cache");
    change.area == Area::Workspace && !is_scratch(&change.path) && !change.path.split('/').any(is_hidden)
}

/// True for the path of a cache, a log or a temporary file in the home.
fn is_scratch(path: &str) -> bool {
    let is_log = path.ends_with(".log");
    let mut parts = path.split('/').map(|part| part.trim_start_matches(['.', '_']).to_lowercase());
    is_log || parts.any(|part| SCRATCH_FOLDERS.contains(&part.as_str()))
}

fn change_in_words(change: &FileChange) -> String {
    let does = match (&change.before, &change.after) {
        (None, _) => "creates",
        (_, None) => "removes",
        _ => "modifies",
    };
    let path = sanitize::sanitize_capped(&change.path, MAX_PATH);
    match (change.area, path.as_str()) {
        (Area::Workspace, ".") => format!("{does} the working directory"),
        (Area::Workspace, path) => format!("{does} `{path}`"),
        (Area::Home, ".") => format!("{does} the home folder"),
        (Area::Home, path) => format!("{does} `~/{path}`"),
        (Area::Xdg, path) => format!("{does} `{path}` in the XDG folders"),
    }
}

/// True if the same call in another folder, whose changes are `other`, wrote another content to the same file.
pub fn varies_between_runs(written: &FileChange, other: &RunChanges) -> bool {
    let other = other.find(written).and_then(|other| other.after.as_ref());
    let (Some(one), Some(two)) = (&written.after, other) else { return false };
    one.kind == FileKind::File && two.kind == FileKind::File && one.digest != two.digest
}
