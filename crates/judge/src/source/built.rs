//! Build time of a program and modification time of its code.

use super::package::PackageCode;
use super::walk::walk;
use agentnative_core::facts::{BuildTimes, Excluded};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns when `program` was built, and which file of `package` changed last. `None` if the program is itself a file
/// of the package, such as a script, or if a time is unknown.
pub fn build_times(package: &Path, program: &Path) -> Option<BuildTimes> {
    let code = PackageCode::all(package);
    let files = code.iter().filter_map(|package| walk(package, &mut Excluded::default()).ok()).flatten();
    let mut newest: Option<(SystemTime, String)> = None;
    let own = program.canonicalize().ok()?;
    for file in files {
        if file.path.canonicalize().is_ok_and(|path| path == own) {
            return None;
        }
        let Ok(changed) = file.path.metadata().and_then(|metadata| metadata.modified()) else { continue };
        if newest.as_ref().is_none_or(|(before, _)| changed > *before) {
            newest = Some((changed, file.name));
        }
    }
    let (changed, newest) = newest?;
    let milliseconds = |time: SystemTime| {
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok()
    };
    Some(BuildTimes {
        program: super::name_in(package, program).unwrap_or_else(|| program.display().to_string()),
        at: milliseconds(program.metadata().ok()?.modified().ok()?)?,
        newest,
        changed: milliseconds(changed)?,
    })
}
