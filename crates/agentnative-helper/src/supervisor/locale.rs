//! The locale of runs in other environments, for a system that has not installed it.

use crate::environment::LOCALE_NAME;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The folder of glibc's locales.
const SYSTEM: &str = "/usr/lib/locale";
/// The locale that each system with glibc has, below [`SYSTEM`].
const BASE: &str = "C.utf8";
/// The folder of locales in that of all runs.
const FOLDER: &str = "locale";
/// The fields of `LC_NUMERIC` that hold the decimal point: as bytes, and as a wide character.
const DECIMAL_POINT: [usize; 2] = [0, 3];

/// Makes the locale [`LOCALE_NAME`] in the folder of all runs: `C.UTF-8` of this system with a decimal comma. Returns the
/// folder for `LOCPATH`; `None` if the system has that locale, or has no glibc.
pub(super) fn provide(root: &Path) -> Option<PathBuf> {
    let base = Path::new(SYSTEM).join(BASE);
    let numeric = fs::read(base.join("LC_NUMERIC")).ok()?;
    if is_installed() {
        return None;
    }
    let locales = root.join(FOLDER);
    let own = locales.join(LOCALE_NAME);
    fs::create_dir_all(&own).ok()?;
    for category in fs::read_dir(&base).ok()?.flatten().filter(|entry| entry.file_name() != "LC_NUMERIC") {
        symlink(category.path(), own.join(category.file_name())).ok()?;
    }
    fs::write(own.join("LC_NUMERIC"), with_comma(numeric)?).ok()?;
    Some(locales)
}

/// Whether the system has the locale: as a folder, or in the archive of all.
fn is_installed() -> bool {
    let name = LOCALE_NAME.replace("UTF-8", "utf8");
    let is_in_archive = || {
        let mut archive = Vec::new();
        let read = File::open(Path::new(SYSTEM).join("locale-archive"))
            .and_then(|mut file| file.read_to_end(&mut archive));
        read.is_ok() && memchr::memmem::find(&archive, name.as_bytes()).is_some()
    };
    Path::new(SYSTEM).join(&name).is_dir() || is_in_archive()
}

/// Replaces the decimal point in a compiled `LC_NUMERIC`: a magic number and the number of fields, then the offset of
/// each field, all of 32 bits in the order of the machine, then the fields.
fn with_comma(mut numeric: Vec<u8>) -> Option<Vec<u8>> {
    for field in DECIMAL_POINT {
        let at = 8 + 4 * field;
        let offset = u32::from_ne_bytes(numeric.get(at..at + 4)?.try_into().ok()?);
        let point = numeric.get_mut(usize::try_from(offset).ok()?)?;
        if *point != b'.' {
            return None;
        }
        *point = b',';
    }
    Some(numeric)
}
