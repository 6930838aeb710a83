//! Options that a variable stands for, and declared calls with either.

use super::derived_call::made;
use super::{Probe, TargetProfile, flagged};
use crate::catalogue::Derived;
use crate::config::place_format;
use crate::model::{Case, OutputFormat};

/// The value that switches a variable on.
pub const ON: &str = "1";
/// The values that leave it off.
pub const OFF: [&str; 3] = ["0", "false", ""];

/// Probes that a pair is tried on.
const TRIED: usize = 3;

/// An option with the variable that stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFlag {
    /// The option, with its value if it has one.
    pub flag: String,
    /// The variable.
    pub variable: String,
    /// The format that it selects, by a value that is the format's name.
    pub format: Option<OutputFormat>,
}

impl EnvFlag {
    /// The variable with a value, as a shell takes it.
    pub fn set(&self, value: &str) -> String {
        format!("{}={value}", self.variable)
    }

    /// The call with that.
    pub fn case(&self, value: &str) -> Case {
        Case::Variable(self.variable.clone(), value.to_owned())
    }
}

/// The pairs that can be tried.
pub fn env_flags(profile: &TargetProfile) -> Vec<EnvFlag> {
    let by_value = |flag: &String| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().find_map(|format| {
            let value = match profile.asking(format) {
                [own, value] if own == flag => value,
                [word] => word.strip_prefix(flag.as_str())?.strip_prefix('=')?,
                _ => return None,
            };
            (value == format.name()).then(|| (format, profile.asking(format).join(" ")))
        })
    };
    let pair = |(flag, variable): (&String, &String)| {
        let (format, flag) =
            by_value(flag).map_or((None, flag.clone()), |(format, words)| (Some(format), words));
        EnvFlag { flag, variable: variable.clone(), format }
    };
    profile.conventions.env_flags.iter().map(pair).collect()
}

/// The first probes that succeed, with each option or its variable.
pub(super) fn calls(declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    let probes = || declared.iter().filter(|probe| probe.exit == Some(0)).take(TRIED);
    env_flags(profile)
        .iter()
        .flat_map(|pair| probes().flat_map(|probe| of_pair(pair, probe, profile)))
        .collect()
}

fn of_pair(pair: &EnvFlag, probe: &Probe, profile: &TargetProfile) -> Vec<Probe> {
    // Without a format option, which would win over an option or a variable that selects one. A target with a contract
    // is called in the format of that alone.
    let has_contract = profile.contract.is_some();
    let placed = |args: &[String]| if has_contract { args.to_vec() } else { place_format(args, &[]) };
    let call = |case, label: &str| Probe {
        asks_format: has_contract && probe.asks_format,
        formats: match has_contract {
            true => probe.formats.iter().copied().take(1).collect(),
            false => vec![OutputFormat::Text],
        },
        ..made(Derived::EnvFlag, case, probe, label).with_args(placed(&probe.call.args))
    };
    let set = |value: &str| {
        let mut set = call(pair.case(value), &pair.set(value));
        set.call.env.insert(pair.variable.clone(), value.to_owned());
        set
    };
    if let Some(format) = pair.format {
        let applies = probe.formats.contains(&format);
        return applies.then(|| Probe { formats: vec![format], ..set(format.name()) }).into_iter().collect();
    }
    let at = flagged::place_behind(probe, profile);
    let args = [&probe.call.args[..at], std::slice::from_ref(&pair.flag), &probe.call.args[at..]].concat();
    let label = format!("{} for {}", pair.flag, pair.variable);
    let case = Case::OptionOf(pair.variable.clone());
    let with_flag = call(case, &label).with_args(placed(&args));
    let values = [ON].into_iter().chain(OFF);
    std::iter::once(with_flag).chain(values.map(set)).collect()
}
