//! The profile of a target: its conventions and the results of reading its help.

use crate::config::{CommonOption, Conventions, FormatFlag, TargetConfig};
use crate::model::OutputFormat;
use crate::targets::OptionChoices;
use serde::{Deserialize, Serialize};

/// The conventions of a target's command line, with the properties that its help pages show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetProfile {
    /// The declared conventions. The variables of options include those that the help lists.
    #[serde(flatten)]
    pub conventions: Conventions,
    /// Whether an unknown command is tried, as the target cannot interpret it as data.
    #[serde(rename = "has_commands")]
    pub tries_command: bool,
    /// The reason why no unknown command is tried although the help lists commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_command: Option<String>,
    /// Whether the main help page lists the format flag, so that it is not an option of one command.
    #[serde(default)]
    pub global_format: bool,
    /// The commands that declared probes call and that the help pages list, each as words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_commands: Vec<Vec<String>>,
    /// Whether `-h` is an option other than help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_short_help: bool,
    /// The contract that replaces the default rules for the entire target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The arguments of the examples in the help that call commands of declared probes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Vec<String>>,
    /// The commands that the help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Whether neither the configuration nor the help shows that `--output` selects a format. Then each probe first runs
    /// with an unknown format in an empty folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_first: bool,
    /// The formats that the target is known to have before any run in them: the help names them, or the configuration
    /// declares their format flags.
    #[serde(default, rename = "told")]
    pub known_formats: Vec<OutputFormat>,
    /// Whether calls may change something that no file snapshot shows: a service runs during the probes, or the runs may be
    /// unconfined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acts_elsewhere: bool,
    /// The options whose values the help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<OptionChoices>,
    /// The names of the options that the help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl TargetProfile {
    /// Returns the profile of a configuration, without the properties from the help.
    pub fn from_config(target: &TargetConfig) -> Self {
        let formats = &target.conventions.formats;
        let declared =
            |format: &OutputFormat| format.is_json() && !formats.assumed && formats.args(*format).is_some();
        Self {
            tries_command: target.unknown_command == Some(true),
            no_command: (target.unknown_command == Some(false))
                .then(|| "the configuration has `unknown_command = false`".to_owned()),
            asks_first: formats.assumed,
            known_formats: OutputFormat::ALL.into_iter().filter(declared).collect(),
            conventions: target.conventions.clone(),
            examples: Vec::new(),
            called_commands: Vec::new(),
            global_format: false,
            commands: Vec::new(),
            other_short_help: false,
            contract: None,
            acts_elsewhere: false,
            choices: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Returns the arguments of the format flag of `format`; empty if it is absent or unspecified.
    pub fn format_args(&self, format: OutputFormat) -> &[String] {
        self.conventions.formats.args(format).unwrap_or_default()
    }

    /// Returns whether the configuration declares that the target does not have the format.
    pub fn lacks(&self, format: OutputFormat) -> bool {
        self.conventions.formats.get(format) == &FormatFlag::Absent
    }

    /// Returns the words of a common option for the name of a probe, with its key if another option has the same spelling.
    pub(super) fn label(&self, flag: CommonOption, words: &[String]) -> String {
        let is_equal =
            |other: &CommonOption| *other != flag && self.conventions.flags.get(*other).args() == Some(words);
        match CommonOption::ALL.iter().any(is_equal) {
            true => format!("{} ({})", words.join(" "), flag.name()),
            false => words.join(" "),
        }
    }

    /// Returns whether the format flag of `format` is `--output FORMAT`.
    pub fn has_output_flag(&self, format: OutputFormat) -> bool {
        is_output_flag(self.format_args(format), format)
    }
}

/// Returns whether these arguments are `--output FORMAT`.
pub(super) fn is_output_flag(flag_args: &[String], format: OutputFormat) -> bool {
    flag_args == ["--output", format.name()]
}
