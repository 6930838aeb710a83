//! Adds the results of parsing the help to the profile of a target.

use super::definition::Probe;
use super::profile::TargetProfile;
use crate::config::FORMAT_PLACEHOLDER;
use crate::model::OutputFormat;
use crate::targets::Interface;

/// Options that affect only the output in any target, so that they can be tried. Other options are tried only if they
/// are declared. Options such as `--no-color` are missing because they have no effect in a pipe.
const OUTPUT_OPTIONS: [&str; 7] =
    ["--quiet", "--silent", "--verbose", "--json", "--jsonl", "--output", "--format"];

impl TargetProfile {
    /// Adds the properties that the help shows: the formats that it confirms, the options and commands, and whether the
    /// target can be called with an unknown command without conflict with the `declared` probes.
    #[must_use]
    pub fn with_help(mut self, help: &Interface, declared: &[Probe]) -> Self {
        if !self.tries_command && self.no_command.is_none() && !help.commands.is_empty() {
            self.no_command = reason_against_unknown_command(help, declared, self.conventions.usage);
            self.tries_command = self.no_command.is_none();
        }
        self.commands = help.commands.iter().map(|command| command.name.clone()).collect();
        let flag = |format| self.conventions.formats.args(format)?.first()?.split('=').next();
        let is_listed = |format| flag(format).is_some_and(|flag| help.has_option(flag));
        self.global_format = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().any(is_listed);
        self.choices = help.choices();
        self.options = help.option_names();
        for (flag, variable) in listed_env_flags(help, &self) {
            self.conventions.env_flags.entry(flag).or_insert(variable);
        }
        self.asks_first &= !help.output_is_format;
        self.other_short_help = help.short_h_is_not_help;
        for (format, flag_args) in
            [(OutputFormat::Json, &help.formats.json), (OutputFormat::Jsonl, &help.formats.jsonl)]
        {
            if flag_args.is_some()
                && flag_args.as_deref() == self.conventions.formats.args(format)
                && !self.known_formats.contains(&format)
            {
                self.known_formats.push(format);
            }
        }
        self
    }
}

/// Returns the options that the help lists with an environment variable and that can be tried without a declaration, as
/// pairs of option and variable.
fn listed_env_flags(
    help: &Interface,
    profile: &TargetProfile,
) -> impl Iterator<Item = (String, String)> + use<> {
    let declared: Vec<String> = profile.conventions.env_flags.values().cloned().collect();
    let format_option = profile.format_args(OutputFormat::Json).first().cloned();
    help.env_flags()
        .into_iter()
        .filter(move |pair| {
            let has_known_value = !pair.takes_value || format_option.as_ref() == Some(&pair.flag);
            has_known_value
                && OUTPUT_OPTIONS.contains(&pair.flag.as_str())
                && !declared.contains(&pair.variable)
        })
        .map(|pair| (pair.flag, pair.variable))
}

/// Returns the reason why the target could interpret an unknown command as data: its usage has a positional argument,
/// or a probe that does not expect invalid usage begins with a word that is not a command. `None` if there is no such
/// reason.
fn reason_against_unknown_command(help: &Interface, declared: &[Probe], usage: i32) -> Option<String> {
    if let Some(word) = &help.positional_for_command {
        return Some(format!("the usage in its help contains a positional argument `{word}`"));
    }
    let is_command = |word: &str| help.commands.iter().any(|command| command.name == word);
    let begins_with_data = |probe: &&Probe| {
        let first = probe.call.args.iter().find(|word| *word != FORMAT_PLACEHOLDER && *word != "--");
        probe.exit != Some(usage) && first.is_some_and(|word| !word.starts_with('-') && !is_command(word))
    };
    let probe = declared.iter().find(begins_with_data)?;
    Some(format!("the probe `{}` begins with a word that is not a command in its help", probe.name))
}
