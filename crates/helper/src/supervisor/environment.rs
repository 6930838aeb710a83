//! The environment of a run: cleared, then only what is listed here.

use crate::environment::{clean_path, manager_variables};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables by name.
pub(super) type Environment = BTreeMap<OsString, OsString>;

/// The part of every run's environment that is the same for all.
pub(super) fn base(caller: &Environment) -> Environment {
    let mut base: BTreeMap<_, _> = manager_variables(caller).into_iter().collect();
    base.insert("PATH".into(), clean_path(caller.get(OsStr::new("PATH")).map(OsString::as_os_str)));
    for (name, value) in [("LANG", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "dumb")] {
        base.insert(name.into(), value.into());
    }
    base
}
