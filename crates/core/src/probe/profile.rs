//! The profile of a target: what is known of its command line.

use crate::config::{Asking, Conventions, Flag, TargetConfig};
use crate::model::OutputFormat;
use crate::targets::Choices;
use serde::{Deserialize, Serialize};

/// What is known of a target's command line: what is declared, and what its help pages list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetProfile {
    /// Its conventions as they are declared; the variables of options also as the help lists them.
    #[serde(flatten)]
    pub conventions: Conventions,
    /// An unknown command is tried: nothing takes it for data.
    #[serde(rename = "has_commands")]
    pub tries_command: bool,
    /// Why none is, though the help lists commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_command: Option<String>,
    /// Its help shows the flag that asks for a format as one of its own, not of a command.
    #[serde(default)]
    pub global_format: bool,
    /// The commands that declared probes call, each in words: as far as the help pages list them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_commands: Vec<Vec<String>>,
    /// Its help calls `-h` something else than help.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub other_short_help: bool,
    /// The contract that takes the place of the default rules for the whole target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The examples of its help that call commands of declared probes, by their arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Vec<String>>,
    /// The commands that its help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Neither the configuration nor, as far as it was seen, the help calls `--output` a format: each probe is
    /// first asked with a value that no tool takes, in an empty folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_first: bool,
    /// The formats that it is known to have before anything was run in them: its help names them, or
    /// the configuration says how they are asked for.
    #[serde(default, rename = "told")]
    pub known_formats: Vec<OutputFormat>,
    /// Its calls may act on what no snapshot of a folder shows: a service runs beside them, or they need not be
    /// confined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub acts_elsewhere: bool,
    /// The options whose values its help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choices>,
    /// The names of the options that its help lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl TargetProfile {
    /// The profile of a configuration, with nothing known of the help.
    pub fn of(target: &TargetConfig) -> Self {
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

    /// The arguments that ask for `format`; none where there is no such format or nobody says how.
    pub fn asking(&self, format: OutputFormat) -> &[String] {
        self.conventions.formats.args(format).unwrap_or_default()
    }

    /// Whether the target says that it has no such format.
    pub fn lacks(&self, format: OutputFormat) -> bool {
        self.conventions.formats.of(format) == &Asking::Lacking
    }

    /// The words of a common option in the name of a probe, with its key if another option is spelt alike.
    pub(super) fn label(&self, flag: Flag, words: &[String]) -> String {
        let alike = |other: &Flag| *other != flag && self.conventions.flags.of(*other).args() == Some(words);
        match Flag::ALL.iter().any(alike) {
            true => format!("{} ({})", words.join(" "), flag.name()),
            false => words.join(" "),
        }
    }

    /// Whether a format is asked for with `--output FORMAT`.
    pub fn default_flag(&self, format: OutputFormat) -> bool {
        is_output(self.asking(format), format)
    }
}

/// Whether these arguments are `--output FORMAT`.
pub(super) fn is_output(asking: &[String], format: OutputFormat) -> bool {
    asking == ["--output", format.name()]
}
