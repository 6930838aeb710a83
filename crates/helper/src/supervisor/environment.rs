//! The environment variables that all runs have in common. All other variables of the caller are cleared.

use crate::environment::{absolute_path_entries, manager_variables};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

pub(super) type Environment = BTreeMap<OsString, OsString>;

/// Returns the environment variables that every run receives: PATH, `LANG`, `TZ` and `TERM`, and those of the caller's
/// version managers.
pub(super) fn common_variables(caller: &Environment) -> Environment {
    let mut base: BTreeMap<_, _> = manager_variables(caller).into_iter().collect();
    base.insert(
        "PATH".into(),
        absolute_path_entries(caller.get(OsStr::new("PATH")).map(OsString::as_os_str)),
    );
    for (name, value) in [("LANG", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "dumb")] {
        base.insert(name.into(), value.into());
    }
    base
}
