//! Environment variables of the caller that runs inherit: PATH, and the variables of version managers.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Version managers whose shims look for a folder below HOME. Each entry contains the variable that names this folder
/// instead, its default path below HOME, and the program whose presence on PATH shows that the manager is in use.
const VERSION_MANAGERS: &[(&str, &str, &str)] = &[
    ("RUSTUP_HOME", ".rustup", "rustup"),
    ("PYENV_ROOT", ".pyenv", "pyenv"),
    ("RBENV_ROOT", ".rbenv", "rbenv"),
    ("NODENV_ROOT", ".nodenv", "nodenv"),
    ("GOENV_ROOT", ".goenv", "goenv"),
    ("ASDF_DIR", ".asdf", "asdf"),
    ("ASDF_DATA_DIR", ".asdf", "asdf"),
    ("VOLTA_HOME", ".volta", "volta"),
    ("MISE_DATA_DIR", ".local/share/mise", "mise"),
    ("MISE_CONFIG_DIR", ".config/mise", "mise"),
];

/// Variables that select the version of a tool, such as `PYENV_VERSION=3.12`.
pub(crate) const VERSION_VARIABLES: &[&str] =
    &["RUSTUP_TOOLCHAIN", "PYENV_VERSION", "RBENV_VERSION", "NODENV_VERSION", "GOENV_VERSION"];

/// Value of PATH for a caller that has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Removes the empty and relative entries from a PATH, since they depend on the working directory. `None` stands for
/// the default PATH.
pub fn absolute_path_entries(path: Option<&OsStr>) -> OsString {
    let folders = absolute_entries(path.unwrap_or(OsStr::new(DEFAULT_PATH)));
    std::env::join_paths(folders).expect("the entries came out of a PATH, so none holds a colon")
}

/// Splits a PATH into its folders, and drops empty and relative ones.
pub fn absolute_entries(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// Returns the variables that the version managers on the caller's PATH need, such as `PYENV_ROOT`. Without them, their
/// shims break under a new HOME. The variables name only folders of programs and versions; none contains a secret of
/// the user.
pub fn manager_variables(caller: &BTreeMap<OsString, OsString>) -> Vec<(OsString, OsString)> {
    let get = |name: &str| caller.get(OsStr::new(name));
    let path = absolute_entries(&absolute_path_entries(get("PATH").map(OsString::as_os_str)));
    let mut kept = Vec::new();
    for (variable, below_home, program) in VERSION_MANAGERS {
        let default = || Some(Path::new(get("HOME")?).join(below_home));
        let Some(folder) = get(variable).map(PathBuf::from).or_else(default) else { continue };
        let on_path = || path.iter().any(|entry| entry.starts_with(&folder) || entry.join(program).exists());
        if folder.is_dir() && on_path() {
            kept.push((variable.into(), folder.into_os_string()));
        }
    }
    if !kept.is_empty() {
        kept.extend(VERSION_VARIABLES.iter().filter_map(|name| Some((name.into(), get(name)?.clone()))));
    }
    kept
}
