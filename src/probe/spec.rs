//! From the plan to what the runner takes.

use super::{Probe, Promises};
use crate::model::{OutputFormat, Variant};
use crate::run::{RunKey, RunSpec, Stdin};
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
    let mut env = target.env(|name| std::env::var_os(name));
    env.extend(probe.env.iter().map(|(name, value)| (name.into(), value.into())));
    RunSpec {
        key: key.clone(),
        program: target.program.clone(),
        args: target.prefix_args.iter().cloned().chain(call.into_iter().map(OsString::from)).collect(),
        cwd: probe.cwd.clone().unwrap_or_else(|| target.cwd.clone()),
        env,
        stdin: probe.stdin.as_ref().map_or(Stdin::Null, |bytes| Stdin::Bytes(bytes.as_slice().into())),
        deadline: probe.timeout,
        sandbox: target.config.sandbox,
        // When records arrive is evidence there.
        quiet: probe.stream
            && key.format == OutputFormat::Jsonl
            && matches!(key.variant, Variant::Plain | Variant::Tty),
    }
}
