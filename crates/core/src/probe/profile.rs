//! The profile of a target: its conventions and the results of reading its help.

use crate::config::{CommonOption, Conventions, FormatFlag, TargetConfig};
use crate::model::OutputFormat;
use crate::targets::OptionChoices;
use serde::{Deserialize, Serialize};

/// What is known about the command line of a target: its declared conventions, and the properties that its help pages
/// show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetProfile {
    /// The declared conventions. Their `env_flags` also contain options with variables that only the help lists.
    #[serde(flatten)]
    pub conventions: Conventions,
    /// Whether the target is called with an unknown command. It is only if the target cannot interpret the word as
    /// data.
    #[serde(rename = "has_commands")]
    pub tries_command: bool,
    /// The reason why the target is not called with an unknown command although its help lists commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_command: Option<String>,
    /// Whether the main help page lists the format flag, which then does not belong to a single command.
    #[serde(default)]
    pub global_format: bool,
    /// The commands that declared probes call and that the help pages list. Each consists of words, such as `remote`,
    /// `add`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_commands: Vec<Vec<String>>,
    /// Whether `-h` has another meaning than help, such as `-h HOST`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_short_help: bool,
    /// Name of the contract that replaces the default rules for the entire target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The reason why this contract may not describe the target, such as a version that it was not checked with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract_caution: Option<String>,
    /// The examples in the help that call a command of a declared probe; each consists of its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Vec<String>>,
    /// The names of the commands that the help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Whether neither the configuration nor the help confirms that `--output` selects a format. If true, each probe
    /// first runs with an unknown format in an empty folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_first: bool,
    /// The formats that the target certainly has, known before any run: the help names them, or the configuration
    /// declares their format flags.
    #[serde(default, rename = "told")]
    pub known_formats: Vec<OutputFormat>,
    /// Whether calls may change something that file snapshots do not show: a service runs during the probes, or the
    /// runs may be unconfined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acts_elsewhere: bool,
    /// The options for which the help lists the allowed values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<OptionChoices>,
    /// The names of the options that the help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl TargetProfile {
    /// Creates the profile from the configuration of a target, without the properties that the help shows.
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
            contract_caution: None,
            acts_elsewhere: false,
            choices: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Returns the arguments that select `format`; empty if they are absent or unspecified.
    pub fn format_args(&self, format: OutputFormat) -> &[String] {
        self.conventions.formats.args(format).unwrap_or_default()
    }

    /// Returns whether the configuration declares that the target does not have this format.
    pub fn lacks(&self, format: OutputFormat) -> bool {
        self.conventions.formats.get(format) == &FormatFlag::Absent
    }

    /// Returns the words of a common option, such as `--quiet`, as a part of a probe's name. If another common option
    /// has the same spelling, the key of the option follows in brackets.
    pub(super) fn label(&self, flag: CommonOption, words: &[String]) -> String {
        let is_equal =
            |other: &CommonOption| *other != flag && self.conventions.flags.get(*other).args() == Some(words);
        match CommonOption::ALL.iter().any(is_equal) {
            true => format!("{} ({})", words.join(" "), flag.name()),
            false => words.join(" "),
        }
    }

    /// Returns whether `--output FORMAT` selects `format`.
    pub fn has_output_flag(&self, format: OutputFormat) -> bool {
        is_output_flag(self.format_args(format), format)
    }
}

/// Returns whether these arguments are `--output FORMAT`.
pub(super) fn is_output_flag(flag_args: &[String], format: OutputFormat) -> bool {
    flag_args == ["--output", format.name()]
}
