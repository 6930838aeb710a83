//! The verdicts of the previous check of a target: one small file per target in the cache folder of the user.
//!
//! The verdicts only reduce the number of checks to make. A damaged file counts as missing, and a file that cannot be
//! written is missing the next time.

use super::Session;
use super::cache::{cache_folder, create_cache_folder};
use crate::report::Report;
use agentnative_core::catalogue::Check;
use agentnative_core::files::AtomicFile;
use agentnative_core::model::{Status, TargetInfo};
use agentnative_core::targets::TargetSelector;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};
use xxhash_rust::xxh3::xxh3_64;

/// Version of the file format.
const VERSION: u32 = 1;

/// The cache file of a target, with the verdicts of its previous check.
#[derive(Debug, Clone)]
pub struct PreviousResults {
    file: Option<PathBuf>,
    key: TargetKey,
    stored: Option<StoredResults>,
}

/// Identifies a target by what the user named: configuration, program and target name, with absolute paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TargetKey {
    config: Option<String>,
    target: Vec<String>,
    bin: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredResults {
    version: u32,
    key: TargetKey,
    target: TargetInfo,
    checks: BTreeMap<String, Status>,
}

impl PreviousResults {
    /// Reads the previous results of the target of this session. `config` is the path of its configuration file.
    pub fn of(session: &Session, config: Option<&Path>) -> Self {
        let key = TargetKey::of(session, config);
        let name = serde_json::to_vec(&key).map_or(0, |bytes| xxh3_64(&bytes));
        let file = cache_folder().map(|cache| cache.join(format!("agentnative/last-time/{name:016x}.json")));
        let stored = file.as_deref().and_then(|file| read(file, &key));
        Self { file, key, stored }
    }

    /// Returns the target of the previous check; `None` without a previous check.
    pub fn target(&self) -> Option<&TargetInfo> {
        self.stored.as_ref().map(|stored| &stored.target)
    }

    /// Returns whether a check has to be made again: it failed, warned, was unverified or was not made.
    pub fn needs_check(&self, check: &Check) -> bool {
        let last = self.stored.as_ref().and_then(|stored| stored.checks.get(check.id.as_str()));
        last.is_none_or(|last| matches!(last, Status::Fail | Status::Warn | Status::Unverified))
    }

    /// Stores the verdicts of a report; those of other checks stay unchanged.
    pub fn store(&self, report: &Report) {
        let Some(file) = &self.file else { return };
        // A concurrent check of the same target may have written the file.
        let mut checks = read(file, &self.key).map(|stored| stored.checks).unwrap_or_default();
        checks.extend(report.results.iter().map(|result| (result.id.to_string(), result.status)));
        let stored =
            StoredResults { version: VERSION, key: self.key.clone(), target: report.target.clone(), checks };
        // If writing fails, the next check makes all checks and reports that.
        let _ = write(file, &stored);
    }
}

impl TargetKey {
    fn of(session: &Session, config: Option<&Path>) -> Self {
        let cwd = env::current_dir().unwrap_or_default();
        let absolute = |path: &Path| cwd.join(path).components().collect::<PathBuf>().display().to_string();
        let target = match &session.target {
            TargetSelector::Path(path) => vec![absolute(path)],
            TargetSelector::Name(name) => vec![String::new(), name.display().to_string()],
            TargetSelector::Argv(words) => {
                let words = words.iter().map(|word| word.display().to_string());
                std::iter::once(cwd.display().to_string()).chain(words).collect()
            }
        };
        Self { config: config.map(absolute), target, bin: session.options.bin.clone() }
    }
}

fn read(file: &Path, key: &TargetKey) -> Option<StoredResults> {
    let stored: StoredResults = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (stored.version == VERSION && stored.key == *key).then_some(stored)
}

/// Writes the file atomically: a concurrent reader gets the old or the new content. `None` if writing fails.
fn write(file: &Path, stored: &StoredResults) -> Option<()> {
    create_cache_folder(file).ok()?;
    AtomicFile::replace(file).ok()?.write(&serde_json::to_vec(stored).ok()?).ok()
}
