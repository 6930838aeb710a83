//! Creates the locale for runs that use another locale, if the system has not installed it.

use super::dir::Dir;
use crate::added_variables::LOCALE_NAME;
use rustix::fs::Mode;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The folder in which glibc stores its locales.
const SYSTEM_FOLDER: &str = "/usr/lib/locale";
/// Name of the locale that each system with glibc has in [`SYSTEM_FOLDER`].
const BASE: &str = "C.utf8";
/// Name of the folder for created locales, in the folder of all runs.
const FOLDER: &str = "locale";
/// The file of a locale that defines the format of numbers.
const NUMERIC: &str = "LC_NUMERIC";
/// Indexes of the two fields of [`NUMERIC`] that contain the decimal point: as bytes, and as a wide character.
const DECIMAL_POINT: [usize; 2] = [0, 3];

/// Creates the locale [`LOCALE_NAME`] in the folder of all runs: `C.UTF-8` of this system with a decimal comma. Returns
/// the folder for the variable `LOCPATH`. `None` if the system already has the locale, has no glibc, or the locale
/// cannot be created.
pub(super) fn provide_locale(root: &Path) -> Option<PathBuf> {
    let system = Dir::open(Path::new(SYSTEM_FOLDER)).ok()?;
    let numeric = with_decimal_comma(read(&system.open_folder(BASE).ok()?, NUMERIC).ok()?)?;
    if is_installed(&system) {
        return None;
    }
    make_locale(&Dir::open(root).ok()?, &system, &numeric).ok()?;
    Some(root.join(FOLDER))
}

fn make_locale(root: &Dir, system: &Dir, numeric: &[u8]) -> io::Result<()> {
    let own = root.make_folder(FOLDER)?.make_folder(LOCALE_NAME)?;
    let base = Path::new(SYSTEM_FOLDER).join(BASE);
    for category in system.open_folder(BASE)?.entries()? {
        let category = category?;
        let name = category.os_name();
        if name != NUMERIC {
            own.make_link(&*base.join(name), name)?;
        }
    }
    own.create(NUMERIC, Mode::RUSR)?.write_all(numeric)
}

/// Whether the system has installed [`LOCALE_NAME`], as a folder or in the locale archive.
fn is_installed(system: &Dir) -> bool {
    let name = LOCALE_NAME.replace("UTF-8", "utf8");
    let is_in_archive = || {
        let archive = read(system, "locale-archive").unwrap_or_default();
        memchr::memmem::find(&archive, name.as_bytes()).is_some()
    };
    system.stat(&*name).is_ok() || is_in_archive()
}

fn read(folder: &Dir, name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    folder.open_file(name)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces the decimal point by a comma in the contents of a compiled [`NUMERIC`]; `None` if they are invalid. They
/// consist of a magic number, the number of fields and the offset of each field, all 32 bits in native byte order, and
/// then the fields.
fn with_decimal_comma(mut numeric: Vec<u8>) -> Option<Vec<u8>> {
    for field in DECIMAL_POINT {
        let position = 8 + 4 * field;
        let offset = u32::from_ne_bytes(numeric.get(position..position + 4)?.try_into().ok()?);
        let point = numeric.get_mut(usize::try_from(offset).ok()?)?;
        if *point != b'.' {
            return None;
        }
        *point = b',';
    }
    Some(numeric)
}
