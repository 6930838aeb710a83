//! What the help page of a target adds to its profile.

use super::definition::Probe;
use super::profile::TargetProfile;
use crate::config::FORMAT_PLACE;
use crate::model::OutputFormat;
use crate::targets::Interface;

/// Options that change nothing but the output, whatever the target. Others are tried where they are declared. In a
/// pipe, options such as `--no-color` change nothing at all.
const HARMLESS: [&str; 7] = ["--quiet", "--silent", "--verbose", "--json", "--jsonl", "--output", "--format"];

impl TargetProfile {
    /// The same, with what the help says: how json and jsonl are asked for, and whether an unknown command
    /// can be tried beside these probes.
    #[must_use]
    pub fn with_help(mut self, help: &Interface, declared: &[Probe]) -> Self {
        if !self.tries_command && self.no_command.is_none() && !help.commands.is_empty() {
            self.no_command = takes_words(help, declared, self.conventions.usage);
            self.tries_command = self.no_command.is_none();
        }
        self.commands = help.commands.iter().map(|command| command.name.clone()).collect();
        let flag = |format| self.conventions.formats.args(format)?.first()?.split('=').next();
        let shown = |format| flag(format).is_some_and(|flag| help.has_option(flag));
        self.global_format = [OutputFormat::Json, OutputFormat::Jsonl].into_iter().any(shown);
        self.choices = help.choices();
        self.options = help.option_names();
        for (flag, variable) in listed_env_flags(help, &self) {
            self.conventions.env_flags.entry(flag).or_insert(variable);
        }
        self.asks_first &= !help.output_is_format;
        self.other_short_help = help.other_short_help;
        for (format, asking) in
            [(OutputFormat::Json, &help.formats.json), (OutputFormat::Jsonl, &help.formats.jsonl)]
        {
            if asking.is_some()
                && asking.as_deref() == self.conventions.formats.args(format)
                && !self.known_formats.contains(&format)
            {
                self.known_formats.push(format);
            }
        }
        self
    }
}

/// The pairs that a help shows and that can be tried without being declared.
fn listed_env_flags(
    help: &Interface,
    profile: &TargetProfile,
) -> impl Iterator<Item = (String, String)> + use<> {
    let declared: Vec<String> = profile.conventions.env_flags.values().cloned().collect();
    let selects = profile.asking(OutputFormat::Json).first().cloned();
    help.env_flags()
        .into_iter()
        .filter(move |pair| {
            let tried = !pair.takes_value || selects.as_ref() == Some(&pair.flag);
            tried && HARMLESS.contains(&pair.flag.as_str()) && !declared.contains(&pair.variable)
        })
        .map(|pair| (pair.flag, pair.variable))
}

/// Why an unknown command could be taken for data: where the usage has a free word, or where a probe that is
/// no wrong call begins with a word that is no command.
fn takes_words(help: &Interface, declared: &[Probe], usage: i32) -> Option<String> {
    if let Some(word) = &help.free_word {
        return Some(format!("the usage in its help has a positional argument `{word}`"));
    }
    let is_command = |word: &str| help.commands.iter().any(|command| command.name == word);
    let begins = |probe: &&Probe| {
        let first = probe.call.args.iter().find(|word| *word != FORMAT_PLACE && *word != "--");
        probe.exit != Some(usage) && first.is_some_and(|word| !word.starts_with('-') && !is_command(word))
    };
    let probe = declared.iter().find(begins)?;
    Some(format!("the probe `{}` begins with a word that is not a command in its help", probe.name))
}
