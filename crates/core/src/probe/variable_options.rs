//! Options that an environment variable can replace, and calls of declared probes with the option or the variable.

use super::derived_call::derive_from;
use super::{Probe, TargetProfile, flagged};
use crate::catalogue::DerivedKind;
use crate::config::insert_format_flag;
use crate::model::{Case, OutputFormat};

/// The value of an environment variable that turns its option on.
pub const ENABLED_VALUE: &str = "1";
/// The values of an environment variable that leave its option off.
pub const DISABLED_VALUES: [&str; 3] = [OFF_VALUE, "false", ""];
/// The usual value of an environment variable that leaves its option off.
pub const OFF_VALUE: &str = "0";

/// Maximum number of probes with which each option and its variable are tried.
const MAX_PROBES: usize = 3;

/// An option, with the environment variable that can replace it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableOption {
    /// The option, such as `--quiet`, with its value if it takes one.
    pub flag: String,
    /// The name of the environment variable.
    pub variable: String,
    /// The format that the option selects, if the value of the option is the name of a format.
    pub format: Option<OutputFormat>,
}

impl VariableOption {
    /// Returns the assignment of `value` to the variable in shell syntax, such as `MYCLI_QUIET=1`.
    pub fn set(&self, value: &str) -> String {
        format!("{}={value}", self.variable)
    }

    /// Returns the case that identifies the call with this value of the variable.
    pub fn case(&self, value: &str) -> Case {
        Case::Variable(self.variable.clone(), value.to_owned())
    }
}

/// Returns the options of the target that an environment variable can replace, each with its variable.
pub fn variable_options(profile: &TargetProfile) -> Vec<VariableOption> {
    let by_value = |flag: &String| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().find_map(|format| {
            let value = match profile.format_args(format) {
                [option, value] if option == flag => value,
                [word] => word.strip_prefix(flag.as_str())?.strip_prefix('=')?,
                _ => return None,
            };
            (value == format.name()).then(|| (format, profile.format_args(format).join(" ")))
        })
    };
    let pair = |(flag, variable): (&String, &String)| {
        let (format, flag) =
            by_value(flag).map_or((None, flag.clone()), |(format, words)| (Some(format), words));
        VariableOption { flag, variable: variable.clone(), format }
    };
    profile.conventions.env_flags.iter().map(pair).collect()
}

/// Returns calls of the first probes that are expected to exit with 0: one with each option, and one with each value of
/// its variable instead.
pub(super) fn calls(declared: &[Probe], profile: &TargetProfile) -> Vec<Probe> {
    let probes = || declared.iter().filter(|probe| probe.exit == Some(0)).take(MAX_PROBES);
    variable_options(profile)
        .iter()
        .flat_map(|pair| probes().flat_map(|probe| pair_calls(pair, probe, profile)))
        .collect()
}

fn pair_calls(pair: &VariableOption, probe: &Probe, profile: &TargetProfile) -> Vec<Probe> {
    // The calls omit the format flag, which would override an option or variable that selects a format. A target with a
    // contract has only the format of that.
    let has_contract = profile.contract.is_some();
    let without_format =
        |args: &[String]| if has_contract { args.to_vec() } else { insert_format_flag(args, &[]) };
    let call = |case, label: &str| Probe {
        asks_format: has_contract && probe.asks_format,
        formats: match has_contract {
            true => probe.formats.iter().copied().take(1).collect(),
            false => vec![OutputFormat::Text],
        },
        ..derive_from(DerivedKind::EnvFlag, case, probe, label).with_args(without_format(&probe.call.args))
    };
    let set = |mut call: Probe, value: &str| {
        call.call.env.insert(pair.variable.clone(), value.to_owned());
        call
    };
    let with_variable = |value: &str| set(call(pair.case(value), &pair.set(value)), value);
    let over = Case::OptionOver(pair.variable.clone());
    if let Some(format) = pair.format {
        if !probe.formats.contains(&format) {
            return Vec::new();
        }
        let selected = Probe { formats: vec![format], ..with_variable(format.name()) };
        let has_text = probe.formats.contains(&OutputFormat::Text)
            && !profile.format_args(OutputFormat::Text).is_empty()
            && probe.asks_format;
        let label = format!("text over {}", pair.set(format.name()));
        let other = has_text.then(|| {
            let call = derive_from(DerivedKind::EnvFlag, over, probe, &label);
            set(Probe { formats: vec![OutputFormat::Text], ..call }, format.name())
        });
        // A configuration file may select the other format, so it can only be overridden with text.
        let text = OutputFormat::Text.name();
        let text_flag = pair.flag.strip_suffix(format.name()).map(|flag| format!("{flag}{text}"));
        let is_value = text_flag == Some(profile.format_args(OutputFormat::Text).join(" "));
        let selected_text =
            (has_text && is_value && profile.conventions.config_file.is_some()).then(|| with_variable(text));
        return [selected].into_iter().chain(other).chain(selected_text).collect();
    }
    let index = flagged::option_index(probe, profile);
    let args =
        [&probe.call.args[..index], std::slice::from_ref(&pair.flag), &probe.call.args[index..]].concat();
    let label = format!("{} for {}", pair.flag, pair.variable);
    let case = Case::OptionOf(pair.variable.clone());
    let with_flag = call(case, &label).with_args(without_format(&args));
    let label = format!("{} over {}", pair.flag, pair.set(OFF_VALUE));
    let other = set(call(over, &label).with_args(without_format(&args)), OFF_VALUE);
    let values = [ENABLED_VALUE].into_iter().chain(DISABLED_VALUES);
    [with_flag, other].into_iter().chain(values.map(with_variable)).collect()
}
