//! From the plan to what the runner takes.

use super::{Probe, Promises};
use crate::model::{OutputFormat, Variant};
use crate::run::{Job, RunKey, RunSpec};
use crate::target::Target;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// What to run for each of `keys`, in their order.
pub fn specs(keys: &[RunKey], probes: &[Probe], promises: &Promises, target: &Target) -> Vec<RunSpec> {
    let by_name: BTreeMap<&str, &Probe> = probes.iter().map(|probe| (probe.name.as_str(), probe)).collect();
    keys.iter()
        .filter_map(|key| Some(spec(key, by_name.get(key.probe.as_str())?, promises, target)))
        .collect()
}

fn spec(key: &RunKey, probe: &Probe, promises: &Promises, target: &Target) -> RunSpec {
    let call = probe.call(key.format, promises);
    let own = probe.env.iter().map(|(name, value)| (name.into(), value.into()));
    let job = Job {
        program: target.program.clone().into(),
        args: target.prefix_args.iter().cloned().chain(call.into_iter().map(OsString::from)).collect(),
        cwd: probe.cwd.clone().unwrap_or_else(|| target.cwd.clone()).into(),
        env: target.env(|name| std::env::var_os(name)).into_iter().chain(own).collect(),
        variant: key.variant,
        nth: key.nth,
        stdin: probe.stdin.as_ref().map(|bytes| bytes.as_slice().into()),
        deadline: probe.timeout,
        sandbox: target.config.sandbox,
        // When records arrive is evidence there.
        quiet: probe.stream
            && key.format == OutputFormat::Jsonl
            && matches!(key.variant, Variant::Plain | Variant::Tty),
        trusted: false,
    };
    RunSpec { key: key.clone(), job }
}
