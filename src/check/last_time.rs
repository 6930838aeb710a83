//! What the checks of a target came to last time: a small file for each target below the cache folder of the user.
//!
//! It helps to check less; nothing rests on it. So one that is damaged is none, and one that cannot be written is
//! not there next time.

use super::Session;
use crate::report::Report;
use agentnative_core::catalogue::Check;
use agentnative_core::files::WholeFile;
use agentnative_core::model::{Status, TargetInfo};
use agentnative_core::targets::TargetSelector;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs};
use xxhash_rust::xxh3::xxh3_64;

/// The only version of the file so far.
const VERSION: u32 = 1;

/// Where the verdicts of a target are kept, and those of last time.
#[derive(Debug, Clone)]
pub struct LastTime {
    file: Option<PathBuf>,
    key: Key,
    kept: Option<Kept>,
}

/// Which target it is: what was named, absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    config: Option<String>,
    target: Vec<String>,
    bin: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    version: u32,
    key: Key,
    target: TargetInfo,
    checks: BTreeMap<String, Status>,
}

impl LastTime {
    /// What is kept for the target of this session, with the configuration at `config`.
    pub fn of(session: &Session, config: Option<&Path>) -> Self {
        let key = Key::of(session, config);
        let name = serde_json::to_vec(&key).map_or(0, |bytes| xxh3_64(&bytes));
        let file = cache_folder().map(|cache| cache.join(format!("agentnative/last-time/{name:016x}.json")));
        let kept = file.as_deref().and_then(|file| read(file, &key));
        Self { file, key, kept }
    }

    /// The target as it was last time; none when nothing is known of it.
    pub fn target(&self) -> Option<&TargetInfo> {
        self.kept.as_ref().map(|kept| &kept.target)
    }

    /// Whether a check has to be made again: it did not hold, could not be decided, or was not made.
    pub fn is_open(&self, check: &Check) -> bool {
        let last = self.kept.as_ref().and_then(|kept| kept.checks.get(check.id.as_str()));
        last.is_none_or(|last| matches!(last, Status::Fail | Status::Warn | Status::Unverified))
    }

    /// Keeps the verdicts of a report; checks that it has not stay as they were.
    pub fn keep(&self, report: &Report) {
        let Some(file) = &self.file else { return };
        // Another check of the same target may have ended meanwhile.
        let mut checks = read(file, &self.key).map(|kept| kept.checks).unwrap_or_default();
        checks.extend(report.results.iter().map(|result| (result.id.to_string(), result.status)));
        let kept = Kept { version: VERSION, key: self.key.clone(), target: report.target.clone(), checks };
        // Without it the next check makes all checks, and says so.
        let _ = write(file, &kept);
    }
}

impl Key {
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

/// The user's cache folder, as the XDG Base Directory Specification has it. A home that is not there is not made.
fn cache_folder() -> Option<PathBuf> {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(env::home_dir().filter(|home| home.is_absolute() && home.is_dir())?.join(".cache")))
}

fn read(file: &Path, key: &Key) -> Option<Kept> {
    let kept: Kept = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    (kept.version == VERSION && kept.key == *key).then_some(kept)
}

/// Writes the file as a whole: who reads it meanwhile has the old one or the new one.
fn write(file: &Path, kept: &Kept) -> Option<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(file.parent()?).ok()?;
    WholeFile::replace(file).ok()?.write(&serde_json::to_vec(kept).ok()?).ok()
}
