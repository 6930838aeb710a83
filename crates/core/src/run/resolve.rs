//! Resolves the name of a program to an absolute path, once and without a shell.

use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_helper::{absolute_entries, absolute_path_entries};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Returns the absolute path of a program, found by [`resolve`] with the PATH of this process.
///
/// # Errors
/// The errors of [`resolve`].
pub fn find_program(program: &OsStr) -> Result<PathBuf> {
    resolve(program, std::env::var_os("PATH").as_deref())
}

/// Returns the absolute path of a program. A name without a slash is searched in the absolute entries of `path`; empty
/// and relative entries are ignored. Any other name is a path, relative to the working directory. Symbolic links are
/// not resolved, since a program may behave differently by its name. A shim of asdf is replaced by its program, since
/// asdf reads the selected version from a file below HOME.
///
/// # Errors
/// [`ErrorKind::Config`](agentnative_contract::error::ErrorKind::Config) if the file does not exist,
/// [`ErrorKind::Auth`](agentnative_contract::error::ErrorKind::Auth) if it may not be executed.
pub fn resolve(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf> {
    let displayed = program.display();
    let is_path = program.as_encoded_bytes().contains(&b'/');
    let candidates: Vec<PathBuf> = if program.is_empty() {
        Vec::new()
    } else if is_path {
        let absolute = std::path::absolute(program);
        vec![absolute.map_err(|e| Error::config(format!("cannot find {displayed}: {e}")))?]
    } else {
        absolute_entries(&absolute_path_entries(path))
            .into_iter()
            .map(|folder| folder.join(program))
            .collect()
    };
    if let Some(found) = candidates.iter().find(|file| is_executable(file)) {
        return Ok(program_of_asdf_shim(found).unwrap_or_else(|| found.clone()));
    }
    if is_path
        && let Some(Err(error)) = candidates.first().map(|file| file.metadata())
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(Error::io(ErrorKind::Config, "find", Path::new(program), &error));
    }
    if let Some(file) = candidates.iter().find(|file| file.exists()) {
        let reason = if file.is_dir() { "it is a folder" } else { "it is not executable" };
        let error = Error::auth(format!("{} cannot be executed: {reason}", file.display()));
        return Err(match file.is_dir() {
            true => error.hint("pass the path of the program in the folder"),
            false => error.hint(format!("chmod +x {}", file.display())),
        });
    }
    Err(match is_path {
        true => Error::config(format!("no such file: {displayed}")),
        false => Error::config(format!("no program {displayed} on PATH"))
            .hint("pass its path, such as ./target/debug/NAME"),
    })
}

/// Returns whether this process may execute the file, which must be regular.
fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Returns the program behind a shim of the version manager asdf; `None` if the file is no such shim. A shim is a small
/// script in `DATA/shims` that names plugins and versions, for programs in `DATA/installs/PLUGIN/VERSION/bin`. If it
/// names several versions, the one in `~/.tool-versions` is used.
fn program_of_asdf_shim(shim: &Path) -> Option<PathBuf> {
    let folder = shim.parent().filter(|folder| folder.ends_with("shims"))?;
    let script = read_start(shim)?;
    let named: Vec<(&str, &str)> =
        script.lines().filter_map(|line| line.strip_prefix("# asdf-plugin: ")?.split_once(' ')).collect();
    let chosen = std::env::home_dir().and_then(|home| read_start(&home.join(".tool-versions")));
    let chosen: BTreeMap<&str, &str> = chosen
        .as_deref()
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace))
        .filter_map(|(plugin, versions)| Some((plugin, versions.split_whitespace().next()?)))
        .collect();
    let (plugin, version) = match named.as_slice() {
        [only] => *only,
        _ => *named.iter().find(|(plugin, version)| chosen.get(plugin) == Some(version))?,
    };
    let install = folder.parent()?.join("installs").join(plugin).join(version);
    let name = shim.file_name()?;
    [install.join("bin").join(name), install.join(name)].into_iter().find(|file| is_executable(file))
}

/// Reads the start of a text file, at most 64 KiB; `None` if it cannot be read or is not UTF-8.
fn read_start(path: &Path) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(64 * 1024).read_to_string(&mut text).ok()?;
    Some(text)
}
