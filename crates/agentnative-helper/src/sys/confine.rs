//! How a process is confined: Landlock.

use crate::Enforced;
use landlock::{
    ABI, Access, AccessFs, AccessNet, NetPort, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::ffi::OsString;
use std::io;

/// Lets the process write only below `paths` (and to the devices everybody writes to), open no TCP port and
/// no TCP connection but to `ports`, and signal nobody outside; as far as the kernel can.
pub(crate) fn confine(paths: &[OsString], ports: &[u16]) -> io::Result<Enforced> {
    restrict(paths, ports).map_err(io::Error::other)
}

fn restrict(paths: &[OsString], ports: &[u16]) -> Result<Enforced, RulesetError> {
    const DEVICES: &[&str] =
        &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts"];
    // Version 5 adds the control of devices, which would break `isatty` on a terminal opened later.
    let writes = AccessFs::from_write(ABI::V4);
    let devices = DEVICES.iter().map(OsString::from);
    let RestrictionStatus { ruleset, .. } = Ruleset::default()
        .handle_access(writes)?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rules(path_beneath_rules(paths.iter().cloned().chain(devices), writes))?
        .add_rules(
            ports.iter().map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp))),
        )?
        .restrict_self()?;
    Ok(match ruleset {
        RulesetStatus::FullyEnforced => Enforced::Fully,
        RulesetStatus::PartiallyEnforced => Enforced::Partly,
        RulesetStatus::NotEnforced => Enforced::Not,
    })
}
