//! What a run changed in its workspace and its home, as far as that matters.

use crate::context::{CheckContext, RunView};
use crate::verdict::Reason;
use agentnative_core::catalogue::Derived;
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_core::probe::Probe;
use agentnative_core::run::{Area, Change, Changes, EntryKind};
use std::collections::BTreeSet;
use strict_json::sanitize;

/// Calls of the target itself that only read.
const READS: [Derived; 4] = [Derived::Help, Derived::Version, Derived::UnknownFlag, Derived::UnknownCommand];
/// More changes than this are counted, not named.
const NAMED: usize = 3;
/// The longest path that is shown, in characters.
const LONGEST: usize = 60;
/// Folders of the home in which anybody may leave what is no result: caches, logs, what is temporary.
const SCRATCH: [&str; 8] = ["cache", "caches", "cacache", "log", "logs", "state", "temp", "tmp"];

/// What a run changed.
pub struct Changed<'a> {
    /// What it made, changed and removed, but for caches and the like.
    pub all: Vec<&'a Change>,
    /// There is more than the recording lists.
    pub is_cut: bool,
    /// How many more there are that calls which only read make as well, and which `p5-read-only` tells.
    told: usize,
}

impl<'a> Changed<'a> {
    /// What `run` changed; or that this is not known.
    pub fn of(run: &RunView<'a>) -> Result<Self, Reason> {
        let mut changed = Self::but_for(run, |_| false)?;
        let read: Vec<&Change> = by_all_that_read(run.context).collect();
        let same =
            |change: &Change| read.iter().any(|other| other.area == change.area && other.path == change.path);
        let (own, usual): (Vec<_>, Vec<_>) = changed.all.into_iter().partition(|change| !same(change));
        // What the first call of all leaves in a fresh home is not of this call.
        let is_first = |change: &&&Change| change.area == Area::Home && change.before.is_none();
        changed.told = usual.iter().filter(|change| !is_first(change)).count();
        changed.all = own;
        changed.told_apart(run)
    }

    /// That nothing else is in the part that the recording does not list, if nothing was found in the other.
    fn told_apart(self, run: &RunView<'_>) -> Result<Self, Reason> {
        match self.all.is_empty() && self.is_cut {
            true => Err(format!("{} changes too much to tell caches from results", run.label()).into()),
            false => Ok(self),
        }
    }

    /// Some of what a run changed.
    pub const fn only(all: Vec<&'a Change>) -> Self {
        Self { all, is_cut: false, told: 0 }
    }

    /// The change of the same path, if there is one.
    pub fn find(&self, change: &Change) -> Option<&'a Change> {
        self.all.iter().copied().find(|own| own.area == change.area && own.path == change.path)
    }

    /// That it changed nothing that matters; or that another check tells of what it changed.
    pub fn none(&self, run: &RunView<'_>) -> Result<bool, Reason> {
        if self.is_empty() && self.told > 0 {
            let what = format!("{} changes what calls that only read change as well", run.label());
            return Err(run.blocked_by(CheckId::P5ReadOnly, what));
        }
        Ok(self.is_empty())
    }

    /// The same without what is no result of a call that only reads: the files of its own configuration.
    pub fn by_reading(run: &RunView<'a>) -> Result<Self, Reason> {
        let file = run.context.profile.conventions.config_file.as_deref();
        Self::but_for(run, |path| path.starts_with(".config/") || Some(path) == file)
    }

    fn but_for(run: &RunView<'a>, spared: impl Fn(&str) -> bool) -> Result<Self, Reason> {
        let changes = listed(run)?;
        let is_spared =
            |change: &Change| change.area == Area::Home && (is_scratch(&change.path) || spared(&change.path));
        let (spared, counted): (Vec<_>, Vec<_>) = changes.list.iter().partition(|change| is_spared(change));
        // The way to what is spared.
        let ways: BTreeSet<&str> = spared
            .iter()
            .flat_map(|change| change.path.match_indices('/').map(|(end, _)| &change.path[..end]))
            .collect();
        let is_way = |change: &Change| {
            let made = change.before.is_none() && change.after.as_ref().is_some_and(is_folder);
            change.area == Area::Home && made && ways.contains(change.path.as_str())
        };
        let all = counted.into_iter().filter(|change| !is_way(change)).collect();
        Self { all, is_cut: changes.count > changes.list.len(), told: 0 }.told_apart(run)
    }

    /// Whether it changed something, be it what calls that only read change as well.
    pub fn is_something(&self) -> bool {
        !self.is_empty() || self.told > 0
    }

    /// Whether it changed nothing of its own that matters.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Everything that a run made in its home, caches and logs among it.
    pub fn made_in_home(run: &RunView<'a>) -> Result<Self, Reason> {
        let changes = listed(run)?;
        let is_made = |change: &&Change| change.area == Area::Home && change.before.is_none();
        let is_cut = changes.count > changes.list.len();
        Self { all: changes.list.iter().filter(is_made).collect(), is_cut, told: 0 }.told_apart(run)
    }

    /// The changes in words: "creates `a`, removes `b` and 3 more".
    pub fn words(&self) -> String {
        // A folder that something was made in is told by that.
        let is_way = |change: &Change| {
            let below = format!("{}/", change.path);
            let is_made = change.before.is_none() && change.after.as_ref().is_some_and(is_folder);
            is_made
                && self.all.iter().any(|other| other.area == change.area && other.path.starts_with(&below))
        };
        let told: Vec<&&Change> = self.all.iter().filter(|change| !is_way(change)).collect();
        let mut words: Vec<String> = told.iter().take(NAMED).map(|change| in_words(change)).collect();
        match told.len().saturating_sub(NAMED) {
            0 if self.is_cut => words.push("more".into()),
            0 => {}
            more => words.push(format!("{more} more")),
        }
        agentnative_contract::listed(words, "and")
    }
}

/// What the recording lists of a run.
pub fn listed<'a>(run: &RunView<'a>) -> Result<&'a Changes, Reason> {
    if let Some(changes) = &run.observation.changes {
        return Ok(changes);
    }
    run.ended()?;
    let label = run.label();
    Err(format!("what {label} changed is not known: its folders hold too much, or cannot be read, or the recording does not tell").into())
}

/// The probes that only read: those that are not said to change anything, and some of the target itself.
pub fn reading<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = &'a Probe> {
    let own = READS.into_iter().flat_map(|kind| context.derived(kind));
    context.declared().filter(|probe| probe.effect.is_none()).chain(own)
}

/// What the calls change that only read, in text.
fn by_all_that_read<'a>(context: &'a CheckContext<'a>) -> impl Iterator<Item = &'a Change> {
    let probes = reading(context).filter(|probe| probe.call.workspace.is_some());
    let runs = probes.filter_map(|probe| context.plain(probe, OutputFormat::Text));
    runs.filter_map(|run| run.observation.changes.as_ref()).flat_map(|changes| &changes.list)
}

/// Whether a folder is there.
pub fn is_folder(entry: &agentnative_core::run::Entry) -> bool {
    entry.kind == EntryKind::Folder
}

/// Whether a path of the home is one of a cache, a log or something temporary.
fn is_scratch(path: &str) -> bool {
    let is_log = path.ends_with(".log");
    let mut parts = path.split('/').map(|part| part.trim_start_matches(['.', '_']).to_lowercase());
    is_log || parts.any(|part| SCRATCH.contains(&part.as_str()))
}

fn in_words(change: &Change) -> String {
    let does = match (&change.before, &change.after) {
        (None, _) => "creates",
        (_, None) => "removes",
        _ => "modifies",
    };
    let path = sanitize::capped(&change.path, LONGEST);
    match (change.area, path.as_str()) {
        (Area::Workspace, ".") => format!("{does} the working directory"),
        (Area::Workspace, path) => format!("{does} `{path}`"),
        (Area::Home, ".") => format!("{does} the home folder"),
        (Area::Home, path) => format!("{does} `~/{path}`"),
        (Area::Xdg, path) => format!("{does} `{path}` in the XDG folders"),
    }
}

/// Whether a file that a call wrote is another one after the same call in another folder.
pub fn is_unsteady(written: &Change, other: &Changed) -> bool {
    let other = other.find(written).and_then(|other| other.after.as_ref());
    let (Some(one), Some(two)) = (&written.after, other) else { return false };
    one.kind == EntryKind::File && two.kind == EntryKind::File && one.digest != two.digest
}
