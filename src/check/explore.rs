//! Prepares the exploration of a target: its workspace, the documents with examples, and its time limit.

use super::manual_page::read_manual;
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::config::Workspace;
use agentnative_core::explore::{ExploreSettings, Explorer, sample_files};
use agentnative_core::files;
use agentnative_core::probe::{Probe, RunEnvironment};
use agentnative_core::run::{Runner, Template};
use agentnative_core::targets::Target;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of files in the workspace that can be arguments of explored calls.
const MAX_FILES: usize = 1_000;
/// Maximum length of a README that is searched for examples, in bytes.
const MAX_README: u64 = 256 << 10;
/// Number of runs that are made between two looks at the clock.
const BATCH: usize = 64;

/// The options of the exploration of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExploreOptions {
    /// Maximum number of calls, without those of help pages and those that the checks need of the selected calls.
    pub calls: usize,
    /// Time after which no further explored run is made.
    pub budget: Duration,
    /// The folder that each explored call starts in a copy of; `None` for a folder with a few sample files.
    pub workspace: Option<PathBuf>,
}

impl Default for ExploreOptions {
    /// Returns options for 600 calls in two minutes.
    fn default() -> Self {
        Self { calls: 600, budget: Duration::from_secs(120), workspace: None }
    }
}

impl ExploreOptions {
    /// Returns the options as command-line arguments.
    pub(super) fn argument(&self) -> String {
        let default = Self::default();
        let mut words = vec!["--explore".to_owned()];
        if self.calls != default.calls {
            words.push(format!("--explore-calls {}", self.calls));
        }
        if self.budget != default.budget {
            words.push(format!("--explore-budget {}", self.budget.as_secs_f64()));
        }
        words.extend(self.workspace.iter().map(|folder| format!("--workspace {}", folder.display())));
        words.join(" ")
    }

    /// Creates the explorer of a target. Stores the workspace of the explored calls in `environment`.
    ///
    /// # Errors
    /// A usage error if the workspace is no folder or too large to be copied for each run.
    pub(super) fn explorer<'a>(
        &self,
        target: &'a Target,
        declared: &'a [Probe],
        environment: &mut RunEnvironment,
        runner: &mut Runner,
    ) -> Result<Explorer<'a>> {
        let (key, template, mut files) = match &self.workspace {
            Some(folder) => {
                let folder = folder.canonicalize().map_err(|error| Error::data_file(folder, &error))?;
                let from = folder.clone().into_os_string();
                let files = file_names(&folder);
                (folder, Template::Folder { from, is_bounded: true }, files)
            }
            None => (PathBuf::from(SAMPLES_KEY), Template::Files(Vec::new()), Vec::new()),
        };
        let template = runner.store_template(template).map_err(|error| match &self.workspace {
            Some(_) => Error::usage(error.message).hint("name a smaller folder"),
            None => error,
        })?;
        files.extend(write_samples(Path::new(&template))?);
        files.sort_unstable();
        environment.workspaces.insert(key.clone(), template);
        let workspace = Workspace::Copy(key);
        Ok(Explorer::new(ExploreSettings {
            max_calls: self.calls,
            timeout: target.config.timeout,
            skip: &target.config.explore.skip,
            workspace,
            files,
            documents: documents(target),
            declared,
        }))
    }
}

/// Writes the sample files to a folder, unless it has files of these names. Returns the names of all samples.
fn write_samples(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for (name, bytes) in sample_files() {
        let path = folder.join(name);
        // A link of this name in the folder is not followed.
        let file = fs::OpenOptions::new().write(true).create_new(true).open(&path);
        match file.and_then(|mut file| file.write_all(bytes)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io(ErrorKind::Write, "write", &path, &error));
            }
            _ => names.push(name.to_owned()),
        }
    }
    Ok(names)
}

/// The name of the workspace that contains only samples.
const SAMPLES_KEY: &str = "samples";

/// Returns the names of the files in a folder, and in its folders, relative to it.
fn file_names(folder: &Path) -> Vec<String> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let below = |entry: fs::DirEntry| {
        let (path, name) = (entry.path(), entry.file_name());
        let inner = path.is_dir().then(|| {
            entries(&path).map(|inner| Path::new(&name).join(inner.file_name())).collect::<Vec<_>>()
        });
        inner.unwrap_or_else(|| vec![PathBuf::from(name.clone())])
    };
    let files = entries(folder).flat_map(below).filter(|name| folder.join(name).is_file());
    let mut names: Vec<String> = files.filter_map(|name| name.into_os_string().into_string().ok()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort_unstable();
    names.truncate(MAX_FILES);
    names
}

/// Returns the documents of a target that may contain examples: its manual page, and the README of its project.
fn documents(target: &Target) -> Vec<String> {
    let manual = read_manual(Some(target), None).map(|page| page.text);
    let readme = target.project.as_ref().and_then(|project| {
        let bytes = files::read(&project.folder.join("README.md"), MAX_README).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
    manual.into_iter().chain(readme).collect()
}

/// Measures the time of exploration.
pub(super) struct ExploreClock {
    /// The end of exploration, and its length; `None` without exploration.
    end: Option<(Instant, Duration)>,
    has_ended: bool,
}

impl ExploreClock {
    /// Starts the clock; without options, it never ends.
    pub fn start(options: Option<&ExploreOptions>) -> Self {
        let end = options.map(|options| (Instant::now() + options.budget, options.budget));
        Self { end, has_ended: false }
    }

    /// Returns the number of runs to make before the next look at the clock.
    pub fn batch(&self) -> usize {
        if self.end.is_some() { BATCH } else { usize::MAX }
    }

    /// Returns whether the time is over, so that explored runs are no longer made. `is_needed` is true if such a run
    /// would be made next.
    pub fn end_at_limit(&mut self, is_needed: bool) -> bool {
        self.has_ended |= is_needed && self.end.is_some_and(|(end, _)| Instant::now() >= end);
        self.has_ended && is_needed
    }

    /// Returns why exploration ended early, if it did.
    pub fn incomplete(&self, is_interrupted: bool) -> Option<String> {
        if is_interrupted {
            return Some("it was interrupted".to_owned());
        }
        let (_, budget) = self.end.filter(|_| self.has_ended)?;
        Some(format!("its time limit of {} s was reached", budget.as_secs_f64()))
    }
}
