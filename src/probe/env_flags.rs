//! Options that a variable stands for, and declared calls with either.

use super::{Probe, Promises, flagged};
use crate::catalogue::Derived;
use crate::config::place_format;
use crate::model::OutputFormat;
use crate::target::Help;

/// The value that switches a variable on.
pub const ON: &str = "1";
/// The values that leave it off.
pub const OFF: [&str; 3] = ["0", "false", ""];

/// Options that change nothing but the output, whatever the target. Others are tried where they are declared.
const HARMLESS: [&str; 11] = [
    "--quiet",
    "--silent",
    "--verbose",
    "--json",
    "--jsonl",
    "--output",
    "--format",
    "--no-color",
    "--no-colour",
    "--no-input",
    "--no-pager",
];

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
}

/// The pairs that can be tried.
pub fn env_flags(promises: &Promises) -> Vec<EnvFlag> {
    let by_value = |flag: &String| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().find(|format| {
            matches!(promises.asking(*format), [own, value] if own == flag && value == format.name())
        })
    };
    let pair = |(flag, variable): (&String, &String)| {
        let format = by_value(flag);
        let flag = format.map_or_else(|| flag.clone(), |format| format!("{flag} {}", format.name()));
        EnvFlag { flag, variable: variable.clone(), format }
    };
    promises.env_flags.iter().map(pair).collect()
}

/// The pairs that a help shows and that can be tried without being declared.
pub(super) fn shown<'h>(help: &'h Help, promises: &Promises) -> impl Iterator<Item = (String, String)> + 'h {
    let declared: Vec<String> = promises.env_flags.values().cloned().collect();
    let selects = promises.asking(OutputFormat::Json).first().cloned();
    help.env_flags
        .iter()
        .filter(move |pair| {
            let tried = !pair.takes_value || selects.as_ref() == Some(&pair.flag);
            tried && HARMLESS.contains(&pair.flag.as_str()) && !declared.contains(&pair.variable)
        })
        .map(|pair| (pair.flag.clone(), pair.variable.clone()))
}

/// The first probes that succeed, with each option or its variable.
pub(super) fn calls(declared: &[Probe], promises: &Promises) -> Vec<Probe> {
    let probes = || declared.iter().filter(|probe| probe.exit == Some(0)).take(TRIED);
    env_flags(promises)
        .iter()
        .flat_map(|pair| probes().flat_map(|probe| of_pair(pair, probe, promises)))
        .collect()
}

fn of_pair(pair: &EnvFlag, probe: &Probe, promises: &Promises) -> Vec<Probe> {
    // Without a format option: it would win over an option or a variable that selects one.
    let made = |label: &str| Probe {
        args: place_format(&probe.args, &[]),
        asks_format: false,
        formats: vec![OutputFormat::Text],
        ..flagged::made(Derived::EnvFlag, probe, label)
    };
    let set = |value: &str| {
        let mut env = probe.env.clone();
        env.insert(pair.variable.clone(), value.to_owned());
        Probe { env, ..made(&pair.set(value)) }
    };
    if let Some(format) = pair.format {
        let applies = probe.formats.contains(&format);
        return applies.then(|| Probe { formats: vec![format], ..set(format.name()) }).into_iter().collect();
    }
    let at = flagged::place_behind(probe, promises);
    let args = [&probe.args[..at], std::slice::from_ref(&pair.flag), &probe.args[at..]].concat();
    let with_flag = Probe { args: place_format(&args, &[]), ..made(&pair.flag) };
    let values = [ON].into_iter().chain(OFF);
    std::iter::once(with_flag).chain(values.map(set)).collect()
}
